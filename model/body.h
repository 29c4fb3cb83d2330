/*
 * Instruction streams given in text: what warps of the core layer repeat.
 *
 *   fma*8; ldg hit=l1; use          eight multiply-adds, a load that hits L1, who needs its result
 *   (lds conflict=4; use; bar)*16   a loop
 *   if lanes=24 (fma*4) else (mufu) ; iadd      lanes part and meet again
 *
 * Grammar, blanks and line ends between words being free:
 *
 *   body   = item { ';' item }            a ';' at the end is fine
 *   item   = NAME { '*' count | key } | group
 *   group  = '(' body ')' [ '*' count | '*' low '..' high ]
 *          | 'if' [ 'lanes=' n | 'mask=' m ] '(' body ')' [ 'else' '(' body ')' ]
 *          | 'split=' n '(' body ')'
 *   key    = 'dep=' d | 'hit=' place | 'bytes=' b | 'stride=' s | 'sectors=' n | 'conflict=' n
 *          | 'lanes=' n | 'mask=' m | 'lat=' cycles
 *
 * NAME is an instruction (BODY_INSTRUCTIONS), or `use`: an fma that needs what the last load
 * brings; use=2 is the load before it. dep=d needs the result of the d-th instruction before; at
 * the start of a loop, or of the body, that is one of the round before. Without dep and use
 * instructions are independent. hit is l1, l2, far or dram (the default); lds and sts have none.
 * bytes (of a lane: 1, 2, 4, 8, 16) and stride (from lane to lane, in elements) give the sectors
 * of 32 bytes or the passes of the banks, as model/memory.h counts them; sectors and conflict set
 * them. lat gives a latency instead of the device's, and without hit no memory is asked.
 *
 * (A)*4..8 is a loop whose trips differ by lane: lane l goes round 4 + l mod 5 times. if gives the
 * first n lanes (or those of a mask, or half of those that come there) to A and the others to the
 * else; split=8 makes eight groups of lanes of A. Neither is an instruction: write bra for one.
 */
#ifndef WB_MODEL_BODY_H
#define WB_MODEL_BODY_H

#include "model/base/arena.h"
#include "model/base/err.h"
#include "model/core.h"

/* Names, latency class, what it does with memory, and help. */
#define BODY_INSTRUCTIONS(X)                                                                       \
    X("fma", FMA, NONE, "single precision: multiply-add")                                          \
    X("ffma", FMA, NONE, "the same")                                                               \
    X("fadd", FMA, NONE, "single precision: add")                                                  \
    X("fmul", FMA, NONE, "single precision: multiply")                                             \
    X("fp", FMA, NONE, "any of them")                                                              \
    X("iadd", ALU, NONE, "integer: add, logic, shift, compare")                                    \
    X("add", ALU, NONE, "the same")                                                                \
    X("int", ALU, NONE, "the same")                                                                \
    X("lop", ALU, NONE, "the same")                                                                \
    X("imul", IMUL, NONE, "integer: multiply-add")                                                 \
    X("imad", IMUL, NONE, "the same")                                                              \
    X("hfma2", HALF, NONE, "two in half precision")                                                \
    X("hadd2", HALF, NONE, "the same")                                                             \
    X("dfma", F64, NONE, "double precision")                                                       \
    X("dadd", F64, NONE, "the same")                                                               \
    X("fp64", F64, NONE, "the same")                                                               \
    X("mufu", SFU, NONE, "special function: exp, sin, reciprocal; conversions")                    \
    X("cvt", SFU, NONE, "the same")                                                                \
    X("div", DIVIDE, NONE, "a division: some ten instructions")                                    \
    X("shfl", SHFL, NONE, "shuffle between lanes")                                                 \
    X("lds", SHARED, LOAD, "load from shared memory")                                              \
    X("sts", SHARED, STORE, "store to shared memory")                                              \
    X("ldg", GLOBAL, LOAD, "load from global memory")                                              \
    X("stg", GLOBAL, STORE, "store to global memory")                                              \
    X("ldl", GLOBAL, LOAD, "load of a spilled register")                                           \
    X("stl", GLOBAL, STORE, "store of a spilled register")                                         \
    X("atom", ATOM, LOAD, "atomic in global memory that gives the old value")                      \
    X("bar", BARRIER, NONE, "barrier of the block")                                                \
    X("bra", BRANCH, NONE, "branch")                                                               \
    X("branch", BRANCH, NONE, "the same")                                                          \
    X("mma", MMA, NONE, "matrix product of a warp, m16n8k16")

enum {
    BODY_MAX_TEXT = 4096,
    BODY_MAX_OPS = 2000,        /* instructions as written, repeats of one included */
    BODY_MAX_ILP = 16,          /* chains side by side */
    BODY_MAX_COUNT = 100000,    /* of a loop */
    BODY_MAX_STEPS = 65536,     /* pieces of straight code of one round */
    BODY_MAX_EMITTED = 1 << 19, /* instructions of those pieces, for each chain */
    BODY_MAX_DEPTH = 16,        /* groups in groups */
};

/* One round of a body, as the core layer runs it. */
struct body {
    const struct core_block *blocks;
    struct core_stream stream; /* endless */
    int register_count;
    bool has_forks, has_barrier;
    int64_t instructions;           /* of a warp in one round */
    int64_t lanes;                  /* active ones of all of them */
    int64_t unit_cycles[LAT_COUNT]; /* that a round takes of each unit, on the device of costs */
};

/* Where in the text an error is: bytes start..end. */
struct body_place {
    size_t start, end;
};

/*
 * Reads a body. ilp 1..BODY_MAX_ILP: every instruction is there so many times, side by side, for as
 * many independent chains. The body is the arena's. Fails with SyntaxError (what cannot be read),
 * ValueError (an unknown name with its nearest, a value out of its range) or ResourceError, and
 * *place says where.
 */
int body_parse(const char *text, int ilp, const struct costs *costs, struct arena *arena,
               struct body *out, struct body_place *place, struct err *err) MUST_CHECK;

/*
 * A mix such as "fma=60% ldg=10% iadd=30%" as a body: 100 instructions (or the fewest that have
 * these shares), evenly spread, each of which needs the one before it. A name may have a place:
 * "ldg.l2=10%". Shares must sum to 100 %. The text is the arena's. Errors as body_parse.
 */
int body_from_mix(const char *mix, struct arena *arena, const char **text, struct body_place *place,
                  struct err *err) MUST_CHECK;

#endif
