/*
 * Kernels whose accesses, loops and arithmetic are inline PTX, built with optimization: what stands
 * in volatile assembler reaches the machine code as it is, with three exceptions that are left out:
 * ptxas forwards a store of shared memory to its load unless both are volatile, makes a branch of
 * two accesses with one predicate, and predicates of a short stretch that a branch goes over. x and
 * y hold n values; k is a step.
 */
#define KERNEL extern "C" __global__ void

#define GLOBAL(pointer) __cvta_generic_to_global(pointer)
#define SHARED(pointer) ((unsigned)__cvta_generic_to_shared(pointer))

static __device__ unsigned thread_of_grid()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

KERNEL asm_copy(float *x, float *y, int n, int k)
{
    unsigned i = thread_of_grid();
    float v;

    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(GLOBAL(x + i * k % n)));
    asm volatile("st.global.f32 [%0], %1;" ::"l"(GLOBAL(y + i)), "f"(v));
}

KERNEL asm_copy_v4(float *x, float *y, int n, int k)
{
    unsigned i = thread_of_grid();
    float a, b, c, d;

    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(GLOBAL(x + i * k * 4 % n)));
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(GLOBAL(y + i * 4)), "f"(a), "f"(b),
                 "f"(c), "f"(d));
}

KERNEL asm_copy_u8(float *x, float *y, int n, int k)
{
    unsigned i = thread_of_grid(), v;

    asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(GLOBAL((char *)x + i * k)));
    asm volatile("st.global.u8 [%0], %1;" ::"l"(GLOBAL((char *)y + i)), "r"(v));
}

KERNEL asm_shared(float *x, float *y, int n, int k)
{
    __shared__ float s[8192];
    unsigned at = threadIdx.x * k % 8192;
    float v;

    asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(SHARED(s + at)), "f"((float)k));
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(v) : "r"(SHARED(s + at)));
    y[thread_of_grid()] = v;
}

KERNEL asm_shared_v2(float *x, float *y, int n, int k)
{
    __shared__ float2 s[4096];
    unsigned at = threadIdx.x * k % 4096;
    float v, w;

    asm volatile("st.volatile.shared.v2.f32 [%0], {%1, %1};" ::"r"(SHARED(s + at)), "f"((float)k));
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v), "=f"(w) : "r"(SHARED(s + at)));
    y[thread_of_grid()] = v + w;
}

/* Each lane goes round as often as its number modulo k says, and loads every time. */
KERNEL asm_loop(float *x, float *y, int n, int k)
{
    unsigned i = thread_of_grid();

    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 ".reg .u32 j;\n\t"
                 ".reg .f32 v;\n\t"
                 "mov.u32 j, 0;\n"
                 "AGAIN_%=:\n\t"
                 ".pragma \"nounroll\";\n\t"
                 "ld.volatile.global.f32 v, [%0];\n\t"
                 "st.volatile.global.f32 [%1], v;\n\t"
                 "add.u32 j, j, 1;\n\t"
                 "setp.lt.u32 p, j, %2;\n\t"
                 "@p bra AGAIN_%=;\n\t"
                 "}" ::"l"(GLOBAL(x + i)),
                 "l"(GLOBAL(y + i)), "r"(threadIdx.x % k + 1));
}

#define FMA(v, a) asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(v) : "f"(a));
#define FMA8(v, a)                                                                                 \
    FMA(v, a) FMA(v, a) FMA(v, a) FMA(v, a) FMA(v, a) FMA(v, a) FMA(v, a) FMA(v, a)
#define FMA64(v, a)                                                                                \
    FMA8(v, a) FMA8(v, a) FMA8(v, a) FMA8(v, a) FMA8(v, a) FMA8(v, a) FMA8(v, a) FMA8(v, a)

/* The three differ in 64 and 128 instructions for each warp, and in nothing else. */
KERNEL asm_fma_64(float *x, float *y, int n, int k)
{
    float v = threadIdx.x;

    FMA64(v, (float)k)
    y[thread_of_grid()] = v;
}

KERNEL asm_fma_128(float *x, float *y, int n, int k)
{
    float v = threadIdx.x;

    FMA64(v, (float)k) FMA64(v, (float)k)
    y[thread_of_grid()] = v;
}

KERNEL asm_fma_256(float *x, float *y, int n, int k)
{
    float v = threadIdx.x;

    FMA64(v, (float)k) FMA64(v, (float)k) FMA64(v, (float)k) FMA64(v, (float)k)
    y[thread_of_grid()] = v;
}

/* One access under a predicate of the lane is no branch. */
KERNEL asm_predicated(float *x, float *y, int n, int k)
{
    unsigned i = thread_of_grid();

    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.eq.u32 p, %1, 0;\n\t"
                 "@p st.volatile.global.f32 [%0], 0f3F800000;\n\t"
                 "}" ::"l"(GLOBAL(y + i)),
                 "r"(i % k));
}
