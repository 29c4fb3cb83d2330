/* Transposes, products, softmax and attention. */
#include <cuda_fp16.h>
#include <mma.h>

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000) /* NVRTC has no math.h */
#endif

enum { TILE = 16 };

extern "C" __global__ void transpose_plain(const float *x, float *y, int rows, int columns)
{
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;

    if (r < rows && c < columns)
        y[c * rows + r] = x[r * columns + c];
}

extern "C" __global__ void transpose_tiled(const float *x, float *y, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;

    if (r < rows && c < columns)
        tile[threadIdx.y][threadIdx.x] = x[r * columns + c];
    __syncthreads();
    c = blockIdx.y * TILE + threadIdx.x;
    r = blockIdx.x * TILE + threadIdx.y;
    if (r < columns && c < rows)
        y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void product_plain(const float *a, const float *b, float *c, int m, int n, int k)
{
    int j = blockIdx.x * TILE + threadIdx.x, i = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;

    if (i >= m || j >= n)
        return;
    for (int l = 0; l < k; l++)
        sum += a[i * k + l] * b[l * n + j];
    c[i * n + j] = sum;
}

extern "C" __global__ void product_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int j = blockIdx.x * TILE + x, i = blockIdx.y * TILE + y;
    float sum = 0;

    for (int first = 0; first < k; first += TILE) {
        ta[y][x] = i < m && first + x < k ? a[i * k + first + x] : 0;
        tb[y][x] = first + y < k && j < n ? b[(first + y) * n + j] : 0;
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            sum += ta[y][l] * tb[l][x];
        __syncthreads();
    }
    if (i < m && j < n)
        c[i * n + j] = sum;
}

/* Each thread makes 2 by 2 results from registers, so that a value of shared memory is used twice. */
extern "C" __global__ void product_registers(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float ta[2 * TILE][TILE + 1], tb[TILE][2 * TILE];
    int x = threadIdx.x, y = threadIdx.y, i0 = blockIdx.y * 2 * TILE, j0 = blockIdx.x * 2 * TILE;
    float sum[2][2] = { { 0 } };

    for (int first = 0; first < k; first += TILE) {
        for (int h = 0; h < 2; h++) {
            int i = i0 + y + h * TILE, j = j0 + x + h * TILE;

            ta[y + h * TILE][x] = i < m && first + x < k ? a[i * k + first + x] : 0;
            tb[y][x + h * TILE] = first + y < k && j < n ? b[(first + y) * n + j] : 0;
        }
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            for (int p = 0; p < 2; p++)
                for (int q = 0; q < 2; q++)
                    sum[p][q] += ta[y + p * TILE][l] * tb[l][x + q * TILE];
        __syncthreads();
    }
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++)
            if (i0 + y + p * TILE < m && j0 + x + q * TILE < n)
                c[(i0 + y + p * TILE) * n + j0 + x + q * TILE] = sum[p][q];
}

/* A warp a tile of 16 by 16; sizes are multiples of 16. */
extern "C" __global__ void product_wmma(const half *a, const half *b, float *c, int m, int n, int k)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;

    wmma::fill_fragment(fc, 0.0f);
    for (int l = 0; l < k; l += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * k + l, k);
        wmma::load_matrix_sync(fb, b + l * n + blockIdx.x * 16, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void to_half(const float *x, half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = __float2half(x[i]);
}

__device__ float block_max(float v, float *room)
{
    for (int d = 16; d > 0; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++)
        v = fmaxf(v, room[w]);
    __syncthreads();
    return v;
}

__device__ float block_sum(float v, float *room)
{
    float sum = 0;

    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += room[w];
    __syncthreads();
    return sum;
}

/* A row a block. */
extern "C" __global__ void softmax(const float *x, float *y, int n)
{
    __shared__ float room[32];
    const float *row = x + blockIdx.x * n;
    float most = -INFINITY, sum = 0;

    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, row[i]);
    most = block_max(most, room);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += expf(row[i] - most);
    sum = block_sum(sum, room);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

extern "C" __global__ void layer_norm(const float *x, float *y, int n)
{
    __shared__ float room[32];
    const float *row = x + blockIdx.x * n;
    float sum = 0, squares = 0, mean;

    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += row[i];
    mean = block_sum(sum, room) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        squares += (row[i] - mean) * (row[i] - mean);
    squares = block_sum(squares, room) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = (row[i] - mean) * rsqrtf(squares + 1e-5f);
}

/* Attention without the matrix of scores: keys by tiles, with the largest score and the sum so far. */
enum { DEPTH = 16, KEYS = 32 };

extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out, int n)
{
    __shared__ float tk[KEYS][DEPTH], tv[KEYS][DEPTH];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine[DEPTH], sum[DEPTH] = { 0 }, most = -INFINITY, weight = 0;

    for (int d = 0; d < DEPTH; d++)
        mine[d] = i < n ? q[i * DEPTH + d] : 0;
    for (int first = 0; first < n; first += KEYS) {
        for (int e = threadIdx.x; e < KEYS * DEPTH; e += blockDim.x) {
            int at = first * DEPTH + e;

            tk[e / DEPTH][e % DEPTH] = at < n * DEPTH ? k[at] : 0;
            tv[e / DEPTH][e % DEPTH] = at < n * DEPTH ? v[at] : 0;
        }
        __syncthreads();
        for (int j = 0; j < KEYS && first + j < n; j++) {
            float score = 0, before = most, scale, p;

            for (int d = 0; d < DEPTH; d++)
                score += mine[d] * tk[j][d];
            score *= 0.25f;
            most = fmaxf(most, score);
            scale = __expf(before - most);
            p = __expf(score - most);
            weight = weight * scale + p;
            for (int d = 0; d < DEPTH; d++)
                sum[d] = sum[d] * scale + p * tv[j][d];
        }
        __syncthreads();
    }
    for (int d = 0; d < DEPTH && i < n; d++)
        out[i * DEPTH + d] = sum[d] / weight;
}
