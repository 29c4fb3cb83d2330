/*
 * Between simt.c, which runs the groups of a warp, and turns.c, which runs the warps of a block.
 */
#ifndef WB_MODEL_PTX_SIMT_H
#define WB_MODEL_PTX_SIMT_H

#include "model/ptx/call.h"

/*
 * Runs a warp until every group waits or has ended (GROUP_OK), or all have had turns that led
 * nowhere (GROUP_TURN). *has_moved is set when some group did anything. GROUP_FAULT: err is set.
 */
int simt_run_warp(struct warp *w, bool *has_moved, struct err *err);

#endif
