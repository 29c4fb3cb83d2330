/*
 * One slot a kind of child. A slot is empty, idle, or still busy with a request
 * that was interrupted. The next request waits for that one to end, which takes no
 * longer than CHILD_GRACE_S, and drops its answer, recognised by its number. A
 * child that ended between requests (idle for long, or killed because an
 * interrupted request would not stop) is replaced without a word; one that ends
 * while we wait has crashed, and the cell is told how.
 */
#include "cells/workers.h"

#include "kernels/pch_folder.h"

#include "cells/gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid; /* 0: none */
    int socket, pidfd;
    uint32_t stale; /* number of an interrupted request that it may still be serving, or 0 */
};

struct workers {
    char *self;
    int stop_fd;
    uint32_t last_number;
    struct child children[CHILD_KINDS];
    struct child dying[16]; /* told to end, not reaped yet */
    struct gpu_list gpus;
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
        w->children[i].socket = w->children[i].pidfd = -1;
    return w;
}

static void close_child(struct child *c)
{
    if (c->socket >= 0)
        close(c->socket);
    if (c->pidfd >= 0)
        close(c->pidfd);
    *c = (struct child){ 0, -1, -1, 0 };
}

/* True when it ended; status is its wait status. */
static bool try_reap(struct child *c, int options, int *status)
{
    pid_t got;

    do {
        got = waitpid(c->pid, status, options);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        *status = 0; /* somebody else reaped it: how it ended is lost */
    return got != 0;
}

/* Closing the socket ends the child; it is collected later, or now when there is no room. */
static void dismiss(struct workers *w, struct child *c)
{
    struct child *free_slot = NULL;
    int status;

    if (c->pid == 0)
        return;
    if (c->socket >= 0)
        close(c->socket);
    c->socket = -1;
    for (size_t i = 0; i < COUNT(w->dying); i++)
        if (w->dying[i].pid == 0)
            free_slot = &w->dying[i];
    if (!free_slot) {
        kill(c->pid, SIGKILL);
        try_reap(c, 0, &status);
        close_child(c);
        return;
    }
    *free_slot = *c;
    *c = (struct child){ 0, -1, -1, 0 };
}

void workers_reap(struct workers *w)
{
    int status;

    for (size_t i = 0; i < COUNT(w->dying); i++)
        if (w->dying[i].pid && try_reap(&w->dying[i], WNOHANG, &status))
            close_child(&w->dying[i]);
    for (size_t i = 0; i < CHILD_KINDS; i++)
        if (w->children[i].pid && try_reap(&w->children[i], WNOHANG, &status))
            close_child(&w->children[i]);
}

void workers_free(struct workers **workers)
{
    struct workers *w = *workers;
    int status;

    if (!w)
        return;
    for (size_t i = 0; i < CHILD_KINDS; i++)
        dismiss(w, &w->children[i]);
    for (size_t i = 0; i < COUNT(w->dying); i++) {
        if (w->dying[i].pid == 0)
            continue;
        kill(w->dying[i].pid, SIGKILL); /* it holds nothing that is not the session's */
        try_reap(&w->dying[i], 0, &status);
        close_child(&w->dying[i]);
    }
    pch_folder_clean();
    gpu_list_done(&w->gpus);
    free(w->self);
    free(w);
    *workers = NULL;
}

/* What a child's environment holds, so that no child takes itself for a front. */
static const char CHILD_MARK[] = "WARPBOOK_CHILD=1";

/* environ and the mark; NULL: no memory. */
static char **child_environment(void)
{
    size_t n = 0;
    char **copy;

    while (environ[n])
        n++;
    copy = calloc(n + 2, sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, environ, n * sizeof(*copy));
    copy[n] = (char *)(uintptr_t)CHILD_MARK;
    return copy;
}

/*
 * stdin and stdout are /dev/null: the front's own may be a terminal or a protocol. Everything
 * above the socket is closed, whatever a library forgot.
 */
static int spawn(const char *self, enum child_kind kind, int socket, pid_t *pid)
{
    char *argv[] = { (char *)(uintptr_t) "warpbook", (char *)(uintptr_t) "child",
                     (char *)(uintptr_t)child_kind_name(kind), NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char **environment = child_environment();
    int rc;

    if (!environment)
        return ENOMEM;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    rc = posix_spawn_file_actions_adddup2(&actions, socket, CHILD_SOCKET);
    rc = rc ? rc : posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, CHILD_SOCKET + 1);
    rc = rc ? rc : posix_spawnattr_setsigmask(&attributes, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attributes, &all);
    rc = rc ? rc
            : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc : posix_spawn(pid, self, &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

static int start(struct workers *w, enum child_kind kind, struct err *err)
{
    struct child *c = &w->children[kind];
    int pair[2], rc, high;

    /*
     * A program that is started as a child but does not know the word (a test that forgot to ask
     * child_main) would start its own children, and they theirs, until the machine is full.
     */
    if (getenv("WARPBOOK_CHILD"))
        return err_set(err, ERR_InternalError, "a child process starts no %s process of its own",
                       child_kind_name(kind));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set(err, ERR_ResourceError, "no socket for the %s process: %s",
                       child_kind_name(kind), strerror(errno));
    /* Above CHILD_SOCKET, so that the dup2 in the child always makes a new descriptor. */
    high = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
    rc = high < 0 ? errno : spawn(w->self, kind, high, &c->pid);
    close(pair[1]);
    if (high >= 0)
        close(high);
    if (rc != 0) {
        close(pair[0]);
        c->pid = 0;
        return err_set(err, ERR_ResourceError, "the %s process could not be started: %s",
                       child_kind_name(kind), strerror(rc));
    }
    c->socket = pair[0];
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* close-on-exec by itself */
    c->stale = 0;
    return 0;
}

/* How a child ended, as the cell's error. It was waited for: nothing else is to be collected. */
static int report_end(enum child_kind kind, int status, struct err *err)
{
    enum err_name name = kind == CHILD_GPU ? ERR_DeviceError : ERR_InternalError;
    const char *who = child_kind_name(kind);

    if (WIFSIGNALED(status))
        err_set(err, name, "the %s process ended with %s (%s)", who,
                sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "a signal",
                strsignal(WTERMSIG(status)));
    else
        err_set(err, name, "the %s process ended with exit status %d", who, WEXITSTATUS(status));
    return err_next(err, "run the cell again: a fresh process is started; variables are kept");
}

static void tell_to_stop(const struct child *c, uint32_t number)
{
    union sigval value = { .sival_int = (int)number };

    sigqueue(c->pid, SIGUSR1, value);
}

/* Asks the watch, where there is one, whether to wait on. */
static int ask_watch(const struct worker_watch *watch, const struct child *c, uint32_t number,
                     struct err *err)
{
    if (!watch || !watch->tick)
        return 0;
    switch (watch->tick(watch->context, err)) {
    case WATCH_STOP:
        tell_to_stop(c, number);
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
    struct pollfd p[] = { { c->socket, POLLIN, 0 }, { w->stop_fd, POLLIN, 0 } };

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
        tell_to_stop(c, number);
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
        rc = child_receive(c->socket, answer, &ignored);
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
            tell_to_stop(c, number);
            c->stale = number;
            return -1;
        }
    }
}

/* The child's socket is at its end: collect it. A process that lingers after that is killed. */
static int collect(struct child *c)
{
    struct pollfd p = { c->pidfd, POLLIN, 0 };
    int status = 0;

    if (c->pidfd < 0 || poll(&p, 1, 1000) <= 0)
        kill(c->pid, SIGKILL);
    try_reap(c, 0, &status);
    close_child(c);
    return status;
}

/* A living child that serves nobody. Waits for an interrupted request to end. */
static int make_ready(struct workers *w, enum child_kind kind, struct err *err)
{
    struct child *c = &w->children[kind];
    struct child_message dropped;
    int rc;

    workers_reap(w);
    if (c->pid && c->stale) {
        rc = read_answer(w, c, c->stale, NULL, &dropped, err);
        if (rc < 0)
            return -1;
        if (rc > 0)
            child_message_done(&dropped);
        else
            collect(c);
        c->stale = 0;
    }
    return c->pid ? 0 : start(w, kind, err);
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
    rc = child_send(c->socket, request, &sending);
    if (rc < 0 && sending.name == ERR_ResourceError) /* refused before a byte was written */
        return err_set(err, sending.name, "%s", sending.text);
    rc = rc < 0 ? 0 : read_answer(w, c, request->number, watch, answer, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    status = collect(c);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 1; /* it was idle for long, and our request crossed with its end */
    return report_end(kind, status, err);
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
