/*
 * From the keys of %lanes to what each warp does: every form of the branch gives
 * each thread a path and its length, or a number of trips, and model/lanes.c
 * does the rest.
 */
#include "cells/internal.h"
#include "cells/magics/lanes.h"

enum {
    MOST_CONDITIONS = 16,
    MOST_THREADS = 65536,
};

/* The expressions of a call, each parsed once. NULL: not part of this form. */
struct pattern {
    const struct sweep *sweep;
    size_t point;
    enum lanes_form form;
    struct thread_expr *conditions[MOST_CONDITIONS];
    int count;
    struct thread_expr *path, *trips, *length;
};

/* ---- which form ---- */

static int check_belongs(const struct call *call, const char *key, bool belongs, const char *to,
                         struct err *err)
{
    if (belongs || !call_given(call, key))
        return 0;
    return call_fail(call, key, err, ERR_UsageError, "%s= belongs to %s", key, to);
}

static int read_form(const struct call *call, enum lanes_form *out, struct err *err)
{
    static const char *const keys[] = { "if", "depth", "paths", "path", "trips" };
    const char *given = NULL;

    *out = LANES_IF;
    for (size_t k = 0; k < COUNT(keys); k++) {
        if (!call_given(call, keys[k]))
            continue;
        if (given)
            return call_fail(call, keys[k], err, ERR_UsageError,
                             "%s= and %s= are two branches: one at a time", given, keys[k]);
        given = keys[k];
        *out = (enum lanes_form)k;
    }
    if (check_belongs(call, "then", *out == LANES_IF, "if=", err) < 0 ||
        check_belongs(call, "else", *out == LANES_IF, "if=", err) < 0)
        return -1;
    return 0;
}

static int open_conditions(const struct call *call, struct pattern *p, struct err *err)
{
    size_t n = call_arg(call, "if")->count;

    if (n > MOST_CONDITIONS)
        return call_fail(call, "if", err, ERR_ValueError,
                         "%zu conditions inside each other: %d are allowed", n, MOST_CONDITIONS);
    for (size_t k = 0; k < n; k++)
        if (thread_expr_open(call, "if", k, NULL, &p->conditions[k], err) < 0)
            return -1;
    p->count = (int)n;
    if (n > 1 && (call_given(call, "then") || call_given(call, "else")))
        return call_fail(call, call_given(call, "then") ? "then" : "else", err, ERR_UsageError,
                         "with several conditions length= says how long each path is");
    return 0;
}

static int open_pattern(const struct sweep *sweep, size_t point, struct pattern *p, struct err *err)
{
    const struct call *call = sweep->call;

    *p = (struct pattern){ .sweep = sweep, .point = point };
    if (read_form(call, &p->form, err) < 0 ||
        thread_expr_open(call, "length", 0, "path", &p->length, err) < 0)
        return -1;
    switch (p->form) {
    case LANES_IF:
        return open_conditions(call, p, err);
    case LANES_PATH:
        return thread_expr_open(call, "path", 0, NULL, &p->path, err);
    case LANES_TRIPS:
        return thread_expr_open(call, "trips", 0, NULL, &p->trips, err);
    case LANES_DEPTH:
    case LANES_PATHS:
        break;
    }
    return 0;
}

/* ---- one thread ---- */

/* Conditions inside each other: those that hold come first, the outermost decides most. */
static int condition_key(struct pattern *p, const struct thread *t, int64_t *key, struct err *err)
{
    bool holds;

    *key = 0;
    for (int k = 0; k < p->count; k++) {
        if (thread_expr_truth(p->conditions[k], t, &holds, err) < 0)
            return -1;
        *key = *key * 2 + !holds;
    }
    return 0;
}

static int path_of(struct pattern *p, const struct thread *t, int64_t *key, struct err *err)
{
    int64_t lane = t->tid % WARP;

    switch (p->form) {
    case LANES_IF:
        return condition_key(p, t, key, err);
    case LANES_PATH:
        return thread_expr_eval(p->path, t, 0, key, err);
    case LANES_DEPTH:
        /* The ifs ask for one bit of the lane each; above bit 4 all lanes have a 0. */
        *key = lane & (((int64_t)1 << sweep_int(p->sweep, p->point, "depth")) - 1);
        return 0;
    case LANES_PATHS:
        *key = lane % sweep_int(p->sweep, p->point, "paths");
        return 0;
    case LANES_TRIPS:
        break;
    }
    *key = 0;
    return 0;
}

static int check_number(const struct thread_expr *e, const char *key, const struct thread *t,
                        int64_t v, struct err *err)
{
    if (v >= 0 && v <= LANES_MAX_LENGTH)
        return 0;
    thread_expr_fail(e, err, "%s is %lld for thread %d: it is 0 to %d", key, (long long)v, t->tid,
                     LANES_MAX_LENGTH);
    return err_next(err, "%s={clamp(%s, 0, %d)} stays inside", key, thread_expr_text(e),
                    LANES_MAX_LENGTH);
}

static int length_of(struct pattern *p, const struct thread *t, int64_t path, int64_t *out,
                     struct err *err)
{
    const char *side = path == 0 ? "then" : "else";

    if (p->form == LANES_IF && p->count == 1 && call_given(p->sweep->call, side)) {
        *out = sweep_int(p->sweep, p->point, side);
        return 0;
    }
    if (thread_expr_eval(p->length, t, path, out, err) < 0)
        return -1;
    return check_number(p->length, "length", t, *out, err);
}

/* ---- one warp ---- */

/* Threads of one path run the same instructions: their lengths must agree. */
static int check_lengths(const struct pattern *p, uint32_t threads, const int64_t key[WARP],
                         const int64_t length[WARP], struct err *err)
{
    for (uint32_t m = threads; m; m &= m - 1)
        for (uint32_t k = m & (m - 1); k; k &= k - 1) {
            int a = __builtin_ctz(m), b = __builtin_ctz(k);

            if (key[a] != key[b] || length[a] == length[b])
                continue;
            thread_expr_fail(p->length, err,
                             "length is %lld for lane %d and %lld for lane %d, and both take path "
                             "%lld: a path has one length",
                             (long long)length[a], a, (long long)length[b], b, (long long)key[a]);
            return err_next(err, "trips={...} gives each lane a number of its own");
        }
    return 0;
}

static int run_loop(struct pattern *p, const struct thread *threads, int count,
                    struct lanes_warp *out, struct err *err)
{
    int64_t trips[WARP] = { 0 }, length, first;
    uint32_t mask = count == WARP ? UINT32_MAX : (1u << count) - 1;

    if (length_of(p, &threads[0], 0, &first, err) < 0)
        return -1;
    for (int l = 0; l < count; l++) {
        if (thread_expr_eval(p->trips, &threads[l], 0, &trips[l], err) < 0 ||
            check_number(p->trips, "trips", &threads[l], trips[l], err) < 0 ||
            length_of(p, &threads[l], 0, &length, err) < 0)
            return -1;
        if (length != first)
            return thread_expr_fail(p->length, err,
                                    "length is %lld for lane 0 and %lld for lane %d: the body of a "
                                    "loop has one length",
                                    (long long)first, (long long)length, l);
    }
    lanes_loop(mask, trips, first, out);
    return 0;
}

static int run_branch(struct pattern *p, const struct thread *threads, int count,
                      struct lanes_warp *out, struct err *err)
{
    int64_t key[WARP] = { 0 }, length[WARP] = { 0 };
    uint32_t mask = count == WARP ? UINT32_MAX : (1u << count) - 1;

    for (int l = 0; l < count; l++)
        if (path_of(p, &threads[l], &key[l], err) < 0 ||
            length_of(p, &threads[l], key[l], &length[l], err) < 0)
            return -1;
    if (check_lengths(p, mask, key, length, err) < 0)
        return -1;
    lanes_branch(mask, key, length, out);
    return 0;
}

static int run_warp(struct pattern *p, const struct layout *layout, struct extent block_at, int w,
                    struct lanes_warp *out, struct err *err)
{
    struct thread threads[WARP];
    int count = (int)min_i64(WARP, layout->threads - w * WARP), rc;

    for (int l = 0; l < count; l++)
        threads[l] = thread_of(layout, block_at, w * WARP + l);
    rc = p->form == LANES_TRIPS ? run_loop(p, threads, count, out, err)
                                : run_branch(p, threads, count, out, err);
    if (rc == 0 && out->issue_slots > LANES_MAX_SLOTS)
        return thread_expr_fail(p->form == LANES_TRIPS ? p->trips : p->length, err,
                                "warp %d issues %lld instructions here; the model goes to %d", w,
                                (long long)out->issue_slots, LANES_MAX_SLOTS);
    return rc;
}

/* ---- all warps ---- */

static bool is_alike(const struct lanes_warp *a, const struct lanes_warp *b)
{
    if (a->threads != b->threads || a->count != b->count || a->paths != b->paths)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->stretches[i].mask != b->stretches[i].mask ||
            a->stretches[i].key != b->stretches[i].key ||
            a->stretches[i].length != b->stretches[i].length ||
            a->stretches[i].passes != b->stretches[i].passes)
            return false;
    return true;
}

int64_t lanes_alike(const struct lanes_point *p, int64_t w)
{
    int64_t end = w + 1;

    while (end < p->total.warps && is_alike(&p->warps[w], &p->warps[end]))
        end++;
    return end - w;
}

/* Both orders of each warp; those of a warp like the one before are known already. */
static void time_warps(struct lanes_point *p)
{
    struct lanes_order stack = p->order, its = p->order;
    int64_t around = p->before + p->after, a = 0, b = 0;

    stack.is_its = false;
    its.is_its = true;
    for (int64_t w = 0; w < p->total.warps; w++) {
        if (w == 0 || !is_alike(&p->warps[w - 1], &p->warps[w])) {
            a = around + lanes_cycles(&p->warps[w], &stack, NULL, 0);
            b = around + lanes_cycles(&p->warps[w], &its, NULL, 0);
        }
        p->of_warp[w] = p->order.is_its ? b : a;
        p->stack_cycles = max_i64(p->stack_cycles, a);
        p->its_cycles = max_i64(p->its_cycles, b);
    }
}

static void add_key(struct lanes_point *p, int64_t key)
{
    int at = 0;

    while (at < p->key_count && p->keys[at] < key)
        at++;
    if (at < p->key_count && p->keys[at] == key)
        return;
    if (p->key_count++ >= WARP)
        return;
    for (int i = p->key_count - 1; i > at; i--)
        p->keys[i] = p->keys[i - 1];
    p->keys[at] = key;
}

/* A loop's stretches are no paths: each lane is in them until it leaves. */
static void add_keys(struct lanes_point *p, const struct lanes_warp *warp)
{
    for (int i = 0; !warp->is_loop && i < warp->count && p->key_count <= WARP; i++)
        add_key(p, warp->stretches[i].key);
}

static int run_warps(struct pattern *pattern, struct lanes_point *p, struct err *err)
{
    int64_t n = 0;

    for (int64_t b = 0; b < p->layout.blocks; b++)
        for (int w = 0; w < p->layout.warps; w++, n++) {
            if (n % 64 == 0 && call_check_stop(pattern->sweep->call, err) < 0)
                return -1;
            if (run_warp(pattern, &p->layout, extent_place(p->layout.grid, b), w, &p->warps[n],
                         err) < 0)
                return -1;
            lanes_add(&p->total, &p->warps[n], p->before + p->after);
            add_keys(p, &p->warps[n]);
            p->paths = p->warps[n].paths > p->paths ? p->warps[n].paths : p->paths;
        }
    lanes_finish(&p->total);
    return 0;
}

static int read_launch(const struct sweep *sweep, size_t i, struct lanes_point *p, struct err *err)
{
    const struct call *call = sweep->call;

    if (call_layout(call, extent_of_value(sweep_value(sweep, i, "block"), 1),
                    extent_of_value(sweep_value(sweep, i, "grid"), 1), "grid", &p->layout, err) < 0)
        return -1;
    if (p->layout.all_threads > MOST_THREADS)
        return call_fail(call, call_given(call, "grid") ? "grid" : "block", err, ERR_ValueError,
                         "%lld threads: each is looked at, so %d are allowed; %d blocks fit",
                         (long long)p->layout.all_threads, MOST_THREADS,
                         MOST_THREADS / p->layout.threads);
    return 0;
}

int lanes_point_run(const struct sweep *sweep, size_t i, struct arena *arena, struct lanes_point *p,
                    struct err *err)
{
    struct pattern pattern;

    *p = (struct lanes_point){
        .before = sweep_int(sweep, i, "before"),
        .after = sweep_int(sweep, i, "after"),
        .order = { .is_its = strcmp(sweep_text(sweep, i, "its"), "on") == 0,
                   .wait = sweep_int(sweep, i, "wait"),
                   .turns = sweep_int(sweep, i, "turns") },
    };
    if (read_launch(sweep, i, p, err) < 0 || open_pattern(sweep, i, &pattern, err) < 0)
        return -1;
    p->form = pattern.form;
    p->conditions = pattern.count;
    p->warps = arena_array(arena, (size_t)p->layout.all_warps, sizeof(*p->warps));
    p->of_warp = arena_array(arena, (size_t)p->layout.all_warps, sizeof(*p->of_warp));
    if (!p->warps || !p->of_warp)
        return err_set(err, ERR_ResourceError, "%lld warps do not fit in the cell's memory",
                       (long long)p->layout.all_warps);
    if (run_warps(&pattern, p, err) < 0)
        return -1;
    time_warps(p);
    return 0;
}
