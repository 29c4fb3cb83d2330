/*
 * Where a warp stands. Mostly that is one place in one stream. Where its lanes part it is a place
 * for each path: a fork's paths run until the last one ends, and then the path that forked goes on.
 * In stack mode only the deepest path runs, the first of its fork first; else the one that can
 * issue first, so that one path's waits are another one's turn. Either way the warp issues one
 * instruction at a time: parting never makes fewer of them.
 */
#include "model/core_internal.h"

static bool enter_step(struct core *core, struct core_warp *w, int path);
static bool find_next(struct core *core, struct core_warp *w, int path);

static const struct core_op *current_op(const struct core *core, const struct path *p)
{
    return &core->config.blocks[p->stream->steps[p->step].block].ops[p->op];
}

/* When the registers that an instruction reads or writes are there, and who makes the last. */
static int64_t operands_at(const struct core_warp *w, const struct path *p,
                           const struct core_op *op, uint8_t *reason)
{
    int64_t at = p->blocked_until;

    *reason = p->blocked_by;
    for (int i = 0; i < op->read_count; i++)
        if (w->result_at[op->reads[i]] > at) {
            at = w->result_at[op->reads[i]];
            *reason = w->result_by[op->reads[i]];
        }
    for (int i = 0; i < op->write_count; i++)
        if (w->result_at[op->writes[i]] > at) {
            at = w->result_at[op->writes[i]];
            *reason = w->result_by[op->writes[i]];
        }
    return at;
}

void warp_set_results(struct core_warp *w, const struct core_op *op, int64_t at, enum stall by)
{
    for (int i = 0; i < op->write_count; i++) {
        w->result_at[op->writes[i]] = at;
        w->result_by[op->writes[i]] = (uint8_t)by;
    }
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
                        .blocked_until = from ? from->blocked_until : w->since,
                        .blocked_by = from ? from->blocked_by : STALL_wait };
    if (parent >= 0)
        w->paths[parent].children++;
    if (!enter_step(core, w, index) || !find_next(core, w, index)) {
        w->paths[index].state = PATH_FREE;
        if (parent >= 0)
            w->paths[parent].children--;
    }
}

/* False: none of the paths has an instruction. */
static bool open_fork(struct core *core, struct core_warp *w, int path)
{
    struct path *p = &w->paths[path];
    const struct core_fork *fork = &p->stream->forks[-1 - p->stream->steps[p->step].block];

    p->state = PATH_WAITS;
    for (int i = 0; i < fork->count; i++)
        open_path(core, w, &fork->paths[i], path);
    if (!p->children)
        p->state = PATH_RUNS;
    return p->children > 0;
}

/* A step that has instructions, from the path's on. False: the stream has ended. */
static bool enter_step(struct core *core, struct core_warp *w, int path)
{
    struct path *p = &w->paths[path];

    for (;; p->step++) {
        const struct core_step *step;

        if (p->step == p->stream->step_count) {
            if (!path && p->stream->step_count) {
                core->totals.rounds++;
                w->rounds++;
                core->last_round = (int)(w - core->warps);
            }
            if (!p->stream->is_endless)
                return false;
            p->step = 0;
        }
        step = &p->stream->steps[p->step];
        p->left = step->repeat;
        p->access = step->access;
        p->op = 0;
        if (step->block < 0 ? open_fork(core, w, path) : core->config.blocks[step->block].count)
            return true;
    }
}

/* To the next instruction. False: the stream has ended. */
static bool advance(struct core *core, struct core_warp *w, int path)
{
    struct path *p = &w->paths[path];
    const struct core_step *step = &p->stream->steps[p->step];

    if (step->block >= 0) {
        p->access += current_op(core, p)->is_access;
        if (++p->op < core->config.blocks[step->block].count)
            return true;
        if (--p->left > 0) {
            p->op = 0;
            p->access = step->access;
            return true;
        }
    }
    p->step++;
    return enter_step(core, w, path);
}

/*
 * The path's next instruction that is one: what costs nothing only passes on when its operands are
 * there. False: there is none.
 */
static bool find_next(struct core *core, struct core_warp *w, int path)
{
    struct path *p = &w->paths[path];

    while (p->state == PATH_RUNS) {
        const struct core_op *op = current_op(core, p);

        p->next = op;
        p->ready_at = operands_at(w, p, op, &p->reason);
        if (core->config.costs->classes[op->class].slots) {
            p->ready_at = max_i64(p->ready_at, w->since);
            return true;
        }
        warp_set_results(w, op, p->ready_at, (enum stall)p->reason);
        if (!advance(core, w, path))
            return false;
    }
    return true;
}

/* A path has ended: the one that forked goes on after the last. False: that was the warp. */
static bool close_path(struct core *core, struct core_warp *w, int path)
{
    for (;;) {
        struct path *p = &w->paths[path];

        p->state = PATH_FREE;
        path = p->parent;
        if (path < 0)
            return false;
        p = &w->paths[path];
        if (--p->children > 0)
            return true;
        p->state = PATH_RUNS;
        p->blocked_until = w->since;
        p->blocked_by = STALL_wait;
        if (advance(core, w, path) && find_next(core, w, path))
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

/* The deepest path, the first of its fork. */
static void choose_deepest(struct core_warp *w)
{
    int best = -1;

    for (int i = 0; i < w->path_count; i++)
        if (w->paths[i].state == PATH_RUNS &&
            (best < 0 || w->paths[i].depth > w->paths[best].depth))
            best = i;
    w->current = best;
}

void warp_choose_path(const struct core *core, const struct sub_core *sub, struct core_warp *w,
                      int64_t cycle)
{
    int64_t best_at = CORE_NEVER;
    int best = -1;

    if (core->config.is_stack) {
        choose_deepest(w);
        return;
    }
    for (int i = 0; i < w->path_count; i++) {
        const struct path *p = &w->paths[i];
        int64_t at;

        if (p->state != PATH_RUNS)
            continue;
        at = max_i64(max_i64(p->ready_at, sub->unit_free[p->next->class]), cycle);
        if (at < best_at || (at == best_at && i == w->current)) {
            best_at = at;
            best = i;
        }
    }
    w->current = best;
}

bool warp_fetch(struct core *core, struct core_warp *w)
{
    return advance(core, w, 0) && find_next(core, w, 0);
}

/* ---- The warp ---- */

static void choose_some_path(const struct core *core, struct core_warp *w)
{
    if (w->path_count == 1)
        w->current = 0;
    else
        warp_choose_path(core, &core->sub_cores[(w - core->warps) % core->config.partitions], w, 0);
}

bool warp_start(struct core *core, struct core_warp *w, const struct core_stream *stream,
                int64_t cycle)
{
    w->since = cycle;
    w->path_count = w->current = 0;
    memset(w->result_at, 0, (size_t)core->config.register_count * sizeof *w->result_at);
    open_path(core, w, stream, -1);
    if (w->paths[0].state == PATH_FREE)
        return false;
    choose_some_path(core, w);
    if (w->window)
        window_start(core, w);
    return true;
}

bool warp_advance(struct core *core, struct core_warp *w)
{
    int path = w->current;

    if ((!advance(core, w, path) || !find_next(core, w, path)) && !close_path(core, w, path))
        return false;
    choose_some_path(core, w);
    return true;
}

void warp_look(struct core_warp *w)
{
    struct path *p = &w->paths[w->current];

    p->ready_at = max_i64(operands_at(w, p, p->next, &p->reason), w->since);
}

const struct core_op *warp_next(const struct core_warp *w, core_access *access)
{
    const struct path *p = &w->paths[w->current];

    *access = 0;
    if (w->window) {
        *access = w->window->ops[w->window->chosen].access;
        return w->window->ops[w->window->chosen].op;
    }
    if (p->next->is_access)
        *access = p->stream->accesses[p->access];
    return p->next;
}
