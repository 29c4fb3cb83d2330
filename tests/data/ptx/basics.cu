/* Everyday kernels: memory, loops, shared tiles, shuffles, atomics, calls. */
#define TILE 16

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    if (row < n && col < n) {
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int t = 0; t < n / TILE; t++) {
        ta[ty][tx] = a[row * n + t * TILE + tx];
        tb[ty][tx] = b[(t * TILE + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void reduce(const float *x, float *out, int n)
{
    extern __shared__ float partial[];
    int tid = threadIdx.x, lane = tid % 32;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (lane == 0)
        partial[tid / 32] = v;
    __syncthreads();
    if (tid == 0) {
        float sum = 0.0f;
        for (int w = 0; w < (int)blockDim.x / 32; w++)
            sum += partial[w];
        atomicAdd(out, sum);
    }
}

__constant__ float weights[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
__device__ int launches;

extern "C" __global__ void stencil(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = -2; k <= 2; k++) {
        int j = min(max(i + k, 0), n - 1);
        sum += weights[k + 2] * in[j];
    }
    if (i < n)
        out[i] = sum;
    if (i == 0)
        atomicAdd(&launches, 1);
}

extern "C" __global__ void histogram(const unsigned char *bytes, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[bytes[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}

__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void fibonacci(int *out)
{
    out[threadIdx.x] = fib(threadIdx.x % 10);
}

struct pair {
    double weight;
    short left, right;
    char tag[4];
};

__device__ __noinline__ pair swap_pair(pair p)
{
    short t = p.left;
    p.left = p.right;
    p.right = t;
    p.weight *= 2.0;
    p.tag[1] = 'x';
    return p;
}

extern "C" __global__ void structs(pair first, pair *out)
{
    first.left += threadIdx.x;
    out[threadIdx.x] = swap_pair(first);
}

extern "C" __global__ void votes(const int *x, unsigned *out)
{
    int v = x[threadIdx.x];
    unsigned all = __ballot_sync(0xffffffff, v > 0);
    int any = __any_sync(0xffffffff, v > 100), every = __all_sync(0xffffffff, v > -100);
    unsigned active = 0;
    if (v > 0)
        active = __activemask();
    out[threadIdx.x] = all ^ active ^ any << 1 ^ every << 2 ^ __popc(all) ^
                       __shfl_sync(0xffffffff, v, 3) ^ __shfl_xor_sync(0xffffffff, v, 5, 8) ^
                       __shfl_up_sync(0xffffffff, v, 2);
}

extern "C" __global__ void early_exit(int *out, int n)
{
    __shared__ int sum[2];
    if (threadIdx.x < 2)
        sum[threadIdx.x] = 0;
    __syncthreads();
    if ((int)threadIdx.x >= n)
        return;
    atomicAdd(&sum[0], 1);
    __syncthreads();
    out[threadIdx.x] = sum[0];
}
