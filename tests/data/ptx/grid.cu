/* Blocks that wait for each other. */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

/* Each step reads what all blocks wrote in the step before. */
extern "C" __global__ void steps(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    int size = (int)grid.size();

    for (int k = 0; k < n; k++) {
        int i = (int)grid.thread_rank();

        b[i] = a[(i + 1) % size] + a[(i + size / 2) % size];
        grid.sync();
        a[i] = b[size - 1 - i] % 1000;
        grid.sync();
    }
}

/* A barrier of one's own: arrive, and look until all have. */
extern "C" __global__ void own_barrier(volatile int *count, int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((int *)count, 1);
        while (*count < gridDim.x)
            ;
    }
    __syncthreads();
    int other = (blockIdx.x + 1) % gridDim.x;
    int seen = ((volatile int *)x)[other * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((int *)count, 1);
        while (*count < 2 * gridDim.x)
            __nanosleep(100);
    }
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

/* The first blocks wait for the last ones: order alone does not help. */
extern "C" __global__ void backwards(volatile int *flags, int *out)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (flags[blockIdx.x + 1] == 0)
                ;
        int next = blockIdx.x + 1 < gridDim.x ? flags[blockIdx.x + 1] : 0;
        out[blockIdx.x] = next;
        __threadfence();
        flags[blockIdx.x] = next + 1;
    }
}

/* An inclusive sum in one pass: each block looks back at those before it. */
extern "C" __global__ void look_back(const int *x, int *y, volatile int *state, volatile int *sums,
                                     int *ticket)
{
    __shared__ int s[64], tile, before;
    int t = threadIdx.x;

    if (t == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    s[t] = x[tile * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int sum = 0;

        if (tile > 0)
            while (state[tile - 1] == 0)
                ;
        sum = tile > 0 ? sums[tile - 1] : 0;
        sums[tile] = sum + s[63];
        __threadfence();
        state[tile] = 1;
        before = sum;
    }
    __syncthreads();
    y[tile * 64 + t] = s[t] + before;
}

__device__ unsigned int arrived;

/* The block that comes last adds up what all have left. */
extern "C" __global__ void last_block(const int *x, int *parts, int *out)
{
    __shared__ bool is_last;
    int t = threadIdx.x, v = x[blockIdx.x * 32 + t];

    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (t == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        int sum = 0;

        for (int i = 0; i < gridDim.x; i++)
            sum += ((volatile int *)parts)[i];
        *out = sum;
    }
}

/* Nobody sets the flag. */
extern "C" __global__ void for_ever(volatile int *flag, int *out)
{
    if (threadIdx.x == 0)
        while (*flag == 0)
            ;
    __syncthreads();
    out[blockIdx.x] = 1;
}

/* A loop that gives up: it is no deadlock. */
extern "C" __global__ void gives_up(volatile int *flag, int *out, int looks)
{
    int i = 0;

    while (*flag == 0 && i < looks)
        i++;
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}

/* Each poll of one thread is told to the others of its block. */
extern "C" __global__ void polls_together(volatile int *flags, int *out)
{
    __shared__ int s;
    int round = 0;

    if (threadIdx.x == 0)
        flags[gridDim.x - 1 - blockIdx.x] = 1;
    do {
        __syncthreads();
        if (threadIdx.x == 0)
            s = flags[blockIdx.x];
        __syncthreads();
        round++;
    } while (s == 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = round > 0;
}

/* A lock that blocks pass on, and that lanes of a warp take in turn. */
extern "C" __global__ void locked_sum(int *lock, int *sum)
{
    bool is_done = false;

    while (!is_done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)sum += 1;
            __threadfence();
            atomicExch(lock, 0);
            is_done = true;
        }
    }
}
