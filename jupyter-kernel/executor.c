/*
 * One lock guards everything that the two threads share here, as none of it
 * is held for longer than a few assignments. The handlers run without it.
 */
#include "jupyter-kernel/executor.h"

#include "jupyter-kernel/content.h"
#include "jupyter-kernel/dispatch.h"
#include "jupyter-kernel/post.h"
#include "jupyter-kernel/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum {
    REPEAT_MS = 10,
    END_OF_FILE = 4, /* a value of just this: Ctrl-D at the prompt */
};

enum question {
    NOT_ASKING,
    ASKING,  /* sent soon; replies that come now answer an older question */
    WAITING, /* the next reply is ours */
    ANSWERED,
};

struct executor {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the monotonic clock */

    struct request *first, **end;
    bool is_held, is_stopping, has_ended;

    bool is_running, is_interrupted;

    enum question question;
    const struct request *asker;
    char *answer; /* NULL in ANSWERED: out of memory */
    bool is_end_of_file;
};

void request_free(struct request **request)
{
    if (!*request)
        return;
    message_done(&(*request)->message);
    free(*request);
    *request = NULL;
}

/* ---- the thread ---- */

/* The next request, now the running one; NULL: stop. */
static struct request *next_request(struct executor *x)
{
    struct request *request = NULL;

    pthread_mutex_lock(&x->lock);
    while (!x->is_stopping && (x->is_held || !x->first))
        pthread_cond_wait(&x->changed, &x->lock);
    if (!x->is_stopping) {
        request = x->first;
        x->first = request->next;
        if (!x->first)
            x->end = &x->first;
        x->is_running = true;
        x->is_interrupted = false;
    }
    pthread_mutex_unlock(&x->lock);
    return request;
}

static void *serve(void *argument)
{
    struct kernel *kernel = argument;
    struct executor *x = kernel->executor;
    struct request *request;

    while ((request = next_request(x)) != NULL) {
        dispatch_run(kernel, request);
        pthread_mutex_lock(&x->lock);
        x->is_running = false;
        pthread_mutex_unlock(&x->lock);
        request_free(&request);
    }
    pthread_mutex_lock(&x->lock);
    x->has_ended = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

int executor_start(struct kernel *kernel, struct err *err)
{
    struct executor *x = calloc(1, sizeof(*x));
    pthread_condattr_t attributes;
    int rc;

    if (!x)
        return err_set(err, ERR_ResourceError, "out of memory");
    pthread_mutex_init(&x->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&x->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    x->end = &x->first;
    kernel->executor = x;
    rc = pthread_create(&x->thread, NULL, serve, kernel);
    if (rc != 0) {
        executor_free(kernel);
        return err_set(err, ERR_ResourceError, "the executor's thread: %s", strerror(rc));
    }
    return 0;
}

bool executor_stop(struct kernel *kernel, int timeout_ms)
{
    struct executor *x = kernel->executor;
    struct timespec until;
    bool has_ended;
    int rc = 0;

    executor_interrupt(kernel);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&x->lock);
    x->is_stopping = true;
    pthread_cond_broadcast(&x->changed);
    while (!x->has_ended && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&x->changed, &x->lock, &until);
    has_ended = x->has_ended;
    pthread_mutex_unlock(&x->lock);
    if (has_ended)
        pthread_join(x->thread, NULL);
    return has_ended;
}

void executor_free(struct kernel *kernel)
{
    struct executor *x = kernel->executor;
    struct request *next;

    if (!x)
        return;
    for (struct request *r = x->first; r; r = next) {
        next = r->next;
        request_free(&r);
    }
    free(x->answer);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    free(x);
    kernel->executor = NULL;
}

/* ---- the queue ---- */

void executor_take(struct kernel *kernel, struct request *request)
{
    struct executor *x = kernel->executor;

    pthread_mutex_lock(&x->lock);
    request->next = NULL;
    *x->end = request;
    x->end = &request->next;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void executor_hold(struct kernel *kernel)
{
    pthread_mutex_lock(&kernel->executor->lock);
    kernel->executor->is_held = true;
    pthread_mutex_unlock(&kernel->executor->lock);
}

void executor_abort_queue(struct kernel *kernel)
{
    struct executor *x = kernel->executor;

    pthread_mutex_lock(&x->lock);
    for (struct request *r = x->first; r; r = r->next)
        if (r->channel == CHANNEL_SHELL && strcmp(r->message.msg_type, "execute_request") == 0)
            r->is_aborted = true;
    x->is_held = false;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

/* ---- interrupts ---- */

/* Under the lock, so that it cannot reach the request after the one that was meant. */
static void interrupt_running(struct kernel *kernel)
{
    struct executor *x = kernel->executor;

    x->is_interrupted = true;
    session_interrupt(kernel->session);
    pthread_cond_broadcast(&x->changed);
}

void executor_interrupt(struct kernel *kernel)
{
    struct executor *x = kernel->executor;

    pthread_mutex_lock(&x->lock);
    if (x->is_running) {
        interrupt_running(kernel);
        channels_timer(kernel->channels, TIMER_INTERRUPT, REPEAT_MS, true);
    }
    pthread_mutex_unlock(&x->lock);
}

void executor_interrupt_again(struct kernel *kernel)
{
    struct executor *x = kernel->executor;

    pthread_mutex_lock(&x->lock);
    if (x->is_running && x->is_interrupted)
        interrupt_running(kernel);
    else
        channels_timer(kernel->channels, TIMER_INTERRUPT, 0, false);
    pthread_mutex_unlock(&x->lock);
}

/* ---- input ---- */

/* Waits for the answer, an interrupt or the end; the lock is held. */
static int wait_for_answer(struct executor *x, char **reply, struct err *err)
{
    while (x->question != ANSWERED && !x->is_interrupted && !x->is_stopping)
        pthread_cond_wait(&x->changed, &x->lock);
    if (x->question != ANSWERED)
        return err_set(err, ERR_Interrupted, "interrupted while waiting for input");
    if (x->is_end_of_file)
        return err_set(err, ERR_UsageError, "the input ended without a line");
    if (!x->answer)
        return err_set(err, ERR_ResourceError, "out of memory");
    *reply = x->answer;
    x->answer = NULL;
    return 0;
}

int executor_ask(struct kernel *kernel, const struct request *request, const char *prompt,
                 bool is_password, char **reply, struct err *err)
{
    struct executor *x = kernel->executor;
    json_t *content = json_pack("{s:o, s:b}", "prompt", utf8_json(prompt), "password", is_password);
    int rc;

    pthread_mutex_lock(&x->lock);
    x->question = ASKING;
    x->asker = request;
    pthread_mutex_unlock(&x->lock);

    rc = post_to(kernel, &request->message, CHANNEL_STDIN, "input_request", content, CHANNEL_STDIN)
             ? 0
             : err_set(err, ERR_ResourceError, "out of memory");

    pthread_mutex_lock(&x->lock);
    if (rc == 0)
        rc = wait_for_answer(x, reply, err);
    x->question = NOT_ASKING;
    x->asker = NULL;
    x->is_end_of_file = false;
    free(x->answer);
    x->answer = NULL;
    pthread_mutex_unlock(&x->lock);
    return rc;
}

void executor_open_answer(struct kernel *kernel)
{
    struct executor *x = kernel->executor;

    pthread_mutex_lock(&x->lock);
    if (x->question == ASKING)
        x->question = WAITING;
    pthread_mutex_unlock(&x->lock);
}

/* Only the one who was asked may answer. */
static bool is_from_asker(const struct message *asked, const struct message *reply)
{
    if (asked->identity_count != reply->identity_count)
        return false;
    for (size_t i = 0; i < asked->identity_count; i++)
        if (asked->identities[i].size != reply->identities[i].size ||
            memcmp(asked->identities[i].data, reply->identities[i].data,
                   reply->identities[i].size) != 0)
            return false;
    return true;
}

void executor_answer(struct kernel *kernel, const struct message *reply)
{
    struct executor *x = kernel->executor;
    struct bytes value = content_text(reply->content, "value");

    pthread_mutex_lock(&x->lock);
    if (x->question == WAITING && is_from_asker(&x->asker->message, reply)) {
        x->question = ANSWERED;
        x->is_end_of_file = value.size == 1 && value.data[0] == END_OF_FILE;
        x->answer = strndup(value.data, value.size);
        pthread_cond_broadcast(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
}
