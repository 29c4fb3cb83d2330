/*
 * The lane loops a third time, for x86-64 processors with AVX-512: sixteen lanes of 32 bits an
 * instruction of the host, and masks in registers of their own.
 */
#if defined(__x86_64__)
#pragma GCC target(                                                                                \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi,bmi2,lzcnt,popcnt,prefer-vector-width=512")
#include "model/ptx/internal.h"

#define OPS_TABLE     OPS_AVX512
#define FMAF(a, b, c) __builtin_fmaf(a, b, c)
#define FMAD(a, b, c) __builtin_fma(a, b, c)

#include "model/ptx/lanes.h"
#else
typedef int exec_avx512_is_empty; /* ISO C wants a declaration in every file */
#endif
