/*
 * Launches as they travel to the model worker and the GPU: modules, buffers in
 * memfds, and a list of launches over them. Both children read a request with the
 * same function, so that a kernel meets the same arguments on both.
 *
 * Buffers have virtual addresses, in order of creation; a pointer argument is such
 * an address, and the GPU child replaces it by the card's. A launch that fails
 * leaves every buffer as it was: the children work on private mappings and write the
 * pages that changed back after the last launch succeeded.
 *
 * While a launch runs, the child counts finished blocks in a page that the front maps
 * too, and says what the kernel prints in messages of OP_PART.
 */
#ifndef WB_KERNELS_LAUNCH_H
#define WB_KERNELS_LAUNCH_H

#include "kernels/child.h"
#include "model/base/arena.h"
#include "model/device.h"
#include "model/ptx/ptx.h"

enum launch_tag {
    /* OP_RUN, request. Records repeat in order and are referred to by number. */
    TAG_MODULE = TAG_FIRST_OF_LAUNCH, /* text: PTX (model) or cubin (gpu) */
    TAG_MODULE_ID,    /* int, behind its module: equal ids have equal text; 0: none */
    TAG_BUFFER,       /* record: TAG_ROW and the texts below */
    TAG_ROW,          /* bytes: struct launch_buffer */
    TAG_ELEMENT,      /* text: "float" */
    TAG_ORIGIN,       /* text: "made in In[4] line 1" */
    TAG_FREED,        /* text: "freed by %reset in In[7]" */
    TAG_LAUNCH,       /* record: TAG_SHAPE, TAG_SYMBOL, TAG_ARGUMENT */
    TAG_SHAPE,        /* bytes: struct launch_config */
    TAG_SYMBOL,       /* text: the kernel as linked */
    TAG_DISPLAY,      /* text: the kernel as written */
    TAG_PARAMETER,    /* text, repeats in order: names of the parameters */
    TAG_ARGUMENT,     /* bytes, repeats: alignment (uint32), then a value */
    TAG_POINTER,      /* int, repeats in the same list: a virtual address */
    TAG_POINTER_AT,   /* int, behind its argument: byte of a pointer in a struct */
    TAG_OPTIONS,      /* bytes: struct launch_options */
    TAG_MODEL_DEVICE, /* bytes: struct device (its name is not sent) */
    TAG_DEVICE_NAME,  /* text */
    TAG_STATUS,       /* int: number of the descriptor of a struct launch_status */
    TAG_PROBE,        /* bytes: cubin of kernels/clock.cu (gpu, timed) */
    /* OP_PART, child to front while a launch runs */
    TAG_PRINT, /* text: what the kernel printed, when the launch is not timed */
    /* OP_RUN, answer: one TAG_DONE record a launch, in order */
    TAG_DONE,
    TAG_FACTS,   /* bytes: struct ptx_facts without its lines (model) */
    TAG_LINE,    /* bytes, repeats: struct ptx_line_facts, then the file's name (model) */
    TAG_WARNING, /* record, repeats: TAG_ROW struct ptx_warning and its texts (model) */
    TAG_FAULT,   /* record beside TAG_ERROR: TAG_ROW struct ptx_fault and its texts (model) */
    TAG_TEXT,
    TAG_OTHER_FILE,
    TAG_WHY,
    TAG_TRY,
    TAG_SAMPLES_US,    /* doubles: one time a repeat that counts (gpu) */
    TAG_CLOCKS_MHZ,    /* doubles: the SM clock in each of them (gpu) */
    TAG_REJECTED,      /* int: repeats that were thrown away because the card throttled (gpu) */
    TAG_INNER,         /* int: launches in one sample, whose time is divided by it (gpu) */
    TAG_BLOCKS_PER_SM, /* int: what the driver says (gpu) */
    TAG_COPY_GBS,      /* double, beside the records: what a copy reads and writes (gpu) */
    TAG_IS_BROKEN,     /* int, beside the records or the error: 1: the process ends now (gpu) */
    /* OP_DEVICES, answer */
    TAG_DRIVER,
    TAG_CARD,
    TAG_UUID,
    TAG_MEMORY_BYTES,
    TAG_ATTRIBUTE,
    TAG_VALUE,
    TAG_UNIT,
    TAG_GROUP,
};

enum launch_buffer_flag {
    LAUNCH_READ_ONLY = 1,
    LAUNCH_IS_SYMBOL = 2, /* a device variable, known by its linked name; its address is unused */
    LAUNCH_IS_FRESH = 4,  /* with LAUNCH_IS_SYMBOL: gets the module's initial value first */
    LAUNCH_IS_FREED = 8,  /* has no memory any more; sent so that its use can be named */
};

/* A part of a memfd that travels with the message. */
struct launch_buffer {
    uint64_t address;        /* virtual, aligned to 256 */
    uint64_t size;           /* bytes */
    uint64_t offset;         /* in the memfd */
    uint64_t defined_offset; /* in the memfd: a bit for each byte, set once written; 0: none */
    uint32_t fd;             /* index of the descriptor in the message */
    uint32_t flags;          /* LAUNCH_... */
    uint32_t element_bytes;
    uint32_t reserved;
};

/* Borrowed texts of a buffer; NULL where there is none. */
struct launch_buffer_texts {
    const char *name, *linked, *element, *origin, *freed;
};

enum { LAUNCH_NO_CHECKS = 1 << 30 };

/* What is between the two events when a launch is timed; run untimed it is always the kernel. */
enum launch_way {
    LAUNCH_BY_STREAM, /* one launch after the other in a stream */
    LAUNCH_BY_GRAPH,  /* the same launches as one graph */
};

struct launch_config {
    uint32_t module; /* index of its TAG_MODULE */
    struct ptx_dim grid, block;
    int32_t dynamic_shared_bytes;
    int32_t registers;      /* a thread, from the machine code: for the model's occupancy; 0: 32 */
    int64_t sample_blocks;  /* model: run only so many, evenly spread; 0: all */
    int32_t checks;         /* model: PTX_CHECK_ flags; 0: the default ones; or LAUNCH_NO_CHECKS */
    int32_t is_stack;       /* model: PTX_GROUPS_STACK (its=off) */
    int32_t is_cooperative; /* all blocks are resident at once */
    struct ptx_dim cluster; /* x 0: none */
    int32_t way;            /* gpu: enum launch_way */
    /*
     * model: run for its counts alone. What it writes and prints is dropped. Trials are tried in
     * order until one ends well; the TAG_DONE of the others is empty.
     */
    int32_t is_trial;
    int64_t max_thread_instructions; /* model: of this launch; 0: the request's */
};

struct launch_options {
    int32_t gpu_index;    /* gpu: which card */
    int32_t repeat;       /* gpu: 0 runs each launch once; else times so many repeats of each */
    int32_t is_timed;     /* model: fill facts.timing */
    int32_t is_writing;   /* write the buffers back */
    int64_t memory_limit; /* model: bytes of a launch's own state; 0: 1 GiB */
    int64_t max_thread_instructions; /* model: 0: 2^32 */
    int32_t is_cold;                 /* gpu, timed: caches are flushed before each sample */
    int32_t is_single;  /* gpu, timed: one launch a sample, whose buffers were restored before it */
    int32_t wants_copy; /* gpu, timed: measure a copy within the card's memory, too */
};

enum launch_stop {
    LAUNCH_STOP_NONE,
    LAUNCH_STOP_TIMEOUT,
};

/* One page that the front and the child see while a launch runs. */
struct launch_status {
    atomic_llong blocks_done; /* of the running launch */
    atomic_int launches_done;
    /*
     * What the running launch will take, once a few of its blocks were tried; 0: not known, or not
     * long. It is at least that when those blocks did not come to their end.
     */
    atomic_llong estimate_ms;
    atomic_int is_estimate_least;
    atomic_int stop_reason; /* why the front stops the child: enum launch_stop */
    atomic_int is_started;  /* gpu: code and buffers are on the card; time counts from here */
};

/* A request as read; texts, images and arrays live in the arena, buffers are mapped. */
enum { LAUNCH_MOST_POINTERS = 16 }; /* in one struct */
struct launch_argument {
    bool is_pointer;
    uint32_t pointers[LAUNCH_MOST_POINTERS]; /* bytes in value at which addresses stand */
    size_t pointer_count;
    uint32_t align;
    uint64_t address;   /* when it is one */
    struct bytes value; /* else; borrowed from the message */
};

struct launch {
    struct launch_config shape;
    const char *symbol;
    const char *display;           /* as written; NULL: not said */
    const char *const *parameters; /* names; may be fewer than arguments */
    size_t parameter_count;
    const struct launch_argument *arguments;
    size_t argument_count;
};

struct launch_memory {
    struct launch_buffer row;
    struct launch_buffer_texts texts;
    void *data;             /* a private view of the memfd's bytes: writes stay here; NULL: freed */
    uint8_t *defined;       /* the same of its bitmap, or NULL */
    int fd;                 /* borrowed from the message */
    atomic_bool is_written; /* false: no launch of the request wrote to it, for sure */
};

/* Text or machine code: terminated, aligned to 16. */
struct launch_module {
    struct bytes image;
    uint64_t id; /* 0: none */
};

struct launch_request {
    struct arena *arena;
    const struct launch_module *modules;
    struct bytes probe; /* as a module's image; empty: none */
    size_t module_count;
    struct launch_memory *buffers;
    size_t buffer_count;
    const struct launch *launches;
    size_t launch_count;
    struct launch_options options;
    struct device device;
    bool has_device;
    struct launch_status *status; /* mapped, or NULL */
};

/*
 * Reads and checks a request; maps its buffers privately. Fails with InternalError for what no
 * front sends (sizes, indexes, a memfd that is too short) and ResourceError.
 */
int launch_request_read(const struct child_message *message, struct launch_request *out,
                        struct err *err) MUST_CHECK;

/*
 * Copies the pages that changed of every buffer that was written and is not read-only, and of its
 * bitmap, back into the memfd.
 */
int launch_request_write_back(const struct launch_request *request, struct err *err) MUST_CHECK;
void launch_request_done(struct launch_request *request);

/* Makes every buffer what it was when the request was read. */
void launch_request_restore(const struct launch_request *request);

/*
 * The parameter blob of a launch: every argument at the next multiple of its alignment, which is
 * how CUDA lays parameters out. addresses[i] replaces the virtual address of buffer i; NULL keeps
 * them. *size gets its bytes. NULL: err is set.
 */
void *launch_parameters(const struct launch_request *request, const struct launch *launch,
                        const uint64_t *addresses, size_t *size, struct err *err);

/* Index of the buffer in which an address lies (or that ends at it), or -1. */
int launch_buffer_at(const struct launch_request *request, uint64_t address);

/* ---- launch_memory.c: private views of memfds ---- */

/* Maps `size` bytes at any offset of a file privately. NULL: err is set, with the buffer's name. */
void *launch_map(int fd, uint64_t offset, uint64_t size, const char *name, struct err *err);
void launch_unmap(void *data, uint64_t offset, uint64_t size);

/* Forgets what was written to a private view: it reads as the file again. */
void launch_map_restore(void *data, uint64_t offset, uint64_t size);

/* The same of some bytes of it, which are read from the file. */
int launch_map_reread(int fd, uint64_t offset, uint64_t at, uint64_t size, void *data,
                      const char *name, struct err *err) MUST_CHECK;

/*
 * Writes what differs from the file back to it, page by page: pages that were never written are
 * found by asking /proc/self/pagemap for the others where it answers that (Linux 6.7), else by
 * reading it page for page, else by comparing.
 */
int launch_map_write_back(int fd, uint64_t offset, uint64_t size, const void *data,
                          const char *name, struct err *err) MUST_CHECK;

/* Writing a request (the front). */
void launch_put_module(struct buf *body, struct bytes image, uint64_t id);
void launch_put_buffer(struct buf *body, const struct launch_buffer *row,
                       const struct launch_buffer_texts *texts);
void launch_put_options(struct buf *body, const struct launch_options *options);
void launch_put_device(struct buf *body, const struct device *device);

/* begin and end frame a launch; pointer and value add its arguments in order. */
size_t launch_begin(struct buf *body, const struct launch_config *shape, const char *symbol);
void launch_put_pointer(struct buf *body, uint64_t address);
void launch_put_value(struct buf *body, const void *value, size_t size, size_t align);
/* The last value has a virtual address at this byte. */
void launch_put_pointer_at(struct buf *body, size_t offset);
void launch_end(struct buf *body, size_t begin);

/* ---- launch_facts.c: what a launch says, there and back ---- */

/* The facts of one launch as the fields of its TAG_DONE record. */
void launch_put_facts(struct buf *body, const struct ptx_facts *facts);

/*
 * Reads them again; lines and their texts go to the arena. False when the record has none or is
 * damaged.
 */
bool launch_read_facts(struct bytes done, struct arena *arena, struct ptx_facts *out);

/* A fault as a TAG_FAULT record. Reading leaves kernel and instructions NULL. */
void launch_put_fault(struct buf *body, const struct ptx_fault *fault);
bool launch_read_fault(struct bytes body, struct arena *arena, struct ptx_fault *out);

#endif
