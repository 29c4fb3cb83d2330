/*
 * The kernel's parts, as the files of this room see them. The I/O thread is
 * the process's first thread; the executor runs one request at a time. What
 * both touch has a lock of its own.
 */
#ifndef WB_JUPYTER_INTERNAL_H
#define WB_JUPYTER_INTERNAL_H

#include "cells/session.h"
#include "jupyter-kernel/channels.h"
#include "jupyter-kernel/connection.h"
#include "jupyter-kernel/history.h"
#include "jupyter-kernel/identity.h"
#include "jupyter-kernel/wire.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct executor;
struct outputs;

/* A message on its way to its handler. */
struct request {
    struct request *next;
    struct message message;
    enum channel channel;
    bool is_aborted;  /* an earlier cell failed: answer, but do not run */
    bool ends_queue;  /* set by its handler: it failed, and what waits behind it is aborted */
    bool ends_kernel; /* set by its handler: stop once it is answered */
};

void request_free(struct request **request);

struct kernel {
    struct connection connection;
    struct wire_key *key;
    struct identity identity;
    struct channels *channels;
    atomic_bool has_started; /* the status "starting" was sent */
    struct executor *executor;
    struct session *session;    /* executor; session_interrupt: any thread */
    struct history *history;    /* executor */
    struct outputs *outputs;    /* executor, and the flush timer */
    int64_t execution_count;    /* executor */
    int parent_pid, first_ppid; /* the parent watch; parent_pid 0: off */
    pthread_mutex_t usage_lock; /* guards what usage_request saw last */
    double usage_at, usage_cpu; /* seconds; usage_at 0: not yet */
};

#endif
