/*
 * Experiment: what does a register cost in warps?
 *
 * An SM has 65,536 of them. They are handed out a warp at a time, in units of
 * 256, and each scheduler has its own quarter: 33 registers a thread take as
 * much as 40, and leave a warp in four without a place.
 *
 * Each kernel keeps values alive through all of a loop that does not use
 * them: the branch that would is never taken, but only who runs the kernel
 * knows. So kernels of the same work differ in their registers alone.
 *
 * walk_R      R registers; the loop walks a table in L2, and each step waits
 *             for the one before
 * compute_R   R registers; the loop is eight chains of multiplications, which
 *             few warps keep going
 *
 * Expect walk to climb in the steps of the occupancy, and compute to be flat.
 */

#define WORDS (1 << 20) /* of the table: all of it lies in L2 */
#define WARP                                                                 \
    32 /* warpSize is no constant, and dividing by it takes registers */

/*
 * A value of its own for each k, and nothing that the compiler could work out
 * again later.
 */
template <int LIVE>
static __device__ void hold(unsigned (&live)[LIVE], unsigned seed)
{
#pragma unroll
    for (int k = 0; k < LIVE; k++)
        live[k] = seed * (2 * k + 3);
}

/* What keeps them alive: a step that changes them all and is never taken. */
template <int LIVE>
static __device__ void stir(unsigned (&live)[LIVE], unsigned by)
{
#pragma unroll
    for (int k = 0; k < LIVE; k++)
        live[k] = live[k] * 5 + by;
}

template <int LIVE>
static __device__ unsigned sum_of(const unsigned (&live)[LIVE])
{
    unsigned sum = 0;

#pragma unroll
    for (int k = 0; k < LIVE; k++)
        sum += live[k];
    return sum;
}

template <int LIVE>
static __device__ void walk(const unsigned *in, unsigned *out, int steps)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    unsigned at = warp * 97u % WORDS, live[LIVE];

    hold(live, warp);
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
        at = __ldcg(&in[at]);
        if (at >= WORDS) /* the table has no such word */
            stir(live, at);
    }
    at += sum_of(live);
    if (threadIdx.x % WARP == 0)
        out[warp] = at;
}

template <int LIVE>
static __device__ void compute(const unsigned *in, unsigned *out, int steps,
                               int factor)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    unsigned v[8], live[LIVE], sum = 0;

    hold(live, warp);
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = warp + k;
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                v[k] = v[k] * factor + 1;
        if (s > steps) /* never */
            stir(live, v[0]);
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += v[k];
    sum += sum_of(live);
    if (threadIdx.x % WARP == 0)
        out[warp] = sum;
}

/*
 * Beside the values that they hold, walk takes 8 registers (sm_90) and
 * compute 20.
 */
#define REGISTERS(R)                                                         \
    extern "C" __global__ void walk_##R(const unsigned *in, unsigned *out,   \
                                        long long *clocks, int steps)        \
    {                                                                        \
        walk<R - 8>(in, out, steps);                                         \
    }                                                                        \
    extern "C" __global__ void compute_##R(const unsigned *in,               \
                                           unsigned *out, long long *clocks, \
                                           int steps, int factor)            \
    {                                                                        \
        compute<R - 20>(in, out, steps, factor);                             \
    }

REGISTERS(24)
REGISTERS(32)
REGISTERS(36)
REGISTERS(40)
REGISTERS(48)
REGISTERS(56)
REGISTERS(64)
REGISTERS(72)
REGISTERS(80)
REGISTERS(96)
REGISTERS(128)
