/*
 * What a kernel says on a real card. The driver writes printf's text to the process's
 * stdout and the text of a failed assert to its stderr; both are files of ours while a
 * launch runs. And the driver's codes for a kernel that went wrong, in our words.
 */
#ifndef WB_KERNELS_GPU_OUTPUT_H
#define WB_KERNELS_GPU_OUTPUT_H

#include "kernels/driver.h"

/* From now on output is kept. Best effort: where it cannot be, it goes where it went. */
void gpu_output_begin(void);

/* Sends what was printed since to the front (TAG_PRINT). */
void gpu_output_flush(void);

/* Makes the text of a failed assert the text of its error: condition, place and thread. */
void gpu_output_explain(const char *kernel, struct err *err);

/*
 * 0 for CU_OK, else -1 with the error that the interpreter would have for it: MemoryFault,
 * AssertFault, LaunchError, Timeout; DeviceError for the rest.
 */
int gpu_error(const struct driver *cu, cu_result code, const char *kernel, struct err *err);

#endif
