/*
 * Experiment: what does it cost when a thread needs more values than it has
 * registers?
 *
 * A thread has at most 255 registers, or as many as the compiler was told to
 * take. Values beyond are spilled: they live in local memory, which is memory
 * behind the caches, and each use is a load and each change a store.
 *
 * live_N keeps N sums and adds to each of them in turn, round after round;
 * all are needed until the end. There are two warps a scheduler whatever N
 * is, so that a cheaper kernel is not a fuller SM.
 *
 * Expect one addition a cycle while all sums have a register, and a multiple
 * of that behind the limit.
 */

/*
 * Small whole numbers: every sum is exact, in any order. `one` is 1, which
 * only the caller knows.
 */
template <int N>
static __device__ void live(const float *in, float *out, long long *clocks,
                            int rounds, int one)
{
    float v[N], by = in[threadIdx.x], factor = one, sum = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = by * k;
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = fmaf(v[k], factor, by);
    stamp(clocks, start);
#pragma unroll
    for (int k = 0; k < N; k++)
        sum += v[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define LIVE(N)                                                              \
    extern "C" __global__ void live_##N(const float *in, float *out,         \
                                        long long *clocks, int rounds,       \
                                        int one)                             \
    {                                                                        \
        live<N>(in, out, clocks, rounds, one);                               \
    }

LIVE(32)
LIVE(64)
LIVE(96)
LIVE(128)
LIVE(192)
LIVE(224)
LIVE(240)
LIVE(256)
LIVE(300)
