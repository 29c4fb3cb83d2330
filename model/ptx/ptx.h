/*
 * The SIMT interpreter: runs the PTX of a CUDA kernel on the host, warp by warp
 * and 32 lanes at a time, with no GPU.
 *
 * A text is parsed and decoded once into a module that never changes; a launch
 * runs one of its kernels over the caller's buffers and says what a GPU would
 * not: how many lanes worked, which branches split warps, how many sectors and
 * bank passes each line cost, and, when something is wrong, which thread did it
 * on which line. Facts and memory are the same for any number of host threads.
 *
 * Pure: no files, no clock, no globals. Source of the language: "Parallel Thread
 * Execution ISA", version 9.0 (CUDA 13.0); NVRTC writes `.version 9.0`.
 */
#ifndef WB_MODEL_PTX_PTX_H
#define WB_MODEL_PTX_PTX_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"
#include "model/core.h"
#include "model/device.h"

#include <stdatomic.h>
#include <stdbool.h>

/* ---- Module ------------------------------------------------------------------------------- */

struct ptx_module;

/* Fundamental types, in PTX's own spelling: "u32", "f64", "b8" (an array of bytes: a struct). */
struct ptx_parameter {
    const char *name; /* "saxpy_param_2": PTX has lost the source's names */
    const char *type; /* "u64" for a pointer, "b8" for a struct or array */
    int offset, size; /* bytes in the parameter blob */
    int align;
};

struct ptx_kernel {
    const char *name; /* as linked: "saxpy" or "_Z5saxpyifPKfPf" */
    const struct ptx_parameter *parameters;
    size_t parameter_count;
    int parameter_bytes;      /* of the whole blob */
    int static_shared_bytes;  /* declared shared memory, dynamic shared not counted */
    int local_bytes;          /* stack of one thread, calls included; recursion: of one level */
    int max_threads;          /* .maxntid (__launch_bounds__), 0: none */
    bool is_dynamic_shared;   /* reads `extern __shared__` */
    int line;                 /* line of the source with its first instruction; 0: unknown */
    int conditional_branches; /* static count: 0 says that the compiler left no branch */
    int selects;              /* static count of selp: branches turned into selects */
};

/* A `__device__` or `__constant__` variable, or a string that the compiler made. */
struct ptx_variable {
    const char *name;
    bool is_constant;    /* .const */
    size_t size, align;  /* bytes */
    uint64_t address;    /* virtual, fixed by the module; a buffer of ptx_launch.variables has it */
    const void *initial; /* size bytes */
};

/*
 * Parses and decodes a PTX text (borrowed for the call). *out is the caller's; ptx_module_free.
 *
 * Fails with UnsupportedError for an instruction that is not executed (its name, the PTX line and,
 * by `.loc`, the line of the source in err->line and err->place), SyntaxError for a text that is no
 * PTX, ResourceError when out of memory.
 */
int ptx_module_load(struct bytes text, struct ptx_module **out, struct err *err) MUST_CHECK;

/*
 * The same with a given build of the lane loops, which are compiled several times for what
 * processors can do and give the same bits: for tests and benchmarks. ptx_lanes_run says whether
 * the processor at hand runs a build; one that it does not run fails with UnsupportedError.
 */
enum ptx_lanes { PTX_LANES_BEST, PTX_LANES_BASELINE, PTX_LANES_AVX2, PTX_LANES_AVX512 };
bool ptx_lanes_run(enum ptx_lanes lanes);
int ptx_module_load_for(struct bytes text, enum ptx_lanes lanes, struct ptx_module **out,
                        struct err *err) MUST_CHECK;

/* Ends the module and all that was borrowed from it; sets *module to NULL, which it may be. */
void ptx_module_free(struct ptx_module **module);

/* Entries in the order of the text. Borrowed from the module. */
size_t ptx_kernel_count(const struct ptx_module *module);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t i);
const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name);

/* A kernel's code as a stream of the core layer; all in the arena. */
struct ptx_stream {
    const struct core_block *blocks;
    int register_count;
    struct core_stream stream; /* the upper half of an access: enum space of parse.h */
    bool is_cut;               /* longer than 65,536 blocks: the rest is left out */
};

/*
 * What one warp of a kernel executes, without running it: branches forward are not taken unless
 * they always are, loops go round `trips` times (1 or more), and lanes access memory side by side.
 * Fails with the reason why the kernel cannot run, or ResourceError.
 */
int ptx_kernel_stream(const struct ptx_module *module, const struct ptx_kernel *kernel, int trips,
                      const struct costs *costs, struct arena *arena, struct ptx_stream *out,
                      struct err *err) MUST_CHECK;

/* The places (core_config.places) of such a stream's accesses: `global` for global memory. */
void ptx_stream_places(enum core_place global, uint8_t places[8]);

/* Module variables in the order of the text. */
size_t ptx_variable_count(const struct ptx_module *module);
const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, size_t i);

/*
 * The first conditional branch, or the first select where there is no branch, of a kernel between
 * two lines of the source (0, 0: anywhere), as "bra", "selp" or "" (neither). ptx_line may be NULL;
 * it gets the 1-based line of the PTX text, 0 for none.
 */
const char *ptx_kernel_branch(const struct ptx_module *module, const char *kernel, int first_line,
                              int last_line, int *ptx_line);

/* ---- Launch ------------------------------------------------------------------------------- */

struct ptx_dim {
    unsigned x, y, z;
};

/* Global memory: an allocation at a virtual address. Data stays the caller's. */
struct ptx_buffer {
    uint64_t address;         /* virtual, aligned to 256; allocations must not touch each other */
    void *data;               /* size bytes that the kernel reads and writes in place */
    size_t size;              /* bytes */
    const char *name;         /* "x": for reports; NULL: shown by address */
    const char *element_type; /* "float"; NULL: shown in bytes */
    int element_bytes;        /* 4; 0: shown in bytes */
    const char *origin;       /* "made in In[4] line 1", or NULL */
    bool is_read_only;
    /*
     * One bit a byte of data, bit i % 8 of byte i / 8: set where the byte has a value. The kernel's
     * writes set bits. NULL: all bytes have one.
     */
    uint8_t *defined;
    atomic_bool *is_written; /* set where the kernel may have written to it; NULL: nobody asks */
    const char *freed; /* "freed by %reset in In[7]": an access is a fault; data may be NULL */
};

enum ptx_groups {
    PTX_GROUPS_ITS,   /* Volta and later: groups of a warp take turns, a spin lock ends */
    PTX_GROUPS_STACK, /* before Volta: one side runs to the join first; a spin lock may hang */
};

/* Checks, as flags. Alignment and unmapped memory are always checked. */
enum {
    PTX_CHECK_BOUNDS = 1 << 0,   /* an access stays in the allocation its address lies in */
    PTX_CHECK_BARRIERS = 1 << 1, /* __syncthreads reached from different lines is a fault */
    PTX_CHECK_UNINITIALISED =
        1 << 2,                      /* reads of bytes of global or shared memory without a value */
    PTX_CHECK_LOCALS = 1 << 3,       /* the same of local memory and registers */
    PTX_CHECK_SHARED_RACES = 1 << 4, /* between two barriers, in shared memory */
    PTX_CHECK_MASKS = 1 << 5,        /* of *_sync: own lane absent, a named lane cannot come */
    PTX_CHECK_GLOBAL_RACES = 1 << 6, /* within the launch, in global memory; costs more */
    PTX_CHECK_DEFAULT = PTX_CHECK_BOUNDS | PTX_CHECK_BARRIERS | PTX_CHECK_UNINITIALISED |
                        PTX_CHECK_LOCALS | PTX_CHECK_SHARED_RACES | PTX_CHECK_MASKS,
};

/*
 * Called in block order with the text that a kernel printed, and its threads in the order in which
 * they ran; from one host thread at a time. A launch prints at most PTX_PRINT_LIMIT bytes, as much
 * as CUDA's own buffer holds; what is more is counted in a PTX_WARNING_PRINTF_LOST.
 */
enum { PTX_PRINT_LIMIT = 1 << 20 };
typedef void ptx_print_fn(void *context, const char *text, size_t size);

/*
 * Gives bytes [at, at + size) of buffer i, and the bits of their values, what they were when the
 * launch began; at is a multiple of 4096. From one host thread, while no block runs.
 */
typedef void ptx_restore_fn(void *context, size_t i, size_t at, size_t size);

/* Start from { 0 } and fill what acts; zeros are the defaults named below. */
struct ptx_launch {
    const struct ptx_kernel *kernel; /* of the module that is run */
    struct ptx_dim grid, block;      /* at least 1 each; as CUDA limits them */
    int dynamic_shared_bytes;
    const void *parameters; /* kernel->parameter_bytes bytes */

    /*
     * As cudaLaunchCooperativeKernel: all blocks are resident at once, so that grid.sync() can wait
     * for them; LaunchError when the device cannot hold so many.
     */
    bool is_cooperative;
    size_t heap_bytes;  /* of device malloc, as cudaLimitMallocHeapSize; 0: 8 MiB */
    size_t stack_bytes; /* of one thread, as cudaLimitStackSize; 0: what the kernel needs, 1 KiB at
                           least */

    /* How the user knows them, for reports; NULL: as PTX names them. */
    const char *kernel_name; /* "saxpy" where the linked name is mangled */
    const char *const
        *parameter_names; /* "x", one a parameter of the kernel; entries may be NULL */

    const struct ptx_buffer *buffers;
    size_t buffer_count;
    /*
     * Blocks that ran side by side may have to be undone. NULL: the launch keeps copies of the
     * pages that it writes until it ends, which takes time and memory.
     */
    ptx_restore_fn *restore;
    void *restore_context;
    const struct ptx_buffer *variables; /* one a module variable, in order; NULL: fresh copies */

    const struct device *device; /* SM count, clock and limits: for special registers and time */
    int registers;               /* a thread, from ptxas: for occupancy; 0: 32 */

    int host_threads; /* 0: 1 */
    /*
     * Run only so many blocks, block k * blocks / sample_blocks for k = 0, 1, ...; counts and
     * cycles are those of the whole grid, scaled. 0: all.
     */
    int64_t sample_blocks;
    int64_t max_thread_instructions; /* budget of one thread; beyond it Timeout; 0: 2^32 */
    enum ptx_groups groups;
    int checks;          /* PTX_CHECK_... */
    bool is_timed;       /* fill facts->timing */
    size_t memory_limit; /* bytes of the launch's own state; 0: 1 GiB */

    ptx_print_fn *print; /* NULL: printf is dropped */
    void *print_context;
    const atomic_bool *stop; /* NULL: never; polled at least each millisecond */
    atomic_llong *progress;  /* NULL, or counts blocks done */
};

struct ptx_access_facts {
    int64_t requests; /* warp instructions */
    int64_t sectors;  /* of 32 bytes, global */
    int64_t passes; /* of the 32 banks, shared; best is requests (x2, x4 for 8, 16 bytes a lane) */
    int64_t bytes;  /* that the lanes asked for */
};

/* One line of the source. */
struct ptx_line_facts {
    const char *file; /* "In[3]", or as the compiler names it; borrowed from the module */
    int line;
    int64_t warp_instructions, thread_instructions;
    int64_t branches, divergent_branches;
    struct ptx_access_facts global, shared; /* loads and stores together */
};

struct ptx_timing {
    int64_t cycles;               /* of the SM clock, from the first block to the last */
    int64_t clock_cycles;         /* between the first and the last reading of %clock; 0: fewer */
    double time_us;               /* cycles at the device's clock and the cost of a launch */
    double issue_utilization;     /* 0..1: slots of the busy SMs that issued */
    double theoretical_occupancy; /* 0..1 */
    double achieved_occupancy;    /* 0..1 */
    int blocks_per_sm;
    double waves;               /* grid / (blocks per SM * SMs) */
    double stalls[STALL_COUNT]; /* shares of the resident warps' cycles; they sum to 1 */
};

/*
 * Something that C leaves open and the GPU does in silence: not a fault. One a place and kind, in
 * the order of file and line.
 */
enum ptx_warning_kind {
    PTX_WARNING_DIVISION_BY_ZERO, /* of integers: all ones */
    PTX_WARNING_SHIFT,            /* by as many bits as the value has, or more */
    PTX_WARNING_PRINTF_LOST,      /* the buffer of printf was full */
    PTX_WARNING_LEAK,             /* device malloc without free */
    PTX_WARNING_EARLY_RETURN,     /* a barrier that some threads left out by returning */
    PTX_WARNING_WARP_RACE,        /* inside a warp: right in lockstep, open since Volta */
    PTX_WARNING_COUNT
};
struct ptx_warning {
    enum ptx_warning_kind kind;
    const char *text; /* one sentence: what, how often, who first; the arena's */
    const char *file; /* as in ptx_line_facts */
    int line;
    int64_t count; /* lanes that met it */
    struct ptx_dim block, thread;
};

struct ptx_facts {
    int64_t blocks, warps, threads;
    int64_t thread_instructions, warp_instructions;
    double lane_efficiency;               /* thread_instructions / (32 * warp_instructions) */
    int64_t branches, divergent_branches; /* conditional, by warp */
    struct ptx_access_facts global_load, global_store, local, shared;
    int64_t shared_conflicts;        /* passes beyond the best */
    int64_t barriers;                /* by warp */
    int64_t shfl, vote, atom, calls; /* by warp */
    bool is_sampled;                 /* counts were scaled up from sample_blocks */

    const struct ptx_line_facts *lines; /* by file and line; the arena's */
    size_t line_count;
    const struct ptx_warning *warnings; /* the arena's */
    size_t warning_count;
    struct ptx_timing timing; /* when is_timed */
};

/* The other one of two: of a race, who came before; of a barrier, who waits elsewhere. */
struct ptx_party {
    bool is_known;
    const char *file;
    int line, ptx_line;
    const char *instruction;
    struct ptx_dim block, thread;
    int warp;
    uint32_t lanes;
    bool is_write, is_atomic;
    uint64_t value; /* what it wrote, or read */
};

/* Which threads met a fault, and where; the arena's. name ERR_none: there was none. */
struct ptx_fault {
    enum err_name name;
    const char *kernel, *file; /* source file as in ptx_line_facts */
    int line, column, ptx_line;
    const char *instruction; /* "ld.global.f32" */
    struct ptx_dim block;    /* first block that met it */
    struct ptx_dim thread;   /* first thread in it */
    int warp;                /* of the block */
    uint32_t lanes;          /* of that warp that met it in the same instruction */
    int64_t threads;         /* how many, in that warp instruction */
    bool is_write, is_atomic;
    int bytes; /* of one lane's access */
    uint64_t address;
    int buffer;       /* index into launch->buffers of the nearest allocation, or -1 */
    int64_t index;    /* element of that buffer by its element size */
    int64_t past_end; /* bytes past its end (0: the first beyond); negative: before it */
    uint64_t value;   /* of a race: what the lane read, or was about to write */
    struct ptx_party other;
    bool is_unset;          /* a variable of the thread itself that has no value */
    const char *why, *try_; /* what led to it, and what to type instead; NULL: not known */
};

/* What a launch will take, from a few of its blocks. */
struct ptx_cost {
    int64_t blocks;              /* that the launch runs: of the grid, or sample_blocks */
    int64_t sampled_blocks;      /* that were run to know */
    int64_t sampled;             /* thread instructions that they ran */
    int64_t thread_instructions; /* of the whole launch, if its blocks are like those */
    int host_threads; /* that the launch will use, unless its blocks get in each other's way */
    bool is_cut; /* some block did not end within its share of the sample, or met a fault: a lower
                    bound */
};

/*
 * Estimates a launch by running three blocks, spread over the grid, each thread for at most
 * max_thread_instructions (0: 2^20) instructions. Nothing is left of it: buffers and bits of
 * defined bytes are given back, nothing is printed, progress stays. The model has no clock: who
 * calls it divides by a speed, for example that of this very call (sampled / seconds).
 *
 * Fails with LaunchError (shape, shared bytes, parameters), Interrupted or ResourceError.
 */
int ptx_launch_cost(const struct ptx_module *module, const struct ptx_launch *launch,
                    int64_t max_thread_instructions, struct arena *arena, struct ptx_cost *cost,
                    struct err *err) MUST_CHECK;

/*
 * Runs a launch. facts and fault are filled from `arena`; what was read stays borrowed from the
 * module. Buffers are written in place: after a failure they hold what the kernel had written so
 * far, and giving back the old content is the caller's (kernels/model_worker.c keeps a copy).
 *
 * Fails with LaunchError (shape, shared bytes, parameters), MemoryFault, BarrierFault, Deadlock,
 * RaceFault, AssertFault, Timeout, Interrupted or ResourceError. err->place and line are the
 * source's; err->detail is the report (rows who, where, why, try), fault has the same by field.
 * What only the front knows is its own to add: the excerpt of the source, the launch as it was
 * typed, and the state of the buffers afterwards.
 */
int ptx_run(const struct ptx_module *module, const struct ptx_launch *launch, struct arena *arena,
            struct ptx_facts *facts, struct ptx_fault *fault, struct err *err) MUST_CHECK;

#endif
