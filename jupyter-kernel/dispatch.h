/*
 * Which function answers which message. Everything that must happen around
 * every request happens here and nowhere else: busy first, the reply, idle
 * last, an error reply for whatever went wrong. So no handler can forget.
 */
#ifndef WB_JUPYTER_DISPATCH_H
#define WB_JUPYTER_DISPATCH_H

#include "jupyter-kernel/internal.h"

/* Answers a request on the calling thread. */
void dispatch_run(struct kernel *kernel, struct request *request);

/*
 * Takes a request that came in on shell or control: answers it at once when the table says
 * that it may not wait for a cell, else queues it for the executor. I/O thread.
 */
void dispatch_take(struct kernel *kernel, struct request *request);

#endif
