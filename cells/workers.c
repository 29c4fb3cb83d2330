/*
 * One slot a kind of child. A slot is empty, idle, or still busy with a request
 * that was interrupted, or its process is on its way out. The next request waits for
 * that to end, which takes no longer than CHILD_GRACE_S, and drops the answer of an
 * interrupted request, recognised by its number: no two processes of a kind ever run.
 * A child that ended between requests (idle for long, or killed because an
 * interrupted request would not stop) is replaced without a word; one that ends
 * while we wait has crashed, and the cell is told how.
 */
#include "cells/workers.h"

#include "cells/worker_process.h"
#include "kernels/pch_folder.h"

#include "cells/gpus.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    struct worker_process process;
    uint32_t stale;   /* number of an interrupted request that it may still be serving, or 0 */
    unsigned started; /* how many of its kind so far */
};

struct workers {
    char *self;
    int stop_fd;
    uint32_t last_number;
    struct child children[CHILD_KINDS];
    struct gpu_list gpus;
    unsigned heap_owner; /* the GPU process, by number, whose device heap is in use; 0: none */
};

struct workers *workers_new(const char *self, int stop_fd)
{
    struct workers *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->stop_fd = stop_fd;
    w->self = strdup(self ? self : "/proc/self/exe");
    if (!w->self) {
        free(w);
        return NULL;
    }
    for (size_t i = 0; i < CHILD_KINDS; i++)
        w->children[i].process = WORKER_PROCESS_NONE;
    return w;
}

/* Closing the sockets ends the children; none of them holds what is not the session's. */
static void end_all(struct workers *w)
{
    int status;

    for (size_t i = 0; i < CHILD_KINDS; i++)
        worker_process_hang_up(&w->children[i].process);
    for (size_t i = 0; i < CHILD_KINDS; i++) {
        struct worker_process *p = &w->children[i].process;

        if (p->pid == 0)
            continue;
        kill(p->pid, SIGKILL);
        worker_process_reap(p, 0, &status);
        worker_process_done(p);
    }
}

void workers_reap(struct workers *w)
{
    int status;

    for (size_t i = 0; i < CHILD_KINDS; i++)
        if (w->children[i].process.pid &&
            worker_process_reap(&w->children[i].process, WNOHANG, &status))
            worker_process_done(&w->children[i].process);
}

void workers_free(struct workers **workers)
{
    struct workers *w = *workers;

    if (!w)
        return;
    end_all(w);
    pch_folder_clean();
    gpu_list_done(&w->gpus);
    free(w->self);
    free(w);
    *workers = NULL;
}

/* Asks the watch, where there is one, whether to wait on. */
static int ask_watch(const struct worker_watch *watch, const struct child *c, uint32_t number,
                     struct err *err)
{
    if (!watch || !watch->tick)
        return 0;
    switch (watch->tick(watch->context, err)) {
    case WATCH_STOP:
        worker_process_stop(&c->process, number);
        return 0;
    case WATCH_FAIL:
        return -1;
    default:
        return 0;
    }
}

/*
 * Waits until the child says something (1) or the cell is interrupted (-1). A child that works
 * for an interrupted cell is told so, and finishes, or dies, on its own.
 */
static int wait_for_words(struct workers *w, struct child *c, uint32_t number,
                          const struct worker_watch *watch, struct err *err)
{
    struct pollfd p[] = { { c->process.socket, POLLIN, 0 }, { w->stop_fd, POLLIN, 0 } };

    for (;;) {
        int n = poll(p, COUNT(p), watch && watch->tick_ms > 0 ? watch->tick_ms : -1);

        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_InternalError, "poll: %s", strerror(errno));
        if (n > 0 && (p[1].revents & POLLIN)) {
            err_set(err, ERR_Interrupted, "interrupted while the %s process was working",
                    child_kind_name((enum child_kind)(c - w->children)));
        } else if (n > 0 && p[0].revents) {
            return 1;
        } else if (n < 0 || ask_watch(watch, c, number, err) == 0) {
            continue;
        }
        worker_process_stop(&c->process, number);
        c->stale = number;
        return -1;
    }
}

/* Reads the answer with a number. 1: it is in *answer; 0: the child is at its end; -1: err. */
static int read_answer(struct workers *w, struct child *c, uint32_t number,
                       const struct worker_watch *watch, struct child_message *answer,
                       struct err *err)
{
    for (;;) {
        struct err ignored = { 0 };
        int rc = wait_for_words(w, c, number, watch, err);

        if (rc < 0)
            return -1;
        rc = child_receive(c->process.socket, answer, &ignored);
        err_done(&ignored);
        if (rc <= 0)
            return 0;
        if (answer->number == number && answer->op == OP_ANSWER)
            return 1;
        if (answer->number == number && answer->op == OP_PART && watch && watch->part)
            watch->part(watch->context, child_message_body(answer));
        child_message_done(answer);
        /* A child that never stops talking must not keep the watch from its turn. */
        if (ask_watch(watch, c, number, err) < 0) {
            worker_process_stop(&c->process, number);
            c->stale = number;
            return -1;
        }
    }
}

/*
 * The child's socket is at its end: collects the process, which is killed when it lingers. A GPU's
 * driver may take its time even then, so an interrupt is heard: -1, and the slot's next user waits.
 */
static int collect(struct workers *w, struct child *c, int *status, struct err *err)
{
    enum { TICK_MS = 20, LINGER_MS = 1000 };
    struct pollfd p[] = { { c->process.pidfd, POLLIN, 0 }, { w->stop_fd, POLLIN, 0 } };

    worker_process_hang_up(&c->process);
    for (int waited_ms = 0; !worker_process_reap(&c->process, WNOHANG, status);) {
        if (waited_ms >= LINGER_MS)
            kill(c->process.pid, SIGKILL);
        if (poll(p, COUNT(p), TICK_MS) == 0)
            waited_ms += TICK_MS;
        else if (p[1].revents & POLLIN)
            return err_set(err, ERR_Interrupted, "interrupted while the %s process was ending",
                           child_kind_name((enum child_kind)(c - w->children)));
    }
    worker_process_done(&c->process);
    return 0;
}

/* Waits for an interrupted request to end, one way or the other. */
static int finish_stale(struct workers *w, struct child *c, struct err *err)
{
    struct child_message dropped;
    int rc = read_answer(w, c, c->stale, NULL, &dropped, err), status;

    if (rc < 0)
        return -1;
    if (rc > 0)
        child_message_done(&dropped);
    c->stale = 0;
    return rc > 0 ? 0 : collect(w, c, &status, err);
}

/* A living child that serves nobody. */
static int make_ready(struct workers *w, enum child_kind kind, struct err *err)
{
    struct child *c = &w->children[kind];
    int status;

    workers_reap(w);
    if (c->process.pid && c->process.socket < 0 && collect(w, c, &status, err) < 0)
        return -1;
    if (c->process.pid && c->stale && finish_stale(w, c, err) < 0)
        return -1;
    if (c->process.pid)
        return 0;
    c->stale = 0;
    c->started++;
    return worker_process_start(&c->process, w->self, kind, err);
}

/* One request to a ready child. 0: answered; 1: it had ended before, ask again; -1: err. */
static int ask_once(struct workers *w, enum child_kind kind, struct child_message *request,
                    const struct worker_watch *watch, struct child_message *answer, struct err *err)
{
    struct child *c = &w->children[kind];
    struct err sending = { 0 };
    int rc, status;

    if (make_ready(w, kind, err) < 0)
        return -1;
    request->number = ++w->last_number;
    rc = child_send(c->process.socket, request, &sending);
    if (rc < 0 && sending.name == ERR_ResourceError) /* refused before a byte was written */
        return err_set(err, sending.name, "%s", sending.text);
    rc = rc < 0 ? 0 : read_answer(w, c, request->number, watch, answer, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (collect(w, c, &status, err) < 0)
        return -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 1; /* it was idle for long, and our request crossed with its end */
    return worker_process_explain(kind, status, err);
}

int workers_ask_watched(struct workers *w, enum child_kind kind, struct child_message *request,
                        const struct worker_watch *watch, struct child_message *answer,
                        struct err *err)
{
    struct bytes error;
    int rc = 1;

    *answer = (struct child_message){ 0 };
    for (int i = 0; i < 3 && rc > 0; i++)
        rc = ask_once(w, kind, request, watch, answer, err);
    if (rc < 0)
        return -1;
    if (rc > 0)
        return err_set(err, ERR_InternalError, "the %s process ends as soon as it starts",
                       child_kind_name(kind));
    if (fields_find(child_message_body(answer), TAG_ERROR, 0, &error))
        return fields_err(error, err);
    return 0;
}

int workers_ask(struct workers *w, enum child_kind kind, struct child_message *request,
                struct child_message *answer, struct err *err)
{
    int rc = workers_ask_watched(w, kind, request, NULL, answer, err);

    if (rc < 0)
        child_message_done(answer);
    return rc;
}

void workers_note_heap(struct workers *w)
{
    w->heap_owner = w->children[CHILD_GPU].started;
}

bool workers_lost_heap(struct workers *w, bool is_ending)
{
    bool is_lost = w->heap_owner && (is_ending || w->heap_owner != w->children[CHILD_GPU].started);

    if (is_lost)
        w->heap_owner = 0;
    return is_lost;
}

bool workers_gpu_present(struct workers *w)
{
    (void)w;
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

int workers_gpu_info(struct workers *w, int index, const struct gpu_info **out, struct err *err)
{
    struct child_message request = { .op = OP_DEVICES }, answer;

    if (!w->gpus.is_known) {
        int rc;

        if (workers_ask(w, CHILD_GPU, &request, &answer, err) < 0)
            return -1;
        rc = gpu_list_read(&w->gpus, child_message_body(&answer), err);
        child_message_done(&answer);
        if (rc < 0)
            return -1;
    }
    return gpu_list_at(&w->gpus, index, out, err);
}
