/*
 * A warp group of 128 threads holds the accumulators of its part of a tile in
 * registers, and a thread can name 255. Roles that copy need few: setmaxnreg
 * gives back what a loader does not use, and consumers take it.
 */
#include "cells/magics/specialize_budget.h"

#include "cells/internal.h"
#include "cells/lex.h"

enum {
    GROUP_THREADS = 128,
    INPUT_BYTES = 2, /* half precision */
    MAXNREG_LEAST = 24,
    MAXNREG_MOST = 256,
    MAXNREG_UNIT = 8,
};

/* ---- tiles ---- */

static int accumulators_of(const struct tile_budget *t, int groups, int bits)
{
    return (int)ceil_div((int64_t)t->m * t->n * bits / 32, (int64_t)groups * GROUP_THREADS);
}

int budget_read_tile(const struct sweep *sweep, size_t i, struct specialization *s, struct err *err)
{
    const struct value *v = sweep_value(sweep, i, "tile");
    const struct device *dev = &s->device.device;
    struct tile_budget *t = &s->tile;
    int bits = (int)sweep_int(sweep, i, "acc");
    int64_t rate = sweep_int(sweep, i, "rate");

    if (bits != 16 && bits != 32)
        return call_fail(sweep->call, "acc", err, ERR_ValueError,
                         "acc=%d: accumulators have 16 or 32 bits; %d is the nearest", bits,
                         bits < 24 ? 16 : 32);
    t->groups = (int)sweep_int(sweep, i, "groups");
    t->threads = t->groups * GROUP_THREADS;
    if (!v)
        return 0;
    if (v->type == VALUE_DIM && v->dim.z != 1)
        return call_fail(sweep->call, "tile", err, ERR_ValueError,
                         "tile=%s: a tile has rows and columns; (%lld,%lld) is the nearest",
                         call_arg(sweep->call, "tile")->text, (long long)v->dim.x,
                         (long long)v->dim.y);
    if (call_given(sweep->call, "compute"))
        return call_fail(sweep->call, "compute", err, ERR_UsageError,
                         "tile= sets compute=: give one of them");
    t->is_given = true;
    t->m = (int)(v->type == VALUE_DIM ? v->dim.x : v->i);
    t->n = (int)(v->type == VALUE_DIM ? v->dim.y : v->i);
    t->k = (int)sweep_int(sweep, i, "ktile");
    t->accumulators = accumulators_of(t, t->groups, bits);
    t->fits = t->accumulators <= dev->registers_per_thread;
    for (t->groups_needed = 1;
         accumulators_of(t, t->groups_needed, bits) > dev->registers_per_thread;)
        t->groups_needed *= 2;
    t->slot_bytes = (int64_t)(t->m + t->n) * t->k * INPUT_BYTES;
    t->ring_bytes = t->slot_bytes * s->params.pipe;
    t->most_slots = (int)(dev->shared_per_block_optin / t->slot_bytes);
    s->params.compute = ceil_div(2 * (int64_t)t->m * t->n * t->k, rate);
    if (s->params.compute > ASYNC_MAX_CYCLES)
        return call_fail(sweep->call, "tile", err, ERR_ValueError,
                         "a step of this tile takes %lld cycles at rate=%lld: %d is the most",
                         (long long)s->params.compute, (long long)rate, ASYNC_MAX_CYCLES);
    return 0;
}

/* ---- registers by role ---- */

static int64_t threads_of(const struct specialization *s, int role)
{
    return (int64_t)s->program->roles[role].warps * WARP;
}

static int find_role(const struct specialization *s, struct bytes name, struct nearest *near)
{
    for (int r = 0; r < s->program->role_count; r++) {
        if (bytes_equal(name, s->program->roles[r].name))
            return r;
        nearest_try(near, s->program->roles[r].name);
    }
    return -1;
}

static int unknown_role(const struct lexer *lexer, const struct token *name, const char *near,
                        const struct specialization *s, struct err *err)
{
    if (near)
        return lexer_fail_at(lexer, name->start, name->end, err, ERR_NameError,
                             "%s has no role %s; %s is the nearest", s->program->name,
                             token_show(lexer, name), near);
    return lexer_fail_at(lexer, name->start, name->end, err, ERR_NameError,
                         "%s has no role %s; its first is %s", s->program->name,
                         token_show(lexer, name), s->program->roles[0].name);
}

static int check_count(const struct lexer *lexer, const struct token *n, struct err *err)
{
    int64_t near =
        max_i64(MAXNREG_LEAST, min_i64(MAXNREG_MOST, (n->i + 4) / MAXNREG_UNIT * MAXNREG_UNIT));

    if (n->kind != TOKEN_INT)
        return lexer_fail_at(lexer, n->start, n->end, err, ERR_SyntaxError,
                             "a number of registers stands here, not %s", token_show(lexer, n));
    if (n->i == near)
        return 0;
    return lexer_fail_at(lexer, n->start, n->end, err, ERR_ValueError,
                         "%lld registers a thread: setmaxnreg takes multiples of %d from %d to %d; "
                         "%lld is the nearest",
                         (long long)n->i, MAXNREG_UNIT, MAXNREG_LEAST, MAXNREG_MOST,
                         (long long)near);
}

/* One "role=registers". */
static int read_role(struct lexer *lexer, struct specialization *s, struct err *err)
{
    struct token name, count;
    struct nearest near = { 0 };
    bool has_sign = false;
    int role;

    if (lexer_next(lexer, &name, err) < 0 || lexer_take_op(lexer, '=', &has_sign, err) < 0)
        return -1;
    if (!has_sign)
        return lexer_fail_at(lexer, name.start, name.end, err, ERR_SyntaxError,
                             "regs= takes \"role=registers role=registers\"");
    near.wanted = arena_copy(lexer->arena, name.text.data, name.text.size);
    if (!near.wanted)
        return err_set(err, ERR_ResourceError, "out of memory");
    role = find_role(s, name.text, &near);
    if (role < 0)
        return unknown_role(lexer, &name, near.best, s, err);
    if (s->registers.per_thread[role])
        return lexer_fail_at(lexer, name.start, name.end, err, ERR_ValueError, "%s= is given twice",
                             s->program->roles[role].name);
    if (lexer_next(lexer, &count, err) < 0 || check_count(lexer, &count, err) < 0)
        return -1;
    s->registers.per_thread[role] = (int)count.i;
    return 0;
}

/* The largest legal count of a role with which all roles together fit; 0: none. */
static int most_that_fits(const struct specialization *s, int role, int64_t limit)
{
    int64_t threads = threads_of(s, role);
    int64_t others = s->registers.total - threads * s->registers.per_thread[role];
    int64_t most = (limit - others) / threads / MAXNREG_UNIT * MAXNREG_UNIT;

    return most < MAXNREG_LEAST ? 0 : (int)most;
}

static int check_total(const struct call *call, struct specialization *s, struct err *err)
{
    int64_t limit = s->device.device.registers_per_sm;
    int worst = 0, fits;

    for (int r = 0; r < s->program->role_count; r++) {
        int64_t taken = threads_of(s, r) * s->registers.per_thread[r];

        s->registers.total += taken;
        if (taken > threads_of(s, worst) * s->registers.per_thread[worst])
            worst = r;
    }
    if (s->registers.total <= limit)
        return 0;
    call_fail(call, "regs", err, ERR_ValueError,
              "the roles take %lld registers together: an SM of %s has %lld",
              (long long)s->registers.total, s->device.device.name, (long long)limit);
    fits = most_that_fits(s, worst, limit);
    return fits ? err_next(err, "%s=%d is the most that fits", s->program->roles[worst].name, fits)
                : err_next(err, "fewer groups= of warps");
}

int budget_read_registers(const struct sweep *sweep, size_t i, struct specialization *s,
                          struct err *err)
{
    const struct call *call = sweep->call;
    const struct arg *arg = call_arg(call, "regs");
    const char *text = sweep_text(sweep, i, "regs");
    struct lexer lexer;

    if (!text)
        return 0;
    s->registers.is_given = true;
    lexer_init(&lexer, (struct source){ bytes_of(text), arg->line, arg->column + 1 }, call->arena);
    while (lexer_skip(&lexer)) {
        if (text[lexer.at] == ',')
            lexer_seek(&lexer, lexer.at + 1);
        else if (read_role(&lexer, s, err) < 0)
            return -1;
    }
    if (!*text)
        return call_fail(call, "regs", err, ERR_ValueError,
                         "regs=\"\" names no role; %s has %s first", s->program->name,
                         s->program->roles[0].name);
    return check_total(call, s, err);
}

/* ---- what it says ---- */

json_t *budget_registers_json(const struct specialization *s)
{
    const struct tile_budget *t = &s->tile;
    bool is_tile = t->is_given, is_given = s->registers.is_given;

    if (!is_tile && !is_given)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:i}", "accumulators",
                     is_tile ? json_integer(t->accumulators) : json_null(), "fits",
                     is_tile ? json_boolean(t->fits) : json_null(), "groups_needed",
                     is_tile ? json_integer(t->groups_needed) : json_null(), "total",
                     is_given ? json_integer(s->registers.total) : json_null(), "limit",
                     s->device.device.registers_per_sm);
}

json_t *budget_shared_json(const struct specialization *s)
{
    const struct tile_budget *t = &s->tile;

    if (!t->is_given)
        return json_null();
    return json_pack("{s:I, s:I, s:i, s:i, s:b}", "slot_bytes", (json_int_t)t->slot_bytes,
                     "ring_bytes", (json_int_t)t->ring_bytes, "limit",
                     s->device.device.shared_per_block_optin, "most_slots", t->most_slots, "fits",
                     s->params.pipe <= t->most_slots);
}

const char *budget_tile_text(struct result *result, const struct specialization *s)
{
    const struct tile_budget *t = &s->tile;
    int limit = s->device.device.registers_per_thread;

    if (!t->is_given)
        return NULL;
    if (t->fits)
        return result_text(result, "%d x %d over %d threads: %d registers of accumulators each",
                           t->m, t->n, t->threads, t->accumulators);
    return result_text(result,
                       "%d x %d over %d threads: %d registers of accumulators each, and a thread "
                       "has %d: it takes %d groups of 4 warps",
                       t->m, t->n, t->threads, t->accumulators, limit, t->groups_needed);
}

const char *budget_shared_text(struct result *result, const struct specialization *s)
{
    const struct tile_budget *t = &s->tile;

    if (!t->is_given)
        return NULL;
    return result_text(result, "%d slots of %s bytes = %s; %s has room for %d%s", s->params.pipe,
                       specialize_count(result, (double)t->slot_bytes),
                       specialize_count(result, (double)t->ring_bytes), s->device.device.name,
                       t->most_slots, s->params.pipe > t->most_slots ? ": it does not fit" : "");
}

bool budget_fits(const struct specialization *s)
{
    return !s->tile.is_given || (s->tile.fits && s->params.pipe <= s->tile.most_slots);
}

const char *budget_advice(struct result *result, const struct specialization *s)
{
    const struct tile_budget *t = &s->tile;
    const char *groups = t->fits ? "" : result_text(result, " groups=%d", t->groups_needed);

    if (!t->most_slots)
        return result_text(result, "To fit:%s a smaller tile= or ktile=: no slot has room.",
                           groups);
    if (s->params.pipe <= t->most_slots)
        return result_text(result, "To fit:%s, each with its part of the tile.", groups);
    return result_text(result, "To fit:%s pipe=%d.", groups, t->most_slots);
}

const char *budget_registers_text(struct result *result, const struct specialization *s)
{
    if (!s->registers.is_given)
        return NULL;
    return result_text(result, "%s of the SM's %s, by setmaxnreg",
                       specialize_count(result, (double)s->registers.total),
                       specialize_count(result, s->device.device.registers_per_sm));
}
