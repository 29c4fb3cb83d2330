/*
 * Compiled code: what the compiler child made of a source, kept by content, so that
 * a cell that runs again, or a lesson on its second run, costs no compilation.
 */
#ifndef WB_CELLS_IMAGES_H
#define WB_CELLS_IMAGES_H

#include "cells/cuda.h"
#include "cells/workers.h"

enum { IMAGE_SLOTS = 48 };

/* One compilation. Everything is owned by the cache. */
struct image {
    char *source;
    char arch[24];
    bool is_debug;
    char *options;    /* one a line */
    char *expression; /* "k<float,32>", or "" */
    char *lowered;    /* its linked name, or "" */
    char *log;
    struct bytes ptx, cubin; /* terminated; empty when the arch gives none */
    struct cuda_kernel *kernels;
    size_t kernel_count;
    uint64_t last_use;
};

struct images {
    struct image *slots[IMAGE_SLOTS];
    uint64_t uses;
};

/* What is compiled, and how. Everything is borrowed; NULL or "" where nothing is wanted. */
struct image_request {
    struct bytes source;
    const char *arch; /* "sm_89": cubin, PTX and kernels; "compute_80": PTX alone */
    bool is_debug;
    const char *options;      /* for NVRTC, one a line */
    const char *expression;   /* a kernel to instantiate: image->lowered becomes its linked name */
    const char *written_arch; /* the code as written (-G) will be wanted for it next */
};

/*
 * The image of a request, compiled when it is not there. *out is borrowed: valid until IMAGE_SLOTS
 * further compilations. Fails as the compiler does (kernels/compiler.h) and as workers_ask does.
 */
int image_of(struct images *images, struct workers *workers, const struct image_request *request,
             const struct image **out, struct err *err) MUST_CHECK;

/* The same without options. */
int image_get(struct images *images, struct workers *workers, struct bytes source, const char *arch,
              bool is_debug, const struct image **out, struct err *err) MUST_CHECK;

/* The kernel with a linked or plain name, or NULL. */
const struct cuda_kernel *image_kernel(const struct image *image, const char *name);

/* "sm_89" for the machine code of a device; "" below 7.5, which CUDA 13 no longer compiles for. */
void image_arch(const struct device *device, char *out, size_t capacity);

void images_done(struct images *images);

#endif
