/*
 * Experiment: which of the warps that could issue does a scheduler take?
 *
 * Every warp repeats: issue I instructions, one after the other, then wait
 * for a load. The load's address comes from the one before, and each of the
 * I - 2 FFMAs needs what was loaded, so that nothing can be moved over a
 * wait: one address, the FFMAs, one load, in one batch. (A loop that merely
 * says "FFMAs, then a load" becomes many loads and then many FFMAs: look at
 * %sass.)
 *
 * With a wait of W and N warps on a scheduler, a scheduler that stays with a
 * warp while it can (greedy) is busy for  min(1, N I / (I + W)):  the waits
 * fall apart and hide each other. One that takes turns (round robin) lets
 * all warps come to their loads together: N I / ((I - 1) N + 1 + W).
 */

#define UNROLL 16 /* batches of one round */
#define RING   8  /* places of a warp's chain */
/* FFMAs between the one that makes the address and the load: so many that it
 * never waits. */
#define BETWEEN 5

/* PTX ISA, ld.shared: by its 32-bit address, which travels in the bits of a
 * float. */
static __device__ float load_shared(float address)
{
    float v;

    asm volatile("ld.shared.f32 %0, [%1];"
                 : "=f"(v)
                 : "r"(__float_as_int(address)));
    return v;
}

/* PTX ISA, fma.rn.f32. Volatile: the batch stays in the order in which it is
 * written. */
static __device__ float ffma(float a, float b, float c)
{
    float d;

    asm volatile("fma.rn.f32 %0, %1, %2, %3;"
                 : "=f"(d)
                 : "f"(a), "f"(b), "f"(c));
    return d;
}

/* one and zero are the bits of 1.0f and 0.0f, but the compiler does not know
 * that. */
template <int I>
static __device__ void batches(const float *in, float *out,
                               long long *clocks, int rounds, int one_bits,
                               int zero_bits)
{
    __shared__ unsigned ring[RING * 32];
    float one = __int_as_float(one_bits), zero = __int_as_float(zero_bits);
    unsigned base = (unsigned)__cvta_generic_to_shared(ring),
             lane = threadIdx.x % 32;
    float v[I - 2], x = __int_as_float(base + 4 * lane), sum = 0;

    for (int i = threadIdx.x; i < RING * 32; i += blockDim.x)
        ring[i] = base + (i + 32) % (RING * 32) * 4;
    for (int k = 0; k < I - 2; k++)
        v[k] = in[k];
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            float loaded, address = ffma(x, one, zero);

#pragma unroll
            for (int k = 0; k < BETWEEN && k < I - 2; k++)
                v[k] = ffma(v[k], one, x);
            loaded = load_shared(address);
#pragma unroll
            for (int k = BETWEEN; k < I - 2; k++)
                v[k] = ffma(v[k], one, x);
            x = loaded;
        }
    }
    stamp(clocks, start);
    for (int k = 0; k < I - 2; k++)
        sum += v[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        sum + (__float_as_int(x) - base) / 4;
}

#define POLICY(I)                                                           \
    extern "C" __global__ void policy_##I(const float *in, float *out,      \
                                          long long *clocks, int rounds,    \
                                          int one, int zero)                \
    {                                                                       \
        batches<I>(in, out, clocks, rounds, one, zero);                     \
    }

POLICY(8)
POLICY(12)
POLICY(16)
POLICY(24)
POLICY(32)
