/*
 * Experiment: what does a launch cost, and from which size of a kernel on
 * does it not matter?
 *
 * Kernels in one stream follow each other: the card starts the next when the
 * one before has ended. Between two of them lie a few microseconds in which
 * nothing runs. A graph is the same sequence, handed over once and started as
 * a whole, with less between its kernels.
 *
 * spin is one block on each SM that multiplies for so many steps, one after
 * the other; 0 steps: an empty kernel. The time is that of many launches in a
 * row, divided.
 *
 * Expect a flat start, where the launch is what takes time, and a straight
 * line behind it.
 */
extern "C" __global__ void spin(const unsigned *in, unsigned *out,
                                long long *clocks, int steps, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i;

#pragma unroll 32
    for (int s = 0; s < steps; s++)
        v = v * factor + 1;
    out[i] = v;
}
