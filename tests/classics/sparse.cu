/* Sparse matrices and graphs. */
enum { BLOCK = 128 };

extern "C" __global__ void csr_scalar(int rows, const int *first, const int *columns, const float *values,
                                      const float *x, float *y)
{
    int r = blockIdx.x * BLOCK + threadIdx.x;

    if (r < rows) {
        float sum = 0;

        for (int k = first[r]; k < first[r + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[r] = sum;
    }
}

extern "C" __global__ void csr_vector(int rows, const int *first, const int *columns, const float *values,
                                      const float *x, float *y)
{
    int lane = threadIdx.x % 32, r = (blockIdx.x * BLOCK + threadIdx.x) / 32;
    float sum = 0;

    if (r >= rows)
        return;
    for (int k = first[r] + lane; k < first[r + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0)
        y[r] = sum;
}

extern "C" __global__ void ell(int rows, int width, const int *columns, const float *values, const float *x,
                               float *y)
{
    int r = blockIdx.x * BLOCK + threadIdx.x;

    if (r < rows) {
        float sum = 0;

        for (int k = 0; k < width; k++) {
            int c = columns[k * rows + r];

            if (c >= 0)
                sum += values[k * rows + r] * x[c];
        }
        y[r] = sum;
    }
}

/* One level of a breadth-first search; the frontier is a list that blocks append to. */
extern "C" __global__ void bfs_level(const int *first, const int *edges, int *level, int depth,
                                     const int *frontier, int count, int *next, int *next_count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        for (int k = first[frontier[i]]; k < first[frontier[i] + 1]; k++)
            if (atomicCAS(&level[edges[k]], -1, depth) == -1)
                next[atomicAdd(next_count, 1)] = edges[k];
}

extern "C" __global__ void floyd_warshall(int *d, int n, int k)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && j < n) {
        int through = d[i * n + k] + d[k * n + j];

        if (through < d[i * n + j])
            d[i * n + j] = through;
    }
}
