/*
 * The child counts finished blocks in a page that both map. It says what a long launch
 * will take before that starts; once there are blocks, the estimate comes from them. A
 * launch that will be over soon shows nothing.
 */
#include "cells/launch_run.h"

#include "cells/internal.h"
#include "cells/render/text.h"
#include "kernels/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    SHOW_AFTER_MS = 500,   /* by then an estimate is worth something */
    SHOW_FROM_MS = 5000,   /* a launch that takes at least so long says so */
    SHOW_EACH_MS = 200,    /* between two updates */
    START_MOST_MS = 60000, /* that a GPU's process may take before its launch starts */
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int launch_progress_begin(struct launch_progress *p, struct call *call,
                          const struct launch_plan *plan, bool is_quiet, int *fd, struct err *err)
{
    static int displays;

    *p = (struct launch_progress){ .call = call, .plan = plan, .is_quiet = is_quiet };
    *fd = memfd_create("launch", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, sizeof(*p->status)) < 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        return err_set(err, ERR_ResourceError, "no page for a launch: %s", strerror(errno));
    p->status = mmap(NULL, sizeof(*p->status), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (p->status == MAP_FAILED) {
        p->status = NULL;
        return err_set(err, ERR_ResourceError, "no page for a launch: %s", strerror(errno));
    }
    snprintf(p->id, sizeof(p->id), "launch-%d-%d", session_run_count(call->session), ++displays);
    p->asked_ms = p->began_ms = p->last_block_ms = now_ms();
    return 0;
}

static void show(struct launch_progress *p, const char *text)
{
    json_t *data = json_pack("{s:s}", "text/plain", text);

    if (data)
        sink_display(p->call->sink, data, NULL, p->id, p->is_shown);
    json_decref(data);
    p->is_shown = true;
    p->last_shown_ms = now_ms();
}

/* "about 40 s to go", with no more digits than an estimate has. */
static void put_left(char *out, size_t size, const char *about, double seconds)
{
    if (seconds < 90)
        snprintf(out, size, "%s %.0f s to go", about,
                 seconds < 10 ? seconds : 5 * (int)(seconds / 5));
    else if (seconds < 2 * 3600)
        snprintf(out, size, "%s %.0f min to go", about, seconds / 60);
    else
        snprintf(out, size, "%s %.0f h to go", about, seconds / 3600);
}

static void show_progress(struct launch_progress *p, int64_t done, int64_t elapsed)
{
    int64_t blocks = p->plan->sample_blocks > 0 ? min_i64(p->plan->sample_blocks, p->plan->blocks)
                                                : p->plan->blocks;
    double said = (double)atomic_load(&p->status->estimate_ms), total = said;
    bool is_least = atomic_load(&p->status->is_estimate_least);
    char text[200], left[60] = "no block has finished yet", so_far[TEXT_NUMBER], of[TEXT_NUMBER];

    /* The first blocks to finish say less than the estimate that was made for all of them. */
    if (done > 0 && (elapsed >= SHOW_AFTER_MS || total <= 0)) {
        total = (double)elapsed * (double)blocks / (double)done;
        is_least = false;
    }
    if (!p->is_shown && total < SHOW_FROM_MS && (done > 0 || elapsed < SHOW_FROM_MS))
        return;
    if (total > (double)elapsed)
        put_left(left, sizeof(left), is_least ? "at least" : "about",
                 (total - (double)elapsed) / 1000);
    else if (done > 0)
        put_left(left, sizeof(left), "about", 0);
    if (done >= blocks) {
        if (p->is_whole)
            return;
        p->is_whole = true;
        snprintf(text, sizeof(text), "%.40s ran all %s blocks; its facts are being counted",
                 p->plan->kernel, text_number(of, (double)blocks));
    } else {
        snprintf(text, sizeof(text), "%.40s runs: %s of %s blocks (%.0f %%), %s", p->plan->kernel,
                 text_number(so_far, (double)done), text_number(of, (double)blocks),
                 100.0 * (double)done / (double)blocks, left);
    }
    show(p, text);
}

/*
 * A driver that starts, and a card that ends the kernel of the process before, may take seconds,
 * which are not the launch's: its time begins when it does.
 */
static void wait_for_start(struct launch_progress *p, int64_t now)
{
    if (!p->plan->device.is_gpu || atomic_load(&p->status->is_started) ||
        now - p->asked_ms > START_MOST_MS)
        return;
    p->began_ms = p->last_block_ms = now;
}

/* True once the launch took longer than it may. */
static bool is_late(const struct launch_progress *p, int64_t now)
{
    if (p->plan->timeout_s > 0)
        return (double)(now - p->began_ms) > 1000 * p->plan->timeout_s;
    return now - p->last_block_ms > LAUNCH_STUCK_MS;
}

enum watch_answer launch_progress_tick(void *progress, struct err *err)
{
    struct launch_progress *p = progress;
    int64_t now = now_ms(), done = atomic_load(&p->status->blocks_done);
    int launches = atomic_load(&p->status->launches_done);

    (void)err;
    wait_for_start(p, now);
    if (done != p->last_done || launches != p->last_launches) {
        p->last_done = done;
        p->last_launches = launches;
        p->last_block_ms = now;
    }
    if (is_late(p, now) && !p->is_stopped) {
        p->is_stopped = true;
        atomic_store(&p->status->stop_reason, LAUNCH_STOP_TIMEOUT);
        return WATCH_STOP;
    }
    if (!p->is_quiet &&
        (now - p->began_ms >= SHOW_AFTER_MS || atomic_load(&p->status->estimate_ms) > 0) &&
        now - p->last_shown_ms >= SHOW_EACH_MS)
        show_progress(p, done, now - p->began_ms);
    return WATCH_GO_ON;
}

void launch_progress_part(void *progress, struct bytes body)
{
    struct launch_progress *p = progress;
    struct bytes text;

    if (p->is_quiet || !fields_find(body, TAG_PRINT, 0, &text) || !text.size)
        return;
    p->printed = true;
    sink_write(p->call->sink, STREAM_STDOUT, text.data, text.size);
}

void launch_progress_end(struct launch_progress *p, bool is_ok)
{
    char text[120];

    if (p->is_shown) {
        snprintf(text, sizeof(text), "%.40s %s", p->plan->kernel, is_ok ? "ran" : "was stopped");
        show(p, text);
    }
    if (p->status)
        munmap(p->status, sizeof(*p->status));
    p->status = NULL;
}
