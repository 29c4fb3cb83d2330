/* Branches of every shape: the interpreter's masks are tested on these. */
#define ROUNDS 64

__device__ static float grind(float v, float a, float b, int rounds)
{
    for (int r = 0; r < rounds; r++)
        v = v * a + b;
    return v;
}

extern "C" __global__ void short_by_lane(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.0f, b = 0.0f;
    if (i >= n)
        return;
    if (threadIdx.x % 2 == 0)
        a = 100.0f;
    else
        b = 200.0f;
    y[i] = x[i] + a + b;
}

extern "C" __global__ void long_by_lane(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (threadIdx.x % 2 == 0)
        y[i] = grind(x[i], 0.5f, 1.0f, ROUNDS);
    else
        y[i] = grind(x[i], 0.25f, 2.0f, ROUNDS);
}

extern "C" __global__ void long_by_warp(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (threadIdx.x / 32 % 2 == 0)
        y[i] = grind(x[i], 0.5f, 1.0f, ROUNDS);
    else
        y[i] = grind(x[i], 0.25f, 2.0f, ROUNDS);
}

extern "C" __global__ void split_24_8(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (threadIdx.x % 32 < 24)
        v = grind(v, 0.5f, 1.0f, ROUNDS);
    else
        v = grind(v, 0.25f, 2.0f, ROUNDS);
    y[i] = grind(v, 0.75f, 3.0f, ROUNDS);
}

extern "C" __global__ void paths_32(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
#define PATH(k) case k: v = grind(v, 0.5f + k / 64.0f, k, ROUNDS); break;
    switch (threadIdx.x % 32) {
    PATH(0) PATH(1) PATH(2) PATH(3) PATH(4) PATH(5) PATH(6) PATH(7)
    PATH(8) PATH(9) PATH(10) PATH(11) PATH(12) PATH(13) PATH(14) PATH(15)
    PATH(16) PATH(17) PATH(18) PATH(19) PATH(20) PATH(21) PATH(22) PATH(23)
    PATH(24) PATH(25) PATH(26) PATH(27) PATH(28) PATH(29) PATH(30) PATH(31)
    }
    y[i] = v;
}

extern "C" __global__ void trips_by_lane(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    int trips = 4 + threadIdx.x % 32 % 5;
#pragma unroll 1
    for (int t = 0; t < trips; t++)
        v = grind(v, 0.5f, 1.0f, ROUNDS);
    y[i] = v;
}

/* Nested ifs: depth 0..7 gives min(2^depth, 32) paths. */
extern "C" __global__ void nested(int *paths, int depth)
{
    int lane = threadIdx.x % 32, path = 0;
    for (int d = 0; d < depth; d++)
        path = path * 2 + (lane >> d & 1);
    if (path & 1) {
        if (path & 2)
            paths[threadIdx.x] = path * 3;
        else
            paths[threadIdx.x] = path * 5 + 1;
    } else {
        paths[threadIdx.x] = path * 7 + 2;
    }
}

/* A lock between the lanes of one warp: ends only where groups take turns. */
extern "C" __global__ void spin_lock(int *lock, int *count)
{
    bool is_done = false;
    while (!is_done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)count += 1;
            __threadfence();
            atomicExch(lock, 0);
            is_done = true;
        }
    }
}

extern "C" __global__ void naive_lock(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *(volatile int *)count += 1;
    __threadfence();
    atomicExch(lock, 0);
}
