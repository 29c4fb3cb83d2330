/*
 * Blocks in flight.
 *
 * Blocks run in order, one at a time: that is what a launch without order between blocks looks like
 * at its simplest, and what results are compared with. But a block may wait for another: at a grid
 * barrier, or at a flag that its neighbour sets. It says so by going round a loop that reads memory
 * while nothing changes. Then later blocks begin, as many as the device holds at once, and those in
 * flight take turns. On a GPU they would run side by side; here the turns are counted, so that the
 * same launch takes the same turns everywhere.
 *
 * A block is a state and a program that knows no chance. When all in flight have come round to the
 * state that they had before, and nobody has changed memory, they will do so for ever: a deadlock.
 * A loop that counts its rounds or looks at a clock never has the same state twice: for that one,
 * it is a deadlock when nobody has changed memory for very many turns (SIMT_PATIENCE).
 */
#include "model/ptx/resident.h"

#include "model/occupancy.h"
#include "model/ptx/sync.h"

#include <stdlib.h>

enum { DEFAULT_REGISTERS = 32 };

struct flight {
    struct cta *cta;
    int64_t place;
    uint64_t state; /* when it waited last, in quiet times */
    bool is_same;   /* as the time before */
};

struct fleet {
    const struct resident_host *host;
    struct flight *flights; /* in flight, in the order of their places */
    struct cta **spare;     /* states that are free */
    int64_t count, spares, capacity;
    int64_t next, places, most;
    int64_t failed_at;
    bool is_quiet; /* nobody in flight moved in the last turn: time to compare states */
    int quiet_turns;
};

int64_t resident_most(const struct ptx_launch *l)
{
    struct launch_shape shape = { .block = (int)(l->block.x * l->block.y * l->block.z),
                                  .regs = l->registers > 0 ? l->registers : DEFAULT_REGISTERS,
                                  .static_bytes = l->kernel->static_shared_bytes,
                                  .dynamic_bytes = l->dynamic_shared_bytes,
                                  .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct occupancy fits = { 0 };
    struct err ignored = { 0 };

    if (occupancy_of(l->device, &shape, &fits, &ignored) < 0)
        err_done(&ignored);
    return max_i64(1, (int64_t)fits.active_blocks * (l->device->sms > 0 ? l->device->sms : 1));
}

static bool make_room(struct fleet *f)
{
    int64_t larger = f->capacity ? 2 * f->capacity : 16;
    struct flight *flights;
    struct cta **spare;

    if (f->count < f->capacity)
        return true;
    flights = realloc(f->flights, (size_t)larger * sizeof *flights);
    if (!flights)
        return false;
    f->flights = flights;
    spare = realloc(f->spare, (size_t)larger * sizeof *spare);
    if (!spare)
        return false;
    f->spare = spare;
    f->capacity = larger;
    return true;
}

/* 1: one more block is in flight; 0: there is no room, or no block left; -1: it failed. */
static int launch_next(struct fleet *f)
{
    struct cta *cta;

    if (f->next == f->places || f->count == f->most || !make_room(f))
        return 0;
    cta = f->spares ? f->spare[--f->spares] : f->host->make(f->host->context);
    if (!cta)
        return 0;
    f->failed_at = f->next;
    if (f->host->begin(f->host->context, cta, f->next) < 0)
        return -1;
    f->flights[f->count++] = (struct flight){ .cta = cta, .place = f->next++ };
    return 1;
}

/* Runs flight i until it ends or waits. 1: it ended, and is no longer in the list; -1: it failed.
 */
static int fly(struct fleet *f, int64_t i)
{
    struct flight *flight = &f->flights[i];
    uint64_t state = 0;
    int step;

    f->failed_at = flight->place;
    step = f->host->step(f->host->context, flight->cta);
    if (step == SIMT_WAITS) {
        if (f->is_quiet)
            state = simt_state(flight->cta);
        flight->is_same = state && !flight->cta->has_moved && state == flight->state;
        flight->state = state;
        return 0;
    }
    if (step < 0 || f->host->end(f->host->context, flight->cta, flight->place) < 0)
        return -1;
    f->spare[f->spares++] = flight->cta;
    memmove(flight, flight + 1, (size_t)(f->count - i - 1) * sizeof *flight);
    f->count--;
    return 1;
}

/* A turn of all in flight. 1: somebody moved; 0: none did, and none ever will; -1: a failure. */
static int turn(struct fleet *f)
{
    bool is_quiet = true, is_same = true;

    for (int64_t i = 0; i < f->count;) {
        int done = fly(f, i);

        if (done < 0)
            return -1;
        if (done) {
            is_quiet = is_same = false;
            continue;
        }
        is_quiet &= !f->flights[i].cta->has_moved;
        is_same &= f->flights[i].is_same;
        i++;
    }
    f->is_quiet = is_quiet;
    f->quiet_turns = is_quiet ? f->quiet_turns + 1 : 0;
    return !is_same && f->quiet_turns < SIMT_PATIENCE;
}

/*
 * Begins blocks until as many are new as were there. When each of N blocks waits for all, they are
 * then visited some 2 N times in all before the last begins, and not N * N times.
 */
static int launch_some(struct fleet *f)
{
    int64_t before = f->count > 0 ? f->count : 1;
    int begun = 0;

    for (int64_t i = 0; i < before; i++) {
        int rc = launch_next(f);

        if (rc < 0)
            return -1;
        if (!rc)
            break;
        begun++;
        if (fly(f, f->count - 1) < 0)
            return -1;
    }
    return begun > 0;
}

static int run_all(struct fleet *f)
{
    while (f->next < f->places || f->count) {
        int begun = launch_some(f), moved;

        if (begun < 0)
            return -1;
        if (!begun && !f->count)
            return -1; /* not even one has room */
        moved = turn(f);
        if (moved < 0)
            return -1;
        if (!begun && !moved) {
            f->failed_at = f->flights[0].place;
            f->host->stuck(f->host->context, f->flights[0].cta);
            return -1;
        }
    }
    return 0;
}

/* A cooperative launch begins with all of its blocks, before any has run. */
static int begin_all(struct fleet *f)
{
    while (f->next < f->places) {
        int rc = launch_next(f);

        if (rc <= 0)
            return -1;
    }
    return 0;
}

int resident_run(const struct resident_host *host, int64_t places, int64_t most, bool needs_all,
                 int64_t *failed_at)
{
    struct fleet f = { .host = host, .places = places, .most = needs_all ? places : most };
    int rc = needs_all ? begin_all(&f) : 0;

    if (rc == 0)
        rc = run_all(&f);
    *failed_at = f.failed_at;
    free(f.flights);
    free(f.spare);
    return rc;
}
