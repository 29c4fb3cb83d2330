/*
 * The table that a compiled cell shows: what its kernels take, and how many of
 * their warps fit on an SM of the session's device.
 */
#ifndef WB_CELLS_CUDA_TABLE_H
#define WB_CELLS_CUDA_TABLE_H

#include "cells/cuda_source.h"
#include "cells/images.h"

/*
 * Shows the kernels that `fresh` defines and sets `_` to the result (kind "kernels"). Nothing when
 * there is none. Fails with ResourceError.
 */
int cuda_show_kernels(struct session *session, const struct cuda_items *fresh,
                      const struct image *image, struct sink *sink, struct err *err) MUST_CHECK;

/* The session's compiled code, for the magics that compile sources of their own (%run). */
struct images *cuda_images(struct cuda *cuda);

#endif
