/*
 * Experiment: how many bytes must be on their way to use all of the memory's
 * bandwidth?
 *
 * Little's law: what is in flight = bandwidth x latency. A byte takes about
 * 650 cycles, so an SM must have asked for so many that 650 cycles later the
 * next ones come in without a gap. Who asks does not matter: many warps that
 * have one load each, or few whose loads are wider, or several loads of one
 * warp that do not wait for each other.
 *
 * read_V_U reads the whole input once: V words a load, U loads in flight in
 * each thread. A point of the curve has so many warps on each SM that warps x
 * 32 lanes x V x U words are in flight.
 *
 * Expect the curves to lie on each other, to rise in a straight line and to
 * bend to the bandwidth.
 */

/*
 * ld.relaxed of 4, 8 and 16 bytes: the assembler keeps such loads in order.
 * Others it moves, with additions between them, volatile or not: of eight
 * loads of 16 bytes only four were on their way together.
 */
static __device__ void load(const unsigned *from, unsigned *v)
{
    asm volatile("ld.relaxed.cta.global.u32 %0, [%1];"
                 : "=r"(*v)
                 : "l"(from));
}

static __device__ void load(const uint2 *from, uint2 *v)
{
    asm volatile("ld.relaxed.cta.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v->x), "=r"(v->y)
                 : "l"(from));
}

static __device__ void load(const uint4 *from, uint4 *v)
{
    asm volatile("ld.relaxed.cta.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v->x), "=r"(v->y), "=r"(v->z), "=r"(v->w)
                 : "l"(from));
}

static __device__ unsigned sum_of(unsigned v)
{
    return v;
}
static __device__ unsigned sum_of(uint2 v)
{
    return v.x + v.y;
}
static __device__ unsigned sum_of(uint4 v)
{
    return v.x + v.y + v.z + v.w;
}

/*
 * All loads of a round start before the first is waited for: the sum begins
 * with the last one.
 */
template <typename T, int U>
static __device__ void read(const T *in, unsigned *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x,
        all = gridDim.x * blockDim.x;
    unsigned sum = 0;

#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        T v[U];

#pragma unroll
        for (int u = 0; u < U; u++)
            load(&in[i + (r * U + u) * all], &v[u]);
#pragma unroll
        for (int u = U - 1; u >= 0; u--)
            sum += sum_of(v[u]);
    }
    out[i] = sum;
}

#define READ(V, U, T)                                                        \
    extern "C" __global__ void read_##V##_##U(const T *in, unsigned *out,    \
                                              long long *clocks, int rounds) \
    {                                                                        \
        read<T, U>(in, out, rounds);                                         \
    }

READ(1, 1, unsigned)
READ(2, 1, uint2)
READ(4, 1, uint4)
READ(1, 4, unsigned)
READ(4, 4, uint4)
READ(4, 8, uint4)
