/*
 * How fast does the SM's clock run? One thread counts cycles between two ticks of
 * the nanosecond timer. Waiting for a tick at both ends makes the timer's coarse
 * steps (32 ns to 1 us, by GPU) cost nothing.
 */

/* PTX ISA, special register %globaltimer: nanoseconds. */
static __device__ unsigned long long globaltimer(void)
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __device__ unsigned long long next_tick(void)
{
    unsigned long long before = globaltimer(), now;

    do {
        now = globaltimer();
    } while (now == before);
    return now;
}

/* out[0]: cycles, out[1]: nanoseconds, of a wait of at least so many cycles. */
extern "C" __global__ void clock_probe(unsigned long long *out, unsigned long long cycles)
{
    unsigned long long from_ns = next_tick();
    long long from = clock64();

    while ((unsigned long long)(clock64() - from) < cycles)
        ;
    out[1] = next_tick() - from_ns;
    out[0] = (unsigned long long)(clock64() - from);
}
