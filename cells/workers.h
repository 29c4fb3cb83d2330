/*
 * The front's side of the child processes: starts one on first use, asks it and
 * waits for the answer without being deaf to an interrupt, and turns a child's
 * crash into the error of the cell that met it. The next request starts a fresh
 * child. Executor's thread only: an interrupt reaches it through stop_fd.
 */
#ifndef WB_CELLS_WORKERS_H
#define WB_CELLS_WORKERS_H

#include "kernels/child.h"
#include "model/device.h"

#include <stdbool.h>

struct workers;

/*
 * self: path of this executable, NULL for /proc/self/exe. Starts nothing. stop_fd: a descriptor
 * that is readable while the running cell is interrupted (borrowed), or -1. NULL: out of memory.
 */
struct workers *workers_new(const char *self, int stop_fd);

/* Closes the sockets, which ends the children, and reaps them; *workers becomes NULL. */
void workers_free(struct workers **workers);

/* Collects children that ended. Never blocks; called between cells. */
void workers_reap(struct workers *workers);

/*
 * Sends request (its number is filled in; its descriptors stay the caller's) to the child of
 * a kind and waits for the answer, which the caller ends with child_message_done. Fails with
 * the error that the child answered, Interrupted at once when interrupted, and DeviceError
 * (gpu) or InternalError (others) naming the signal when the child died.
 */
int workers_ask(struct workers *workers, enum child_kind kind, struct child_message *request,
                struct child_message *answer, struct err *err) MUST_CHECK;

/*
 * The same for work that takes its time. part gets the fields of every message that the child
 * sends before its answer. tick is called at least each tick_ms (0: never) while the child works:
 * WATCH_STOP tells the child to stop and goes on waiting for what it then answers, WATCH_FAIL
 * gives up with the error that was set. When the child answered with an error, *answer keeps its
 * other fields: end it in any case.
 */
enum watch_answer {
    WATCH_GO_ON,
    WATCH_STOP,
    WATCH_FAIL,
};
struct worker_watch {
    void *context;
    void (*part)(void *context, struct bytes body);
    enum watch_answer (*tick)(void *context, struct err *err);
    int tick_ms;
};
int workers_ask_watched(struct workers *workers, enum child_kind kind,
                        struct child_message *request, const struct worker_watch *watch,
                        struct child_message *answer, struct err *err) MUST_CHECK;

/* Memory that kernels took on the card with malloc lives as long as the GPU process of now. */
void workers_note_heap(struct workers *workers);

/* True, once, when that memory is gone: the process is another, or is_ending. */
bool workers_lost_heap(struct workers *workers, bool is_ending);

/* True when a card seems to be here (a device node exists). Starts nothing, costs nothing. */
bool workers_gpu_present(struct workers *workers);

/* One field of cudaDeviceProp, as the driver says it. */
struct gpu_attribute {
    const char *group; /* "memory and caches" */
    const char *name;  /* "multiProcessorCount" */
    const char *unit;  /* "bytes", "kHz", "flag" (0 or 1), "" */
    int64_t values[3]; /* maxGridSize has three */
    int value_count;
};

struct gpu_info {
    struct device device; /* limits of its compute capability; sms, clock and L2 of the card */
    const char *uuid;     /* "GPU-..." */
    int driver_version;   /* 13000 for 13.0, as cuDriverGetVersion */
    int64_t memory_bytes;
    const struct gpu_attribute *attributes;
    size_t attribute_count;
};

/*
 * What the driver says of card number index; asked once, then remembered. *out lives as long
 * as workers. Fails with DeviceError: no driver, no such card, or a compute capability that
 * the model's table does not have.
 */
int workers_gpu_info(struct workers *workers, int index, const struct gpu_info **out,
                     struct err *err) MUST_CHECK;

#endif
