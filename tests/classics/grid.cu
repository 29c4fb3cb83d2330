/* Stencils, convolutions, and numbers by the point. */
enum { BLOCK = 128, RADIUS = 3 };
__constant__ float mask[2 * RADIUS + 1];

extern "C" __global__ void stencil_1d(const float *x, float *y, int n)
{
    __shared__ float s[BLOCK + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    float sum = 0;

    s[t + RADIUS] = i < n ? x[i] : 0;
    if (t < RADIUS) {
        s[t] = i >= RADIUS ? x[i - RADIUS] : 0;
        s[t + RADIUS + BLOCK] = i + BLOCK < n ? x[i + BLOCK] : 0;
    }
    __syncthreads();
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += mask[k + RADIUS] * s[t + RADIUS + k];
    if (i < n)
        y[i] = sum;
}

extern "C" __global__ void convolution_2d(const float *x, float *y, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (r >= rows || c >= columns)
        return;
    for (int dr = -RADIUS; dr <= RADIUS; dr++)
        for (int dc = -RADIUS; dc <= RADIUS; dc++)
            if (r + dr >= 0 && r + dr < rows && c + dc >= 0 && c + dc < columns)
                sum += mask[dr + RADIUS] * mask[dc + RADIUS] * x[(r + dr) * columns + c + dc];
    y[r * columns + c] = sum;
}

/* Five points in shared memory with a halo of one; the edge keeps its values. */
extern "C" __global__ void stencil_2d(const float *x, float *y, int rows, int columns)
{
    __shared__ float s[18][18];
    int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * 16 + tx, r = blockIdx.y * 16 + ty;
    bool is_in = r < rows && c < columns;

    if (is_in) {
        s[ty + 1][tx + 1] = x[r * columns + c];
        if (tx == 0 && c > 0)
            s[ty + 1][0] = x[r * columns + c - 1];
        if (tx == 15 && c + 1 < columns)
            s[ty + 1][17] = x[r * columns + c + 1];
        if (ty == 0 && r > 0)
            s[0][tx + 1] = x[(r - 1) * columns + c];
        if (ty == 15 && r + 1 < rows)
            s[17][tx + 1] = x[(r + 1) * columns + c];
    }
    __syncthreads();
    if (!is_in)
        return;
    if (r == 0 || c == 0 || r == rows - 1 || c == columns - 1)
        y[r * columns + c] = s[ty + 1][tx + 1];
    else
        y[r * columns + c] = 0.25f * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2]);
}

/* Seven points, marching along z with three planes in registers. */
extern "C" __global__ void stencil_3d(const float *x, float *y, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int plane = nx * ny, at = j * nx + i;

    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1)
        return;
    float below = x[at], here = x[at + plane], above;

    for (int k = 1; k < nz - 1; k++) {
        at += plane;
        above = x[at + plane];
        y[at] = below + above + x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] - 6 * here;
        below = here;
        here = above;
    }
}

extern "C" __global__ void mandelbrot(int *steps, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
    float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height, x = 0, y = 0;

    if (px >= width || py >= height)
        return;
    while (k < most && x * x + y * y < 4) {
        float next = x * x - y * y + cx;

        y = 2 * x * y + cy;
        x = next;
        k++;
    }
    steps[py * width + px] = k;
}

struct body {
    float x, y, z, mass;
};

extern "C" __global__ void forces(const float4 *bodies, float4 *out, int n)
{
    __shared__ float4 s[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = bodies[min(i, n - 1)], sum = { 0, 0, 0, 0 };

    for (int first = 0; first < n; first += BLOCK) {
        int count = min(BLOCK, n - first);

        __syncthreads();
        if (threadIdx.x < count)
            s[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < count; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
            float d = dx * dx + dy * dy + dz * dz + 0.01f, r = rsqrtf(d), w = s[j].w * r * r * r;

            sum.x += dx * w;
            sum.y += dy * w;
            sum.z += dz * w;
        }
    }
    if (i < n)
        out[i] = sum;
}

/* Points in the quarter circle, by a generator of our own: each thread jumps into its own stretch. */
__device__ unsigned next_random(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33);
}

extern "C" __global__ void monte_carlo(unsigned long long *hits, int per_thread)
{
    unsigned long long state = (blockIdx.x * BLOCK + threadIdx.x) * 0x9e3779b97f4a7c15ULL + 1;
    unsigned mine = 0;

    for (int k = 0; k < per_thread; k++) {
        float x = next_random(&state) * 0x1p-31f, y = next_random(&state) * 0x1p-31f;

        mine += x * x + y * y <= 1.0f;
    }
    atomicAdd(hits, (unsigned long long)mine);
}

/* Calls of itself: depth-first, as the debug build and the optimized build do it. */
__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *out)
{
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5);
}

__device__ float square(float x)
{
    return x * x;
}

__device__ float half_of(float x)
{
    return x / 2;
}

typedef float function(float);
__device__ function *const table[2] = { square, half_of };

extern "C" __global__ void by_pointer(const float *x, float *y, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        y[i] = table[i % 2](x[i]);
}
