/*
 * What goes on beside the threads: copies that are waited for, and barriers that lie in memory.
 *
 * A cp.async reads its source where it stands, and writes shared memory where its thread waits for
 * it: who looks before that finds what a GPU may show as well, the bytes of before.
 */
#ifndef WB_MODEL_PTX_ASYNC_H
#define WB_MODEL_PTX_ASYNC_H

#include "model/ptx/access.h"

/* insn.extra of a copy: the instruction itself is the write. */
struct async_copy {
    struct insn source;  /* the read */
    struct insn barrier; /* of a bulk copy: counts its bytes; full NULL: none does */
    uint32_t row;        /* of a bulk copy: room for addresses */
    uint32_t size;       /* row: bytes that are read, the rest becomes zero (ASYNC_SIZED) */
    uint32_t ignores;    /* row of a predicate: nothing is read (ASYNC_IGNORES) */
};

/* insn.option of a copy and of a wait, above the ACCESS_ bits. */
enum {
    ASYNC_SIZED = 1 << 8,
    ASYNC_IGNORES = 1 << 9,
    ASYNC_NEGATED = 1 << 10, /* unless the predicate holds */
    ASYNC_ALL = 1 << 11,     /* of a wait: also what was not committed */
};

/* insn.option of an mbarrier, above the ACCESS_ bits. */
enum mbarrier_op {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_ARRIVE,
    MBARRIER_DROP, /* arrives, and is not expected again */
    MBARRIER_TEST,
    MBARRIER_EXPECT,   /* so many bytes more */
    MBARRIER_COMPLETE, /* so many bytes came */
    MBARRIER_FOLLOW,   /* the copies of the thread so far, then an arrival */
};
#define MBARRIER_OP(in) ((enum mbarrier_op)((in)->option >> 8 & 15))
enum {
    MBARRIER_PARITY = 1 << 12,      /* of a test: by the parity of the phase */
    MBARRIER_EXPECTS = 1 << 13,     /* of an arrival: c more bytes first */
    MBARRIER_NO_COMPLETE = 1 << 14, /* of an arrival: it is not the last */
    MBARRIER_COUNTED = 1 << 15,     /* of MBARRIER_FOLLOW: among those expected (.noinc) */
};

exec_fn exec_bulk_copy, exec_async_copy, exec_async_commit, exec_async_wait, exec_mbarrier,
    exec_pending_count;

/* What else a copy does: 0 is its read, 1 its barrier. NULL: nothing. */
enum { ASYNC_PARTS = 2 };
struct insn *async_part(const struct insn *in, int i);

/* What mbarrier.init stores. */
uint64_t mbarrier_made(const struct warp *w, const struct insn *in, int lane);

static inline bool is_async(const struct insn *in)
{
    return in->full == exec_bulk_copy || in->full == exec_async_copy ||
           in->full == exec_async_wait || in->full == exec_mbarrier;
}

/* Makes every copy of these lanes now; is_waited: they also know of it. EXEC_FAULT: a race. */
int async_finish(struct warp *w, uint32_t lanes, bool is_waited);

/* The copy under way to a byte of shared memory, of any thread of the block; NULL: there is none.
 */
const struct insn *async_under_way(const struct cta *cta, uint64_t address);

/* A new block: nothing is under way. */
void async_start(struct warp *w);

#endif
