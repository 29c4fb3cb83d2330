/*
 * The launches of facts.def, or with -DASM of asm.def, one after the other, for a profiler:
 *
 *   nvcc -G -arch=sm_90 -o count tests/facts/count.cu
 *   nvcc -DASM -arch=sm_90 -o count tests/facts/count.cu
 *   ncu --clock-control none --csv --metrics ... ./count
 */
#ifdef ASM
#include "asm.cu"
#define LAUNCHES "asm.def"
#else
#include "facts.cu"
#define LAUNCHES "facts.def"
#endif

#include <cstdio>

int main()
{
    const int BYTES = 1 << 20;
    float *x, *y;

    if (cudaMalloc(&x, BYTES) || cudaMalloc(&y, BYTES) || cudaMemset(x, 0, BYTES))
        return 1;
#define COUNT_OF(kernel, grid, block, n, k) kernel<<<grid, block>>>(x, y, n, k);
#include LAUNCHES
#undef COUNT_OF
    cudaError_t e = cudaDeviceSynchronize();
    if (e)
        fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
