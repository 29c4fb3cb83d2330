/*
 * What every experiment that reads the SM's clock has in front of its
 * kernels.
 */

/* What a warp's lane 0 writes of its time: first reading, last reading, and
 * on which SM. */
static __device__ void stamp(long long *clocks, long long start)
{
    long long end = clock64();
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sm;

    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x % 32 == 0) {
        clocks[3 * warp] = start;
        clocks[3 * warp + 1] = end;
        clocks[3 * warp + 2] = sm;
    }
}
