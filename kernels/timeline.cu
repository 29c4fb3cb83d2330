/*
 * Who runs where, and when? Every block writes the SM that it is on and the time at
 * which it starts and ends. Between the two its first thread waits, by the SM's clock,
 * for as long as the block was told to take; its other threads only say whether they
 * are on the same SM, and end.
 *
 * Expect one SM a block (%schedule device=gpu draws the rest): blocks start in order,
 * fill every place, and each that ends is replaced at once.
 */
struct stay {
    unsigned long long start_ns, end_ns; /* of a timer that all SMs share, with coarse steps */
    long long start, end;                /* the SM's clock: fine, and its own */
    unsigned sm, strangers;              /* strangers: threads of the block on another SM */
};

/* PTX ISA, special registers %globaltimer and %smid. */
static __device__ unsigned long long globaltimer(void)
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __device__ unsigned smid(void)
{
    unsigned sm;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

extern "C" __global__ void timeline(struct stay *stays, const long long *cycles)
{
    long long start = clock64(), end;
    unsigned long long start_ns = globaltimer(), end_ns;
    long long wait = cycles[blockIdx.x];
    struct stay *stay = &stays[blockIdx.x];
    __shared__ unsigned home, strangers;

    if (threadIdx.x == 0) {
        home = smid();
        strangers = 0;
    }
    __syncthreads();
    if (smid() != home)
        atomicAdd(&strangers, 1);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    do
        end = clock64();
    while (end - start < wait);
    end_ns = globaltimer();
    *stay = { start_ns, end_ns, start, end, home, strangers };
}
