/*
 * Experiment: what does it cost when the lanes of a warp read words that lie
 * apart?
 *
 * Memory comes in sectors of 32 bytes, eight words. A warp that reads 32
 * words side by side needs four of them; with a stride of two words eight,
 * and from eight on each lane has a sector of its own, of which it uses an
 * eighth.
 *
 * strided reads the same stretch of memory with each stride: every word,
 * every second, ... Twice the stride is half of the words, in the same time,
 * until each sector serves one lane alone. With an offset, each warp's words
 * begin behind the start of a sector, and take one sector more; the warp
 * beside it needs that sector too, and finds it in L1.
 *
 * Expect  useful bandwidth = memory's / min(stride, 8).
 */

/* ld.global.nc; volatile, or the compiler puts a use between two loads. */
static __device__ unsigned load(const unsigned *from)
{
    unsigned v;

    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(from));
    return v;
}

/* Four loads on their way in each thread: none waits for the one before. */
extern "C" __global__ void strided(const unsigned *in, unsigned *out,
                                   long long *clocks, int words, int stride,
                                   int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x,
        all = gridDim.x * blockDim.x;
    unsigned sum = 0;

#pragma unroll 1
    for (int k = 0; k < words; k += 4) {
        unsigned v[4];

#pragma unroll
        for (int u = 0; u < 4; u++)
            v[u] =
                load(&in[(long long)(i + (k + u) * all) * stride + offset]);
        sum += v[0] + v[1] + v[2] + v[3];
    }
    out[i] = sum;
}
