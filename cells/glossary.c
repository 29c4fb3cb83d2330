/*
 * The words, in the order in which the first lesson needs them.
 */
#include "cells/glossary.h"

#include <string.h>

const struct term GLOSSARY[] = {
    { "GPU", "graphics processing unit",
      "A processor made of many equal parts (SMs) that run thousands of threads at once. It gives "
      "up speed of one thread for the number of threads.",
      "%devices" },
    { "CPU", "central processing unit,processor",
      "The processor that runs the program and starts kernels. It makes few threads fast, with "
      "large caches, branch prediction and out-of-order execution.",
      NULL },
    { "SIMT", "single instruction multiple threads",
      "Single instruction, multiple threads: the code is written for one thread, and the hardware "
      "runs 32 of them together on one instruction. Threads may branch apart; that costs time, "
      "not correctness.",
      "%run divergence" },
    { "SIMD", "single instruction multiple data",
      "Single instruction, multiple data: one instruction of one thread works on a short vector. "
      "The program names the vector; under SIMT the hardware forms it.",
      NULL },
    { "kernel", NULL,
      "A function marked __global__ that the CPU starts on the GPU, with so many threads for each "
      "block and so many blocks.",
      "%run" },
    { "thread", NULL,
      "One run through a kernel, with registers of its own and a number (threadIdx, blockIdx). "
      "The hardware never runs one alone, but always the 32 of its warp.",
      NULL },
    { "warp", NULL,
      "32 threads of a block with neighbouring numbers that share one instruction at a time. The "
      "warp, not the thread, is what an SM schedules.",
      "%simulate warps=5" },
    { "lane", NULL,
      "The place of a thread in its warp, 0 to 31. Lanes that are not on the path in execution "
      "idle meanwhile.",
      "%run divergence" },
    { "block", "thread block,CTA",
      "Up to 1,024 threads that run on the same SM, share its shared memory and can wait for each "
      "other (__syncthreads). An SM takes a block whole or not at all.",
      "%occupancy block=256" },
    { "SM", "streaming multiprocessor,multiprocessor",
      "Streaming multiprocessor: one of the equal parts of a GPU. It holds blocks, their registers "
      "and shared memory, and issues their warps by four schedulers.",
      "%devices" },
    { "CC", "compute capability",
      "Compute capability: the version number of what an SM can do and hold, as 8.9 for the L40S "
      "and 9.0 for the H200. It does not say how many SMs a GPU has.",
      "%occupancy device=[cc=8.0,cc=8.9,cc=9.0]" },
    { "warp scheduler", "scheduler",
      "The part of an SM that chooses, each cycle, one of its eligible warps and issues its next "
      "instruction. SMs since Volta have four; a warp stays with its scheduler.",
      "%simulate warps=8 schedulers=4" },
    { "scheduling policy", "gto,lrr,gty,greedy then oldest,loose round robin,round robin",
      "Which of its eligible warps a scheduler issues. Greedy then oldest (gto) stays with a warp "
      "until it waits, then takes the oldest one (gty: the youngest); loose round robin (lrr) goes "
      "to the next eligible warp each cycle.",
      "%simulate warps=5 policy=lrr" },
    { "issue", NULL,
      "To send a warp's next instruction to the units that execute it. A scheduler issues at most "
      "one a cycle; a cycle without an issue is lost.",
      "%simulate warps=1" },
    { "resident warp", "active warp",
      "A warp whose block has been given registers, shared memory and slots on an SM. It keeps "
      "them until its block ends, which is why switching between warps costs nothing.",
      "%occupancy" },
    { "register", NULL,
      "A 32-bit place for a value of one thread, the fastest memory there is. A thread has at most "
      "255; more registers a thread means fewer warps an SM.",
      "%occupancy regs=16..255" },
    { "register file", NULL,
      "All registers of an SM: 65,536 of 32 bits, 256 KB, in four parts of which each serves one "
      "scheduler.",
      "%occupancy regs=42" },
    { "FP32", "float,single precision",
      "32-bit floating point, C's float. An L40S SM has 128 FP32 lanes, so four warps can do one "
      "operation each in a cycle.",
      NULL },
    { "KB", "kilobyte,KiB",
      "1,024 bytes here, as in all sizes of shared memory: 48K is 49,152. Rates count by 1000: "
      "864 GB/s is 864,000,000,000 bytes a second.",
      "%print 48K" },
    { "VRAM", "global memory,device memory",
      "The GPU's own large memory beside the chip, GDDR or HBM. A read takes hundreds of cycles, "
      "which other warps must fill.",
      NULL },
    { "stall", "stalled",
      "A warp is stalled in a cycle when its next instruction cannot issue yet: it waits for a "
      "value, a unit or a barrier. It differs from not selected, which could issue.",
      "%simulate warps=3" },
    { "latency hiding", "hiding latency",
      "While one warp waits, others issue, so that the scheduler stays busy although every single "
      "wait is as long as before. It takes about (issue + wait) / issue warps.",
      "%simulate warps=1..8" },
    { "occupancy", NULL,
      "Active warps divided by the most an SM can hold. Higher occupancy gives schedulers more "
      "warps to choose from; once they are always busy, more does not help.",
      "%occupancy regs=64" },
    { "shared memory", NULL,
      "Memory on the SM that the threads of one block share, about as fast as a cache. What a "
      "block declares is taken from what other blocks could have.",
      "%occupancy static=40K" },
    { "branch divergence", "divergence",
      "Lanes of one warp take different ways at a branch. The warp then runs each way in turn with "
      "the other lanes idle. Warps that differ from each other cost nothing.",
      "%run divergence" },
    { "program counter", "PC",
      "The place of the next instruction. Each warp has one stream of instructions; since Volta "
      "each thread has a counter, so that diverged lanes can interleave, but never run at once.",
      NULL },
    { "ILP", "instruction-level parallelism",
      "Instruction-level parallelism: neighbouring instructions of one thread that do not need "
      "each other's results. A warp with ILP hides part of its own latency.",
      "%simulate warps=2 issue=8 wait=8" },
    { "spill", "spilling,register spill",
      "A value that found no register and was put into local memory. Forcing fewer registers "
      "raises occupancy and may spill, which can cost more than it gains.",
      NULL },
    { "local memory", NULL,
      "Memory of one thread that lives in VRAM behind the caches: spilled registers, arrays with "
      "computed indices, the stack.",
      NULL },
    { "CUDA", "CUDA C",
      "NVIDIA's way to program GPUs: C++ with kernels, launches and the variables threadIdx, "
      "blockIdx, blockDim and gridDim. Text in a cell that is not a magic is CUDA C.",
      NULL },
    { "nvcc", "NVCC",
      "NVIDIA's compiler for files with CUDA C. Warpbook uses its sibling NVRTC, which compiles "
      "text in memory, and shows the registers that nvcc -Xptxas -v would print.",
      NULL },
};
const size_t GLOSSARY_COUNT = sizeof(GLOSSARY) / sizeof(GLOSSARY[0]);

static int is_skipped(char c)
{
    return c == ' ' || c == '-' || c == '_';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Equal up to the end of `name` and of one spelling in a list with commas. */
static int is_spelling(const char *list, const char *name)
{
    for (;; list++, name++) {
        while (is_skipped(*list))
            list++;
        while (is_skipped(*name))
            name++;
        if (!*list || *list == ',')
            return !*name;
        if (lower(*list) != lower(*name))
            return 0;
    }
}

const struct term *glossary_find(const char *name)
{
    if (!name[strspn(name, " -_")])
        return NULL;
    for (size_t i = 0; i < GLOSSARY_COUNT; i++) {
        const char *also = GLOSSARY[i].also;

        if (is_spelling(GLOSSARY[i].name, name))
            return &GLOSSARY[i];
        while (also) {
            if (is_spelling(also, name))
                return &GLOSSARY[i];
            also = strchr(also, ',');
            also += also != NULL;
        }
    }
    return NULL;
}
