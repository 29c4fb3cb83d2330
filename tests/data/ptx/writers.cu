/* Ways to write memory other than st: what they write has a value, and may race. tests/unit/test_check_writers.c */
#include <mma.h>
#include <cuda_pipeline_primitives.h>
using namespace nvcuda;

#define KERNEL(name) extern "C" __global__ void name(float *out, int n)
#define T threadIdx.x

__device__ void product(float *to)
{
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 2.0f);
    wmma::store_matrix_sync(to, sum, 16, wmma::mem_row_major);
}
KERNEL(wmma_shared_ok)
{
    __shared__ float tile[256];
    if (T < 32) product(tile);
    __syncthreads();
    out[T] = tile[T * 2];
}
KERNEL(wmma_shared_bad)
{
    __shared__ float tile[256];
    if (T < 32) product(tile);
    out[T] = tile[255 - T];
}
KERNEL(wmma_half_bad)
{
    __shared__ float tile[512];
    if (T < 32) product(tile);
    __syncthreads();
    out[T] = tile[256 + T];
}
KERNEL(wmma_global_ok)
{
    if (T < 32) product(out);
    __syncthreads();
    out[T] += out[T + 64];
}
__device__ unsigned matrix(const void *row)
{
    unsigned v, at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(at) : "memory");
    return v;
}
KERNEL(ldmatrix_ok)
{
    __shared__ __align__(16) unsigned tile[32];
    if (T < 8) {
        __pipeline_memcpy_async(tile + 4 * T, out + 4 * T, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    if (T < 32) out[T + 64] = matrix(tile + 4 * (T & 7));
}
KERNEL(ldmatrix_bad)
{
    __shared__ __align__(16) unsigned tile[32];
    if (T < 7) tile[4 * T] = tile[4 * T + 1] = tile[4 * T + 2] = tile[4 * T + 3] = T;
    __syncthreads();
    if (T < 32) out[T + 64] = matrix(tile + 4 * (T & 7));
}
KERNEL(ldmatrix_race_bad)
{
    __shared__ __align__(16) unsigned tile[32];
    if (T >= 32) tile[T - 32] = T;
    if (T < 32) out[T] = matrix(tile + 4 * (T & 7));
}
KERNEL(heap_ok)
{
    float *p = (float *)malloc(16);
    for (int i = 0; i < 4; i++) p[i] = i;
    out[T] = p[T & 3];
    free(p);
}
KERNEL(heap_bad)
{
    float *p = (float *)malloc(16);
    for (int i = 0; i < 3; i++) p[i] = i;
    out[T] = p[n & 3];
    free(p);
}
KERNEL(memset_ok)
{
    int a[8];
    __shared__ int b[64];
    memset(a, 0, sizeof a);
    b[T] = a[n & 7];
    memcpy(a, b + T, 4);
    out[T] = a[0];
}
