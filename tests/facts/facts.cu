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

KERNEL switch_by_lane(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    switch (i % k) {
    case 0:
        y[i] = 1;
        break;
    case 1:
        y[i] = 2;
        y[i + n / 8] = 3;
        break;
    case 2:
        y[i] = 4;
    }
}

KERNEL search_by_lane(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = 0;

    for (; j < n; j++) {
        if (j * k >= i % 32)
            break;
        if (x[i + j] > 0)
            continue;
        y[i + j] = j;
    }
    y[i] = j;
}

static __device__ __noinline__ float called(const float *from, int step)
{
    return step < 0 ? 0 : from[step] + 1;
}

KERNEL call_by_lane(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i / k % 2)
        y[i] = called(x, i % 64 - 32);
}

KERNEL reduce_tree(float *x, float *y, int n, int k)
{
    __shared__ float s[1024];
    int i = threadIdx.x;

    s[i] = x[blockIdx.x * blockDim.x + i];
    for (int half = blockDim.x / 2; half >= k; half /= 2) {
        __syncthreads();
        if (i < half)
            s[i] += s[i + half];
    }
    if (i == 0)
        y[blockIdx.x] = s[0];
}

KERNEL tiled_product(float *x, float *y, int n, int k)
{
    __shared__ float a[16 * 17], b[16 * 17];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * 16 + ty;
    float sum = 0;

    for (int tile = 0; tile < 64; tile += 16) {
        a[ty * k + tx] = x[row * 64 + tile + tx];
        b[ty * k + tx] = x[(tile + ty) * 64 + tx];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += a[ty * k + j] * b[j * k + tx];
        __syncthreads();
    }
    y[row * 16 + tx] = sum;
}

struct five {
    float a, b, c, d, e;
};

KERNEL array_of_structs(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const struct five *in = (const struct five *)x + i * k;

    y[i] = in->a + in->c + in->e;
    ((struct five *)y)[i].d = in->b;
}

KERNEL stencil_halo(float *x, float *y, int n, int k)
{
    __shared__ float s[1024 + 64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + k;
    float sum = 0;

    s[at] = x[i + k];
    if (threadIdx.x < k) {
        s[at - k] = x[i];
        s[at + blockDim.x] = x[i + k + blockDim.x];
    }
    __syncthreads();
    for (int d = -k; d <= k; d++)
        sum += s[at + d];
    y[i] = sum;
}

KERNEL two_returns(float *x, float *y, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i % 32 < k)
        return;
    if (i / 32 % 2)
        y[i] = x[i * 2];
    if (i % 32 > 31 - k)
        return;
    y[i + n / 8] = x[i];
}
