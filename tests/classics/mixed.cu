/* Kernels that courses end with: cells that live, means that move, pairs of halves, copies that overlap. */
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <math.h>

namespace cg = cooperative_groups;

enum { LIFE = 16, TILE = 64 };

/* A torus: what leaves on one side comes back on the other. */
extern "C" __global__ void life(const unsigned char *now, unsigned char *next, int rows, int columns)
{
    __shared__ unsigned char tile[LIFE + 2][LIFE + 2];
    int c0 = blockIdx.x * LIFE - 1, r0 = blockIdx.y * LIFE - 1, alive = 0;

    for (int i = threadIdx.y * LIFE + threadIdx.x; i < (LIFE + 2) * (LIFE + 2); i += LIFE * LIFE) {
        int r = (r0 + i / (LIFE + 2) + rows) % rows, c = (c0 + i % (LIFE + 2) + columns) % columns;

        tile[i / (LIFE + 2)][i % (LIFE + 2)] = now[r * columns + c];
    }
    __syncthreads();
    int r = r0 + 1 + threadIdx.y, c = c0 + 1 + threadIdx.x;
    if (r >= rows || c >= columns)
        return;
    for (int dr = 0; dr < 3; dr++)
        for (int dc = 0; dc < 3; dc++)
            alive += tile[threadIdx.y + dr][threadIdx.x + dc];
    alive -= tile[threadIdx.y + 1][threadIdx.x + 1];
    next[r * columns + c] = alive == 3 || (alive == 2 && tile[threadIdx.y + 1][threadIdx.x + 1]);
}

/* Each point goes to the nearest centre; a block sums its points before it adds to the grid's sums. */
extern "C" __global__ void nearest_centre(const float2 *points, const float2 *centres, int *owner,
                                          float *sums, int *counts, int n, int k)
{
    extern __shared__ float part[];
    int *count = (int *)(part + 2 * k), i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;

    for (int j = threadIdx.x; j < 2 * k; j += blockDim.x)
        part[j] = 0;
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        count[j] = 0;
    __syncthreads();
    if (i < n) {
        float least = INFINITY;

        for (int j = 0; j < k; j++) {
            float dx = points[i].x - centres[j].x, dy = points[i].y - centres[j].y;

            if (dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                best = j;
            }
        }
        owner[i] = best;
        atomicAdd(&part[2 * best], points[i].x);
        atomicAdd(&part[2 * best + 1], points[i].y);
        atomicAdd(&count[best], 1);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < 2 * k; j += blockDim.x)
        atomicAdd(&sums[j], part[j]);
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        atomicAdd(&counts[j], count[j]);
}

extern "C" __global__ void axpy_pairs(__half2 *y, const __half2 *x, float a, int pairs)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x)
        y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

/* One atomic for all lanes that keep their value. */
extern "C" __global__ void keep_odd(const int *x, int *y, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && x[i] & 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        int first = 0;

        if (group.thread_rank() == 0)
            first = atomicAdd(count, (int)group.size());
        y[group.shfl(first, 0) + group.thread_rank()] = x[i];
    }
}

/* Ranks of one digit of four bits within a block: a warp's lanes of equal digit find each other. */
extern "C" __global__ void sort_by_digit(unsigned *x, int n)
{
    __shared__ unsigned value[1024];
    __shared__ int start[16][32], total[16];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int shift = 0; shift < 32; shift += 4) {
        unsigned v = threadIdx.x < n ? x[threadIdx.x] : ~0u, digit = v >> shift & 15;
        unsigned peers = __match_any_sync(~0u, digit), below = peers & ((1u << lane) - 1);

        for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x)
            start[i / 32][i % 32] = 0;
        __syncthreads();
        if (below == 0)
            start[digit][warp] = __popc(peers);
        __syncthreads();
        if (warp < 16) { /* a warp a digit: the sums of the warps before */
            int own = start[warp][lane], sum = own;

            for (int d = 1; d < 32; d *= 2) {
                int other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            start[warp][lane] = sum - own;
            if (lane == 31)
                total[warp] = sum;
        }
        __syncthreads();
        int at = start[digit][warp] + __popc(below);
        for (unsigned d = 0; d < digit; d++)
            at += total[d];
        value[at] = v;
        __syncthreads();
        if (threadIdx.x < n)
            x[threadIdx.x] = value[threadIdx.x];
        __syncthreads();
    }
}

/* Two tiles in shared memory: one is summed while the next is on its way. */
extern "C" __global__ void sum_of_tiles(const int *x, int *y, int tiles)
{
    __shared__ int tile[2][TILE];
    auto pipe = cuda::make_pipeline();
    int sum = 0;

    for (int t = 0; t < tiles + 1; t++) {
        pipe.producer_acquire();
        if (t < tiles)
            cuda::memcpy_async(&tile[t % 2][threadIdx.x], &x[(blockIdx.x * tiles + t) * TILE + threadIdx.x],
                               sizeof(int), pipe);
        pipe.producer_commit();
        if (t == 0)
            continue;
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        sum += tile[(t - 1) % 2][TILE - 1 - threadIdx.x] * t;
        __syncthreads();
        pipe.consumer_release();
    }
    y[blockIdx.x * TILE + threadIdx.x] = sum;
}
