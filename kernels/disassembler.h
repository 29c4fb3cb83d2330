/*
 * Machine code as text, by NVIDIA's nvdisasm where there is one.
 */
#ifndef WB_KERNELS_DISASSEMBLER_H
#define WB_KERNELS_DISASSEMBLER_H

#include "kernels/child.h"

/*
 * Serves OP_DISASSEMBLE in the compiler child.
 *   request  TAG_CUBIN, TAG_NAME: a kernel as linked
 *   answer   TAG_LOG: its instructions, one a line
 * Fails with UnsupportedError when there is no nvdisasm (the text says where it comes from), or
 * with InternalError when it refuses the code.
 */
int disassembler_serve(const struct child_message *request, struct child_message *answer,
                       struct err *err) MUST_CHECK;

#endif
