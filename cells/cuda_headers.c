/*
 * One table: a pattern (a final * matches the rest of the name) and what to do with
 * such a header. The first row that matches counts, and its number is the rank.
 */
#include "cells/cuda_headers.h"

static const struct {
    const char *pattern;
    enum header_kind kind;
    const char *words;
} HEADERS[] = {
    { "cuda_fp16*", HEADER_PLAIN, NULL },
    { "cuda_bf16*", HEADER_PLAIN, NULL },
    { "cuda_fp8*", HEADER_PLAIN, NULL },
    { "cuda_fp4*", HEADER_PLAIN, NULL },
    { "mma.h", HEADER_ON_DEMAND, "nvcuda" },
    { "cuda_pipeline*", HEADER_ON_DEMAND, "__pipeline_* nvcuda" },
    { "cuda_awbarrier*", HEADER_ON_DEMAND, "nvcuda __mbarrier_*" },
    { "cooperative_groups.h", HEADER_ON_DEMAND, "cooperative_groups" },
    { "cooperative_groups/reduce.h", HEADER_ON_DEMAND, "cooperative_groups" },
    { "cooperative_groups/scan.h", HEADER_ON_DEMAND, "cooperative_groups" },
    { "cooperative_groups/memcpy_async.h", HEADER_ON_DEMAND, "cooperative_groups" },
    { "cooperative_groups/*", HEADER_ON_DEMAND, "cooperative_groups" },
    { "cuda/*", HEADER_ON_DEMAND, "cuda" },
    { "curand_kernel.h", HEADER_ON_DEMAND, "curand*" },
    { "cub/*", HEADER_ON_DEMAND, "cub" },

    /* The standard library as cuda::std has it; kernels/device_headers.c answers these names. */
    { "type_traits", HEADER_ON_DEMAND, "std" },
    { "limits", HEADER_ON_DEMAND, "std" },
    { "utility", HEADER_ON_DEMAND, "std" },
    { "tuple", HEADER_ON_DEMAND, "std" },
    { "array", HEADER_ON_DEMAND, "std" },
    { "complex", HEADER_ON_DEMAND, "std" },
    { "functional", HEADER_ON_DEMAND, "std" },
    { "numeric", HEADER_ON_DEMAND, "std" },
    { "iterator", HEADER_ON_DEMAND, "std" },
    { "initializer_list", HEADER_ON_DEMAND, "std" },
    { "optional", HEADER_ON_DEMAND, "std" },
    { "variant", HEADER_ON_DEMAND, "std" },
    { "bit", HEADER_ON_DEMAND, "std" },
    { "bitset", HEADER_ON_DEMAND, "std" },
    { "concepts", HEADER_ON_DEMAND, "std" },
    { "ratio", HEADER_ON_DEMAND, "std" },
    { "span", HEADER_ON_DEMAND, "std" },
    { "algorithm", HEADER_ON_DEMAND, "std" },
    { "cmath", HEADER_ON_DEMAND, "std" },
    { "cstddef", HEADER_ON_DEMAND, "std" },

    /* Of which device code uses nothing. */
    { "iostream", HEADER_HOST, NULL },
    { "ostream", HEADER_HOST, NULL },
    { "istream", HEADER_HOST, NULL },
    { "fstream", HEADER_HOST, NULL },
    { "sstream", HEADER_HOST, NULL },
    { "iomanip", HEADER_HOST, NULL },
    { "string", HEADER_HOST, NULL },
    { "string_view", HEADER_HOST, NULL },
    { "vector", HEADER_HOST, NULL },
    { "list", HEADER_HOST, NULL },
    { "deque", HEADER_HOST, NULL },
    { "queue", HEADER_HOST, NULL },
    { "stack", HEADER_HOST, NULL },
    { "map", HEADER_HOST, NULL },
    { "set", HEADER_HOST, NULL },
    { "unordered_map", HEADER_HOST, NULL },
    { "unordered_set", HEADER_HOST, NULL },
    { "memory", HEADER_HOST, NULL },
    { "new", HEADER_HOST, NULL },
    { "random", HEADER_HOST, NULL },
    { "chrono", HEADER_HOST, NULL },
    { "thread", HEADER_HOST, NULL },
    { "mutex", HEADER_HOST, NULL },
    { "condition_variable", HEADER_HOST, NULL },
    { "future", HEADER_HOST, NULL },
    { "stdexcept", HEADER_HOST, NULL },
    { "exception", HEADER_HOST, NULL },
    { "stdarg.h", HEADER_HOST, NULL },
    { "atomic", HEADER_HOST, NULL },
    { "cstdio", HEADER_HOST, NULL },
    { "cstdlib", HEADER_HOST, NULL },
    { "cstring", HEADER_HOST, NULL },
    { "ctime", HEADER_HOST, NULL },
    { "cassert", HEADER_HOST, NULL },
    { "stdio.h", HEADER_HOST, NULL },
    { "stdlib.h", HEADER_HOST, NULL },
    { "string.h", HEADER_HOST, NULL },
    { "time.h", HEADER_HOST, NULL },
    { "assert.h", HEADER_HOST, NULL },
    { "cuda.h", HEADER_HOST, NULL },
    { "cuda_runtime.h", HEADER_HOST, NULL },
    { "cuda_runtime_api.h", HEADER_HOST, NULL },
    { "device_launch_parameters.h", HEADER_HOST, NULL },
    { "device_functions.h", HEADER_HOST, NULL },
    { "math_functions.h", HEADER_HOST, NULL },

    /* Libraries that the host calls, and helpers of NVIDIA's samples. */
    { "thrust/*", HEADER_HOST, NULL },
    { "helper_cuda*", HEADER_HOST, NULL },
    { "helper_functions.h", HEADER_HOST, NULL },
    { "helper_string.h", HEADER_HOST, NULL },
    { "helper_timer.h", HEADER_HOST, NULL },
    { "helper_image.h", HEADER_HOST, NULL },
    { "helper_gl.h", HEADER_HOST, NULL },
    { "helper_multiprocess.h", HEADER_HOST, NULL },
    { "exception.h", HEADER_HOST, NULL },
    { "nvrtc_helper.h", HEADER_HOST, NULL },
    { "timer.h", HEADER_HOST, NULL },
    { "nvtx3/*", HEADER_HOST, NULL },
    { "nvToolsExt*", HEADER_HOST, NULL },
    { "cublas*", HEADER_HOST, NULL },
    { "cufft*", HEADER_ON_DEMAND, "cufft*" },
    { "cusparse*", HEADER_HOST, NULL },
    { "cusolver*", HEADER_HOST, NULL },
    { "cudnn*", HEADER_HOST, NULL },
    { "curand.h", HEADER_HOST, NULL },
    { "nccl.h", HEADER_HOST, NULL },
    { "mpi.h", HEADER_HOST, NULL },
    { "omp.h", HEADER_HOST, NULL },
    { "cuda_profiler_api.h", HEADER_HOST, NULL },
    { "cudaProfiler.h", HEADER_HOST, NULL },
    { "cuda_gl_interop.h", HEADER_HOST, NULL },
    { "GL/*", HEADER_HOST, NULL },
    { "sys/types.h", HEADER_ON_DEMAND, "uint ushort ulong ssize_t" },
    { "sys/*", HEADER_HOST, NULL },
    { "unistd.h", HEADER_HOST, NULL },
    { "pthread.h", HEADER_HOST, NULL },
    { "getopt.h", HEADER_HOST, NULL },
    { "errno.h", HEADER_HOST, NULL },
    { "signal.h", HEADER_HOST, NULL },
    { "fcntl.h", HEADER_HOST, NULL },
    { "windows.h", HEADER_HOST, NULL },
    { "Windows.h", HEADER_HOST, NULL },
};

/*
 * What nvcc's own headers bring into every program, and what the standard library's headers bring
 * along: programs use these words without an include of their own.
 */
static const struct {
    const char *include;
    const char *words;
    bool is_std;  /* only in a text that says std too */
    bool is_lent; /* nvcc wants it written: the user is told */
} IMPLIED[] = {
    { "#include <cuda_fp16.h>", "half half2 __half __half2 __half2float __float2half*", false,
      true },
    { "#include <cuda_bf16.h>", "nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162", false,
      true },
    { "#include <mma.h>", "nvcuda", false, true },
    { "#include <cooperative_groups.h>", "cooperative_groups", false, true },
    { "#include <curand_kernel.h>", "curandState* curand_init", false, true },
    { "#include <math.h>", "INFINITY NAN HUGE_VAL HUGE_VALF M_*", false, false },
    { "#include <math_constants.h>", "CUDART_*", false, false },
    { "#include <limits.h>",
      "CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX "
      "INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX",
      false, false },
    { "#include <float.h>", "FLT_* DBL_*", false, false },
    { "#include <stdint.h>",
      "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t intptr_t uintptr_t intmax_t "
      "uintmax_t int_least* uint_least* int_fast* uint_fast* INT8_* UINT8_* INT16_* UINT16_* INT32_* "
      "UINT32_* INT64_* UINT64_* SIZE_MAX",
      false, false },
    { "#include <sys/types.h>", "uint ushort ulong ssize_t", false, false },
    { "#include <stddef.h>", "ptrdiff_t offsetof", false, false },
    { CUDA_LEGACY_WARP, "__shfl __shfl_up __shfl_down __shfl_xor __any __all __ballot", false,
      false },
    { "#define register", "register", false, false }, /* a hint of C that C++17 no longer takes */
    { "#include <limits>", "numeric_limits", true, false },
    { "#include <type_traits>",
      "is_same* is_integral* is_floating_point* is_signed* is_unsigned* is_pointer* is_arithmetic* "
      "conditional* enable_if* remove_* decay* integral_constant true_type false_type make_unsigned* "
      "make_signed*",
      true, false },
    { "#include <utility>", "pair make_pair move forward declval", true, false },
    { "#include <algorithm>", "min max clamp swap", true, false },
    { "#include <cmath>",
      "abs fabs* sqrt* cbrt pow* exp* log* sin* cos* tan* asin* acos* atan* floor* ceil* round* trunc* "
      "fmod* fmin* fmax* fma* hypot* erf* isnan isinf isfinite",
      true, false },
    { "#include <cstdint>",
      "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t intptr_t uintptr_t size_t",
      true, false },
};

struct bytes cuda_header_name(struct bytes directive)
{
    const char *end = directive.data + directive.size, *open = directive.data, *close;

    while (open < end && *open != '<' && *open != '"')
        open++;
    if (open == end)
        return (struct bytes){ "", 0 };
    close = memchr(open + 1, *open == '<' ? '>' : '"', (size_t)(end - open - 1));
    return close ? (struct bytes){ open + 1, (size_t)(close - open - 1) } : (struct bytes){ "", 0 };
}

static bool matches(const char *pattern, size_t n, struct bytes name)
{
    if (n > 0 && pattern[n - 1] == '*')
        return name.size >= n - 1 && memcmp(pattern, name.data, n - 1) == 0;
    return name.size == n && memcmp(pattern, name.data, n) == 0;
}

struct cuda_header cuda_header_find(struct bytes name)
{
    for (size_t i = 0; i < COUNT(HEADERS); i++)
        if (matches(HEADERS[i].pattern, strlen(HEADERS[i].pattern), name))
            return (struct cuda_header){ HEADERS[i].kind, (int)i, HEADERS[i].words };
    return (struct cuda_header){ HEADER_PLAIN, COUNT(HEADERS), NULL };
}

static bool is_one_of(const char *words, struct bytes word)
{
    const char *at = words;

    while (at && *at) {
        size_t n = strcspn(at, " ");

        if (matches(at, n, word))
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

bool cuda_header_wants(const struct cuda_header *header, struct bytes word)
{
    return is_one_of(header->words, word);
}

void cuda_implied_want(struct bytes word, bool is_std, bool *is_wanted)
{
    for (size_t i = 0; i < COUNT(IMPLIED); i++)
        is_wanted[i] |= (is_std || !IMPLIED[i].is_std) && is_one_of(IMPLIED[i].words, word);
}

const char *cuda_implied_include(size_t i)
{
    return i < COUNT(IMPLIED) ? IMPLIED[i].include : NULL;
}

bool cuda_implied_is_lent(size_t i)
{
    return IMPLIED[i].is_lent;
}
