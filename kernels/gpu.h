/*
 * The GPU child: the only user of libcuda, which it opens at run time. One
 * context per card, machine code in (never PTX newer than the driver).
 */
#ifndef WB_KERNELS_GPU_H
#define WB_KERNELS_GPU_H

#include "kernels/child.h"

/*
 * Serves OP_DEVICES and OP_RUN.
 *   OP_DEVICES  answer: TAG_DRIVER (as cuDriverGetVersion), TAG_CARD records, each with
 *               TAG_NAME, TAG_UUID (text: "GPU-..."), TAG_MEMORY_BYTES and TAG_ATTRIBUTE records
 *               (TAG_GROUP, TAG_NAME, TAG_UNIT and one or more TAG_VALUE)
 *   OP_RUN      kernels/launch.h
 * Fails with DeviceError naming the driver's function and error.
 */
int gpu_serve(const struct child_message *request, struct child_message *answer,
              struct err *err) MUST_CHECK;

#endif
