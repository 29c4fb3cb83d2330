/*
 * Sums of n whole numbers (exact in any order), each step one idea past the one before: the course
 * of reductions that every CUDA student walks. Blocks of 128 threads; each adds into out[0].
 */
enum { BLOCK = 128 };

extern "C" __global__ void by_modulo(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;

    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        if (t % (2 * s) == 0)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

extern "C" __global__ void by_stride(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;

    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        int at = 2 * s * t;

        if (at < BLOCK)
            part[at] += part[at + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

extern "C" __global__ void by_halves(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;

    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

extern "C" __global__ void add_on_load(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * 2 * BLOCK + t;

    part[t] = (i < n ? x[i] : 0) + (i + BLOCK < n ? x[i + BLOCK] : 0);
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

/* The last warp needs no barrier of the block, but since Volta it needs one of its own. */
extern "C" __global__ void last_warp_alone(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * 2 * BLOCK + t;

    part[t] = (i < n ? x[i] : 0) + (i + BLOCK < n ? x[i + BLOCK] : 0);
    __syncthreads();
    for (int s = BLOCK / 2; s > 32; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t < 32) {
        int v = part[t] + part[t + 32];

        for (int s = 16; s > 0; s /= 2) {
            part[t] = v;
            __syncwarp();
            v += t < s ? part[t + s] : 0;
            __syncwarp();
        }
        if (t == 0)
            atomicAdd(out, v);
    }
}

extern "C" __global__ void unrolled(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, sum = 0;

    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += x[i];
    part[t] = sum;
    __syncthreads();
#pragma unroll
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

__device__ int warp_sum(int v)
{
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

extern "C" __global__ void by_shuffles(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK / 32];
    int t = threadIdx.x, sum = 0;

    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += x[i];
    sum = warp_sum(sum);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < BLOCK / 32 ? part[t] : 0);
        if (t == 0)
            atomicAdd(out, sum);
    }
}

extern "C" __global__ void by_redux(const int *x, int *out, int n)
{
    int sum = 0;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += x[i];
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

/* The block that comes last adds the partial sums: a counter in memory says who that is. */
__device__ unsigned finished;
__device__ int partial[1024];

extern "C" __global__ void last_block_adds(const int *x, int *out, int n)
{
    __shared__ int part[BLOCK];
    __shared__ bool is_last;
    int t = threadIdx.x, sum = 0;

    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += x[i];
    for (int round = 0; round < 2; round++) {
        part[t] = sum;
        __syncthreads();
        for (int s = BLOCK / 2; s > 0; s /= 2) {
            if (t < s)
                part[t] += part[t + s];
            __syncthreads();
        }
        if (round == 1)
            break;
        if (t == 0) {
            partial[blockIdx.x] = part[0];
            __threadfence();
            is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last)
            return;
        sum = 0;
        for (int i = t; i < gridDim.x; i += BLOCK)
            sum += *(volatile int *)&partial[i];
    }
    if (t == 0)
        *out = part[0];
}

/* Atomics of floating numbers by compare-and-swap, as before there were others. */
extern "C" __global__ void by_swaps(const int *x, int *out, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n) {
        int old = *out, seen;

        do {
            seen = old;
            old = atomicCAS(out, seen, seen + x[i]);
        } while (old != seen);
    }
}
