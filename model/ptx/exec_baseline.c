/*
 * The lane loops for any processor. Without a fused multiply-add of the machine's
 * own, fmaf of the C library gives the same bits, one lane at a time.
 */
#include "model/ptx/internal.h"

#define OPS_TABLE     OPS_BASELINE
#define FMAF(a, b, c) __builtin_fmaf(a, b, c)
#define FMAD(a, b, c) __builtin_fma(a, b, c)

#include "model/ptx/lanes.h"

#if defined(__x86_64__)
const struct op_table *ops_best(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &OPS_AVX2
                                                                           : &OPS_BASELINE;
}
#else
const struct op_table *ops_best(void)
{
    return &OPS_BASELINE;
}
#endif
