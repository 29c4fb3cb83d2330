/*
 * Launches on a card: OP_RUN of the GPU child. Runs each once and gives the
 * buffers back, or times them.
 */
#ifndef WB_KERNELS_GPU_RUN_H
#define WB_KERNELS_GPU_RUN_H

#include "kernels/driver.h"
#include "kernels/launch.h"

/*
 * The card's context is current. uuid: 16 bytes. Answers one TAG_DONE a launch. Fails with
 * DeviceError or Interrupted; *is_broken then says that the context cannot be used any more.
 */
int gpu_run(const struct driver *cu, const unsigned char *uuid,
            const struct launch_request *request, struct buf *answer, bool *is_broken,
            struct err *err) MUST_CHECK;

#endif
