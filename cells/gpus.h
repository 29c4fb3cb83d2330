/*
 * The cards of this machine as the driver described them: the GPU child's answer
 * to OP_DEVICES, kept in the front so that it is asked once.
 */
#ifndef WB_CELLS_GPUS_H
#define WB_CELLS_GPUS_H

#include "cells/workers.h"
#include "model/base/arena.h"

struct gpu_list {
    bool is_known;
    struct gpu_info *items;
    size_t count;
    struct arena *arena; /* holds everything above */
};

/* Reads the answer (kernels/gpu.h). Fails with InternalError or ResourceError; list is then empty.
 */
int gpu_list_read(struct gpu_list *list, struct bytes answer, struct err *err) MUST_CHECK;

/* Card number index. Fails with DeviceError: there is none, or the model lacks its limits. */
int gpu_list_at(const struct gpu_list *list, int index, const struct gpu_info **out,
                struct err *err) MUST_CHECK;

/* The first number of a field of cudaDeviceProp; 0: the driver does not know it. */
int64_t gpu_info_number(const struct gpu_info *gpu, const char *name);

/*
 * Two transfers a memory clock, as wide as the bus; 0: unknown. Source: CUDA C++ Best Practices
 * Guide, "Theoretical Bandwidth Calculation".
 */
double gpu_info_bandwidth_gbs(const struct gpu_info *gpu);
void gpu_list_done(struct gpu_list *list);

#endif
