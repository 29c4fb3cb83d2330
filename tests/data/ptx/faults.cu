/* Accesses that go wrong: one kernel a mistake. tests/unit/test_check_memory.c */
__device__ float pick(const float *x, int k)
{
    return x[k + 5000];
}
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
extern "C" __global__ void le(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i] = x[i];
}
extern "C" __global__ void halo(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i - 1] + x[i];
}
extern "C" __global__ void halo2(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + x[i + 1];
}
extern "C" __global__ void stride(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[4 * i];
}
extern "C" __global__ void wild(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + n];
}
extern "C" __global__ void plane(int w, int h, const float *x, float *y)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    y[r * w + c] = x[r * w + c];
}
extern "C" __global__ void inl(int n, const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = pick(x, i);
}
extern "C" __global__ void overflow(int n, const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = x[(i + 1) * n];
}
extern "C" __global__ void cast(int n, const char *x, int *y)
{
    int i = threadIdx.x;
    y[i] = *(const int *)(x + i);
}
extern "C" __global__ void twice(int n, const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = x[i] * 2;
}
extern "C" __global__ void loop(int n, const float *x, float *y)
{
    float s = 0;
    for (int k = 0; k <= n; k++)
        s += x[k];
    y[threadIdx.x] = s;
}
extern "C" __global__ void sh(int n, const float *x, float *y)
{
    __shared__ float tile[32], other[32];
    int i = threadIdx.x;
    tile[i] = x[i];
    other[i] = 0;
    __syncthreads();
    y[i] = tile[i + 1] + other[i];
}
extern "C" __global__ void dyn(int n, const float *x, float *y)
{
    extern __shared__ float buf[];
    int i = threadIdx.x;
    buf[i] = x[i];
    __syncthreads();
    y[i] = buf[n - i];
}
extern "C" __global__ void unsh(int n, const float *x, float *y)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    y[i] = tile[2 * i];
}
extern "C" __global__ void loc(int n, const float *x, float *y)
{
    float a[8];
    for (int k = 0; k < n; k++)
        a[k] = x[k];
    y[threadIdx.x] = a[(int)x[threadIdx.x]];
}
struct P { char c; float f; double d; };
extern "C" __global__ void copy(const P *x, P *y)
{
    int i = threadIdx.x;
    y[i] = x[i];
}
