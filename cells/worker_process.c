/*
 * A child is this same program, started again with a socket in descriptor 3. It is
 * spawned, not forked: a fork would copy a front of several threads, and what a library
 * of this one holds. Its end is seen through a pidfd, so that waiting for it hears an
 * interrupt too.
 */
#include "cells/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const struct worker_process WORKER_PROCESS_NONE = { .socket = -1, .pidfd = -1 };

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

int worker_process_start(struct worker_process *p, const char *self, enum child_kind kind,
                         struct err *err)
{
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
    rc = high < 0 ? errno : spawn(self, kind, high, &p->pid);
    close(pair[1]);
    if (high >= 0)
        close(high);
    if (rc != 0) {
        close(pair[0]);
        p->pid = 0;
        return err_set(err, ERR_ResourceError, "the %s process could not be started: %s",
                       child_kind_name(kind), strerror(rc));
    }
    p->socket = pair[0];
    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0); /* close-on-exec by itself */
    return 0;
}

bool worker_process_reap(struct worker_process *p, int options, int *status)
{
    pid_t got;

    do {
        got = waitpid(p->pid, status, options);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        *status = 0; /* somebody else reaped it: how it ended is lost */
    return got != 0;
}

void worker_process_stop(const struct worker_process *p, uint32_t number)
{
    union sigval value = { .sival_int = (int)number };

    sigqueue(p->pid, SIGUSR1, value);
}

int worker_process_explain(enum child_kind kind, int status, struct err *err)
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

void worker_process_hang_up(struct worker_process *p)
{
    if (p->socket >= 0)
        close(p->socket);
    p->socket = -1;
}

void worker_process_done(struct worker_process *p)
{
    worker_process_hang_up(p);
    if (p->pidfd >= 0)
        close(p->pidfd);
    *p = WORKER_PROCESS_NONE;
}
