/*
 * Lesson: what does a branch cost when the lanes of a warp disagree?
 *
 * A warp has one instruction stream. If its 32 lanes want different paths,
 * it runs the paths one after the other and the lanes that are not on a path
 * sit it out. If whole warps differ, each runs one path: that is free. So
 * every rung here does the same work a thread as its twin; only who
 * disagrees with whom changes.
 *
 * short_by_lane   even lanes set a, odd lanes set b. The compiler leaves no
 *                 branch:
 * short_by_warp   it computes both and selects: by lane, by warp, the same
 * long_by_lane    two paths of ROUNDS steps: every warp runs both, twice the
 *                 time
 * long_by_warp    the same paths, by whole warps: every warp runs one. The
 *                 twin of all below
 * split_24_8      lanes 0..23 take one path, 24..31 the other, then all
 *                 join: the three parts take one half each, 3/2 of the time
 * paths_32        every lane a path of its own: 32 times the time
 * trips_4_to_8    a loop of 4 to 8 trips by lane: the warp stays for the
 *                 longest, 8, where the mean is 6, so 4/3 of the time
 *
 * Expect these factors once the paths outweigh the load, the store and the
 * start of the launch. All rungs: x[n], y[n] floats, one thread an element.
 */

/* Steps of a full path: a multiple of 6; its halves and sixths are whole. */
#define ROUNDS 288

/*
 * One step: a logistic map in two instructions, r * v * (1 - v). It never
 * settles, so a wrong step shows in the result, and it is exact: the host
 * computes the same bits.
 */
#define STEP(v, r) ((v) = (r) * fmaf(-(v), (v), (v)))

static __device__ float walk(float v, float r, int rounds)
{
#pragma unroll 8
    for (int k = 0; k < rounds; k++)
        STEP(v, r);
    return v;
}

extern "C" __global__ void short_by_lane(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0, b = 0;

    if (i >= n)
        return;
    if (i % 2 == 0)
        a = 100;
    else
        b = 200;
    y[i] = a + b;
}

extern "C" __global__ void short_by_warp(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0, b = 0;

    if (i >= n)
        return;
    if (i / warpSize % 2 == 0)
        a = 100;
    else
        b = 200;
    y[i] = a + b;
}

extern "C" __global__ void long_by_lane(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;

    if (i >= n)
        return;
    v = x[i];
    if (i % 2 == 0)
        v = walk(v, 3.7f, ROUNDS);
    else
        v = walk(v, 3.9f, ROUNDS);
    y[i] = v;
}

extern "C" __global__ void long_by_warp(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;

    if (i >= n)
        return;
    v = x[i];
    if (i / warpSize % 2 == 0)
        v = walk(v, 3.7f, ROUNDS);
    else
        v = walk(v, 3.9f, ROUNDS);
    y[i] = v;
}

extern "C" __global__ void split_24_8(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;

    if (i >= n)
        return;
    v = x[i];
    if (threadIdx.x % warpSize < 24)
        v = walk(v, 3.7f, ROUNDS / 2);
    else
        v = walk(v, 3.9f, ROUNDS / 2);
    y[i] = walk(v, 3.8f, ROUNDS / 2);
}

#define PATH(lane)                                  \
    case lane:                                      \
        v = walk(v, 3.6f + 0.01f * (lane), ROUNDS); \
        break;
#define PATHS_4(n)  PATH(n) PATH(n + 1) PATH(n + 2) PATH(n + 3)
#define PATHS_16(n) PATHS_4(n) PATHS_4(n + 4) PATHS_4(n + 8) PATHS_4(n + 12)

extern "C" __global__ void paths_32(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;

    if (i >= n)
        return;
    v = x[i];
    switch (threadIdx.x % 32) {
        PATHS_16(0)
        PATHS_16(16)
    }
    y[i] = v;
}

extern "C" __global__ void trips_4_to_8(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int trips = 4 + threadIdx.x % warpSize % 5;
    float v;

    if (i >= n)
        return;
    v = x[i];
    for (int k = 0; k < trips; k++)
        v = walk(v, 3.7f, ROUNDS / 6);
    y[i] = v;
}
