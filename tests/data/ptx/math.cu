// Functions of CUDA's math library, one a kernel: what the compiler makes of them is a test of
// the interpreter's arithmetic. Each is compared with a long double of the host.
#define UNARY(name, type, fn)                                                                      \
    extern "C" __global__ void name(const type *x, const type *, type *out)                        \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[i] = fn(x[i]);                                                                         \
    }
#define BINARY(name, type, fn)                                                                     \
    extern "C" __global__ void name(const type *x, const type *y, type *out)                       \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[i] = fn(x[i], y[i]);                                                                   \
    }
UNARY(f_sin, float, sinf)
UNARY(f_tan, float, tanf)
UNARY(f_exp, float, expf)
UNARY(f_log, float, logf)
UNARY(f_log1p, float, log1pf)
UNARY(f_cbrt, float, cbrtf)
UNARY(f_sqrt, float, sqrtf)
UNARY(f_rsqrt, float, rsqrtf)
UNARY(f_tanh, float, tanhf)
UNARY(f_acos, float, acosf)
UNARY(f_erf, float, erff)
UNARY(f_erfc, float, erfcf)
UNARY(f_tgamma, float, tgammaf)
UNARY(f_normcdf, float, normcdff)
BINARY(f_pow, float, powf)
BINARY(f_atan2, float, atan2f)
BINARY(f_hypot, float, hypotf)
BINARY(f_fmod, float, fmodf)
UNARY(d_sin, double, sin)
UNARY(d_exp, double, exp)
UNARY(d_log, double, log)
UNARY(d_cbrt, double, cbrt)
UNARY(d_rsqrt, double, rsqrt)
UNARY(d_erf, double, erf)
UNARY(d_tanh, double, tanh)
BINARY(d_pow, double, pow)
BINARY(d_hypot, double, hypot)
