/*
 * A cubin as the fake driver needs it: an ELF file whose sections ".text.NAME" are kernels
 * and whose objects are device variables, each with its initial value.
 */
#ifndef WB_TESTS_GPU_FAKE_IMAGE_H
#define WB_TESTS_GPU_FAKE_IMAGE_H

#include <stddef.h>

struct image;

struct image_kernel {
    char name[256];
};

/* NULL: no cubin, or out of memory. */
struct image *image_open(const void *cubin);
void image_close(struct image *image);

/* 13 when CUDA 13's tools made it. */
int image_cuda(const struct image *image);

/* 90 for sm_90. */
int image_sm(const struct image *image);

/* NULL: it has none of that name. Both live as long as the image. */
const struct image_kernel *image_kernel(const struct image *image, const char *name);
void *image_variable(struct image *image, const char *name, size_t *size);

#endif
