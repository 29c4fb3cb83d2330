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
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}

const struct op_table *ops_of(enum ptx_lanes lanes)
{
    switch (lanes) {
    case PTX_LANES_BASELINE:
        return &OPS_BASELINE;
    case PTX_LANES_AVX2:
        return has_avx2() ? &OPS_AVX2 : NULL;
    case PTX_LANES_AVX512:
        return has_avx512() ? &OPS_AVX512 : NULL;
    case PTX_LANES_BEST:
        break;
    }
    return has_avx512() ? &OPS_AVX512 : has_avx2() ? &OPS_AVX2 : &OPS_BASELINE;
}
#else
const struct op_table *ops_of(enum ptx_lanes lanes)
{
    return lanes == PTX_LANES_BEST || lanes == PTX_LANES_BASELINE ? &OPS_BASELINE : NULL;
}
#endif
