/*
 * Three sorts: headers of which device code uses nothing are empty; those of C are
 * a few types and limits; those of C++ are CUDA's own, cuda::std, seen as std, which
 * is what `nvcc --expt-relaxed-constexpr` lets kernels use.
 */
#include "kernels/device_headers.h"

#include "kernels/vector_math.h"
#include "model/base/base.h"

#define EMPTY(name)                                                                                \
    {                                                                                              \
        name, ""                                                                                   \
    }

/* cuda::std in std's place. What is declared in std itself hides it, so headers may add. */
#define AS_STD(name)                                                                               \
    {                                                                                              \
        name, "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace "       \
              "cuda::std; }\n"                                                                     \
    }

/*
 * Types and limits spelled as cuda/std/cstdint and cuda/std/climits spell them for NVRTC, so that a
 * program may include both: int64_t is long long there.
 */
#define STDINT                                                                                     \
    "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"                                \
    "typedef signed short int16_t;\ntypedef unsigned short uint16_t;\n"                            \
    "typedef signed int int32_t;\ntypedef unsigned int uint32_t;\n"                                \
    "typedef signed long long int64_t;\ntypedef unsigned long long uint64_t;\n"                    \
    "typedef int8_t int_least8_t;\ntypedef uint8_t uint_least8_t;\n"                               \
    "typedef int16_t int_least16_t;\ntypedef uint16_t uint_least16_t;\n"                           \
    "typedef int32_t int_least32_t;\ntypedef uint32_t uint_least32_t;\n"                           \
    "typedef int64_t int_least64_t;\ntypedef uint64_t uint_least64_t;\n"                           \
    "typedef int8_t int_fast8_t;\ntypedef uint8_t uint_fast8_t;\n"                                 \
    "typedef int16_t int_fast16_t;\ntypedef uint16_t uint_fast16_t;\n"                             \
    "typedef int32_t int_fast32_t;\ntypedef uint32_t uint_fast32_t;\n"                             \
    "typedef int64_t int_fast64_t;\ntypedef uint64_t uint_fast64_t;\n"                             \
    "typedef int64_t intptr_t;\ntypedef uint64_t uintptr_t;\n"                                     \
    "typedef int64_t intmax_t;\ntypedef uint64_t uintmax_t;\n"                                     \
    "#define INT8_MIN SCHAR_MIN\n#define INT8_MAX SCHAR_MAX\n"                                     \
    "#define UINT8_MAX UCHAR_MAX\n#define INT16_MIN SHRT_MIN\n"                                    \
    "#define INT16_MAX SHRT_MAX\n#define UINT16_MAX USHRT_MAX\n"                                   \
    "#define INT32_MIN INT_MIN\n#define INT32_MAX INT_MAX\n"                                       \
    "#define UINT32_MAX UINT_MAX\n#define INT64_MIN LLONG_MIN\n"                                   \
    "#define INT64_MAX LLONG_MAX\n#define UINT64_MAX ULLONG_MAX\n"                                 \
    "#define INTPTR_MIN INT64_MIN\n#define INTPTR_MAX INT64_MAX\n"                                 \
    "#define UINTPTR_MAX UINT64_MAX\n#define SIZE_MAX UINT64_MAX\n"

#define LIMITS                                                                                     \
    "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n"                        \
    "#define UCHAR_MAX 255\n#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n"              \
    "#define SHRT_MIN (-SHRT_MAX - 1)\n#define SHRT_MAX 0x7fff\n"                                  \
    "#define USHRT_MAX 0xffff\n#define INT_MIN (-INT_MAX - 1)\n"                                   \
    "#define INT_MAX 0x7fffffff\n#define UINT_MAX 0xffffffff\n"                                    \
    "#define LONG_MIN (-LONG_MAX - 1)\n#define LONG_MAX LLONG_MAX\n"                               \
    "#define ULONG_MAX ULLONG_MAX\n#define LLONG_MIN (-LLONG_MAX - 1)\n"                           \
    "#define LLONG_MAX 0x7fffffffffffffffLL\n#define ULLONG_MAX 0xffffffffffffffffUL\n"

/* Decimal forms of the limits of IEEE 754's binary32 and binary64, as float.h of C has them. */
#define FLOATS                                                                                     \
    "#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n"                      \
    "#define FLT_DIG 6\n#define DBL_DIG 15\n"                                                      \
    "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n"                         \
    "#define FLT_EPSILON 1.192092896e-07f\n"                                                       \
    "#define DBL_MAX 1.7976931348623158e+308\n#define DBL_MIN 2.2250738585072014e-308\n"           \
    "#define DBL_EPSILON 2.2204460492503131e-016\n"

#define MATH                                                                                       \
    "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n"                                  \
    "#ifndef M_PI_2\n#define M_PI_2 1.57079632679489661923\n#endif\n"                              \
    "#ifndef M_PI_4\n#define M_PI_4 0.78539816339744830962\n#endif\n"                              \
    "#ifndef M_E\n#define M_E 2.7182818284590452354\n#endif\n"                                     \
    "#ifndef M_SQRT2\n#define M_SQRT2 1.41421356237309504880\n#endif\n"                            \
    "#ifndef M_SQRT1_2\n#define M_SQRT1_2 0.70710678118654752440\n#endif\n"                        \
    "#ifndef M_1_PI\n#define M_1_PI 0.31830988618379067154\n#endif\n"                              \
    "#ifndef M_2_PI\n#define M_2_PI 0.63661977236758134308\n#endif\n"                              \
    "#ifndef M_2_SQRTPI\n#define M_2_SQRTPI 1.12837916709551257390\n#endif\n"                      \
    "#ifndef M_LOG2E\n#define M_LOG2E 1.4426950408889634074\n#endif\n"                             \
    "#ifndef M_LOG10E\n#define M_LOG10E 0.43429448190325182765\n#endif\n"                          \
    "#ifndef M_LN10\n#define M_LN10 2.30258509299404568402\n#endif\n"                              \
    "#ifndef M_LN2\n#define M_LN2 0.69314718055994530942\n#endif\n"                                \
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"                      \
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"                                \
    "#ifndef HUGE_VAL\n#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)\n#endif\n"      \
    "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n"

#define STD_MATH                                                                                   \
    "namespace std {\n"                                                                            \
    "using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::pow; using ::exp;\n"           \
    "using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p;\n"      \
    "using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan;\n"           \
    "using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh;\n"     \
    "using ::atanh; using ::floor; using ::ceil; using ::round; using ::trunc; using ::rint;\n"    \
    "using ::nearbyint; using ::lround; using ::fmod; using ::remainder; using ::fmin;\n"          \
    "using ::fmax; using ::fma; using ::hypot; using ::erf; using ::erfc; using ::tgamma;\n"       \
    "using ::lgamma; using ::ldexp; using ::frexp; using ::modf; using ::copysign;\n"              \
    "using ::isnan; using ::isinf; using ::isfinite; using ::signbit;\n"                           \
    "using ::sqrtf; using ::fabsf; using ::powf; using ::expf; using ::logf; using ::sinf;\n"      \
    "using ::cosf; using ::floorf; using ::ceilf; using ::roundf; using ::fminf;\n"                \
    "using ::fmaxf; using ::fmaf;\n"                                                               \
    "}\n"

#define STD_ALGORITHM                                                                              \
    "namespace std {\n"                                                                            \
    "template <class T> __device__ constexpr const T &min(const T &a, const T &b)\n"               \
    "{ return b < a ? b : a; }\n"                                                                  \
    "template <class T> __device__ constexpr const T &max(const T &a, const T &b)\n"               \
    "{ return a < b ? b : a; }\n"                                                                  \
    "template <class T> __device__ constexpr const T &clamp(const T &v, const T &a, const T &b)\n" \
    "{ return v < a ? a : b < v ? b : v; }\n"                                                      \
    "template <class T> __device__ constexpr void swap(T &a, T &b)\n"                              \
    "{ T t = static_cast<T &&>(a); a = static_cast<T &&>(b); b = static_cast<T &&>(t); }\n"        \
    "}\n"

/*
 * Declarations for the host code of a user's own header: the compiler reads the bodies of host
 * functions, generates nothing for them, and wants to know what they call. (A cell's own host code
 * is left out before.) The types of the runtime API are built into NVRTC.
 */
#define HOST_STDIO                                                                                 \
    "#pragma once\ntypedef struct warpbook_file FILE;\n"                                           \
    "extern FILE *stdin, *stdout, *stderr;\n"                                                      \
    "int fprintf(FILE *, const char *, ...); int sprintf(char *, const char *, ...);\n"            \
    "int snprintf(char *, size_t, const char *, ...); int sscanf(const char *, const char *, "     \
    "...);\n"                                                                                      \
    "int fscanf(FILE *, const char *, ...); int scanf(const char *, ...);\n"                       \
    "FILE *fopen(const char *, const char *); int fclose(FILE *); int fflush(FILE *);\n"           \
    "size_t fread(void *, size_t, size_t, FILE *);\n"                                              \
    "size_t fwrite(const void *, size_t, size_t, FILE *); char *fgets(char *, int, FILE *);\n"     \
    "int fseek(FILE *, long, int); long ftell(FILE *); int puts(const char *);\n"                  \
    "int fputs(const char *, FILE *); int putchar(int); int feof(FILE *); void rewind(FILE *);\n"  \
    "int ferror(FILE *);\n"                                                                        \
    "void perror(const char *);\n#define SEEK_SET 0\n#define SEEK_CUR 1\n#define SEEK_END 2\n"

#define HOST_STDLIB                                                                                \
    "#pragma once\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#define RAND_MAX 2147483647\n"  \
    "void exit(int); void abort(); int rand(); void srand(unsigned);\n"                            \
    "int atoi(const char *); double atof(const char *); char *getenv(const char *);\n"             \
    "void *calloc(size_t, size_t); void *realloc(void *, size_t);\n"                               \
    "double drand48(); void srand48(long);\n"                                                      \
    "void qsort(void *, size_t, size_t, int (*)(const void *, const void *));\n"

#define HOST_STRING                                                                                \
    "#pragma once\nsize_t strlen(const char *); int strcmp(const char *, const char *);\n"         \
    "int strncmp(const char *, const char *, size_t); char *strcpy(char *, const char *);\n"       \
    "char *strncpy(char *, const char *, size_t); char *strcat(char *, const char *);\n"           \
    "char *strchr(const char *, int); char *strrchr(const char *, int);\n"                         \
    "char *strstr(const char *, const char *); char *strdup(const char *);\n"                      \
    "int memcmp(const void *, const void *, size_t);\n"

#define HOST_TIME                                                                                  \
    "#pragma once\ntypedef long time_t;\nstruct timeval { long tv_sec, tv_usec; };\n"              \
    "struct timespec { long tv_sec, tv_nsec; };\nstruct timezone { int a, b; };\n"                 \
    "#define CLOCKS_PER_SEC 1000000\n#define CLOCK_MONOTONIC 1\n#define CLOCK_REALTIME 0\n"        \
    "int gettimeofday(struct timeval *, void *); time_t time(time_t *);\n"                         \
    "int clock_gettime(int, struct timespec *);\n"

#define HOST_CUBLAS                                                                                  \
    "#pragma once\ntypedef struct cublasContext *cublasHandle_t; typedef void *cublasLtHandle_t;\n"  \
    "typedef int cublasComputeType_t, cublasStatus_t, cublasOperation_t;\n"                          \
    "enum { CUBLAS_STATUS_SUCCESS, CUBLAS_OP_N = 0, CUBLAS_OP_T, CUBLAS_COMPUTE_32F = 68,\n"         \
    "CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };\n"                                                         \
    "cublasStatus_t cublasCreate(cublasHandle_t *); cublasStatus_t cublasDestroy(cublasHandle_t);\n" \
    "cublasStatus_t cublasLtCreate(cublasLtHandle_t *);\n"                                           \
    "cublasStatus_t cublasLtDestroy(cublasLtHandle_t);\n"

#define HOST_RUNTIME                                                                               \
    "#pragma once\nconst char *cudaGetErrorString(cudaError_t);\n"                                 \
    "const char *cudaGetErrorName(cudaError_t); cudaError_t cudaGetLastError();\n"                 \
    "cudaError_t cudaPeekAtLastError(); cudaError_t cudaDeviceSynchronize();\n"                    \
    "cudaError_t cudaDeviceReset(); cudaError_t cudaSetDevice(int);\n"                             \
    "cudaError_t cudaGetDevice(int *); cudaError_t cudaGetDeviceCount(int *);\n"                   \
    "cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);\n"                                \
    "cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);\n"                            \
    "template <class T> cudaError_t cudaMalloc(T **, size_t);\n"                                   \
    "template <class T> cudaError_t cudaMallocHost(T **, size_t, unsigned = 0);\n"                 \
    "template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned = 1);\n"              \
    "template <class T> cudaError_t cudaHostAlloc(T **, size_t, unsigned);\n"                      \
    "cudaError_t cudaFree(void *); cudaError_t cudaFreeHost(void *);\n"                            \
    "cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);\n"                      \
    "cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, "                   \
    "cudaStream_t = 0);\n"                                                                         \
    "cudaError_t cudaMemset(void *, int, size_t);\n"                                               \
    "cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);\n"                        \
    "cudaError_t cudaMemGetInfo(size_t *, size_t *);\n"                                            \
    "cudaError_t cudaEventCreate(cudaEvent_t *); cudaError_t cudaEventDestroy(cudaEvent_t);\n"     \
    "cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);\n"                                \
    "cudaError_t cudaEventSynchronize(cudaEvent_t);\n"                                             \
    "cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);\n"                       \
    "cudaError_t cudaStreamCreate(cudaStream_t *);\n"                                              \
    "cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);\n"                           \
    "cudaError_t cudaStreamDestroy(cudaStream_t);\n"                                               \
    "cudaError_t cudaStreamSynchronize(cudaStream_t);\n"                                           \
    "cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t);\n"

/*
 * The exchange between lanes as it was before Volta, when a warp ran in step: it takes place among
 * the lanes that are there.
 */
#define LEGACY_SHUFFLE(name)                                                                       \
    "template <class T> __device__ T " name "(T v, int lane, int width = 32)\n"                    \
    "{ return " name "_sync(__activemask(), v, lane, width); }\n"

#define LEGACY_WARP                                                                                \
    LEGACY_SHUFFLE("__shfl")                                                                       \
    LEGACY_SHUFFLE("__shfl_up")                                                                    \
    LEGACY_SHUFFLE("__shfl_down")                                                                  \
    LEGACY_SHUFFLE("__shfl_xor")                                                                   \
    "inline __device__ int __any(int p) { return __any_sync(__activemask(), p); }\n"               \
    "inline __device__ int __all(int p) { return __all_sync(__activemask(), p); }\n"               \
    "inline __device__ unsigned __ballot(int p) { return __ballot_sync(__activemask(), p); }\n"

/* What CUB had for the operators of a reduction until CUDA 13, where cuda::maximum stands. */
#define LEGACY_CUB                                                                                 \
    "namespace cub {\n"                                                                            \
    "struct Sum { template <class T, class U> __device__ auto operator()(const T &a, const U &b) " \
    "const { return a + b; } };\n"                                                                 \
    "struct Max { template <class T, class U> __device__ auto operator()(const T &a, const U &b) " \
    "const { return a < b ? b : a; } };\n"                                                         \
    "struct Min { template <class T, class U> __device__ auto operator()(const T &a, const U &b) " \
    "const { return b < a ? b : a; } };\n"                                                         \
    "}\n"

const struct device_header DEVICE_HEADERS[] = {
    { "stdio.h", HOST_STDIO },
    { "stdlib.h", HOST_STDLIB },
    { "string.h", HOST_STRING },
    EMPTY("strings.h"),
    EMPTY("memory.h"),
    EMPTY("malloc.h"),
    { "time.h", HOST_TIME },
    EMPTY("assert.h"),
    EMPTY("errno.h"),
    EMPTY("ctype.h"),
    { "cstdio", "#include <stdio.h>\n" },
    { "cstdlib", "#include <stdlib.h>\n" },
    { "cstring", "#include <string.h>\n" },
    { "ctime", "#include <time.h>\n" },
    EMPTY("cassert"),
    EMPTY("cctype"),
    EMPTY("cerrno"),
    EMPTY("iostream"),
    EMPTY("ostream"),
    EMPTY("istream"),
    EMPTY("fstream"),
    EMPTY("sstream"),
    EMPTY("iomanip"),
    EMPTY("string"),
    EMPTY("string_view"),
    EMPTY("vector"),
    EMPTY("list"),
    EMPTY("deque"),
    EMPTY("queue"),
    EMPTY("stack"),
    EMPTY("map"),
    EMPTY("set"),
    EMPTY("unordered_map"),
    EMPTY("unordered_set"),
    EMPTY("memory"),
    EMPTY("new"),
    EMPTY("random"),
    EMPTY("chrono"),
    EMPTY("thread"),
    EMPTY("mutex"),
    EMPTY("condition_variable"),
    EMPTY("future"),
    EMPTY("stdexcept"),
    EMPTY("exception"),
    EMPTY("typeinfo"),
    EMPTY("stdarg.h"),
    EMPTY("cstdarg"),
    EMPTY("atomic"),
    EMPTY("cfenv"),
    EMPTY("locale"),
    EMPTY("regex"),
    EMPTY("filesystem"),
    EMPTY("cuda.h"),
    { "cuda_runtime.h", HOST_RUNTIME },
    { "cuda_runtime_api.h", "#include <cuda_runtime.h>\n" },
    EMPTY("cuda_device_runtime_api.h"),
    EMPTY("device_functions.h"),
    EMPTY("device_launch_parameters.h"),
    EMPTY("math_functions.h"),
    EMPTY("host_defines.h"),
    { "sys/time.h", "#include <time.h>\n" },
    EMPTY("unistd.h"),
    EMPTY("sys/stat.h"),
    { "pthread.h",
      "#pragma once\ntypedef unsigned long pthread_t;\n"
      "typedef struct { long a[7]; } pthread_attr_t, pthread_mutex_t, pthread_cond_t;\n"
      "int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);\n"
      "int pthread_join(pthread_t, void **); int pthread_cancel(pthread_t);\n" },
    { "cublas_v2.h", HOST_CUBLAS },
    { "cublas.h", "#include <cublas_v2.h>\n" },
    { "cublasLt.h", "#include <cublas_v2.h>\n" },
    { "omp.h", "#pragma once\ndouble omp_get_wtime(); int omp_get_thread_num(), "
               "omp_get_num_threads(), omp_get_max_threads();\n" },
    EMPTY("cuda_profiler_api.h"),
    EMPTY("nvtx3/nvToolsExt.h"),
    EMPTY("nvToolsExt.h"),
    EMPTY("cutil.h"),
    EMPTY("cutil_inline.h"),
    EMPTY("stdbool.h"),
    { "math.h", "#pragma once\n" MATH },
    { "cmath", "#pragma once\n" MATH STD_MATH },
    { "stddef.h", "#pragma once\ntypedef long ptrdiff_t;\n#ifndef NULL\n#define NULL 0\n#endif\n"
                  "#ifndef offsetof\n#define offsetof(t, m) __builtin_offsetof(t, m)\n#endif\n" },
    { "cstddef", "#pragma once\ntypedef long ptrdiff_t;\n#ifndef NULL\n#define NULL 0\n#endif\n"
                 "namespace std { using ::size_t; using ::ptrdiff_t; }\n" },
    { "sys/types.h", "#pragma once\ntypedef unsigned int uint; typedef unsigned short ushort;\n"
                     "typedef unsigned long ulong; typedef long ssize_t;\n" },
    { "stdint.h", "#pragma once\n#include <limits.h>\n" STDINT },
    { "inttypes.h", "#pragma once\n#include <stdint.h>\n" },
    { "cstdint", "#pragma once\n#include <stdint.h>\n"
                 "namespace std {\n"
                 "using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;\n"
                 "using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;\n"
                 "using ::intptr_t; using ::uintptr_t; using ::size_t;\n"
                 "}\n" },
    { "cinttypes", "#pragma once\n#include <cstdint>\n" },
    { "limits.h", "#pragma once\n" LIMITS },
    { "climits", "#pragma once\n#include <limits.h>\n" },
    { "float.h", "#pragma once\n" FLOATS },
    { "cfloat", "#pragma once\n#include <float.h>\n" },
    { "algorithm", "#pragma once\n" STD_ALGORITHM },
    AS_STD("type_traits"),
    AS_STD("limits"),
    AS_STD("utility"),
    AS_STD("tuple"),
    AS_STD("array"),
    AS_STD("complex"),
    AS_STD("functional"),
    AS_STD("numeric"),
    AS_STD("iterator"),
    AS_STD("initializer_list"),
    AS_STD("optional"),
    AS_STD("variant"),
    AS_STD("bit"),
    AS_STD("bitset"),
    AS_STD("concepts"),
    AS_STD("ratio"),
    AS_STD("span"),
    { "helper_math.h", VECTOR_MATH },
    { "cutil_math.h", "#include <helper_math.h>\n" },
    { "warpbook/legacy_warp.h", "#pragma once\n" LEGACY_WARP },
    /* Types of cuFFT's that kernels touch. */
    { "cufft.h", "#pragma once\n"
                 "typedef float cufftReal; typedef double cufftDoubleReal;\n"
                 "typedef float2 cufftComplex; typedef double2 cufftDoubleComplex;\n" },
    { "cufftXt.h", "#pragma once\n#include <cufft.h>\n" },
    /* The part of CUB that runs inside a kernel; the rest launches kernels from the host. */
    { "cub/cub.cuh", "#pragma once\n"
                     "#include <cub/warp/warp_reduce.cuh>\n#include <cub/warp/warp_scan.cuh>\n"
                     "#include <cub/warp/warp_exchange.cuh>\n#include <cub/warp/warp_load.cuh>\n"
                     "#include <cub/warp/warp_store.cuh>\n#include <cub/warp/warp_merge_sort.cuh>\n"
                     "#include <cub/block/block_reduce.cuh>\n#include <cub/block/block_scan.cuh>\n"
                     "#include <cub/block/block_load.cuh>\n#include <cub/block/block_store.cuh>\n"
                     "#include <cub/block/block_exchange.cuh>\n"
                     "#include <cub/block/block_radix_sort.cuh>\n"
                     "#include <cub/block/block_merge_sort.cuh>\n"
                     "#include <cub/block/block_histogram.cuh>\n"
                     "#include <cub/block/block_discontinuity.cuh>\n"
                     "#include <cub/block/block_adjacent_difference.cuh>\n"
                     "#include <cub/block/block_shuffle.cuh>\n" LEGACY_CUB },
};

const size_t DEVICE_HEADER_COUNT = COUNT(DEVICE_HEADERS);
