/*
 * Experiment: from which length on does an if become a branch, and what does
 * a branch cost?
 *
 * Both ways of the if have n steps. Odd and even lanes disagree
 * (split=lanes), or odd and even warps do (split=warps), with the same
 * machine code. A short if is no branch: each instruction carries a
 * condition, every lane goes through both ways, and it does not matter who
 * disagrees. A long one is a branch: warps that agree skip the other way,
 * and warps that do not run both.
 *
 * Expect no difference for short bodies, twice the time for long ones.
 */

/* n steps of one kind each; neither compiler makes one of the two. */
template <int N> static __device__ __forceinline__ float one_way(float v)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v = fmaf(v, 0.5f, 0.25f);
    return v;
}

template <int N> static __device__ __forceinline__ float other_way(float v)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        v = k % 2 ? __fadd_rn(v, 0.125f) : __fmul_rn(v, 0.75f);
    return v;
}

/* shift 0: lanes disagree; 5: warps do. */
#define PREDICATION(N)                                                      \
    extern "C" __global__ void predication_##N(const float *in, float *out, \
                                               long long *clocks,           \
                                               int rounds, int shift)       \
    {                                                                       \
        bool is_odd = threadIdx.x >> shift & 1;                             \
        float v = in[threadIdx.x];                                          \
                                                                            \
        __syncthreads();                                                    \
        long long start = clock64();                                        \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++)                \
        {                                                                   \
            if (is_odd)                                                     \
                v = one_way<N>(v);                                          \
            else                                                            \
                v = other_way<N>(v);                                        \
        }                                                                   \
        __syncwarp();                                                       \
        stamp(clocks, start);                                               \
        out[blockIdx.x * blockDim.x + threadIdx.x] = v;                     \
    }

PREDICATION(1)
PREDICATION(2)
PREDICATION(3)
PREDICATION(4)
PREDICATION(6)
PREDICATION(8)
PREDICATION(12)
PREDICATION(16)
PREDICATION(24)
PREDICATION(32)
PREDICATION(64)
PREDICATION(128)
