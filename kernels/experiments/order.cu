/*
 * Experiment: does the order of instructions for two units matter?
 *
 * An integer unit of 16 lanes takes a warp's instruction every 2nd cycle. In
 * the order FP FP INT INT  the second INT finds it taken: 5 cycles for 4
 * instructions. Alternating, FP INT FP INT,  nobody waits: 4 cycles. Both
 * kernels below do the same work.
 *
 * Look at %sass before you believe either: the order that runs is the
 * compiler's.
 */

#define WORK   128 /* instructions of one round */
#define CHAINS 8   /* of each kind: far more than latency needs */

/* PTX ISA: fma.rn.f32, and shf.l.wrap, a rotation. */
static __device__ float fp(float v)
{
    asm volatile("fma.rn.f32 %0, %0, 0f3f000000, 0f3f000000;" : "+f"(v));
    return v;
}

static __device__ unsigned integer(unsigned v)
{
    asm volatile("shf.l.wrap.b32 %0, %0, %0, 1;" : "+r"(v));
    return v;
}

/* is_fp(i): what the i-th instruction is. at: how many of its kind came
 * before. */
#define ORDER(name, is_fp, at)                                              \
    extern "C" __global__ void order_##name(const unsigned *in,             \
                                            unsigned *out,                  \
                                            long long *clocks, int rounds)  \
    {                                                                       \
        unsigned n[CHAINS], sum = 0;                                        \
        float f[CHAINS];                                                    \
                                                                            \
        for (int k = 0; k < CHAINS; k++) {                                  \
            n[k] = in[threadIdx.x % 32] + k;                                \
            f[k] = __uint_as_float(in[threadIdx.x % 32]);                   \
        }                                                                   \
        __syncthreads();                                                    \
        long long start = clock64();                                        \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++)                \
        {                                                                   \
            _Pragma("unroll") for (int i = 0; i < WORK; i++) if (is_fp(i))  \
                f[at(i) % CHAINS] = fp(f[at(i) % CHAINS]);                  \
            else n[at(i) % CHAINS] = integer(n[at(i) % CHAINS]);            \
        }                                                                   \
        stamp(clocks, start);                                               \
        for (int k = 0; k < CHAINS; k++)                                    \
            sum += n[k] + __float_as_uint(f[k]);                            \
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                   \
    }

#define PAIR_IS_FP(i) ((i) % 4 < 2)
#define PAIR_AT(i)    ((i) / 4 * 2 + (i) % 2)
#define TURN_IS_FP(i) ((i) % 2 == 0)
#define TURN_AT(i)    ((i) / 2)

ORDER(paired, PAIR_IS_FP, PAIR_AT)
ORDER(alternating, TURN_IS_FP, TURN_AT)
