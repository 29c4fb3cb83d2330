/*
 * The compiler child: CUDA C in; PTX, machine code, report and what each kernel
 * takes out. Needs NVRTC, no GPU and no driver.
 */
#ifndef WB_KERNELS_COMPILER_H
#define WB_KERNELS_COMPILER_H

#include "kernels/child.h"

/*
 * Serves OP_COMPILE.
 *   request  TAG_SOURCE; TAG_ARCH "sm_89" (PTX and cubin) or "compute_80" (PTX alone);
 *            TAG_IS_DEBUG 1 for the code as written (-G); TAG_OPTION repeats
 *   answer   TAG_LOG (warnings), TAG_PTX, TAG_CUBIN, TAG_KERNEL records (with a cubin), TAG_VERSION
 *            of NVRTC as 1000 * major + 10 * minor
 * Fails with CompileError (place, line and column of the first error by its #line names, the
 * log as detail), UsageError for an arch that this NVRTC does not know, DeviceError when there
 * is no NVRTC, Interrupted when told to stop.
 */
int compiler_serve(const struct child_message *request, struct child_message *answer,
                   struct err *err) MUST_CHECK;

/*
 * The first error of a compiler's log as a CompileError: `In[3](7): error: text` followed by the
 * line and a caret. The whole log becomes the detail. Returns -1.
 */
int compiler_explain(const char *log, struct err *err);

#endif
