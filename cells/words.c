/*
 * Source of every line: CUDA C++ Programming Guide 13.0, "C++ Language Extensions".
 */
#include "cells/words.h"

const struct cuda_word CUDA_WORDS[] = {
    { "__global__", "__global__ void name(...)",
      "a kernel: started from outside, runs on the GPU" },
    { "__device__", "__device__ type name", "a function or variable of the GPU" },
    { "__host__", "__host__ type name", "a function of the CPU" },
    { "__shared__", "__shared__ type name[n]", "memory that the threads of a block share" },
    { "__constant__", "__constant__ type name", "read-only memory of the GPU, 64 KB in all" },
    { "__restrict__", "type *__restrict__ name", "promises that no other pointer leads there" },
    { "__launch_bounds__", "__launch_bounds__(max_threads, min_blocks)",
      "lets the compiler choose registers for this many blocks an SM" },
    { "__syncthreads", "__syncthreads()", "waits for all threads of the block" },
    { "__syncwarp", "__syncwarp(mask = 0xffffffff)", "waits for the named lanes of the warp" },
    { "__shfl_sync", "__shfl_sync(mask, value, lane)", "the value that another lane has" },
    { "__shfl_down_sync", "__shfl_down_sync(mask, value, delta)", "the value delta lanes further" },
    { "__shfl_up_sync", "__shfl_up_sync(mask, value, delta)", "the value delta lanes before" },
    { "__shfl_xor_sync", "__shfl_xor_sync(mask, value, bits)", "the value of lane ^ bits" },
    { "__ballot_sync", "__ballot_sync(mask, predicate)", "one bit a lane: where it is true" },
    { "__any_sync", "__any_sync(mask, predicate)", "true where some lane's is" },
    { "__all_sync", "__all_sync(mask, predicate)", "true where all lanes' are" },
    { "__activemask", "__activemask()", "the lanes that happen to run together now" },
    { "__popc", "__popc(x)", "number of bits that are 1" },
    { "__clz", "__clz(x)", "leading zero bits" },
    { "__ldg", "__ldg(pointer)", "a load by the read-only cache" },
    { "atomicAdd", "atomicAdd(address, value)", "adds, and returns what was there before" },
    { "atomicMax", "atomicMax(address, value)", "keeps the larger, returns the old value" },
    { "atomicMin", "atomicMin(address, value)", "keeps the smaller, returns the old value" },
    { "atomicCAS", "atomicCAS(address, compare, value)",
      "compares and swaps, returns the old value" },
    { "atomicExch", "atomicExch(address, value)", "swaps, returns the old value" },
    { "threadIdx", "threadIdx.x .y .z", "number of the thread in its block" },
    { "blockIdx", "blockIdx.x .y .z", "number of the block in its grid" },
    { "blockDim", "blockDim.x .y .z", "threads of a block" },
    { "gridDim", "gridDim.x .y .z", "blocks of the grid" },
    { "warpSize", "warpSize", "32: lanes of a warp" },
    { "clock64", "clock64()", "the SM's cycle counter" },
    { "printf", "printf(format, ...)", "writes to the cell's output when the kernel ends" },
};
const size_t CUDA_WORD_COUNT = sizeof(CUDA_WORDS) / sizeof(CUDA_WORDS[0]);
