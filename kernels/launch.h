/*
 * Launches as they travel to the model worker and the GPU: modules, buffers in
 * memfds, and a list of launches over them. Both children read a request with the
 * same function, so that a kernel meets the same arguments on both.
 *
 * Buffers have virtual addresses, in order of creation; a pointer argument is such
 * an address, and the GPU child replaces it by the card's. A launch that fails
 * leaves every buffer as it was: the children work on copies and write them back
 * after the last launch succeeded.
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
    TAG_BUFFER,                       /* bytes: struct launch_buffer, then its name */
    TAG_LAUNCH,                       /* record: TAG_SHAPE, TAG_SYMBOL, TAG_ARGUMENT */
    TAG_SHAPE,                        /* bytes: struct launch_config */
    TAG_SYMBOL,                       /* text: the kernel as linked */
    TAG_ARGUMENT,                     /* bytes, repeats: the value of a scalar or struct */
    TAG_POINTER,                      /* int, repeats in the same list: a virtual address */
    TAG_OPTIONS,                      /* bytes: struct launch_options */
    TAG_MODEL_DEVICE,                 /* bytes: struct device (its name is not sent) */
    TAG_PROBE,                        /* bytes: cubin of kernels/clock.cu (gpu, timed) */
    /* OP_RUN, answer: one TAG_DONE record a launch, in order */
    TAG_DONE,
    TAG_FACTS,         /* bytes: struct ptx_facts without its lines (model) */
    TAG_LINE,          /* bytes, repeats: struct launch_line, then the file's name (model) */
    TAG_SAMPLES_US,    /* doubles: one time a repeat that counts (gpu) */
    TAG_CLOCKS_MHZ,    /* doubles: the SM clock in each of them (gpu) */
    TAG_REJECTED,      /* int: repeats that were thrown away because the card throttled (gpu) */
    TAG_INNER,         /* int: launches in one sample, whose time is divided by it (gpu) */
    TAG_BLOCKS_PER_SM, /* int: what the driver says (gpu) */
    /* OP_DEVICES, answer */
    TAG_DRIVER,
    TAG_CARD,
    TAG_UUID,
    TAG_MEMORY_BYTES,
    TAG_ATTRIBUTE,
    TAG_VALUE,
    TAG_UNIT,
};

/* A part of a memfd that travels with the message. */
struct launch_buffer {
    uint64_t address; /* virtual, aligned to 256 */
    uint64_t size;    /* bytes */
    uint64_t offset;  /* in the memfd, a multiple of the page size */
    uint32_t fd;      /* index of the descriptor in the message */
    uint32_t is_read_only;
    uint32_t element_bytes;
    uint32_t reserved;
};

struct launch_config {
    uint32_t module; /* index of its TAG_MODULE */
    struct ptx_dim grid, block;
    int32_t dynamic_shared_bytes;
    int32_t registers;     /* a thread, from the machine code: for the model's occupancy; 0: 32 */
    int64_t sample_blocks; /* model: run only so many, evenly spread; 0: all */
};

struct launch_options {
    int32_t gpu_index;    /* gpu: which card */
    int32_t repeat;       /* gpu: 0 runs each launch once; else times so many repeats of each */
    int32_t is_timed;     /* model: fill facts.timing */
    int32_t is_writing;   /* write the buffers back */
    int64_t memory_limit; /* model: bytes of a launch's own state; 0: 1 GiB */
    int64_t max_thread_instructions; /* model: 0: 2^32 */
};

struct launch_line {
    int64_t warp_instructions, thread_instructions, branches, divergent_branches;
    int32_t line;
    int32_t reserved;
};

/* A request as read; texts, images and arrays live in the arena, buffers are mapped. */
struct launch_argument {
    bool is_pointer;
    uint64_t address;   /* when it is one */
    struct bytes value; /* else; borrowed from the message */
};

struct launch {
    struct launch_config shape;
    const char *symbol;
    const struct launch_argument *arguments;
    size_t argument_count;
};

struct launch_memory {
    struct launch_buffer row;
    const char *name;
    void *data;    /* a private copy of the memfd's bytes: writes stay here */
    void *mapping; /* what is unmapped in the end */
    int fd;        /* borrowed from the message */
};

struct launch_request {
    struct arena *arena;
    const struct bytes *modules; /* terminated, aligned to 16 */
    struct bytes probe;          /* the same; empty: none */
    size_t module_count;
    struct launch_memory *buffers;
    size_t buffer_count;
    const struct launch *launches;
    size_t launch_count;
    struct launch_options options;
    struct device device;
    bool has_device;
};

/*
 * Reads and checks a request; maps its buffers privately. Fails with InternalError for what no
 * front sends (sizes, indexes, a memfd that is too short) and ResourceError.
 */
int launch_request_read(const struct child_message *message, struct launch_request *out,
                        struct err *err) MUST_CHECK;

/* Copies every buffer that is not read-only back into its memfd. */
int launch_request_write_back(const struct launch_request *request, struct err *err) MUST_CHECK;
void launch_request_done(struct launch_request *request);

/*
 * The parameter blob of a launch: every argument at the next multiple of its alignment (its
 * size, at most 16), which is how CUDA lays scalars and pointers out. addresses[i] replaces the
 * virtual address of buffer i; NULL keeps them. *size gets its bytes. NULL: err is set.
 */
void *launch_parameters(const struct launch_request *request, const struct launch *launch,
                        const uint64_t *addresses, size_t *size, struct err *err);

/* Index of the buffer in which an address lies (or that ends at it), or -1. */
int launch_buffer_at(const struct launch_request *request, uint64_t address);

/* Writing a request (the front). */
void launch_put_module(struct buf *body, struct bytes image);
void launch_put_buffer(struct buf *body, const struct launch_buffer *row, const char *name);
void launch_put_options(struct buf *body, const struct launch_options *options);
void launch_put_device(struct buf *body, const struct device *device);

/* begin and end frame a launch; pointer and value add its arguments in order. */
size_t launch_begin(struct buf *body, const struct launch_config *shape, const char *symbol);
void launch_put_pointer(struct buf *body, uint64_t address);
void launch_put_value(struct buf *body, const void *value, size_t size);
void launch_end(struct buf *body, size_t begin);

#endif
