/*
 * Experiment: how long does each unit take, and how often does it take an
 * instruction?
 *
 * chain   one warp, and every instruction needs the result of the one
 *         before: the latency
 * stream  8 warps a scheduler with 4 chains each: the unit is never without
 *         work. One of 16 lanes takes a warp's instruction every 2nd cycle,
 *         one of 4 lanes every 8th
 *
 * Each instruction is written as PTX, so that it stays the one that is
 * meant. The values are such that every GPU gives the same bits; the
 * compiler does not know them.
 */

#define WORK 128 /* instructions of one round of the loop */

/* PTX ISA: fma.rn.f32, fma.rn.f16x2, fma.rn.f64, shf.l.wrap (a rotation),
 * mad.lo, rsqrt.approx (1 / (1 / v) the compiler would know to be v). */
static __device__ float fp32_step(float v)
{
    asm volatile("fma.rn.f32 %0, %0, 0f3f000000, 0f3f000000;" : "+f"(v));
    return v;
}

static __device__ unsigned half2_step(unsigned v)
{
    asm volatile("fma.rn.f16x2 %0, %0, %1, %1;"
                 : "+r"(v)
                 : "r"(0x38003800)); /* 0.5 and 0.5 */
    return v;
}

static __device__ double fp64_step(double v)
{
    asm volatile("fma.rn.f64 %0, %0, 0d3fe0000000000000, 0d3fe0000000000000;"
                 : "+d"(v));
    return v;
}

static __device__ unsigned int32_step(unsigned v)
{
    asm volatile("shf.l.wrap.b32 %0, %0, %0, 1;" : "+r"(v));
    return v;
}

static __device__ unsigned imad_step(unsigned v)
{
    asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(v));
    return v;
}

static __device__ float sfu_step(float v)
{
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(v));
    return v;
}

static __device__ unsigned shuffle_step(unsigned v)
{
    return __shfl_xor_sync(0xffffffff, v, 1);
}

/* The input has no sign bit, which only the host knows: what begins with 1
 * stays 1. */
#define AS_IS(bits)     (bits)
#define AS_FLOAT(bits)  __uint_as_float(bits)
#define ONE_FLOAT(bits) __uint_as_float(0x3f800000 + ((bits) >> 31))
#define ONE_HALF2(bits) (0x3c003c00 + ((bits) >> 31))
#define FLOAT_BITS(v)   __float_as_uint((float)(v))

#define CHAINS(unit, way, K, type, begin, end)                              \
    extern "C" __global__ void unit##_##way(const unsigned *in,             \
                                            unsigned *out,                  \
                                            long long *clocks, int rounds)  \
    {                                                                       \
        unsigned sum = 0;                                                   \
        type v[K];                                                          \
                                                                            \
        for (int k = 0; k < K; k++)                                         \
            v[k] = begin(in[threadIdx.x % 32]);                             \
        __syncthreads();                                                    \
        long long start = clock64();                                        \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++)                \
        {                                                                   \
            _Pragma("unroll") for (int i = 0; i < WORK; i++) v[i % K] =     \
                unit##_step(v[i % K]);                                      \
        }                                                                   \
        stamp(clocks, start);                                               \
        for (int k = 0; k < K; k++)                                         \
            sum += end(v[k]);                                               \
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                   \
    }

#define UNIT(unit, type, begin, end)                                        \
    CHAINS(unit, chain, 1, type, begin, end)                                \
    CHAINS(unit, stream, 4, type, begin, end)

UNIT(fp32, float, AS_FLOAT, FLOAT_BITS)
UNIT(half2, unsigned, ONE_HALF2, AS_IS)
UNIT(fp64, double, AS_FLOAT, FLOAT_BITS)
UNIT(int32, unsigned, AS_IS, AS_IS)
UNIT(imad, unsigned, AS_IS, AS_IS)
UNIT(sfu, float, ONE_FLOAT, FLOAT_BITS)
UNIT(shuffle, unsigned, AS_IS, AS_IS)
