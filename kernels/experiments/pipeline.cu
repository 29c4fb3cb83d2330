/*
 * Experiment: how many tiles must be on their way so that the compute warps
 * never wait for one?
 *
 * A ring has PIPE slots in shared memory. A loader warp fills them and says
 * `full`; compute warps use a tile for C cycles and say `empty`; and the
 * loader fills that slot again, which takes L cycles. A slot goes round in L
 * + C cycles and there are PIPE of them, so a tile comes every (L + C) / PIPE
 * cycles, and never faster than it is used up.
 *
 * roles_P   a warp loads (cp.async) and two compute; they meet at mbarriers,
 *           one pair a slot
 * one_P     two warps do both: they wait for a tile, use it, and only then
 *           load the next into its slot; the block meets twice a tile
 *
 * Expect  max(C, (L + C) / PIPE)  cycles a tile.
 */

#define WORDS   256 /* of a tile */
#define COMPUTE 64  /* threads that compute, four words each */

static __device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* ---- The instructions: PTX ISA, "Asynchronous copy" and "mbarrier" ---- */

/*
 * cp.async: 16 bytes from global to shared memory, while the thread goes on.
 */
static __device__ void copy_async(unsigned *to, const unsigned *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     shared_address(to)),
                 "l"(from)
                 : "memory");
}

/*
 * cp.async.mbarrier.arrive: this thread arrives once all its copies so far
 * are there.
 */
static __device__ void arrive_after_copies(unsigned long long *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

static __device__ void barrier_init(unsigned long long *barrier,
                                    unsigned arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

static __device__ void arrive(unsigned long long *barrier)
{
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

/*
 * Until the phase of this parity is over. From 9.0 on the hardware may let
 * the warp sleep a bit.
 */
static __device__ void wait(unsigned long long *barrier, unsigned parity)
{
    unsigned done;

    do {
#if __CUDA_ARCH__ >= 900
        asm volatile(
            "{ .reg .pred p;"
            " mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
            " selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
#else
        asm volatile(
            "{ .reg .pred p;"
            " mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
            " selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
#endif
    } while (!done);
}

/* ---- What is done with a tile ---- */

/*
 * A chain of `work` multiplications from the thread's words on. The result
 * goes back into the slot, so that who frees the slot afterwards cannot do so
 * before the chain has ended.
 */
static __device__ unsigned use(unsigned *tile, int thread, unsigned v,
                               int work, int factor)
{
    uint4 words = ((const uint4 *)tile)[thread];

    v += words.x + words.y + words.z + words.w;
#pragma unroll 8
    for (int k = 0; k < work; k++)
        v = v * factor + 1;
    tile[4 * thread] = v;
    return v;
}

/* ---- Two roles ---- */

template <int PIPE>
static __device__ void roles(const unsigned *in, unsigned *out,
                             long long *clocks, int steps, int work,
                             int factor)
{
    __shared__ __align__(16) unsigned ring[PIPE][WORDS];
    __shared__ unsigned long long full[PIPE], empty[PIPE];
    int lane = threadIdx.x % warpSize;
    const unsigned *from = in + (long long)blockIdx.x * steps * WORDS;
    unsigned v = 0;

    if (threadIdx.x == 0)
        for (int s = 0; s < PIPE; s++) {
            barrier_init(&full[s], warpSize);
            barrier_init(&empty[s], COMPUTE / warpSize);
        }
    __syncthreads();
    long long start = clock64();
    if (threadIdx.x >= COMPUTE) { /* the loader */
        for (int k = 0; k < steps; k++) {
            int slot = k % PIPE;

            if (k >= PIPE)
                wait(&empty[slot], k / PIPE - 1 & 1);
            for (int part = 0; part < WORDS; part += 4 * warpSize)
                copy_async(&ring[slot][part + 4 * lane],
                           from + k * WORDS + part + 4 * lane);
            arrive_after_copies(&full[slot]);
        }
    } else {
        for (int k = 0; k < steps; k++) {
            int slot = k % PIPE;

            wait(&full[slot], k / PIPE & 1);
            v = use(ring[slot], threadIdx.x, v, work, factor);
            __syncwarp();
            if (lane == 0)
                arrive(&empty[slot]);
        }
    }
    stamp(clocks, start);
    if (threadIdx.x < COMPUTE)
        out[blockIdx.x * COMPUTE + threadIdx.x] = v;
}

/* ---- One role ---- */

template <int PIPE>
static __device__ void one(const unsigned *in, unsigned *out,
                           long long *clocks, int steps, int work, int factor)
{
    __shared__ __align__(16) unsigned ring[PIPE][WORDS];
    const unsigned *from =
        in + (long long)blockIdx.x * steps * WORDS + 4 * threadIdx.x;
    unsigned v = 0;

    __syncthreads();
    long long start = clock64();
    for (int k = 0; k < PIPE; k++) {
        copy_async(&ring[k][4 * threadIdx.x], from + k * WORDS);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < steps; k++) {
        int slot = k % PIPE;

        /*
         * All groups but the PIPE - 1 youngest are there, and with them tile
         * k.
         */
        asm volatile("cp.async.wait_group %0;" ::"n"(PIPE - 1) : "memory");
        __syncthreads();
        v = use(ring[slot], threadIdx.x, v, work, factor);
        __syncthreads();
        if (k + PIPE < steps)
            copy_async(&ring[slot][4 * threadIdx.x],
                       from + (k + PIPE) * WORDS);
        asm volatile("cp.async.commit_group;" ::
                         : "memory"); /* an empty one counts too */
    }
    stamp(clocks, start);
    out[blockIdx.x * COMPUTE + threadIdx.x] = v;
}

#define PIPELINE(P)                                                          \
    extern "C" __global__ void roles_##P(const unsigned *in, unsigned *out,  \
                                         long long *clocks, int steps,       \
                                         int work, int factor)               \
    {                                                                        \
        roles<P>(in, out, clocks, steps, work, factor);                      \
    }                                                                        \
    extern "C" __global__ void one_##P(const unsigned *in, unsigned *out,    \
                                       long long *clocks, int steps,         \
                                       int work, int factor)                 \
    {                                                                        \
        one<P>(in, out, clocks, steps, work, factor);                        \
    }

PIPELINE(1)
PIPELINE(2)
PIPELINE(3)
PIPELINE(4)
PIPELINE(5)
PIPELINE(6)
PIPELINE(7)
PIPELINE(8)
