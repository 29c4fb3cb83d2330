/*
 * The model worker: runs PTX on the interpreter (model/ptx) under a memory limit,
 * in a process of its own, so that a launch that takes all memory takes only that.
 */
#ifndef WB_KERNELS_MODEL_WORKER_H
#define WB_KERNELS_MODEL_WORKER_H

#include "kernels/child.h"

/* Serves OP_RUN as kernels/launch.h says. Fails with what ptx_module_load and ptx_run fail with. */
int model_worker_serve(const struct child_message *request, struct child_message *answer,
                       struct err *err) MUST_CHECK;

#endif
