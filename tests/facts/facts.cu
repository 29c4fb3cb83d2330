/*
 * Kernels whose facts a profiler can count too: built without optimization (-G), so that the machine
 * code has the branches and the accesses of the source. x and y hold n values; k is a pattern's step.
 */
#define KERNEL extern "C" __global__ void

KERNEL branch_by_lane(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x / k % 2)
        y[i] = 1;
    else
        y[i] = 2;
}

KERNEL branch_nested(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;

    if (i % 2) {
        if (i % 4 == k)
            v = 1;
        else
            v = 2;
    } else if (i % 8 == 0) {
        v = 3;
    }
    y[i] = v;
}

KERNEL loop_by_lane(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int j = 0; j <= i % k; j++)
        sum += j;
    y[i] = sum;
}

KERNEL guard(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n - k)
        return;
    y[i] = x[i];
}

KERNEL copy_strided(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = x[i * k % n];
}

KERNEL copy_shifted(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i + k] = x[i];
}

KERNEL copy_bytes(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    ((char *)y)[i] = ((char *)x)[i * k];
}

KERNEL copy_doubles(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    ((double *)y)[i] = ((double *)x)[i * k];
}

KERNEL copy_vectors(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    ((float4 *)y)[i] = ((float4 *)x)[i * k];
}

KERNEL gather(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = x[i * 7919u * k % n];
}

KERNEL broadcast(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = x[i / 32 * k];
}

KERNEL even_lanes(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i % 2 == 0)
        y[i * k] = x[i * k];
}

KERNEL shared_strided(float *x, float *y, int n, int k)
{
    __shared__ float s[4096];
    int i = threadIdx.x;

    s[i * k % 4096] = i;
    __syncthreads();
    y[blockIdx.x * blockDim.x + i] = s[i * k % 4096];
}

KERNEL shared_doubles(float *x, float *y, int n, int k)
{
    __shared__ double s[2048];
    int i = threadIdx.x;

    s[i * k % 2048] = i;
    __syncthreads();
    y[blockIdx.x * blockDim.x + i] = s[i * k % 2048];
}

KERNEL shared_vectors(float *x, float *y, int n, int k)
{
    __shared__ float4 s[1024];
    int i = threadIdx.x;
    float4 v = { 1, 2, 3, 4 };

    s[i * k % 1024] = v;
    __syncthreads();
    v = s[i * k % 1024];
    y[blockIdx.x * blockDim.x + i] = v.x + v.w;
}

KERNEL shared_bytes(float *x, float *y, int n, int k)
{
    __shared__ char s[4096];
    int i = threadIdx.x;

    s[i * k % 4096] = i;
    __syncthreads();
    y[blockIdx.x * blockDim.x + i] = s[i * k % 4096];
}

KERNEL shared_broadcast(float *x, float *y, int n, int k)
{
    __shared__ float s[4096];
    int i = threadIdx.x;

    s[i] = i;
    __syncthreads();
    y[blockIdx.x * blockDim.x + i] = s[i / k];
}

KERNEL transpose(float *x, float *y, int n, int k)
{
    __shared__ float s[32 * 33];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;

    for (int r = ty; r < 32; r += blockDim.x / 32)
        s[r * k + tx] = x[blockIdx.x * 1024 + r * 32 + tx];
    __syncthreads();
    for (int r = ty; r < 32; r += blockDim.x / 32)
        y[blockIdx.x * 1024 + r * 32 + tx] = s[tx * k + r];
}

KERNEL exchange(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i;

    for (int d = 16; d >= k; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    y[i] = v + __popc(__ballot_sync(0xffffffff, i % 3 == 0));
}
