/*
 * Where a warp stands. Mostly that is one place in one stream. Where its lanes part it is a place
 * for each path: a fork's paths run until the last one ends, and then the path that forked goes on.
 * In stack mode only the deepest path runs, the first of its fork first; else the one that can
 * issue first, so that one path's waits are another one's turn. Either way the warp issues one
 * instruction at a time: parting never makes fewer of them.
 */
#include "model/core_internal.h"

static bool enter_step(struct core *core, struct core_warp *w, struct path *p);
static bool find_next(struct core *core, struct core_warp *w, struct path *p);

/* When the registers that the path's next instruction reads or writes are there. */
static inline due operands_of(const struct core_warp *w, const struct path *p)
{
    const struct core_op *op = p->next.op;
    due at = p->blocked;

    for (int i = 0; i < op->read_count; i++)
        at = due_later(at, w->results[op->reads[i]]);
    for (int i = 0; i < op->write_count; i++)
        at = due_later(at, w->results[op->writes[i]]);
    return at;
}

/* ---- Paths ---- */

static int free_path(struct core_warp *w)
{
    for (int i = 0; i < w->path_count; i++)
        if (w->paths[i].state == PATH_FREE)
            return i;
    return w->path_count++;
}

static void open_path(struct core *core, struct core_warp *w, const struct core_stream *stream,
                      int parent)
{
    int index = free_path(w);
    struct path *p = &w->paths[index];
    const struct path *from = parent < 0 ? NULL : &w->paths[parent];

    *p = (struct path){ .state = PATH_RUNS,
                        .parent = parent,
                        .depth = from ? from->depth + 1 : 0,
                        .stream = stream,
                        .blocked = from ? from->blocked : due_at(w->since, STALL_wait) };
    if (parent >= 0)
        w->paths[parent].children++;
    if (!enter_step(core, w, p) || !find_next(core, w, p)) {
        p->state = PATH_FREE;
        if (parent >= 0)
            w->paths[parent].children--;
    }
}

/* False: none of the paths has an instruction. */
static bool open_fork(struct core *core, struct core_warp *w, struct path *p)
{
    const struct core_step *step = &p->stream->steps[p->step];
    const struct core_fork *fork = &p->stream->forks[-1 - step->block];

    p->state = PATH_WAITS;
    p->next.op = p->end = NULL;
    p->access = step->access;
    for (int i = 0; i < fork->count; i++)
        open_path(core, w, &fork->paths[i], (int)(p - w->paths));
    if (!p->children)
        p->state = PATH_RUNS;
    return p->children > 0;
}

/* To the start of a step's block. False: it has no instruction. */
static bool enter_block(const struct core *core, struct path *p, const struct core_step *step)
{
    const struct core_block *block = &core->config.blocks[step->block];

    p->next.op = block->ops;
    p->end = block->ops + block->count;
    p->access = step->access;
    return block->count > 0;
}

/* A step that has instructions, from the path's on. False: the stream has ended. */
static bool enter_step(struct core *core, struct core_warp *w, struct path *p)
{
    for (;; p->step++) {
        const struct core_step *step;

        if (p->step == p->stream->step_count) {
            if (p == w->paths && p->stream->step_count) {
                core->totals.rounds++;
                w->rounds++;
                core->last_round = w->number;
            }
            if (!p->stream->is_endless)
                return false;
            p->step = 0;
        }
        step = &p->stream->steps[p->step];
        p->left = step->repeat;
        if (step->block < 0 ? open_fork(core, w, p) : enter_block(core, p, step))
            return true;
    }
}

static bool leave_step(struct core *core, struct core_warp *w, struct path *p)
{
    p->step++;
    return enter_step(core, w, p);
}

/* To the next instruction. False: the stream has ended. */
static inline bool advance(struct core *core, struct core_warp *w, struct path *p)
{
    p->access += p->next.op->is_access;
    if (++p->next.op < p->end)
        return true;
    if (--p->left > 0)
        return enter_block(core, p, &p->stream->steps[p->step]);
    return leave_step(core, w, p);
}

/*
 * The path's next instruction that is one: what costs nothing only passes on when its operands are
 * there. False: there is none.
 */
static inline bool find_next(struct core *core, struct core_warp *w, struct path *p)
{
    while (p->state == PATH_RUNS) {
        const struct core_op *op = p->next.op;

        p->next.ready = operands_of(w, p);
        if (core->classes[op->class].slots) {
            p->next.ready = due_not_before(p->next.ready, w->since);
            if (op->is_access)
                p->next.access = p->stream->accesses[p->access];
            return true;
        }
        warp_set_results(w, op, p->next.ready);
        if (!advance(core, w, p))
            return false;
    }
    return true;
}

/* A path has ended: the one that forked goes on after the last. False: that was the warp. */
static bool close_path(struct core *core, struct core_warp *w, struct path *p)
{
    for (;;) {
        p->state = PATH_FREE;
        if (p->parent < 0)
            return false;
        p = &w->paths[p->parent];
        if (--p->children > 0)
            return true;
        p->state = PATH_RUNS;
        p->blocked = due_at(w->since, STALL_wait);
        if (leave_step(core, w, p) && find_next(core, w, p))
            return true;
    }
}

int warp_runnable_paths(const struct core_warp *w)
{
    int n = 0;

    for (int i = 0; i < w->path_count; i++)
        n += w->paths[i].state == PATH_RUNS;
    return n;
}

static void take_path(struct core_warp *w, struct path *p)
{
    w->path = p;
    w->next = &p->next;
}

/* The deepest path, the first of its fork. */
static struct path *deepest_path(struct core_warp *w)
{
    struct path *best = NULL;

    for (int i = 0; i < w->path_count; i++)
        if (w->paths[i].state == PATH_RUNS && (!best || w->paths[i].depth > best->depth))
            best = &w->paths[i];
    return best;
}

/* That can issue first; of several the one that did last, else the first. */
static struct path *soonest_path(struct core_warp *w, int64_t cycle)
{
    int64_t best_at = CORE_NEVER;
    struct path *best = NULL;

    for (int i = 0; i < w->path_count; i++) {
        struct path *p = &w->paths[i];
        int64_t at;

        if (p->state != PATH_RUNS)
            continue;
        at = max_i64(due_cycle(p->next.ready), w->sub->units[p->next.op->class].free_at);
        at = max_i64(at, cycle);
        if (at < best_at || (at == best_at && p == w->path)) {
            best_at = at;
            best = p;
        }
    }
    return best;
}

void warp_choose_path(const struct core *core, struct core_warp *w, int64_t cycle)
{
    take_path(w, core->config.is_stack ? deepest_path(w) : soonest_path(w, cycle));
}

bool warp_fetch(struct core *core, struct core_warp *w)
{
    return advance(core, w, w->paths) && find_next(core, w, w->paths);
}

/* ---- The warp ---- */

bool warp_start(struct core *core, struct core_warp *w, const struct core_stream *stream,
                int64_t cycle)
{
    w->since = cycle;
    w->path_count = 0;
    memset(w->results, 0, (size_t)core->config.register_count * sizeof *w->results);
    take_path(w, w->paths);
    open_path(core, w, stream, -1);
    if (w->paths[0].state == PATH_FREE)
        return false;
    if (w->path_count > 1)
        warp_choose_path(core, w, 0);
    if (w->window)
        window_start(core, w);
    return true;
}

bool warp_advance(struct core *core, struct core_warp *w)
{
    struct path *p = w->path;

    if ((!advance(core, w, p) || !find_next(core, w, p)) && !close_path(core, w, p))
        return false;
    if (w->path_count > 1)
        warp_choose_path(core, w, 0);
    return true;
}

void warp_look(struct core_warp *w)
{
    struct path *p = w->path;

    p->next.ready = due_not_before(operands_of(w, p), w->since);
}
