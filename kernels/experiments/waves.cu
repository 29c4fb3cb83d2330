/*
 * Experiment: what does the last, partly filled wave of blocks cost?
 *
 * An SM here has room for one block, so that a device of S SMs runs S blocks
 * at a time. One block more needs a second wave, in which all other SMs wait:
 * as long as for S more.
 *
 * Each block is one chain of multiplications in each of its threads, as long
 * as the others': its time is known, and all blocks take the same.
 *
 * Expect  ceil(blocks / S) * time of a block.
 */
extern "C" __global__ void chain(const unsigned *in, unsigned *out,
                                 long long *clocks, int steps, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[threadIdx.x];

#pragma unroll 32
    for (int s = 0; s < steps; s++)
        v = v * factor + 1;
    out[i] = v;
}
