/* Cooperative groups, a whole grid that waits, and curand. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <curand_kernel.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tile_sums(const int *x, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = 0;

    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size())
        sum += x[i];
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0)
        atomicAdd(out, sum);
}

/* Only the odd numbers; the lanes that have one elect who adds for all. */
extern "C" __global__ void elected_sums(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && x[i] % 2) {
        cg::coalesced_group active = cg::coalesced_threads();
        int sum = cg::reduce(active, x[i], cg::plus<int>());

        if (active.thread_rank() == 0)
            atomicAdd(out, sum);
    }
}

/* Jacobi iteration: all blocks wait for each other between the sweeps. */
extern "C" __global__ void jacobi(float *a, float *b, int n, int sweeps)
{
    cg::grid_group grid = cg::this_grid();

    for (int s = 0; s < sweeps; s++) {
        for (int i = grid.thread_rank(); i < n * n; i += grid.size()) {
            int r = i / n, c = i % n;

            b[i] = r == 0 || c == 0 || r == n - 1 || c == n - 1
                       ? a[i]
                       : 0.25f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
        }
        grid.sync();
        float *keep = a;

        a = b;
        b = keep;
    }
}

extern "C" __global__ void uniform_numbers(float *x, int n, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;

    curand_init(seed, i, 0, &state);
    if (i < n)
        x[i] = curand_uniform(&state);
}

extern "C" __global__ void xorwow_numbers(float *x, int n, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState state;

    curand_init(seed, i, 0, &state);
    if (i < n)
        x[i] = curand_normal(&state);
}
