/*
 * One child process: how it starts, that it is told to stop, and how it is collected.
 * Which kind of work it does and for whom is workers.c's.
 */
#ifndef WB_CELLS_WORKER_PROCESS_H
#define WB_CELLS_WORKER_PROCESS_H

#include "kernels/child.h"

#include <sys/types.h>

struct worker_process {
    pid_t pid;  /* 0: none */
    int socket; /* -1: told to end, not collected yet */
    int pidfd;  /* readable once it ended; -1: this Linux has none */
};

/* No process; descriptors -1. */
extern const struct worker_process WORKER_PROCESS_NONE;

/* Starts one. Fails with ResourceError, or InternalError in a process that is a child itself. */
int worker_process_start(struct worker_process *p, const char *self, enum child_kind kind,
                         struct err *err) MUST_CHECK;

/* True when it ended (options: as waitpid's); *status is its wait status. */
bool worker_process_reap(struct worker_process *p, int options, int *status);

/* Closes its socket, which ends it. */
void worker_process_hang_up(struct worker_process *p);

/* Forgets a process that was reaped. */
void worker_process_done(struct worker_process *p);

/* Asks it to stop working for a request. */
void worker_process_stop(const struct worker_process *p, uint32_t number);

/* How a process ended that answered nothing, as the cell's error. Returns -1. */
int worker_process_explain(enum child_kind kind, int status, struct err *err);

#endif
