/*
 * Arithmetic of float4 and its like, which CUDA leaves out and the samples' helper_math.h (before:
 * cutil_math.h) has: programs include it by that name. This one is Warpbook's own, in terms of
 * members, for device code.
 */
#ifndef WB_KERNELS_VECTOR_MATH_H
#define WB_KERNELS_VECTOR_MATH_H

/* An operator between vectors, and between a vector and a number from either side. */
#define VECTOR_OPERATOR(sign)                                                                      \
    "inline __device__ void operator" sign "=(T &a, T b) { EACH(a, " sign "=, b) } "               \
    "inline __device__ void operator" sign "=(T &a, S b) { ALL(a, " sign "=, b) } "                \
    "inline __device__ T operator" sign "(T a, T b) { EACH(a, " sign "=, b) return a; } "          \
    "inline __device__ T operator" sign "(T a, S b) { ALL(a, " sign "=, b) return a; } "           \
    "inline __device__ T operator" sign "(S s, T b) { T a; ALL(a, =, s) EACH(a, " sign             \
    "=, b) return a; } "

/* The same lines for each type, as templates would also catch types of the program. */
#define VECTOR_TYPE(type, number, n)                                                               \
    "#define T " type "\n#define S " number "\n#define EACH WB_EACH" n "\n#define ALL WB_ALL" n    \
    "\n" VECTOR_OPERATOR("+") VECTOR_OPERATOR("-") VECTOR_OPERATOR("*") VECTOR_OPERATOR(           \
        "/") "inline __device__ T operator-(T a) { T r; EACH(r, = -, a) return r; }\n"

#define VECTOR_TYPE_END "\n#undef T\n#undef S\n#undef EACH\n#undef ALL\n"

#define VECTOR_FLOATS                                                                              \
    "inline __device__ S dot(T a, T b) { S sum = 0; T c = a * b; SUM(sum, c) return sum; }\n"      \
    "inline __device__ S length(T a) { return sqrtf(dot(a, a)); }\n"                               \
    "inline __device__ T normalize(T a) { return a * rsqrtf(dot(a, a)); }\n"                       \
    "inline __device__ T lerp(T a, T b, S t) { return a + t * (b - a); }\n"                        \
    "inline __device__ T reflect(T i, T n) { return i - 2.0f * n * dot(n, i); }\n"                 \
    "inline __device__ T fminf(T a, T b) { CALL(a, fminf, a, b) return a; }\n"                     \
    "inline __device__ T fmaxf(T a, T b) { CALL(a, fmaxf, a, b) return a; }\n"                     \
    "inline __device__ T clamp(T v, T a, T b) { return fmaxf(a, fminf(v, b)); }\n"                 \
    "inline __device__ T clamp(T v, S a, S b)\n"                                                   \
    "{ T lo, hi; ALL(lo, =, a) ALL(hi, =, b) return clamp(v, lo, hi); }\n"                         \
    "inline __device__ T fabs(T a) { CALL(a, fmaxf, a, (-a)) return a; }\n"

#define VECTOR_FLOATS_OF(n)                                                                        \
    "#define SUM WB_SUM" n "\n#define CALL WB_CALL" n "\n" VECTOR_FLOATS "#undef SUM\n#undef CALL\n"

#define VECTOR_MATH                                                                                  \
    "#pragma once\n"                                                                                 \
    "#define WB_EACH2(a, o, b) a.x o b.x; a.y o b.y;\n"                                              \
    "#define WB_EACH3(a, o, b) WB_EACH2(a, o, b) a.z o b.z;\n"                                       \
    "#define WB_EACH4(a, o, b) WB_EACH3(a, o, b) a.w o b.w;\n"                                       \
    "#define WB_ALL2(a, o, b) a.x o b; a.y o b;\n"                                                   \
    "#define WB_ALL3(a, o, b) WB_ALL2(a, o, b) a.z o b;\n"                                           \
    "#define WB_ALL4(a, o, b) WB_ALL3(a, o, b) a.w o b;\n"                                           \
    "#define WB_SUM2(s, a) s += a.x; s += a.y;\n"                                                    \
    "#define WB_SUM3(s, a) WB_SUM2(s, a) s += a.z;\n"                                                \
    "#define WB_SUM4(s, a) WB_SUM3(s, a) s += a.w;\n"                                                \
    "#define WB_CALL2(r, f, a, b) r.x = f(a.x, b.x); r.y = f(a.y, b.y);\n"                           \
    "#define WB_CALL3(r, f, a, b) WB_CALL2(r, f, a, b) r.z = f(a.z, b.z);\n"                         \
    "#define WB_CALL4(r, f, a, b) WB_CALL3(r, f, a, b) r.w = f(a.w, b.w);\n" VECTOR_TYPE("float2",   \
                                                                                         "float",    \
                                                                                         "2")        \
        VECTOR_FLOATS_OF("2") VECTOR_TYPE_END VECTOR_TYPE("float3", "float", "3")                    \
            VECTOR_FLOATS_OF("3") VECTOR_TYPE_END VECTOR_TYPE("float4", "float", "4")                \
                VECTOR_FLOATS_OF("4") VECTOR_TYPE_END VECTOR_TYPE("int2", "int", "2")                \
                    VECTOR_TYPE_END VECTOR_TYPE("int3", "int", "3")                                  \
                        VECTOR_TYPE_END VECTOR_TYPE("int4", "int", "4")                              \
                            VECTOR_TYPE_END VECTOR_TYPE("uint2", "unsigned", "2")                    \
                                VECTOR_TYPE_END VECTOR_TYPE("uint3", "unsigned", "3")                \
                                    VECTOR_TYPE_END VECTOR_TYPE("uint4", "unsigned", "4")            \
                                        VECTOR_TYPE_END                                              \
        "inline __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"      \
        "inline __device__ float clamp(float v, float a, float b)\n"                                 \
        "{ return fmaxf(a, fminf(v, b)); }\n"                                                        \
        "inline __device__ int clamp(int v, int a, int b) { return max(a, min(v, b)); }\n"           \
        "inline __device__ float3 cross(float3 a, float3 b)\n"                                       \
        "{ return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);" \
        " }\n"                                                                                       \
        "inline __device__ float2 make_float2(float s) { return make_float2(s, s); }\n"              \
        "inline __device__ float2 make_float2(float3 a) { return make_float2(a.x, a.y); }\n"         \
        "inline __device__ float2 make_float2(int2 a) { return make_float2(a.x, a.y); }\n"           \
        "inline __device__ float3 make_float3(float s) { return make_float3(s, s, s); }\n"           \
        "inline __device__ float3 make_float3(float2 a, float s = 0)\n"                              \
        "{ return make_float3(a.x, a.y, s); }\n"                                                     \
        "inline __device__ float3 make_float3(float4 a) { return make_float3(a.x, a.y, a.z); }\n"    \
        "inline __device__ float3 make_float3(int3 a) { return make_float3(a.x, a.y, a.z); }\n"      \
        "inline __device__ float4 make_float4(float s) { return make_float4(s, s, s, s); }\n"        \
        "inline __device__ float4 make_float4(float3 a, float s = 0)\n"                              \
        "{ return make_float4(a.x, a.y, a.z, s); }\n"                                                \
        "inline __device__ float4 make_float4(int4 a) { return make_float4(a.x, a.y, a.z, a.w); }\n" \
        "inline __device__ int2 make_int2(int s) { return make_int2(s, s); }\n"                      \
        "inline __device__ int3 make_int3(int s) { return make_int3(s, s, s); }\n"                   \
        "inline __device__ int4 make_int4(int s) { return make_int4(s, s, s, s); }\n"

#endif
