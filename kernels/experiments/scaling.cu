/*
 * Experiment: do more blocks make more, when each has an SM to itself?
 *
 * Blocks do not wait for each other, so the same kernel runs on as many SMs
 * as there are. What an SM has for itself, its units, then grows with the
 * blocks. The memory does not: all share it.
 *
 * compute   chains of multiplications that keep a whole SM busy
 * memory    each block reads its stretch of a large input, as fast as an SM
 *           can
 *
 * Expect compute to be a straight line to 100 %, and memory to bend where a
 * part of the SMs asks for all that the memory gives.
 */
extern "C" __global__ void compute(const unsigned *in, unsigned *out,
                                   long long *clocks, int steps, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[4];

    for (int k = 0; k < 4; k++)
        v[k] = threadIdx.x + k;
#pragma unroll 8
    for (int s = 0; s < steps; s++)
        for (int k = 0; k < 4; k++)
            v[k] = v[k] * factor + 1;
    out[i] = v[0] + v[1] + v[2] + v[3];
}

/*
 * Block b begins at b / blocks of the input and reads `rounds` x 4 x 16 bytes
 * a thread from there. Behind the last of the input's vectors (a power of
 * two) comes the first.
 */
extern "C" __global__ void memory(const uint4 *in, unsigned *out,
                                  long long *clocks, int rounds, int vectors)
{
    int at = (int)((long long)vectors * blockIdx.x / gridDim.x) + threadIdx.x;
    unsigned sum = 0;

#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        uint4 v[4];

#pragma unroll
        for (int u = 0; u < 4; u++) {
            v[u] = in[at];
            at = (at + blockDim.x) & (vectors - 1);
        }
#pragma unroll
        for (int u = 0; u < 4; u++)
            sum += v[u].x + v[u].y + v[u].z + v[u].w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
