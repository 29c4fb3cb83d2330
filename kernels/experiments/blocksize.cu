/*
 * Experiment: how many warps share an SM when blocks have this size, and does
 * time follow?
 *
 * An SM takes whole blocks, and only so many. Blocks of 32 threads run out of
 * places for blocks before the SM is full; blocks of 768 leave threads over
 * that no further block fits into.
 *
 * walk      each step needs the word that the step before has loaded, from
 *           L2: while it waits, other warps take their steps. Twice the
 *           warps, half the time
 * compute   eight chains of multiplications in each thread: a few warps keep
 *           the units busy
 *
 * Expect walk to follow the occupancy, tooth by tooth, and compute to be flat
 * from the first size on that gives each scheduler two or three warps.
 */

#define WORDS (1 << 20) /* of the table: all of it lies in L2 */

static __device__ int warp_of_launch()
{
    int warps_of_block = (blockDim.x + warpSize - 1) / warpSize;

    return blockIdx.x * warps_of_block + threadIdx.x / warpSize;
}

/*
 * All lanes of a warp walk together: a step is one sector. __ldcg
 * (ld.global.cg) passes L1 by.
 */
extern "C" __global__ void walk(const unsigned *in, unsigned *out,
                                long long *clocks, int steps)
{
    unsigned at = warp_of_launch() * 97u % WORDS;

#pragma unroll 4
    for (int s = 0; s < steps; s++)
        at = __ldcg(&in[at]);
    if (threadIdx.x % warpSize == 0)
        out[warp_of_launch()] = at;
}

extern "C" __global__ void compute(const unsigned *in, unsigned *out,
                                   long long *clocks, int steps, int factor)
{
    unsigned v[8], sum = 0;

    for (int k = 0; k < 8; k++)
        v[k] = warp_of_launch() + k;
#pragma unroll 4
    for (int s = 0; s < steps; s++)
        for (int k = 0; k < 8; k++)
            v[k] = v[k] * factor + 1;
    for (int k = 0; k < 8; k++)
        sum += v[k];
    if (threadIdx.x % warpSize == 0)
        out[warp_of_launch()] = sum;
}
