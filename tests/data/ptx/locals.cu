/* Variables with and without a value, for build=debug: tests/unit/test_check_locals.c. NAME_ok are right. */
struct pair { float x, y; };
struct three { int a, b; float c; };
struct bits { unsigned a : 3, b : 5, c : 24; };

__device__ __noinline__ float half_of(float v) { float r; if (v > 0) r = v / 2; return r; }
__device__ __noinline__ float twice(float v) { return v + v; }
__device__ __noinline__ float same(float v) { return v; }
__device__ __noinline__ void fill(float v, float *out) { *out = v; }
__device__ __noinline__ pair make_half(float v) { pair p; p.x = v; return p; }
__device__ __noinline__ float first_of(pair p) { return p.x; }

#define KERNEL(name) extern "C" __global__ void name(float *out, int n)
#define T threadIdx.x

KERNEL(one_arm)
{
    float total;
    if (n > 100) total = 0;
    total += 1;
    out[T] = total;
}
KERNEL(stored) { float t; out[T] = t; }
KERNEL(some_lanes) { float t; if (T < n) t = 1; out[T] = t; }
KERNEL(condition) { bool found; if (n > 100) found = true; if (found) out[T] = 1; }
KERNEL(an_index) { int at; if (n > 100) at = 1; out[at] = 1; }
KERNEL(a_pointer) { float *p; if (n > 100) p = out; *p = 3; }
KERNEL(no_case) { int v; switch (n) { case 1: v = 3; break; case 2: v = 4; break; } out[T] = v; }
KERNEL(no_turn) { int last; for (int i = 0; i < n - 3; i++) last = i; out[T] = last; }
KERNEL(while_it) { int i; while (i < n) i++; out[T] = i; }
KERNEL(wide) { double t; long long k; if (n > 100) { t = n; k = n; } out[T] = t * k; }
KERNEL(small) { unsigned short a; char c; if (n > 100) { a = n; c = 2; } out[T] = a * 256 + c; }
KERNEL(result) { out[T] = half_of(-1); }
KERNEL(argument) { float t; if (n > 100) t = 1; out[T] = twice(t); }
KERNEL(passed_on) { float t; if (n > 100) t = 1; float u = same(t); out[T] = u * 2; }
KERNEL(shuffled)
{
    float t;
    if (T & 1) t = 1;
    t = __shfl_xor_sync(0xffffffff, t, 1);
    out[T] = t;
}
KERNEL(in_sinf) { float t; if (n > 100) t = 1; out[T] = sinf(t); }
KERNEL(an_array) { float t[4]; t[0] = 1; out[T] = t[n & 3]; }

KERNEL(both_arms_ok) { float t; if (T < 7) t = 1; else t = 2; out[T] = t; }
KERNEL(loop_ok) { float t; for (int i = 0; i < n; i++) t = i; out[T] = t; }
KERNEL(loop_inside_ok)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        double t;
        if (i & 1) t = i;
        else t = 1;
        sum += t;
    }
    out[T] = sum;
}
KERNEL(same_condition_ok) { float t; if (T < n) t = 5; if (T < n) out[T] = t; }
KERNEL(flag_ok) { int t; bool ok = false; if (T > n) { t = n; ok = true; } if (ok && t > 2) out[T] = 1; }
KERNEL(ternary_ok) { float t, u = n; if (T > 3) t = T; out[T] = T > 3 ? t : u; }
KERNEL(out_parameter_ok) { float t; fill(n, &t); out[T] = t; }
KERNEL(goto_ok) { int t; if (T > 3) goto big; t = 1; goto done; big: t = 2; done: out[T] = t; }
KERNEL(switch_ok) { int v; switch (T & 3) { case 1: v = 3; break; case 2: v = 4; break; default: v = 5; } out[T] = v; }
KERNEL(return_ok) { float t; if (T < 3) t = 4; else return; out[T] = t; }
KERNEL(array_ok) { float t[4]; for (int i = 0; i < 4; i++) t[i] = i; out[T] = t[n & 3]; }
KERNEL(part_of_struct_ok) { three s; s.a = T; s.c = 2; ((three *)out)[T] = s; }
KERNEL(part_of_vector_ok) { float4 p; p.x = 1; p.y = 2; p.z = T; ((float4 *)out)[T] = p; }
KERNEL(part_returned_ok) { pair p = make_half(T); out[T] = first_of(p); }
KERNEL(field_ok) { bits b; b.a = T; out[T] = b.a; }
KERNEL(swap_ok)
{
    float a, b, tmp;
    a = T;
    for (int i = 0; i < n; i++) {
        tmp = a;
        if (i) a = b;
        b = tmp;
    }
    out[T] = b;
}
KERNEL(leader_ok)
{
    int got;
    if (T % 32 == 0) got = atomicAdd((int *)out + 40, 1);
    got = __shfl_sync(0xffffffff, got, 0);
    out[T] = got;
}
KERNEL(short_leader_ok)
{
    double got;
    bool is_it;
    if (T % 32 == 4) { got = n; is_it = true; }
    got = __shfl_sync(0xffffffff, got, 4);
    is_it = __shfl_sync(0xffffffff, is_it, 4);
    if (is_it) out[T] = got;
}
KERNEL(up_to_n_ok)
{
    float mine, best = 0;
    for (int i = T; i < n * 16; i += 32) {
        mine = sqrtf(i) + sinf(i) + powf(i, 1.5f);
        if (mine > best) best = mine;
    }
    out[T] = best;
}
KERNEL(min_with_index_ok)
{
    int at;
    float least = 1e9f;
    for (int i = 0; i < n; i++) {
        float v = (i * 7) % 5;
        if (v < least) { least = v; at = i; }
    }
    out[T] = least < 1e9f ? at : -1;
}
