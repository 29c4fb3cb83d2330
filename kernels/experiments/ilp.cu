/*
 * Experiment: how much parallel work fills a scheduler, and does it matter
 * where it comes from?
 *
 * An FFMA's result is there after a few cycles (4 on most GPUs), and a
 * scheduler could issue one each cycle. So four of them have to be on their
 * way: from four warps, or from one warp whose instructions do not need each
 * other. ilp_K runs K chains of FFMAs side by side in each thread.
 *
 * Expect  min(1, warps * K / latency)  of the issue slots: warps and chains
 *         count alike.
 */

/* FFMAs of one round of the loop, all chains together. */
#define WORK 256

/* The factor and the term keep every chain near 1, whatever it starts with.
 */
template <int K>
static __device__ void chains(const float *in, float *out, long long *clocks,
                              int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[K], sum = 0;

    for (int k = 0; k < K; k++)
        v[k] = in[threadIdx.x] + k;
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int step = 0; step < WORK / K; step++)
#pragma unroll
            for (int k = 0; k < K; k++)
                v[k] = fmaf(v[k], 0.5f, 0.5f);
    }
    stamp(clocks, start);
    for (int k = 0; k < K; k++)
        sum += v[k];
    out[i] = sum;
}

#define ILP(K)                                                              \
    extern "C" __global__ void ilp_##K(const float *in, float *out,         \
                                       long long *clocks, int rounds)       \
    {                                                                       \
        chains<K>(in, out, clocks, rounds);                                 \
    }

ILP(1)
ILP(2)
ILP(3)
ILP(4)
ILP(5)
ILP(6)
ILP(7)
ILP(8)
