/*
 * Calls, returns, and the end of threads.
 *
 * A call opens a frame for the lanes that make it; the frame closes when the last of them has come
 * back or ended. Lanes that call through a pointer and mean different functions call one after the
 * other.
 */
#ifndef WB_MODEL_PTX_CALL_H
#define WB_MODEL_PTX_CALL_H

#include "model/ptx/group.h"

/* What a group does next, after it left a block. GROUP_FAULT: w->fault is filled. */
enum group_result { GROUP_FAULT = -1, GROUP_OK, GROUP_TURN };

/* At a block that ends in a call: the group is at the start of the function. */
int call_enter(struct warp *w, struct group *g);

/* At one that ends in a return: behind the call, or at the end of the kernel. */
int call_return(struct warp *w, struct group *g);

/* The lanes of the group end. */
int call_end(struct warp *w, struct group *g);

#endif
