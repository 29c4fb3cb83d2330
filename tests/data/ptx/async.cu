/* Copies that go on beside the threads, barriers in shared memory, and what goes wrong with them. */
#ifndef DEBUG_BUILD
#include <cuda_pipeline.h>
#else /* that header is 480 KB of PTX when it is built for debugging */
static __device__ void __pipeline_memcpy_async(void *to, const void *from, int n, int zeros = 0)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);

    if (n == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(n - zeros));
    else if (n == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(n - zeros));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(n - zeros));
}
#define __pipeline_commit()      asm volatile("cp.async.commit_group;")
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" ::"n"(n))
#endif

/* Two stages: one is read while the next one comes. */
extern "C" __global__ void staged(const float4 *x, float *out, int n)
{
    __shared__ float4 tile[2][64];
    int t = threadIdx.x;
    float sum = 0;

    __pipeline_memcpy_async(&tile[0][t], &x[t], 16);
    __pipeline_commit();
    for (int i = 0; i < n; i++) {
        if (i + 1 < n)
            __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = tile[i % 2][63 - t];
        sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
        __syncthreads();
    }
    out[t] = sum;
}

/* The last bytes of a copy are zeros. */
extern "C" __global__ void filled(const int *x, int *out)
{
    __shared__ int4 wide[32];
    __shared__ int2 two[32];
    __shared__ int one[32];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&wide[t], x + 4 * t, 16, 8);
    __pipeline_memcpy_async(&two[t], x + 2 * t, 8, 5);
    __pipeline_memcpy_async(&one[t], x + t, 4, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[7 * t] = wide[t].x;
    out[7 * t + 1] = wide[t].y;
    out[7 * t + 2] = wide[t].z;
    out[7 * t + 3] = wide[t].w;
    out[7 * t + 4] = two[t].x;
    out[7 * t + 5] = two[t].y;
    out[7 * t + 6] = one[t];
}

/* Another thread's copy is there after a barrier; without the wait before it, it is not. */
extern "C" __global__ void hasty(const int *x, int *out, int waits)
{
    __shared__ int tile[64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    if (waits)
        __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - t];
    __syncthreads();
    if (!waits)
        __pipeline_wait_prior(0);
}

/* The copy is its own thread's, and is looked at too early. */
extern "C" __global__ void hasty_own(const int *x, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;

    tile[t] = -1;
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    out[t] = tile[t];
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* A copy into what others still read. */
extern "C" __global__ void overtaking(const int *x, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;

    tile[t] = t;
    __syncthreads();
    out[t] = tile[63 - t];
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 + t] = tile[63 - t];
}

extern "C" __global__ void outside(const int *x, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&tile[t], &x[t + 1], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[t];
}

/* An mbarrier that nobody made. */
extern "C" __global__ void unmade(int *out)
{
    __shared__ __align__(8) unsigned long long word;

    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(
        (unsigned)__cvta_generic_to_shared(&word)));
    out[threadIdx.x] = 1;
}

#ifndef DEBUG_BUILD /* where the headers are 40,000 lines */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;

/* What each thread wrote is there after cuda::barrier, phase after phase. */
extern "C" __global__ void phases(int *out, int n, int missing)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int value[128];
    int t = threadIdx.x, sum = 0;

    if (t == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < n; i++) {
        value[t] = t + i;
        if (t != missing)
            barrier.arrive_and_wait();
        sum += value[(t + 37) % 128];
        barrier.arrive_and_wait();
    }
    out[t] = sum;
}

/* Half of the block makes what the other half takes. */
extern "C" __global__ void made_and_taken(int *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    __shared__ int box[32];
    int t = threadIdx.x, lane = t % 32, sum = 0;

    if (t == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    for (int i = 0; i < n; i++) {
        if (t < 32) {
            empty.arrive_and_wait();
            box[lane] = lane * 3 + i;
            (void)full.arrive();
        } else {
            (void)empty.arrive();
            full.arrive_and_wait();
            sum += box[31 - lane];
        }
    }
    out[t] = sum;
}

/* A thread leaves: the rest is fewer. */
extern "C" __global__ void leaving(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int value[64];
    int t = threadIdx.x;

    if (t % 16 == 0) /* several threads, all alike: public programs do so */
        init(&barrier, blockDim.x);
    __syncthreads();
    if (t % 2) {
        barrier.arrive_and_drop();
        return;
    }
    value[t] = 5 * t;
    barrier.arrive_and_wait();
    out[t] = value[62 - t];
    barrier.arrive_and_wait();
    value[t] = 1;
    barrier.arrive_and_wait();
    out[t] += value[62 - t];
}

/* A group's copy of a whole tile. */
extern "C" __global__ void together(const int *x, int *out, int n)
{
    extern __shared__ int tile[];
    cg::thread_block block = cg::this_thread_block();
    int sum = 0;

    for (int i = 0; i < n; i++) {
        cg::memcpy_async(block, tile, x + i * 128, sizeof(int) * 128);
        cg::wait(block);
        sum += tile[127 - threadIdx.x] * (i + 1);
        block.sync();
    }
    out[threadIdx.x] = sum;
}

/* cuda::memcpy_async with a barrier that the copies complete. */
extern "C" __global__ void followed(const int *x, int *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x, sum = 0;

    if (t == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < n; i++) {
        cuda::memcpy_async(&tile[t], &x[i * 64 + t], sizeof(int), barrier);
        barrier.arrive_and_wait();
        sum += tile[63 - t] * (i + 1);
        barrier.arrive_and_wait();
    }
    out[t] = sum;
}

/* cuda::pipeline of the block, two stages. */
extern "C" __global__ void piped(const int *x, int *out, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int tile[2][64];
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;

    for (int i = 0, next = 0; i < n; i++) {
        for (; next < n && next < i + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[next % 2][t], &x[next * 64 + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[i % 2][63 - t] * (i + 1);
        pipe.consumer_release();
    }
    out[t] = sum;
}

#if __CUDA_ARCH__ >= 900
/* Tiles come in bulk, are turned round, and go out in bulk. */
extern "C" __global__ void bulk(const int *x, int *out, int n, int waits)
{
    __shared__ alignas(16) int in[512], turned[512];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x;

    if (t == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < n; i++) {
        cuda::barrier<cuda::thread_scope_block>::arrival_token token;

        if (t == 0) {
            cuda::device::memcpy_async_tx(in, x + 512 * i, cuda::aligned_size_t<16>(sizeof in), barrier);
            token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof in);
        } else {
            token = barrier.arrive();
        }
        if (waits)
            barrier.wait(std::move(token));
        for (int k = t; k < 512; k += blockDim.x)
            turned[511 - k] = in[k];
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out + 512 * i, turned,
                                     sizeof turned);
            cuda::ptx::cp_async_bulk_commit_group();
            cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
        }
        __syncthreads();
    }
}
#endif
#endif
