/*
 * The executor: the thread that runs cells, one request at a time, and what
 * others need of it: a queue to put requests in, a way to interrupt, a line of
 * input for a cell that asks, and the abort of what waits behind a failed cell.
 */
#ifndef WB_JUPYTER_EXECUTOR_H
#define WB_JUPYTER_EXECUTOR_H

#include "jupyter-kernel/internal.h"

/* Starts the thread; it serves the queue with dispatch_run. Sets kernel->executor. */
int executor_start(struct kernel *kernel, struct err *err) MUST_CHECK;

/* Interrupts, and waits so long for the thread to end. False when it is still busy. */
bool executor_stop(struct kernel *kernel, int timeout_ms);

/* After a stop that succeeded, or without a start. Drops what is still queued. */
void executor_free(struct kernel *kernel);

/* Queues a request and takes it. I/O thread. */
void executor_take(struct kernel *kernel, struct request *request);

/*
 * Interrupts the running request; does nothing when idle. Any thread. The session ignores
 * an interrupt that comes before its cell has begun, so it is repeated by TIMER_INTERRUPT
 * (executor_interrupt_again) until the request ends.
 */
void executor_interrupt(struct kernel *kernel);
void executor_interrupt_again(struct kernel *kernel);

/*
 * The abort in two steps. The executor holds its queue and posts the error reply with
 * drain = CHANNEL_SHELL; the I/O thread, which then has received everything sent before the
 * reply, marks the waiting execute_requests as aborted and lets the queue go on.
 */
void executor_hold(struct kernel *kernel);
void executor_abort_queue(struct kernel *kernel);

/*
 * Asks the client that sent request for a line, and waits. Executor thread. *reply is
 * malloc'ed. Interrupted when interrupted, UsageError when the client sent an end of file.
 */
int executor_ask(struct kernel *kernel, const struct request *request, const char *prompt,
                 bool is_password, char **reply, struct err *err) MUST_CHECK;

/* I/O thread: stdin is drained, so what comes now answers the question. */
void executor_open_answer(struct kernel *kernel);

/* I/O thread: an input_reply came; borrowed. Ignored unless somebody waits for it. */
void executor_answer(struct kernel *kernel, const struct message *reply);

#endif
