/*
 * Experiment: what does a block's shared memory cost in warps?
 *
 * An SM has a fixed store of it, and each block takes its part whether it
 * uses it or not (and one KB more that the system needs). What is left at the
 * end and is smaller than a block is lost.
 *
 * Each block of 256 threads asks for so many bytes, leaves its first word in
 * the last of them, and walks a table in L2: a step needs the word that the
 * step before has loaded, so that only other warps fill the wait. The bytes
 * themselves cost nothing; the warps that find no place do.
 */

#define WORDS (1 << 20) /* of the table: all of it lies in L2 */

/*
 * Dynamic shared memory is the third number of a launch. __ldcg
 * (ld.global.cg) passes L1 by.
 */
extern "C" __global__ void walk(const unsigned *in, unsigned *out,
                                long long *clocks, int steps, int words)
{
    extern __shared__ unsigned room[];
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    unsigned at = warp * 97u % WORDS;

    if (threadIdx.x == 0)
        room[words - 1] = blockIdx.x;
    __syncthreads();
#pragma unroll 4
    for (int s = 0; s < steps; s++)
        at = __ldcg(&in[at]);
    if (threadIdx.x % warpSize == 0)
        out[warp] = at + room[words - 1];
}
