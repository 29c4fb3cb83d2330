/*
 * An access of a warp: which bytes its lanes ask for, and where they lie on the host.
 *
 * Two ways lead there. access_locate looks at every address, and says what is wrong with a wrong
 * one. Most instructions, though, ask for the same shape again and again: the first lane moves, the
 * others keep their distance. So each worker remembers, by instruction, the last shape that was
 * right and the allocation it lay in, with all that follows from a shape alone (alignment, reach,
 * sectors, bank passes); lanes_memory.h compares and copies.
 */
#ifndef WB_MODEL_PTX_ACCESS_H
#define WB_MODEL_PTX_ACCESS_H

#include "model/memory.h"
#include "model/ptx/internal.h"

/*
 * Marks the functions that copy between global memory and registers, and nothing besides. Blocks
 * run side by side as if they did not meet, and are followed (footprint.h). Where two of them did,
 * everything they wrote is undone and they run again in order: no value that a race made is kept.
 * So these accesses may race as the simulated program does, and ThreadSanitizer looks at all
 * others. Such a function calls none of libc, whose accesses would be watched.
 */
#ifdef __SANITIZE_THREAD__
#define MAY_RACE __attribute__((no_sanitize("thread")))
#else
#define MAY_RACE
#endif

/* Where the lanes of an access lie. */
struct access {
    uint64_t address[WARP]; /* in the address space `space`; only lanes of the mask count */
    uint64_t low, high;     /* of the first bytes, over the mask */
    uint64_t step;          /* from lane to lane, when is_linear: all 32 lanes take part */
    bool is_linear;
    uintptr_t base;  /* host address = base + address, when is_one; wraps */
    bool is_one;     /* all lanes in one allocation */
    bool is_private; /* local memory: access_private says where a lane's byte is */
    bool is_generic; /* the register holds the address with its window */
    enum space space;
    int bytes;                   /* of a lane, the whole vector */
    const struct region *region; /* global memory, is_one: the allocation; else NULL */
};

/* How lanes lie to each other, by groups of eight. */
enum shape {
    SHAPE_UNKNOWN,
    SHAPE_ANY,
    SHAPE_NEXT, /* each group reads one piece of memory, lane after lane */
    SHAPE_SAME, /* the lanes of a group read the same */
};

enum { GROUP_LANES = 8, GROUPS = WARP / GROUP_LANES };

/* The last full access of an instruction that was right. */
struct pattern {
    union {                    /* address of lane l less that of lane 0 */
        uint64_t wide[WARP];   /* address rows of 64 bits */
        uint32_t narrow[WARP]; /* of 32 bits */
    } relative;
    int64_t group_at[GROUPS]; /* of the first lane of each group */
    int64_t low, high;        /* reach: first byte, and behind the last, from lane 0's address */
    uint64_t bits;            /* all relative addresses or'ed: alignment */
    uint64_t start, end;      /* the allocation, in the addresses that the register holds */
    uintptr_t base;           /* host address = base + address */
    const struct region *region;
    uint8_t cost[SECTOR_BYTES]; /* sectors or passes, by lane 0's address modulo; 0: not known */
    uint8_t granules[GRANULE_BYTES]; /* that DRAM gives, the same way */
    uint8_t space;                   /* enum space */
    uint8_t shape;                   /* enum shape */
    uint8_t bytes;                   /* of a lane */
    uint8_t best;                    /* passes of shared memory */
    bool is_narrow;                  /* relative.narrow */
    bool is_linear;                  /* all lanes as far apart */
    bool is_private;                 /* local memory, the same address in all lanes */
    bool is_followed;                /* blocks run side by side, and it may be written */
    uint8_t watch;                   /* WATCH_...: who wants to see it */
    uint16_t misses;                 /* in a row: learning pays no more */
};

/* pattern.watch */
enum {
    WATCH_SHADOW = 1 << 0, /* bytes without a value, races in shared memory: shadow.c */
    WATCH_TRACK = 1 << 1,  /* races in global memory: track.c */
};

extern const int ACCESS_KIND_BYTES[]; /* of one register, by enum memory_kind */

/*
 * The addresses of the lanes, in one space; generic ones are told apart by the lowest lane.
 * EXEC_FAULT: w->fault says which lanes are wrong.
 */
int access_locate(struct warp *w, const struct insn *in, uint32_t mask, int bytes,
                  struct access *a);

/* Where a lane's bytes are on the host. */
uint8_t *access_host(const struct warp *w, const struct access *a, int lane);

/* Copies n bytes, aligned as accesses are, to or from global memory. */
void access_copy(void *to, const void *from, size_t n);

/*
 * Local memory, as it lies on the host: pieces of 16 bytes, those of the 32 lanes side by side. An
 * aligned access of up to 16 bytes never leaves a piece.
 */
static inline size_t access_private(uint64_t address, int lane)
{
    return (size_t)(address / 16 * (16 * WARP) + 16 * (uint64_t)lane + address % 16);
}

/* Lanes of a generic access that are in the same space as the lowest one; else all of mask. */
uint32_t access_same_space(const struct warp *w, const struct insn *in, uint32_t mask);

/* Adds the access to the counters of its instruction. */
void access_count(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask);

/*
 * What the timing model has to know of a load or store of global memory, n sectors and so many
 * granules, its bytes low to high.
 */
core_access access_traced(const struct warp *w, const struct insn *in, int n, int granules,
                          uint64_t low, uint64_t high);

/* Granules of DRAM of a pattern whose lane 0 is at `first`. */
int access_granules(const struct pattern *p, uint64_t first);

/* Sectors, or in shared memory passes, of a pattern whose lane 0 is at `first`. */
int access_cost(const struct pattern *p, uint64_t first);

/* The access of a pattern whose lane 0 is at `first`, as access_locate would fill it. */
void access_of_pattern(const struct insn *in, const struct pattern *p, uint64_t first,
                       struct access *a);

/* Shows a full access in the shape of before to those who want to see it. EXEC_FAULT: w->fault. */
int access_watch(struct warp *w, const struct insn *in, const struct pattern *p, uint64_t first);

/* Remembers a full access that was right. */
void access_learn(struct warp *w, const struct insn *in, const struct access *a);

/* Where a space begins among generic addresses; 0 for global memory. */
uint64_t access_window(enum space space);

/* The address of a lane as reports show it. */
static inline uint64_t access_shown(const struct access *a, int lane)
{
    return a->address[lane] + access_window(a->space);
}

/* Fills w->fault and returns EXEC_FAULT. */
int access_fault(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t address, int bytes,
                 const char *why);

#endif
