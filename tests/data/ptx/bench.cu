/* What the interpreter's benchmark runs besides the everyday kernels of basics.cu. */

struct body {
    float x, y, z, mass;
};

/* Forces between all pairs, a tile of bodies at a time in shared memory. */
extern "C" __global__ void nbody(const float4 *bodies, float4 *force, int n)
{
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i], f = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int t = 0; t < n; t += 128) {
        tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = rsqrtf(r2), s = tile[k].w * inv * inv * inv;
            f.x += dx * s;
            f.y += dy * s;
            f.z += dz * s;
        }
        __syncthreads();
    }
    force[i] = f;
}

extern "C" __global__ void dgemm(const double *a, const double *b, double *c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    double sum = 0.0;
    if (row < n && col < n) {
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

/* A sum by shuffles, a block's in shared memory, all by one atomic a block. */
extern "C" __global__ void reduce_shuffle(const float *x, float *out, int n)
{
    __shared__ float partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (lane == 0)
            atomicAdd(out, v);
    }
}

/* Half the lanes of a warp take each side, in a loop. */
extern "C" __global__ void divergent(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 64; k++) {
        if ((threadIdx.x ^ k) & 1) {
            v = v * 1.0001f + 0.5f;
            if (v > 8.0f)
                v -= sqrtf(v);
        } else {
            v = v / 1.5f + x[(i + k) % n];
        }
    }
    y[i] = v;
}

/* Words from anywhere: no two lanes neighbours. */
extern "C" __global__ void gather(const unsigned *index, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 8; k++)
        sum += x[(index[i] * 2654435761u + k * 40503u) % n];
    y[i] = sum;
}
