/*
 * Experiment: what do bank conflicts cost, for one load and for many?
 *
 * Shared memory has 32 banks of 4 bytes. Lane l loads word l * stride, so
 * that with a stride of 2 two lanes want different words of one bank, with
 * 32 all of them: the load takes so many passes.
 *
 * chain   one warp, and each load's address is what the load before it got:
 *         the latency. Expect a few cycles more for each further pass.
 * stream  32 warps, and loads that need nothing: the rate. Expect as many
 *         cycles as passes.
 */

#define UNROLL 16   /* loads of one round */
#define WORDS  1024 /* 32 lanes, strides up to 32 */

/* PTX ISA, ld.volatile.shared: by its 32-bit address. Others the compiler
 * would do once for all. */
static __device__ unsigned load_shared(unsigned address)
{
    unsigned v;

    asm volatile("ld.volatile.shared.b32 %0, [%1];"
                 : "=r"(v)
                 : "r"(address));
    return v;
}

/* Every word holds its own address, so that a chain stays where it began.
 * Returns the first. */
static __device__ unsigned fill(unsigned *words)
{
    unsigned base = (unsigned)__cvta_generic_to_shared(words);

    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        words[i] = base + 4 * i;
    __syncthreads();
    return base;
}

extern "C" __global__ void banks_chain(const int *in, int *out,
                                       long long *clocks, int rounds,
                                       int stride)
{
    __shared__ unsigned words[WORDS];
    unsigned base = fill(words), at = base + threadIdx.x % 32 * stride * 4;

    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            at = load_shared(at);
    }
    stamp(clocks, start);
    out[blockIdx.x * blockDim.x + threadIdx.x] = (at - base) / 4;
}

extern "C" __global__ void banks_stream(const int *in, int *out,
                                        long long *clocks, int rounds,
                                        int stride)
{
    __shared__ unsigned words[WORDS];
    unsigned base = fill(words), at = base + threadIdx.x % 32 * stride * 4,
             got[UNROLL];

    for (int u = 0; u < UNROLL; u++)
        got[u] = 0;
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            got[u] ^= load_shared(at);
    }
    stamp(clocks, start);
    for (int u = 1; u < UNROLL; u++)
        got[0] += got[u];
    out[blockIdx.x * blockDim.x + threadIdx.x] = got[0] - UNROLL * base;
}
