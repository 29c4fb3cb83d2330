/*
 * Experiment: what does it cost when threads add to the same address?
 *
 * An atomic addition reads, adds and writes where the address lies, and
 * nobody comes between. So additions to one address queue up. To different
 * addresses they go side by side, as far as banks and slices of L2 allow.
 *
 * shared_add   the counters lie in each block's shared memory; its threads
 *              share them
 * global_add   the counters lie in global memory; all threads of the launch
 *              share them
 *
 * The address and what is added depend on the thread: of threads that add a
 * constant to a known address the compiler makes one sum a warp first, and
 * what would be measured is that.
 */

#define MOST  4096 /* counters */
#define STEPS 32   /* additions of each thread */

extern "C" __global__ void shared_add(const unsigned *in, unsigned *out,
                                      long long *clocks, int addresses)
{
    __shared__ unsigned counters[MOST];
    unsigned add = in[threadIdx.x];

    for (int k = threadIdx.x; k < addresses; k += blockDim.x)
        counters[k] = 0;
    __syncthreads();
#pragma unroll 4
    for (int s = 0; s < STEPS; s++)
        atomicAdd(&counters[(threadIdx.x + s) % addresses], add);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        counters[threadIdx.x % addresses];
}

extern "C" __global__ void global_add(const unsigned *in, unsigned *out,
                                      long long *clocks, int addresses)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned add = in[threadIdx.x];

#pragma unroll 4
    for (int s = 0; s < STEPS; s++)
        atomicAdd(&out[(i + s) % addresses], add);
}
