/* Kernels that show in which order blocks ran, and kernels that look as if they might. */

/* Every block writes its own part: side by side. */
extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * 3.0f + 1.0f;
}

/* Bytes of one word belong to different blocks. */
extern "C" __global__ void bytes(unsigned char *x)
{
    if (threadIdx.x < 3)
        x[3 * blockIdx.x + threadIdx.x] = (unsigned char)(blockIdx.x + threadIdx.x);
}

/* The last block in order wins. */
extern "C" __global__ void last_writer(int *x)
{
    x[threadIdx.x] = blockIdx.x;
}

/* Each block reads what the one before it left. */
extern "C" __global__ void chain(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + blockDim.x < n)
        x[i + blockDim.x] = x[i] + 1;
}

/* Only two of many blocks meet. */
extern "C" __global__ void meet_once(int *x, int n)
{
    int b = blockIdx.x, i = b * blockDim.x + threadIdx.x;
    if (b == 5)
        x[i] = x[n - 1 - threadIdx.x] + 7;
    else
        x[i] = i;
}

/* Integer sums commute. */
extern "C" __global__ void count(unsigned *bins, unsigned long long *total, int *most)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[i * 2654435761u >> 26], 1u);
    atomicAdd(total, (unsigned long long)i);
    atomicMax(most, (int)(i * 2654435761u >> 3));
}

/* Sums of floats do not. */
extern "C" __global__ void sum(float *out, double *wide)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i % 3], 1.0f / (float)(i + 1));
    atomicAdd(wide, 1.0 / (double)(i + 1));
}

/* A sum that somebody reads on the way. */
extern "C" __global__ void sum_and_look(int *out, int *seen)
{
    if (threadIdx.x == 0) {
        atomicAdd(out, 1);
        seen[blockIdx.x] = *out;
    }
}

/* The same for a float, by the block itself. */
extern "C" __global__ void float_and_look(float *out, float *seen)
{
    if (threadIdx.x == 0) {
        atomicAdd(&out[blockIdx.x], 1.5f);
        seen[blockIdx.x] = out[blockIdx.x];
    }
}

/* Two ways to combine the same word. */
extern "C" __global__ void add_and_max(int *out)
{
    atomicAdd(out, (int)threadIdx.x);
    atomicMax(out, (int)blockIdx.x * 4096);
}

/* Tickets: the result of the atomic is used. */
extern "C" __global__ void tickets(int *next, int *order)
{
    if (threadIdx.x == 0)
        order[blockIdx.x] = atomicAdd(next, 1);
}

/* A block finds out of bounds what only an earlier one makes so. */
extern "C" __global__ void bad_index(int *index, int *x)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b == 3)
            index[40] = 1 << 20;
        x[index[b]] = b;
    }
}

/* A gather whose indices another buffer holds, and pointers that are loaded. */
extern "C" __global__ void through_pointers(int **rows, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rows[blockIdx.x][threadIdx.x] = from[(i * 17) % n] + 1;
}

/* A loop long enough that another host thread pays. */
extern "C" __global__ void busy(unsigned *x, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    for (int k = 0; k < rounds; k++)
        v = v * 1664525u + 1013904223u + (v >> 7);
    x[i] = v;
}
