/*
 * The lane loops again, for x86-64 processors with AVX2 and FMA: eight lanes of
 * 32 bits an instruction of the host, and fma as one.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#include "model/ptx/internal.h"

#define OPS_TABLE     OPS_AVX2
#define FMAF(a, b, c) __builtin_fmaf(a, b, c)
#define FMAD(a, b, c) __builtin_fma(a, b, c)

#include "model/ptx/lanes.h"
#else
typedef int exec_avx2_is_empty; /* ISO C wants a declaration in every file */
#endif
