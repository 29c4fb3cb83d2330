/*
 * The code as written is compiled beside the optimized code: a launch soon wants both, and NVRTC
 * compiles one program at a time however many threads ask it. So a fork of the compiler's process,
 * which has the library open and its precompiled headers in memory, makes it on another core.
 */
#ifndef WB_KERNELS_COMPILER_AHEAD_H
#define WB_KERNELS_COMPILER_AHEAD_H

#include "kernels/child.h"

/* Fills `answer` for a request's body, as the compiler does. */
typedef int ahead_compile_fn(struct bytes body, struct buf *answer, struct err *err);

/*
 * Starts on what will be asked for next, body: an OP_COMPILE request's. It takes the place of what
 * was begun before. Does nothing on a machine with one core.
 */
void ahead_begin(struct bytes body, ahead_compile_fn *compile);

/*
 * When this very body was begun: waits for its answer, appends it and returns true. False: it was
 * not, or it did not compile; the caller does it then, and finds out why.
 */
bool ahead_take(struct bytes body, struct buf *answer);

#endif
