/*
 * A child's life: one request after the other until the socket closes. The loop
 * is the same for every kind; the row says who serves.
 */
#include "kernels/child.h"
#include "kernels/compiler.h"
#include "kernels/gpu.h"
#include "kernels/model_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A card's memory is shared with others, and its context slow to make: both count in idle_s. */
static const struct kind {
    child_serve_fn *serve;
    int idle_s;          /* a child without a request for so long ends */
    const char *setting; /* the environment variable that says otherwise, or NULL */
} KINDS[CHILD_KINDS] = {
    [CHILD_COMPILER] = { compiler_serve, 300, NULL },
    [CHILD_MODEL] = { model_worker_serve, 300, NULL },
    [CHILD_GPU] = { gpu_serve, 600, "WARPBOOK_GPU_IDLE_S" },
};

/* Numbers of the request being served and of the last one that was told to stop. */
static _Atomic uint32_t current_number, stopped_number;

/*
 * The front wants a request to stop; the signal's value is its number, as it may cross with the
 * answer. Work that polls child_stop ends by itself; the rest (NVRTC, the driver) cannot, and
 * the alarm ends the process. Everything here is safe in a handler.
 */
static void on_stop(int signal_number, siginfo_t *info, void *context)
{
    uint32_t number = (uint32_t)info->si_value.sival_int;

    (void)signal_number;
    (void)context;
    atomic_store(&stopped_number, number);
    if (number != atomic_load(&current_number))
        return;
    atomic_store(&child_stop, true);
    alarm(CHILD_GRACE_S);
}

/* The stop may have come before its request was read. */
static void begin_request(uint32_t number)
{
    atomic_store(&current_number, number);
    if (atomic_load(&stopped_number) != number)
        return;
    atomic_store(&child_stop, true);
    alarm(CHILD_GRACE_S);
}

static void end_request(void)
{
    atomic_store(&current_number, 0);
    alarm(0);
    atomic_store(&child_stop, false);
}

bool child_say(const struct buf *body)
{
    /* A view: the body stays the caller's. */
    struct child_message part = { .op = OP_PART,
                                  .number = atomic_load(&current_number),
                                  .body = *body };
    struct err err = { 0 };
    bool is_sent = child_send(CHILD_SOCKET, &part, &err) == 0;

    err_done(&err);
    return is_sent;
}

static void set_up_process(void)
{
    struct sigaction stop = { .sa_sigaction = on_stop, .sa_flags = SA_RESTART | SA_SIGINFO };

    /* The terminal's ^C is for the front alone, which then decides what stops. */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&stop.sa_mask);
    sigaction(SIGUSR1, &stop, NULL);
    fcntl(CHILD_SOCKET, F_SETFD, FD_CLOEXEC);
}

/* 1 second to a day; anything else that the environment says does not count. */
static int idle_ms(const struct kind *kind)
{
    enum { DAY_S = 86400 };
    const char *text = kind->setting ? getenv(kind->setting) : NULL;
    int seconds = text ? atoi(text) : 0;

    return 1000 * (seconds >= 1 && seconds <= DAY_S ? seconds : kind->idle_s);
}

/* 1: a request waits; 0: the front closed the socket or asked nothing for long. */
static int wait_for_request(int timeout_ms)
{
    struct pollfd p = { CHILD_SOCKET, POLLIN, 0 };
    int n;

    do {
        n = poll(&p, 1, timeout_ms);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

/* One request, one answer, which carries the error when there is one. 0: go on; 1: end. */
static int serve_one(child_serve_fn *serve)
{
    struct child_message request = { 0 }, answer = { 0 };
    struct err err = { 0 };
    int rc = 1;

    if (child_receive(CHILD_SOCKET, &request, &err) <= 0)
        goto out;
    answer.op = OP_ANSWER;
    answer.number = request.number;
    begin_request(request.number);
    if (serve(&request, &answer, &err) < 0)
        fields_put_err(&answer.body, TAG_ERROR, &err);
    end_request();
    err_done(&err);
    rc = child_send(CHILD_SOCKET, &answer, &err) < 0 || child_must_end;
out:
    child_message_done(&request);
    child_message_done(&answer);
    err_done(&err);
    return rc;
}

int child_main(int argc, char **argv)
{
    const struct kind *kind = NULL;

    for (int i = 0; i < CHILD_KINDS && argc == 2; i++)
        if (strcmp(argv[1], child_kind_name((enum child_kind)i)) == 0)
            kind = &KINDS[i];
    if (!kind || fcntl(CHILD_SOCKET, F_GETFD) < 0) {
        fprintf(stderr, "warpbook: `child` is started by warpbook itself\n");
        return 2;
    }
    set_up_process();
    while (wait_for_request(idle_ms(kind)))
        if (serve_one(kind->serve))
            break;
    /* A GPU that still runs a kernel would keep the driver's own clean-up waiting. */
    if (child_must_end)
        _exit(0);
    return 0;
}
