/*
 * Experiment: do the paths of a warp wait one after the other, or at the
 * same time?
 *
 * Since Volta every lane has its own place in the code, and the paths of a
 * warp that split may take turns. The lanes here are on up to 8 paths, and
 * each path is a chain of loads: nearly all of its time it waits. If another
 * path could issue meanwhile, the waits would overlap, and 8 paths would
 * take hardly longer than one. If a path runs until it joins the others,
 * they take 8 times as long.
 */

#define LOADS  64 /* of each path */
#define UNROLL 8
#define WORDS  256 /* of a path's chain: 8 places a lane */

/* PTX ISA, ld.shared and ld.global.cg (past L1), the path's chain as an
 * offset in the instruction: so every path has code of its own. */
#define SHARED_LOAD(at, path)                                               \
    asm volatile("ld.volatile.shared.b32 %0, [%0+%1];"                      \
                 : "+r"(at)                                                 \
                 : "n"((path)*WORDS * 4))
#define L2_LOAD(at, path)                                                   \
    asm volatile("ld.global.cg.b32 %0, [%1+%2];"                            \
                 : "=r"(at)                                                 \
                 : "l"((const char *)in + at), "n"((path)*WORDS * 4))

#define PATH(load, path)                                                    \
    case path:                                                              \
        _Pragma("unroll 1") for (int i = 0; i < LOADS / UNROLL; i++)        \
        {                                                                   \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
            load(at, path);                                                 \
        }                                                                   \
        break;

#define PATHS(load)                                                         \
    switch (threadIdx.x % 32 % paths) {                                     \
        PATH(load, 0)                                                       \
        PATH(load, 1)                                                       \
        PATH(load, 2) PATH(load, 3) PATH(load, 4) PATH(load, 5)             \
            PATH(load, 6) PATH(load, 7)                                     \
    }

/* in[i] is where a chain goes from word i, in bytes. */
extern "C" __global__ void its_shared(const unsigned *in, unsigned *out,
                                      long long *clocks, int paths)
{
    __shared__ unsigned words[8 * WORDS];
    unsigned base = (unsigned)__cvta_generic_to_shared(words),
             at = base + 4 * threadIdx.x;

    for (int i = threadIdx.x; i < 8 * WORDS; i += blockDim.x)
        words[i] = base + in[i];
    __syncthreads();
    long long start = clock64();
    PATHS(SHARED_LOAD)
    __syncwarp();
    stamp(clocks, start);
    out[blockIdx.x * blockDim.x + threadIdx.x] = (at - base) / 4;
}

extern "C" __global__ void its_l2(const unsigned *in, unsigned *out,
                                  long long *clocks, int paths)
{
    unsigned at = 4 * threadIdx.x;

    long long start = clock64();
    PATHS(L2_LOAD)
    __syncwarp();
    stamp(clocks, start);
    out[blockIdx.x * blockDim.x + threadIdx.x] = at / 4;
}
