/*
 * Experiment: how long does a load take, and where does its answer come
 * from?
 *
 * One thread follows pointers: each load's address is what the load before
 * it got, so that nothing can overlap. The pointers go round all 128-byte
 * lines of a footprint in a random order. Before the clock runs, the whole
 * block has written the pointers and read every line once: what fits in L1
 * is there, what fits in L2 is there.
 *
 * Expect stairs: L1, then L2 (near, and far where L2 has two halves), then
 * the card's memory.
 */

#define LINE   128
#define UNROLL 16

/* A random way round `lines` of them, a power of two: Hull and Dobell's full
 * period needs a multiplier of 4 k + 1 and an odd increment. */
static __device__ unsigned next_line(unsigned line, unsigned lines)
{
    return (1664525 * line + 1013904223) & (lines - 1);
}

extern "C" __global__ void chase(char *memory, unsigned *out,
                                 long long *clocks, int lines, int loads)
{
    char *at = memory, *sum = memory;

    for (int i = threadIdx.x; i < lines; i += blockDim.x)
        *(char **)(memory + (size_t)i * LINE) =
            memory + (size_t)next_line(i, lines) * LINE;
    __syncthreads();
    for (int i = threadIdx.x; i < lines; i += blockDim.x)
        if (*(char **)(memory + (size_t)i * LINE) == NULL)
            sum++;
    at += sum -
          memory; /* no pointer is NULL, but the loads were needed to know */
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < loads / UNROLL; i++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            at = *(char **)at;
    }
    stamp(clocks, start);
    out[blockIdx.x] = (unsigned)((at - memory) / LINE);
}
