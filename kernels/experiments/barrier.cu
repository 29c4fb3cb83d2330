/*
 * Experiment: what does __syncthreads() cost, and does it grow with the
 * warps that it waits for?
 *
 * All warps of a block come to a barrier at the same time, again and again,
 * with nothing between. What is left is the barrier: every warp has to
 * arrive, and every warp has to be told.
 *
 * Expect a straight line: a fixed cost and some cycles for each warp.
 */

#define UNROLL 16 /* barriers of one round */

extern "C" __global__ void barrier(const int *in, int *out,
                                   long long *clocks, int rounds)
{
    int passed = in[threadIdx.x];

    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            __syncthreads();
        passed += UNROLL;
    }
    stamp(clocks, start);
    out[blockIdx.x * blockDim.x + threadIdx.x] = passed;
}
