/*
 * One thread waits for signals with a deadline: what would have to be careful
 * in a signal handler is plain code here.
 */
#include "cells/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct watch {
    struct session *session;
    pthread_t thread;
    sigset_t signals, before;
    pthread_mutex_t lock; /* guards the rest */
    bool is_running, is_ending;
    bool has_deadline;
    struct timespec deadline;
    enum watch_event event;
};

/* SIGUSR2 to the thread says that the deadline changed, or that it is to end. */
enum { SIGNAL_NEWS = SIGUSR2 };

static struct timespec after(double seconds)
{
    struct timespec t;
    double whole = seconds < 1e9 ? seconds : 1e9;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static struct timespec left_until(struct timespec deadline)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec = deadline.tv_sec - t.tv_sec;
    t.tv_nsec = deadline.tv_nsec - t.tv_nsec;
    if (t.tv_nsec < 0) {
        t.tv_sec--;
        t.tv_nsec += 1000000000;
    }
    return t.tv_sec < 0 ? (struct timespec){ 0 } : t;
}

static int wait_for_signal(struct watch *w)
{
    struct timespec left;
    bool has_deadline;

    pthread_mutex_lock(&w->lock);
    has_deadline = w->is_running && w->has_deadline;
    left = left_until(w->deadline);
    pthread_mutex_unlock(&w->lock);
    if (has_deadline)
        return sigtimedwait(&w->signals, NULL, &left);
    return sigwaitinfo(&w->signals, NULL);
}

/* What a signal, or none in time (-1), means. The lock is held. */
static void react(struct watch *w, int signal)
{
    if (signal == SIGINT || signal == SIGTERM) {
        w->event = WATCH_SIGNAL;
        session_interrupt(w->session);
    } else if (signal < 0 && w->is_running && w->has_deadline && !left_until(w->deadline).tv_sec &&
               !left_until(w->deadline).tv_nsec) {
        w->has_deadline = false;
        if (w->event == WATCH_NOTHING)
            w->event = WATCH_TIMEOUT;
        session_interrupt(w->session);
    }
}

static void *watch_thread(void *arg)
{
    struct watch *w = arg;
    bool is_ending = false;

    while (!is_ending) {
        int signal = wait_for_signal(w);

        pthread_mutex_lock(&w->lock);
        react(w, signal);
        is_ending = w->is_ending;
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

int watch_new(struct session *session, struct watch **out, struct err *err)
{
    struct watch *w = calloc(1, sizeof(*w));

    if (!w)
        return err_set(err, ERR_ResourceError, "out of memory");
    w->session = session;
    pthread_mutex_init(&w->lock, NULL);
    sigemptyset(&w->signals);
    sigaddset(&w->signals, SIGINT);
    sigaddset(&w->signals, SIGTERM);
    sigaddset(&w->signals, SIGNAL_NEWS);
    /* Blocked everywhere, so that they wait for the thread. */
    pthread_sigmask(SIG_BLOCK, &w->signals, &w->before);
    if (pthread_create(&w->thread, NULL, watch_thread, w) != 0) {
        pthread_sigmask(SIG_SETMASK, &w->before, NULL);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return err_set(err, ERR_ResourceError, "no thread to watch the cells with");
    }
    *out = w;
    return 0;
}

void watch_free(struct watch **watch)
{
    struct watch *w = *watch;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_mutex_unlock(&w->lock);
    pthread_kill(w->thread, SIGNAL_NEWS);
    pthread_join(w->thread, NULL);
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *watch = NULL;
}

void watch_begin(struct watch *w, double timeout_s)
{
    pthread_mutex_lock(&w->lock);
    w->is_running = true;
    w->has_deadline = timeout_s > 0;
    w->deadline = after(timeout_s);
    pthread_mutex_unlock(&w->lock);
    pthread_kill(w->thread, SIGNAL_NEWS);
}

enum watch_event watch_end(struct watch *w)
{
    enum watch_event event;

    pthread_mutex_lock(&w->lock);
    w->is_running = false;
    event = w->event;
    if (event != WATCH_SIGNAL)
        w->event = WATCH_NOTHING;
    pthread_mutex_unlock(&w->lock);
    return event;
}
