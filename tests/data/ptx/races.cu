/* Shared memory with and without what orders it: NAME_ok and mistakes. tests/unit/test_check_races.c */
extern "C" __global__ void reverse_bad(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[255 - t];
}
extern "C" __global__ void reverse_ok(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[255 - t];
}
extern "C" __global__ void sum_bad(const float *x, float *y)
{
    __shared__ float s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    s += x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = s;
}
extern "C" __global__ void tile_bad(const float *x, float *y, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        s[t] = x[k * 64 + t];
        __syncthreads();
        sum += s[63 - t];
    }
    y[t] = sum;
}
extern "C" __global__ void reduce_ok(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (!t)
        y[0] = s[0];
}
extern "C" __global__ void reduce_bad(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 128; d; d /= 2) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    y[t] = s[0];
}
extern "C" __global__ void warp_error(const int *x, int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t % 32 == 0) {
        int sum = 0;
        for (int i = 0; i < 32; i++)
            sum += s[t + i];
        y[t / 32] = sum;
    }
}
extern "C" __global__ void lockstep(const float *x, float *y)
{
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    y[t] = s[t];
}
extern "C" __global__ void lock_ok(int *y)
{
    __shared__ int lock, sum;
    if (!threadIdx.x)
        lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done)
        if (atomicCAS(&lock, 0, 1) == 0) {
            sum += 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    y[threadIdx.x] = sum;
}
extern "C" __global__ void chars_ok(const char *x, char *y)
{
    __shared__ char s[256];
    s[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void flag_ok(const float *x, int *y)
{
    __shared__ int found;
    if (!threadIdx.x)
        found = 0;
    __syncthreads();
    if (x[threadIdx.x] > 3)
        found = 1;
    __syncthreads();
    y[threadIdx.x] = found;
}
extern "C" __global__ void hist_ok(const int *x, int *y)
{
    __shared__ int h[16];
    if (threadIdx.x < 16)
        h[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&h[x[threadIdx.x] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        y[threadIdx.x] = h[threadIdx.x];
}
extern "C" __global__ void winner(int *y)
{
    __shared__ int w;
    w = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = w;
}
extern "C" __global__ void warpsync_ok(const int *x, int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 1];
    __syncwarp();
    s[t] = y[t];
    __syncwarp();
    if (t % 32 == 0)
        y[t] = s[t + 31];
}
extern "C" __global__ void named_ok(const int *x, int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = x[t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = s[63 - t];
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        y[t] = 1;
    }
}
extern "C" __global__ void arrive_ok(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = x[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = s[t - 32];
    }
}
