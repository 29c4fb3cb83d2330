/* What the lanes of a warp and the threads of a block do together. */
#define FULL 0xffffffffu

extern "C" __global__ void reds(const int *x, int *s, unsigned *u)
{
    int t = threadIdx.x, v = x[t];
    unsigned w = (unsigned)v;

    s[4 * t] = __reduce_add_sync(FULL, v);
    s[4 * t + 1] = __reduce_min_sync(FULL, v);
    s[4 * t + 2] = __reduce_max_sync(FULL, v);
    u[8 * t] = __reduce_add_sync(FULL, w);
    u[8 * t + 1] = __reduce_min_sync(FULL, w);
    u[8 * t + 2] = __reduce_max_sync(FULL, w);
    u[8 * t + 3] = __reduce_and_sync(FULL, w);
    u[8 * t + 4] = __reduce_or_sync(FULL, w);
    u[8 * t + 5] = __reduce_xor_sync(FULL, w);
    if (t % 32 < 20 && t % 3) /* some lanes, by a mask of their own */
        u[8 * t + 6] = __reduce_add_sync(0xfffff & 0xb6db6db6, w);
}

extern "C" __global__ void matches(const int *x, const long long *y, unsigned *u)
{
    int t = threadIdx.x, same, same_wide;

    u[6 * t] = __match_any_sync(FULL, x[t]);
    u[6 * t + 1] = __match_any_sync(FULL, y[t]);
    u[6 * t + 2] = __match_all_sync(FULL, x[t], &same);
    u[6 * t + 3] = (unsigned)same;
    u[6 * t + 4] = __match_all_sync(FULL, y[t], &same_wide);
    u[6 * t + 5] = (unsigned)same_wide;
}

/* Every mode with every width, and what a lane gets that has no source. */
extern "C" __global__ void shuffles(const int *x, int *out)
{
    int t = threadIdx.x, n = 0;

    for (int width = 2; width <= 32; width *= 2)
        for (int by = 0; by < 32; by += 5) {
            out[t + 32 * n++] = __shfl_sync(FULL, x[t], by + t / 8, width);
            out[t + 32 * n++] = __shfl_up_sync(FULL, x[t], by, width);
            out[t + 32 * n++] = __shfl_down_sync(FULL, x[t], by, width);
            out[t + 32 * n++] = __shfl_xor_sync(FULL, x[t], by, width);
        }
}

/* Each half of the warp, and each quarter, by masks of their own at one place. */
extern "C" __global__ void by_halves(const int *x, int *out)
{
    int t = threadIdx.x;
    unsigned half = t < 16 ? 0x0000ffffu : 0xffff0000u;
    unsigned quarter = 0xffu << (t & 24);

    out[t] = __reduce_add_sync(half, x[t]) + 1000 * __popc(__ballot_sync(quarter, x[t] > 0)) +
             100000 * __shfl_sync(half, x[t], t < 16 ? 3 : 19);
}

/* The arms of an if meet at instructions of their own. */
extern "C" __global__ void arms(const int *x, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;

    s[t] = 0;
    __syncwarp();
    if (t < 8) {
        s[t] = x[t];
        __syncwarp();
        out[t] = s[31 - t];
    } else {
        s[t] = 2 * x[t];
        __syncwarp();
        out[t] = s[31 - t];
    }
}

extern "C" __global__ void arms_exchange(const int *x, int *out)
{
    int t = threadIdx.x;

    if (t & 1)
        out[t] = __shfl_xor_sync(FULL, x[t] + 1, 1) * 2;
    else
        out[t] = __shfl_xor_sync(FULL, x[t] - 1, 1) * 3;
    if (t % 4 == 0)
        out[t] += 100 * (int)__ballot_sync(FULL, x[t] & 1);
    else
        out[t] -= (int)(__ballot_sync(FULL, !(x[t] & 1)) & 7);
}

/* One lane makes what the others wait for: a hand-over in both directions. */
extern "C" __global__ void hand_over(int *out)
{
    __shared__ volatile int box, turn;
    int t = threadIdx.x, sum = 0;

    if (t == 0) {
        box = 0;
        turn = 0;
    }
    __syncwarp();
    if (t == 0) {
        for (int i = 1; i <= 10; i++) {
            while (turn != 0)
                ;
            box = i * i;
            turn = 1;
        }
    } else if (t == 1) {
        for (int i = 1; i <= 10; i++) {
            while (turn != 1)
                ;
            sum += box;
            turn = 0;
        }
    }
    out[t] = sum;
}

extern "C" __global__ void block_counts(const int *x, int *out)
{
    int t = threadIdx.x;

    if (t >= 90)
        return;
    out[t] = __syncthreads_count(x[t] > 3);
    out[t] += 1000 * __syncthreads_and(x[t] > -100) + 2000 * __syncthreads_and(x[t] > 3);
    out[t] += 10000 * __syncthreads_or(x[t] == 7) + 20000 * __syncthreads_or(x[t] == 777);
}

/* A pipe of two warps: one fills, one empties, over two named barriers. */
extern "C" __global__ void pipe(const int *x, int *out, int rounds)
{
    __shared__ int s[32];
    int t = threadIdx.x, sum = 0;

    if (t < 32) {
        for (int i = 0; i < rounds; i++) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            s[t] = x[i * 32 + t];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else if (t < 64) {
        for (int i = 0; i < rounds; i++) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += s[t - 32];
        }
        out[t - 32] = sum;
    }
}

/* barrier.sync may be met in both arms; __syncthreads() may not. */
extern "C" __global__ void unaligned(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    s[t] = t;
    if (t % 2)
        asm volatile("barrier.sync 0;" ::: "memory");
    else
        asm volatile("barrier.sync 0;" ::: "memory");
    out[t] = s[63 - t];
}

extern "C" __global__ void leaves_early(int *out)
{
    int t = threadIdx.x;

    if (t >= 20)
        return;
    if (t < 10)
        out[t] = (int)__reduce_add_sync(0x000fffff, (unsigned)t);
    else
        out[t] = (int)__reduce_add_sync(0x000fffff, (unsigned)t) + 1;
}

/* Lane 31 ends while the others wait for it. */
extern "C" __global__ void ends_late(int *out)
{
    int t = threadIdx.x, n = 0;

    if (t == 31) {
        for (int i = 0; i < 100; i++)
            n += *(volatile int *)out;
        if (n == 0)
            return;
    }
    out[t] = (int)__ballot_sync(FULL, 1);
}

/* Different instructions never meet. */
extern "C" __global__ void never_meets(int *out)
{
    int t = threadIdx.x;

    if (t < 16)
        out[t] = __shfl_down_sync(FULL, t, 1);
    else
        out[t] = __shfl_up_sync(FULL, t, 1);
}
