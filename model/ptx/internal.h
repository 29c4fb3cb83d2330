/*
 * What the files of the interpreter share: decoded code, and the state of a launch.
 *
 * A warp's registers are rows: 32 lanes of 4 or of 8 bytes side by side, so that one instruction
 * is one loop over a row. A predicate is one word, a bit a lane. Immediates and special registers
 * are rows too, filled when a frame is made: an instruction knows rows only.
 */
#ifndef WB_MODEL_PTX_INTERNAL_H
#define WB_MODEL_PTX_INTERNAL_H

#include "model/base/buf.h"
#include "model/core.h"
#include "model/ptx/parse.h"
#include "model/ptx/ptx.h"

enum {
    ROW32 = WARP * 4, /* bytes of a row */
    ROW64 = WARP * 8,
    FULL_MASK_BITS = WARP,
    MAX_WARPS = 32,    /* of a block: 1024 threads */
    MAX_BARRIERS = 16, /* bar.sync 0..15 */
    MAX_VECTOR = 4,    /* registers of a vector access, and of one pack */
};

#define FULL_MASK 0xffffffffU

/*
 * Where addresses lie. Buffers and module variables are the caller's part of the 64-bit space; the
 * windows are what cvta adds, far from any host address that a confused kernel would hold.
 */
#define WORKSPACE_WINDOW 0x7dfffff00000ULL /* of a cooperative launch */
#define VARIABLE_WINDOW  0x7e0000000000ULL
#define SHARED_WINDOW    0x7f4000000000ULL
#define LOCAL_WINDOW     0x7f8000000000ULL
#define PARAM_WINDOW     0x7fc000000000ULL
#define CODE_WINDOW      0x7ff000000000ULL
#define WINDOW_BYTES     0x000001000000ULL /* of the shared, local, parameter and code windows */

struct warp;
struct insn;

/* What a lane loop tells simt.c. */
enum exec_result {
    EXEC_FAULT = -1, /* warp->fault is filled */
    EXEC_OK = 0,
    EXEC_PARK,    /* a .sync that waits for lanes elsewhere: try again later */
    EXEC_BARRIER, /* waits at a barrier of the block */
};

/* Runs an instruction for the lanes of mask over the rows of the warp's current frame. */
typedef int exec_fn(struct warp *w, const struct insn *in, uint32_t mask);

/* Compares two rows: bit l is set where it holds for lane l. */
typedef uint32_t compare_fn(const void *a, const void *b);

enum guard_kind { GUARD_NONE, GUARD_IF, GUARD_UNLESS };

/* Instructions that end a block; simt.c runs them. */
enum control { CONTROL_NONE, CONTROL_BRANCH, CONTROL_CALL, CONTROL_RETURN, CONTROL_EXIT };

/* insn.option of a memory access. */
enum {
    ACCESS_WIDE_ROWS = 1 << 0,  /* registers of 64 bits */
    ACCESS_ADDRESS_32 = 1 << 1, /* the address row has 32 bits */
    ACCESS_UNIFORM = 1 << 2,    /* the address is a constant */
};

/* How bytes of memory become a register: insn.memory. */
enum memory_kind {
    MEMORY_U8,
    MEMORY_S8,
    MEMORY_U16,
    MEMORY_S16,
    MEMORY_U32,
    MEMORY_S32,
    MEMORY_64
};

/* insn.memory of an atomic. */
#define ATOMIC_OPS(X)                                                                              \
    X(ADD, "add")                                                                                  \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(INC, "inc")                                                                                  \
    X(DEC, "dec")                                                                                  \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(EXCH, "exch")                                                                                \
    X(CAS, "cas")
enum atomic_op {
#define X(id, name) ATOMIC_##id,
    ATOMIC_OPS(X)
#undef X
};
enum number_kind {
    NUMBER_U32,
    NUMBER_S32,
    NUMBER_U64,
    NUMBER_S64,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_F16,
    NUMBER_BF16,
    NUMBER_F16X2,
    NUMBER_BF16X2,
    NUMBER_U16,
};

/* insn.extra of an atomic on several values side by side. */
struct atomic_vector {
    int count, bytes; /* values; bytes of one */
    uint32_t d[8], b[8];
};

/* insn.option of setp: what joins the comparison and predicate c. */
enum { SETP_ALONE, SETP_AND, SETP_OR, SETP_XOR, SETP_NEGATED = 1 << 2 };

/* insn.extra of setp and set; of two halves `high` compares the upper ones, otherwise NULL. */
struct comparing {
    compare_fn *low, *high;
    uint32_t if_low, if_high; /* set: what a true comparison adds to the result */
};

/*
 * insn.option of lop3, above the table: the predicate in rows[0] gets d != 0 joined with the one in
 * rows[1].
 */
enum { LOP3_JOINS = 1 << 8, LOP3_AND = 1 << 9, LOP3_NEGATED = 1 << 10 };

/* insn.option of reading the clock, besides ACCESS_WIDE_ROWS: its upper 32 bits. */
enum { CLOCK_HIGH = 1 << 14 };

/* insn.option of logic on predicates. */
enum { LOGIC_AND, LOGIC_OR, LOGIC_XOR, LOGIC_NOT, LOGIC_MOVE };

/* insn.option of shfl and vote. */
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, VOTE_NEGATED = 1 << 2 };

enum {
    INSN_WRITES = 1 << 0, /* memory */
    INSN_ATOMIC = 1 << 1,
    INSN_VOLATILE = 1 << 2, /* volatile, acquire, relaxed: a loop may wait on it */
    INSN_ORDERED = 1 << 3,  /* what it does depends on the order of blocks: order.c */
    INSN_COMMUTES = 1 << 4, /* an atomic for which it does not matter who comes first */
    INSN_DEFERS = 1 << 5,   /* an atomic that can be done later, in the order of blocks */
    INSN_LOOKS = 1 << 6,    /* an atomic that only reads: atomicAdd(&n, 0) */
};

struct insn {
    exec_fn *full;       /* every live lane of the warp is in the mask */
    exec_fn *masked;     /* some are not, and keep what they have */
    uint32_t d, a, b, c; /* offsets of rows in the frame */
    uint32_t e;          /* a fourth source, or the second destination */
    uint32_t guard;
    uint8_t guard_kind;
    uint8_t latency; /* enum latency_class */
    uint8_t space;   /* enum space */
    uint8_t flags;
    uint8_t memory;            /* enum memory_kind of exec_memory.c */
    uint8_t vector;            /* registers of a vector access: 1, 2, 4 */
    uint8_t control;           /* enum control */
    uint8_t sources;           /* rows of a, b, c that may be others of the same value; 0: none */
    uint8_t skip;              /* instructions behind it that need not run: copies.c */
    uint16_t option;           /* of the instruction itself */
    int64_t offset;            /* of an address */
    uint32_t rows[MAX_VECTOR]; /* registers of a vector access or pack */
    const void *extra;         /* compare_fn, struct call */
    int counter;               /* index of memory counters, -1: none */
    int line;                  /* index of a source line */
    int loc, ptx_line;
    uint16_t base;        /* index into ptx_module.bases: what the address was made from */
    uint16_t used_bytes;  /* of a load, a bit a byte: those that the code looks at; 0: all */
    uint8_t checks;       /* CHECK_... that hold for it */
    const char *spelling; /* "ld.global.f32" */
    const struct deps *deps;
    const struct local_use
        *locals; /* locals.c: what it does with registers that may have no value */
};

/* Rows that an instruction reads and writes: the timing model's dependences. */
enum { MAX_DEPS = 12 };
struct deps {
    uint8_t read_count, write_count;
    uint32_t reads[MAX_DEPS], writes[MAX_DEPS];
};

/*
 * The marks of registers that may have no value: a word in the frame each, with the bit of a lane
 * set while it has none. Offsets of marks, and of the rows that they belong to.
 */
enum local_kind { LOCAL_LOOKS, LOCAL_MOVES, LOCAL_SELECTS, LOCAL_SHUFFLES, LOCAL_CALLS };
struct mark {
    uint32_t mark, row;
};
struct local_use {
    exec_fn *full, *masked; /* what does the work */
    enum local_kind kind;
    int read_count, write_count;
    const struct mark *reads, *writes;
    /* A call: marks of arguments and of the callee's parameters, of its results and the caller's.
     */
    const struct mark_pair *arguments, *results;
    int argument_count, result_count;
};
struct mark_pair {
    uint32_t from, to;
};

enum block_end { END_FALL, END_BRANCH, END_CALL, END_RETURN, END_EXIT };

enum { BLOCK_EXIT = -1 }; /* as a rejoin: the end of the function */

/* Instructions that are entered at the first and left after the last. */
struct block {
    const struct insn *first, *end; /* the straight part */
    const struct insn *start;       /* the first that needs to run: copies.c */
    const struct insn *control;     /* the branch, call or return; NULL: falls through */
    enum block_end kind;
    int next, target; /* blocks: when not taken, when taken */
    int rejoin;       /* where lanes that part here meet again: immediate post-dominator */
    int id;           /* of the module: index of counters and of the timing trace */
    int insn_count;   /* control included */
    bool is_backward; /* target is not after this block */
    bool is_waiting;  /* reads memory in a way that a loop may wait on */
};

/* A .param variable: a row of 4 bytes a lane for every word. */
struct area {
    uint32_t row;
    int words;
};

struct call {
    const struct function *callee; /* NULL: by address, in row insn.a */
    const struct area *arguments, *results;
    int argument_count, result_count;
};

/* A row that every frame of a function holds from the start. */
struct fixed_row {
    uint32_t row;
    uint8_t bytes;   /* of a lane: 4, 8; 0: a predicate */
    uint8_t special; /* enum special; SPECIAL_NONE: value */
    uint64_t value;
};

enum special {
    SPECIAL_NONE,
    SPECIAL_LOCAL,  /* address of a local variable at offset `value` of the frame */
    SPECIAL_SHARED, /* address of a shared variable, its index plus 1 in the upper half of value */
    SPECIAL_PARAM,  /* kernel parameter: offset, and enum memory_kind in the upper half of value */
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_DYNAMIC_SMEM,
    SPECIAL_TOTAL_SMEM,
    SPECIAL_ENVREG1,
    SPECIAL_ENVREG2,
};

struct function {
    const char *name;
    int index;
    bool is_entry, is_defined;
    struct block *blocks;
    int block_count;
    struct insn *insns;
    int insn_count;
    uint32_t frame_bytes;
    const struct fixed_row *fixed;
    int fixed_count, changing_count;         /* the first ones depend on the block or the call */
    const struct area *parameters, *results; /* of a device function */
    int parameter_count, result_count;
    int local_bytes;        /* of its own variables */
    bool is_dynamic_shared; /* names `extern __shared__` memory */
    struct ast_function *ast;
    const int64_t *register_rows; /* by register id */
    uint32_t marks;               /* where they lie in the frame */
    int unset_marks, marks_count; /* the first of them start without a value */
    struct err *refusal;          /* why it cannot run, in place of its body; NULL: it can */
};

/* A line of the source that has code. */
struct line {
    int file, line;
};

/* What an address was made from, where the code lets only one be: origin.c. */
enum base_kind { BASE_UNKNOWN, BASE_PARAMETER, BASE_VARIABLE, BASE_SHARED };
struct base {
    enum base_kind kind;
    int function; /* of BASE_PARAMETER: of the kernel */
    uint64_t at;  /* offset in the parameters; address; index of the shared variable */
};

/* A `__shared__` variable of any kernel; size 0: `extern`, as large as the launch says. */
struct shared_variable {
    const char *name;
    uint32_t address, size;
    const struct ast_function *kernel; /* whose own it is; NULL: any may use it */
};

struct ptx_module {
    struct arena *arena;
    const struct op_table *ops; /* the build of the lane loops that its instructions use */
    bool has_refusal;           /* a function of it cannot run */
    struct ast_module ast;
    struct function *functions; /* by index */
    struct ptx_kernel *kernels;
    int *kernel_functions; /* function index of each kernel */
    size_t kernel_count;
    struct ptx_variable *variables;
    size_t variable_count;
    struct line *lines;
    int line_count;
    int block_count, counter_count;
    const struct block **blocks;    /* by id */
    const struct function **owners; /* function of each block, by id */
    const struct insn **counted;    /* memory instruction of each counter */
    uint32_t dynamic_shared_base;   /* offset of `extern __shared__` */
    struct base *bases;             /* [0] is unknown */
    int base_count;
    struct shared_variable *shared; /* by index */
    int shared_count;
    bool has_racing;        /* some access to shared memory may race */
    bool has_narrow_shared; /* and some have fewer than 4 bytes */
    bool has_heap;          /* calls malloc: blocks share one heap, in their order */
};

/* ---- A launch ------------------------------------------------------------------------------- */

/* Memory counters of one instruction. */
struct access_counts {
    int64_t requests, sectors, passes, bytes;
    int64_t best;        /* passes without conflicts */
    uint32_t space_seen; /* bit per enum space: what generic addresses turned out to be */
};

/* Counters of one host thread; sums do not depend on the order in which they are added. */
struct counts {
    int64_t *block_runs, *block_lanes; /* by block id */
    int64_t *branch_splits;            /* by block id */
    struct access_counts *accesses;    /* by counter */
    int64_t *slices;                   /* operations of atomics, by slice of L2, of traced blocks */
    int64_t barriers;
};

/* Global memory as the launch sees it, by address. */
struct region {
    uint64_t start, end;
    uint8_t *data;
    uint8_t *defined;        /* a bit a byte, or NULL: all have a value */
    atomic_bool *is_written; /* ptx_buffer's, or NULL */
    bool is_read_only;
    bool is_freed;    /* of ptx_buffer.freed: no access is right */
    int buffer;       /* index into launch->buffers, -1: a module variable */
    const char *name; /* of the buffer or variable, or NULL */
};

struct trace; /* trace.c: what a warp executed, for the timing model */

struct run {
    const struct ptx_module *module;
    const struct ptx_launch *launch;
    const struct function *entry;
    struct region *regions; /* sorted */
    int region_count;
    int warps_per_block, threads_per_block;
    uint32_t static_shared_bytes, shared_bytes;
    uint32_t stack_bytes; /* of one thread */
    int64_t thread_budget;
    int slices;                         /* of L2 */
    bool is_racing;                     /* races in shared memory are looked for */
    struct ptx_dim sm_of;               /* unused lanes of smid: x = SM count */
    const struct region **base_regions; /* by base: the allocation it points into, or NULL */
    const bool *is_reached;             /* by function: the kernel, and what it may call */
    uint64_t workspace;                 /* of a cooperative launch, else 0 */
    struct heap *heap;                  /* of device malloc; NULL: the module calls none */
};

struct frame {
    uint8_t *rows; /* function->frame_bytes, aligned to 64 */
    const struct function *function;
    struct frame *caller; /* NULL: of the kernel */
    const struct block *call_block;
    uint32_t lanes;    /* that have not returned or ended */
    uint32_t stack_at; /* offset of its variables in a thread's stack */
    int depth;         /* calls below the kernel */
    struct frame *next_free;
};

/* Where lanes that parted meet again. */
struct join {
    int block; /* index in the frame's function, or BLOCK_EXIT */
    struct frame *frame;
    uint32_t expected, arrived;
    int64_t spins, turns; /* of those who arrived: the least, the most */
    struct join *outer;
    bool is_used;
};

enum group_state { GROUP_FREE, GROUP_READY, GROUP_BARRIER, GROUP_PARKED };

/* Lanes that stand at the same instruction and move together. */
struct group {
    enum group_state state;
    uint32_t mask;
    const struct block *block;
    const struct insn *at; /* NULL: the block is to be entered */
    struct frame *frame;
    struct join *join; /* innermost place where they are awaited */
    int64_t spins;     /* left before others get a turn */
    int64_t turns;     /* how often it gave way */
    int barrier;       /* GROUP_BARRIER: its number */
};

struct race_report;

/* What is wrong with an access that lies where it may. */
enum fault_reason { REASON_PLACE, REASON_UNDEFINED, REASON_RACE, REASON_MASK, REASON_LOCAL };

/* insn.checks: what is known of an access before it runs. */
enum {
    CHECK_COPY = 1 << 0,    /* what it loads is only stored again */
    CHECK_FIELD = 1 << 3,   /* it reads a word to set some bits of it */
    CHECK_MEMBER = 1 << 4,  /* CHECK_COPY, of one part of a struct beside others */
    CHECK_NO_RACE = 1 << 1, /* no thread of the block can meet it between two barriers */
    CHECK_ORDERS = 1 << 2,  /* it takes or gives a lock, or waits for a flag */
    CHECK_SEEDS = 1 << 5,   /* what it loads is only the first guess of a compare-and-swap */
};

enum { MAX_GROUPS = WARP, MAX_JOINS = 4 * WARP };

struct fault_site {
    enum err_name name;
    uint32_t lanes;
    uint64_t address;
    int bytes;
    const struct insn *insn;
    const char *why;  /* static, or the arena's of the block */
    const char *hint; /* what to do about it, or NULL; static */
    enum fault_reason reason;
    struct race_report *race; /* REASON_RACE; the arena's of the block */
    uint32_t row;             /* REASON_LOCAL: of the register, in the current frame */
};

struct cta;

struct warp {
    uint8_t *rows; /* of the current group's frame */
    /* All ones for the lanes of the current group, for masked loops of 4 and 8 byte rows. */
    uint32_t lanes32[WARP];
    uint64_t lanes64[WARP];
    uint32_t expanded; /* the mask that lanes32 and lanes64 show */

    struct cta *cta;
    int index;
    uint32_t started, live; /* lanes that there are; of those, that have not ended */
    uint32_t mask;          /* of the current group */
    struct frame *frame;
    uint32_t used_groups; /* bit per group that is not GROUP_FREE */
    uint64_t used_joins[MAX_JOINS / 64];
    struct group groups[MAX_GROUPS];
    struct join joins[MAX_JOINS];
    struct frame **free_frames; /* by function index */
    uint8_t *local_defined;     /* a bit a byte of local, or NULL */
    uint8_t *local;             /* WARP stacks of run->stack_bytes */
    int64_t instructions;       /* so far, for the budget */
    struct frame *entry_frame;  /* of the kernel */
    uint32_t cluster_arrived;   /* lanes at barrier.cluster in a phase that is not over */
    struct pending *pending;    /* copies under way, the first first: exec_async.c */
    uint32_t commits[WARP];     /* groups of copies that a lane has closed */
    bool has_commits;           /* some lane has */
    struct fault_site fault;
    struct trace *trace; /* NULL: not timed */
};

struct barrier {
    int arrived;       /* threads */
    int expected;      /* of a barrier that names a count; 0: all threads that have not ended */
    int trues, falses; /* of bar.red */
};

/* What a block printed so far. */
struct printed {
    struct buf text;
    int64_t lost; /* bytes beyond PTX_PRINT_LIMIT */
};

/* A block in flight on one host thread. */
struct cta {
    const struct run *run;
    struct arena *arena;
    struct counts counts;
    struct pattern *patterns; /* by counter: shapes of accesses (access.h) */
    uint8_t *shared;
    uint8_t *shared_defined;   /* a bit a byte, or NULL */
    int64_t shared_undefined;  /* bytes of it without a value */
    struct race *race;         /* race.c; NULL: not looked for */
    struct warp *undefined_by; /* who read shared memory without a value, or NULL */
    struct fault_site undefined;
    struct notes *notes; /* warning.c; NULL: none so far */
    struct ptx_dim index;
    int64_t linear;
    struct warp *warps;
    struct barrier barriers[MAX_BARRIERS + 1]; /* the last: of the cluster */
    bool has_full_barrier;                     /* one is complete, and nobody was let go yet */
    int used_barriers;                         /* the highest that a warp came to, and one */
    struct printed printed;
    struct pending *free_pending; /* of all warps */
    int live_threads;
    int64_t changes;             /* that atomics made to memory */
    int64_t looks;               /* at memory that a loop may wait for, in this round */
    bool has_moved;              /* in this step some thread did more than go round a loop */
    bool is_waiting;             /* the last step ended so */
    struct track *track;         /* races=all; else NULL */
    struct track_view *view;     /* what track.c knows of this block */
    struct footprint *footprint; /* when blocks run side by side; else NULL */
    int64_t poll;                /* instructions until the stop flag is looked at */
    const struct insn *called_in, *called_from; /* report_from: shown as the other */
    struct err *err;
    struct ptx_fault *fault;
};

/* ---- Services between the files ------------------------------------------------------------- */

/* The decoded form of a spelling from ops.def, or NULL. */
struct op {
    const char *spelling;
    exec_fn *full, *masked;
    uint8_t latency;
    uint8_t sources;
    uint8_t d_bits, a_bits, b_bits, c_bits; /* of registers; 1: a predicate */
};

/* Tables of one build of the lane loops (exec_baseline.c, exec_avx2.c, exec_avx512.c). */
struct op_table {
    const struct op *ops;
    size_t count;
    const struct comparison *comparisons;
    size_t comparison_count;
    exec_fn *load, *store; /* of an instruction with a counter (lanes_memory.h) */
    exec_fn *shuffle;      /* lanes_shuffle.h */
};
struct comparison {
    const char *spelling; /* "lt.s32" */
    compare_fn *compare;
};

extern const struct op_table OPS_BASELINE, OPS_RARE;
#if defined(__x86_64__)
extern const struct op_table OPS_AVX2, OPS_AVX512;
#endif

/* A build of the lane loops; NULL: the processor at hand cannot run it. */
const struct op_table *ops_of(enum ptx_lanes lanes);
/* By spelling, in that build or in rare.def; NULL. */
const struct op *ops_find(const struct op_table *table, const char *spelling);
compare_fn *ops_find_comparison(const struct op_table *table, const char *spelling);

/* exec_memory.c */
uint64_t atomic_combine(const struct insn *in, enum space space, uint64_t old, uint64_t b,
                        uint64_t c);
exec_fn exec_load, exec_store, exec_atomic, exec_atomic_vector, exec_param_load, exec_param_store;

/* sync.c, barrier.c */
exec_fn exec_shfl, exec_vote, exec_sync, exec_activemask, exec_barrier;

/* exec_compare.c */
exec_fn exec_setp, exec_set;

/* exec_move.c */
exec_fn exec_pack, exec_unpack, exec_move_wide, exec_clock;

/* exec_misc.c */
exec_fn exec_logic, exec_isspacep, exec_nop, exec_fence, exec_lop3, exec_bfi, exec_trap;

/* exec_open.c: insn.extra is the struct op that does the work. */
exec_fn exec_division_full, exec_division_masked, exec_shift_full, exec_shift_masked;

/* decode.c, cfg.c */
int ptx_decode(struct ptx_module *module, struct err *err) MUST_CHECK;

/*
 * Functions that cannot run (refuse.c). refuse_keep: after the decoder refused `f`, moves the
 * reason from *err to the function and gives it a body that does; -1 for errors of other sorts,
 * which stay in *err. refuse_check: -1 with the reason when kernel `entry` can come to such a
 * function. refuse_all: -1 with the first reason when every kernel of the module can.
 */
int refuse_keep(struct ptx_module *m, struct function *f, struct err *err) MUST_CHECK;
int refuse_check(const struct ptx_module *m, int entry, struct arena *arena,
                 struct err *err) MUST_CHECK;
int refuse_all(struct ptx_module *m, struct err *err) MUST_CHECK;
int cfg_build(struct ptx_module *module, struct function *f, struct err *err) MUST_CHECK;

/* trace.c: what warps executed. A launch's traced blocks become classes of equal blocks. */
struct trace *trace_new(struct arena *arena, size_t room); /* room: bytes that it may take */
void trace_restart(struct trace *trace);
void trace_block(struct trace *trace, const struct block *block, uint32_t mask);
void trace_access(struct trace *trace, core_access access);
/* What an access of global memory, its bytes low to high, shares with the warp beside (or NULL). */
enum trace_sharing { SHARES_NOTHING, SHARES_GRANULE, SHARES_SECTOR };
enum trace_sharing trace_reach(struct trace *trace, const struct trace *beside, uint64_t low,
                               uint64_t high);

struct warp_class {
    uint64_t hash;
    struct core_stream stream;  /* accesses: the space in the upper half */
    int64_t instructions, lost; /* that it executed; those that the stream does not have */
};

struct block_class {
    uint64_t hash;
    int *warps; /* indices of warp classes */
    int warp_count;
};

/* Classes of one host thread; merged by hash, which does not depend on who ran what. */
struct classes {
    struct arena *arena;
    struct warp_class *warps;
    struct block_class *blocks;
    int warp_count, warp_capacity, block_count, block_capacity;
    bool is_full; /* out of memory: later blocks count as the first class */
};

/* The class of a block that ran just now; -1: out of memory, and is_full is set. */
int classes_add_block(struct classes *classes, struct cta *cta);
/* The class with this hash in `to`, copied (not its steps) from `from` when it is new; -1. */
int classes_merge_block(struct classes *to, const struct classes *from, int block);

/*
 * stream.c: the blocks of a module that are used, by id, as the core layer's, and their registers:
 * with the costs of *out, of which it fills blocks and register_count. -1: out of memory.
 */
int stream_translate(const struct ptx_module *m, const bool *used, struct arena *arena,
                     struct core_config *out) MUST_CHECK;

/* timing.c */
struct timing_input {
    const struct run *run;
    const struct classes *classes;
    const int *block_classes; /* of each traced block, in order */
    int block_count;          /* traced */
    int64_t launch_blocks;    /* of the whole grid */
    int64_t bytes_touched; /* of the buffers that its arguments point to: what is to be fetched */
    int64_t atomics_all, atomics_most; /* their operations, and those of the slice with most */
};
int timing_estimate(const struct timing_input *input, struct arena *arena, struct ptx_timing *out,
                    struct err *err) MUST_CHECK;

/*
 * turns.c: a block from its start to its end. A step ends with the block, or when all of its
 * threads that could move go round loops that wait for memory to change: then others may change it.
 */
enum simt_step { SIMT_FAULT = -1, SIMT_DONE, SIMT_WAITS };
/* Steps in which nobody changed memory, until a wait is held to be one for ever: 500,000 looks. */
enum { SIMT_PATIENCE = 1 << 13 };
int simt_start(struct cta *cta, struct err *err) MUST_CHECK;
int simt_step(struct cta *cta, struct err *err) MUST_CHECK;
/* All steps, when there are no others; a block that waits for ever is a Deadlock. */
int simt_run(struct cta *cta, struct err *err) MUST_CHECK;
/* state.c: equal numbers (almost surely) mean equal states, memory apart. */
uint64_t simt_state(const struct cta *cta);

/* How many lanes a mask has: nearly always all. */
static inline int mask_lanes(uint32_t mask)
{
    return mask == FULL_MASK ? WARP : __builtin_popcount(mask);
}

/* frame.c: rows of a call. NULL: out of memory. */
bool frame_is_changing(enum special special); /* with the block or the call */
struct frame *frame_open(struct warp *w, const struct function *f, struct frame *caller);
void frame_close(struct warp *w, struct frame *frame);

/* origin.c: what each access's address was made from; after a function was decoded. */
int origin_find(struct ptx_module *module, struct function *f, struct err *err) MUST_CHECK;
/* The allocations that those are in a launch; after memory was mapped. -1: out of memory. */
int origin_resolve(struct run *run, struct arena *arena) MUST_CHECK;
/* Which window a generic address is in; anything outside the windows is global. */
static inline enum space address_space(uint64_t address)
{
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return SPACE_SHARED;
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        return SPACE_LOCAL;
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return SPACE_PARAM;
    return SPACE_GLOBAL;
}

/* address.c: the host memory behind one lane's generic address. */
/* Copies bytes, or appends a text up to its zero byte. False: they are not all in device memory. */
bool address_read(const struct warp *w, int lane, uint64_t address, void *out, size_t size);
bool address_read_text(const struct warp *w, int lane, uint64_t address, struct buf *out);
/* The thread of a lane. */
struct ptx_dim cta_thread(const struct cta *cta, int warp, int lane);

/* reach.c: fills run->is_reached; run->entry is known. -1: out of memory. */
int reach_find(struct run *run, struct arena *arena) MUST_CHECK;

/* order.c: finds atomics that no order shows; whether a launch must run its blocks in order. */
int order_find(struct function *f, struct err *err) MUST_CHECK;
bool order_matters(const struct run *run);

/*
 * locals.c: finds registers that a kernel of a debug build may read before they have a value, and
 * has the instructions that touch them looked at; after all else was found about the module.
 */
int locals_find(struct ptx_module *module, struct err *err) MUST_CHECK;
/* copies.c: passes over moves whose readers can read what they copy; after locals_find. */
int copies_find(struct ptx_module *module, struct err *err) MUST_CHECK;

/* exec_locals.c: those instructions. local_branch: whether the guard has a value. */
exec_fn exec_local_full, exec_local_masked;
int local_branch(struct warp *w, const struct insn *in, uint32_t mask);
void local_open(const struct frame *frame);
void local_pass(const struct insn *call, const struct frame *caller, const struct frame *callee,
                uint32_t mask);
void local_return(const struct insn *call, const struct frame *caller, const struct frame *callee,
                  uint32_t mask);

/* The function that does the work of an instruction. */
static inline exec_fn *insn_exec(const struct insn *in)
{
    return in->locals && in->locals->masked ? in->locals->masked : in->masked;
}

/* uses.c: marks loads that only copy. */
int uses_find(struct function *f, struct err *err) MUST_CHECK;

/* check.c */
int check_fault(struct warp *w, struct err *err);
int check_barrier(struct cta *cta, int barrier, struct err *err);
int check_deadlock(struct cta *cta, struct err *err);
int check_budget(struct warp *w, struct err *err);
/* What was put off until a barrier of all threads, or the end of the block. */
int check_pending(struct cta *cta, struct err *err);
const struct region *region_find(const struct run *run, uint64_t address);

#endif
