/*
 * Experiment: how fast do nested ifs multiply the paths of a warp?
 *
 * Every if asks another bit of the thread's number, and at the bottom each
 * path does its work. Depth d has 2^d paths, and a warp runs all that its
 * lanes take, one after the other. It has 32 lanes: from depth 5 on every
 * lane is alone, and further ifs ask for bits that all lanes of a warp have
 * in common.
 *
 * Expect min(2^d, 32) times the time of depth 0.
 */

#define STEPS 64 /* of a path */

/* One step: a logistic map in two instructions. It never settles, so a wrong
 * path shows. */
static __device__ __forceinline__ float path(float v, float r)
{
#pragma unroll 8
    for (int k = 0; k < STEPS; k++)
        v = r * fmaf(-v, v, v);
    return v;
}

/* Path n. The ifs above it asked for the bits of n, the highest first. */
#define IF_0(n) v = path(v, 3.5f + 0.003f * (n));
#define IF_1(n)                                                             \
    if (threadIdx.x & 1) {                                                  \
        IF_0(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_0(2 * (n))                                                       \
    }
#define IF_2(n)                                                             \
    if (threadIdx.x & 2) {                                                  \
        IF_1(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_1(2 * (n))                                                       \
    }
#define IF_3(n)                                                             \
    if (threadIdx.x & 4) {                                                  \
        IF_2(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_2(2 * (n))                                                       \
    }
#define IF_4(n)                                                             \
    if (threadIdx.x & 8) {                                                  \
        IF_3(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_3(2 * (n))                                                       \
    }
#define IF_5(n)                                                             \
    if (threadIdx.x & 16) {                                                 \
        IF_4(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_4(2 * (n))                                                       \
    }
#define IF_6(n)                                                             \
    if (threadIdx.x & 32) {                                                 \
        IF_5(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_5(2 * (n))                                                       \
    }
#define IF_7(n)                                                             \
    if (threadIdx.x & 64) {                                                 \
        IF_6(2 * (n) + 1)                                                   \
    } else {                                                                \
        IF_6(2 * (n))                                                       \
    }

#define NESTED(depth)                                                       \
    extern "C" __global__ void nested_##depth(const float *in, float *out,  \
                                              long long *clocks,            \
                                              int rounds)                   \
    {                                                                       \
        float v = in[threadIdx.x];                                          \
                                                                            \
        __syncthreads();                                                    \
        long long start = clock64();                                        \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++)                \
        {                                                                   \
            IF_##depth(0) __syncwarp();                                     \
        }                                                                   \
        stamp(clocks, start);                                               \
        out[blockIdx.x * blockDim.x + threadIdx.x] = v;                     \
    }

NESTED(0)
NESTED(1)
NESTED(2)
NESTED(3)
NESTED(4)
NESTED(5)
NESTED(6)
NESTED(7)
