/*
 * The fields of cudaDeviceProp and where the driver has them.
 */
#ifndef WB_KERNELS_GPU_ATTRIBUTES_H
#define WB_KERNELS_GPU_ATTRIBUTES_H

#include "model/base/base.h"

enum { GPU_ATTRIBUTE_NUMBERS = 3 };

struct gpu_attribute_row {
    const char *group;                  /* "memory and caches"; rows of a group stand together */
    const char *name;                   /* as in cudaDeviceProp */
    const char *unit;                   /* "bytes"; "flag": 0 or 1; "" */
    int numbers[GPU_ATTRIBUTE_NUMBERS]; /* CUdevice_attribute */
    int count;
};

extern const struct gpu_attribute_row GPU_ATTRIBUTES[];
extern const size_t GPU_ATTRIBUTE_COUNT;

#endif
