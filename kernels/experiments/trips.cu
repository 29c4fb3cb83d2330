/*
 * Experiment: what do lanes with unlike numbers of trips cost their warp?
 *
 * All warps do the same work: 6 trips a lane in the mean. With a spread of s
 * lanes make 6 - s to 6 + s trips. A warp stays in the loop for its longest
 * lane, and the others wait.
 *
 * Expect  (6 + s) / 6  of the time without a spread: 4 to 8 trips cost 4/3.
 */

#define MEAN 6
#define BODY 64 /* FFMAs of one trip */

extern "C" __global__ void trips(const float *in, float *out,
                                 long long *clocks, int rounds, int spread)
{
    int lane = threadIdx.x % 32,
        mine = MEAN - spread + lane % (2 * spread + 1);
    float v = in[threadIdx.x];

    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll 1
        for (int t = 0; t < mine; t++) {
#pragma unroll
            for (int k = 0; k < BODY; k++)
                v = fmaf(v, 0.5f, 0.25f);
        }
        v += 1;
    }
    __syncwarp();
    stamp(clocks, start);
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
