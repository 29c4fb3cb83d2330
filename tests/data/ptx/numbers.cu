/* Arithmetic of every type: conversions, division, special functions, 64 bits, bits. */
extern "C" __global__ void integers(const int *a, const int *b, int *out)
{
    int t = threadIdx.x, x = a[t], y = b[t];
    unsigned u = x, w = y;
    long long l = (long long)x * y, m = ((long long)x << 20) + y;
    unsigned long long q = (unsigned long long)u * w;
    short s = (short)x, h = (short)y;
    unsigned char c = (unsigned char)x;
    int *o = out + t * 24;
    o[0] = x / (y | 1);
    o[1] = x % (y | 1);
    o[2] = (int)(u / (w | 1u));
    o[3] = (int)(u % (w | 1u));
    o[4] = __mulhi(x, y);
    o[5] = (int)__umulhi(u, w);
    o[6] = (int)(l / (m | 1));
    o[7] = (int)(m % (l | 1));
    o[8] = (int)(q >> 7);
    o[9] = (x << (y & 31)) ^ (x >> (y & 31)) ^ (int)(u >> (w & 31));
    o[10] = s * h + c;
    o[11] = abs(x) + min(x, y) - max(x, y);
    o[12] = __clz(x) + __popc(y) * 64 + (int)__brev(u);
    o[13] = __ffs(x) + (int)__byte_perm(u, w, 0x5214);
    o[14] = (int)__funnelshift_l(u, w, 7) + (int)__funnelshift_r(u, w, 9);
    o[15] = __clzll(l) + __popcll(q);
    o[16] = x > y ? x - y : y ^ x;
    o[17] = (int)(m >> 3) + (int)(q / ((unsigned long long)w | 1));
    o[18] = ~x & y | 12;
    o[19] = (int)__umul24(u, w) + __mul24(x, y) + __sad(x, y, (unsigned)3);
    o[20] = (signed char)x + (unsigned short)y;
    o[21] = (int)min((unsigned long long)u, q) + (int)max(l, m);
    o[22] = x == y || (x < 0 && y < 0);
    o[23] = (x >> 4 & 0xff) * 3 + (int)((u >> 3) & 0x1f);
}

extern "C" __global__ void floats(const float *a, const float *b, float *out)
{
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    float *o = out + t * 24;
    o[0] = x / y;
    o[1] = sqrtf(fabsf(x));
    o[2] = fmaf(x, y, x);
    o[3] = fminf(x, y);
    o[4] = fmaxf(x, y) + 1.0f;
    o[5] = __expf(x);
    o[6] = __logf(fabsf(x) + 1.0f);
    o[7] = __sinf(x);
    o[8] = __cosf(x);
    o[9] = rsqrtf(fabsf(x) + 1.0f);
    o[10] = floorf(x) + ceilf(y) + truncf(x * y) + rintf(x);
    o[11] = (float)(int)x;
    o[12] = (float)(unsigned)fabsf(y);
    o[13] = (float)(long long)(x * 1000.0f);
    o[14] = __frcp_rn(x);
    o[15] = __fdiv_rn(x, y) + __fmul_rz(x, y) + __fadd_ru(x, y);
    o[16] = expf(x * 0.1f);
    o[17] = logf(fabsf(y) + 0.5f);
    o[18] = sinf(x);
    o[19] = powf(fabsf(x) + 0.1f, 1.5f);
    o[20] = copysignf(x, y);
    o[21] = isnan(x) ? 1.0f : x < y ? 2.0f : 3.0f;
    o[22] = __saturatef(x);
    o[23] = __int_as_float(__float_as_int(x) ^ 1);
}

extern "C" __global__ void doubles(const double *a, const double *b, double *out)
{
    int t = threadIdx.x;
    double x = a[t], y = b[t];
    double *o = out + t * 16;
    o[0] = x / y;
    o[1] = sqrt(fabs(x));
    o[2] = fma(x, y, x);
    o[3] = fmin(x, y);
    o[4] = fmax(x, y);
    o[5] = x * y - x;
    o[6] = (double)(int)x + (double)(long long)(y * 1e6);
    o[7] = (double)(float)x;
    o[8] = floor(x) + rint(y);
    o[9] = exp(x * 0.01);
    o[10] = log(fabs(y) + 1.0);
    o[11] = -x;
    o[12] = x < y ? x : y + 1.0;
    o[13] = (double)__double2uint_rn(fabs(x));
    o[14] = (double)(unsigned long long)fabs(y);
    o[15] = __longlong_as_double(__double_as_longlong(x) ^ 1LL);
}

extern "C" __global__ void vectors(const float4 *a, const int2 *b, float4 *out, short4 *halves)
{
    int t = threadIdx.x;
    float4 v = a[t];
    int2 w = b[t];
    out[t] = make_float4(v.w + w.x, v.z - w.y, v.y * 2.0f, v.x);
    halves[t] = make_short4((short)w.x, (short)w.y, (short)(w.x >> 16), 7);
}

/* Indexed by a value: the array lives in local memory. */
extern "C" __global__ void local_array(const int *x, int *out)
{
    int t = threadIdx.x, a[16];
    for (int i = 0; i < 16; i++)
        a[i] = x[i] * t;
    out[t] = a[x[t] & 15] + a[(x[t] + t) & 15];
}

extern "C" __global__ void atomics(int *i, unsigned *u, float *f, unsigned long long *l)
{
    int t = threadIdx.x;
    atomicAdd(&i[0], t);
    atomicMin(&i[1], t - 7);
    atomicMax(&i[2], t);
    atomicAnd(&u[0], ~(1u << (t & 3)));
    atomicOr(&u[1], 1u << (t & 31));
    atomicXor(&u[2], t);
    atomicInc(&u[3], 9u);
    atomicDec(&u[4], 9u);
    atomicAdd(f, 0.5f);
    atomicAdd(l, 1ull << 33);
    i[8 + t] = atomicExch(&i[3], t);
}
