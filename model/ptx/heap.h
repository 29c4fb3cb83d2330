/*
 * The device heap of a launch: malloc, free and new in a kernel.
 */
#ifndef WB_MODEL_PTX_HEAP_H
#define WB_MODEL_PTX_HEAP_H

#include "model/ptx/internal.h"

/* Where allocations lie: behind module variables, in front of the windows of cvta. */
#define HEAP_WINDOW 0x7e8000000000ULL

/* cudaLimitMallocHeapSize, as "Heap Memory Allocation" of the CUDA C++ Programming Guide has it. */
enum { HEAP_DEFAULT_BYTES = 8 << 20 };

/* Why a free is wrong. */
enum heap_result { HEAP_OK, HEAP_NO_ALLOCATION, HEAP_INSIDE, HEAP_FREED_TWICE };

/* One call of malloc that was not undone. */
struct heap_leak {
    const struct insn *insn;
    int64_t count, bytes;
    struct ptx_dim block, thread; /* of the first */
};

/*
 * A heap of at most `limit` bytes. Its memory is the host's malloc, not the launch's arena, as it
 * comes back. NULL: out of memory.
 */
struct heap *heap_new(size_t limit);
void heap_free(struct heap **heap);

/*
 * A new allocation: its address, a multiple of 256, or 0 when the heap is full. Addresses are not
 * used twice in a launch, so that a use after free is seen.
 */
uint64_t heap_take(struct heap *heap, const struct warp *w, int lane, const struct insn *in,
                   uint64_t size);
enum heap_result heap_give(struct heap *heap, uint64_t address, const struct insn *in);

/* The allocation that starts at or before the address, or NULL; borrowed until the next one. */
const struct region *heap_region(const struct heap *heap, uint64_t address);

/* Who allocated and freed what lies at the address; NULL: nobody, or is not freed. */
const struct insn *heap_maker(const struct heap *heap, uint64_t address);
const struct insn *heap_freer(const struct heap *heap, uint64_t address);

/* What was never freed, by the instruction that allocated it. Returns how many were filled. */
int heap_leaks(const struct heap *heap, struct heap_leak *out, int most);

#endif
