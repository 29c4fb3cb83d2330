/*
 * What one memory instruction of a warp costs: sectors of global memory, passes
 * of shared memory's banks.
 */
#ifndef WB_MODEL_MEMORY_H
#define WB_MODEL_MEMORY_H

#include "model/base/base.h"

enum {
    SECTOR_BYTES = 32,  /* unit of traffic between L1, L2 and DRAM */
    LINE_BYTES = 128,   /* four sectors */
    GRANULE_BYTES = 64, /* DRAM gives two sectors at a time */
    SLICE_BYTES = 512,  /* neighbours so far belong to one slice of L2 */
    BANKS = 32,         /* of shared memory */
    BANK_BYTES = 4,     /* of one bank in one pass */
};

/*
 * How many different sectors the lanes touch. A warp's best is bytes * lanes / 32.
 *
 * address  32 byte addresses; only those of lanes in mask are read
 * mask     bit l: lane l takes part; 0 gives 0
 * bytes    of one lane's access: 1, 2, 4, 8 or 16, and the address is a multiple of it
 *
 * Source: CUDA C++ Programming Guide 13.0, "Device Memory Accesses"; Nsight Compute's
 * l1tex__t_sectors counts the same.
 */
int memory_sectors(const uint64_t address[WARP], uint32_t mask, int bytes);

/*
 * How many pieces of GRANULE_BYTES DRAM gives for them: of a sector that is asked for, its
 * neighbour comes too.
 *
 * Source: CUDA Runtime API, cudaLimitMaxL2FetchGranularity (0 to 128 bytes, 64 unless changed);
 * Jia et al., arXiv 1804.06826 and 1903.07486: 64 bytes on Volta and Turing.
 */
int memory_granules(const uint64_t address[WARP], uint32_t mask);

/* The same for all 32 lanes at first + step * lane; step may be negative, as a 64-bit number. */
int memory_sectors_linear(uint64_t first, uint64_t step, int bytes);

/*
 * How often the banks must be read or written: in one pass each bank serves one word of 4 bytes,
 * which any number of lanes may share. Accesses of 8 bytes go by half warps, of 16 by quarters, so
 * that their best is 2 and 4 with all lanes; lanes outside the mask do not count.
 *
 * address  32 byte offsets in shared memory; parameters as above
 *
 * Source: CUDA C++ Programming Guide 13.0, "Shared Memory" of compute capability 5.x and later.
 */
int memory_passes(const uint64_t address[WARP], uint32_t mask, int bytes);

/*
 * The same of an atomic: no two lanes share a word in a pass, as each changes what the next finds.
 *
 * Measured: H200, 2026-11-30, l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom of `%run atomics`:
 * 32 a warp where all lanes add to one word, 1 where each has its own.
 */
int memory_atomic_passes(const uint64_t address[WARP], uint32_t mask, int bytes);

/*
 * What the slices of L2 have to do for an atomic: one operation changes any words of one sector,
 * each once. Adds the operations to those of their slices; a hash says which slice has an address.
 *
 * slices    at least 1; by_slice has as many entries, NULL: only the sum is wanted
 *
 * Returns the operations: 32 where 32 lanes add to one word, 4 where each has a word of its own and
 * these lie side by side.
 *
 * Source: FlashGPU-Sim, configuration SM90_H200: neighbouring 512 bytes share a memory partition
 * (dramid@9), and partitions are chosen by a hash. One sector an operation: lts__t_sectors_op_red
 * of
 * `%run atomics` on an H200 (2026-11-30).
 */
int memory_atomic_operations(const uint64_t address[WARP], uint32_t mask, int slices,
                             int64_t *by_slice);

/* The fewest passes that the same lanes and sizes can have: what passes beyond it are conflicts. */
int memory_best_passes(uint32_t mask, int bytes);

/* How many different lines of 128 bytes the lanes touch: an access stays within one. */
int memory_lines(const uint64_t address[WARP], uint32_t mask);

/* Different bytes that the lanes ask for; lanes with the same address ask for the same ones. */
int memory_distinct_bytes(const uint64_t address[WARP], uint32_t mask, int bytes);

/*
 * The passes of one shared memory instruction, bank by bank.
 *
 * lane    [pass][bank]: the lowest lane that is served, or -1: the bank idles. At most 32 passes.
 * degree  the most different words that one bank is asked for in one phase: 1 is free of conflicts
 *
 * Returns the passes, as memory_passes does.
 */
int memory_schedule(const uint64_t address[WARP], uint32_t mask, int bytes,
                    int8_t lane[WARP][BANKS], int *degree);

#endif
