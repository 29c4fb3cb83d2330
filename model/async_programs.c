/*
 * A program is written down as one reads it: engines and tokens, then each
 * role's loop, statement by statement. `shift` says which step a statement is
 * about: wait(empty, -pipe) is `wait empty[k - pipe]`.
 */
#include "model/async_programs.h"

const char *async_program_name(enum async_program_id id)
{
    static const char *const names[] = {
#define X(id, name, help) name,
        ASYNC_PROGRAMS(X)
#undef X
    };

    return names[id];
}

int async_program_find(const char *name)
{
    for (int i = 0; i < ASYNC_PROGRAM_COUNT; i++)
        if (strcmp(async_program_name((enum async_program_id)i), name) == 0)
            return i;
    return -1;
}

/* ---- writing ---- */

static int engine(struct async_program *p, const char *name)
{
    p->engines[p->engine_count] = name;
    return p->engine_count++;
}

static int token(struct async_program *p, const char *name, int arrivals)
{
    p->tokens[p->token_count] = (struct async_token){ name, arrivals };
    return p->token_count++;
}

static struct async_role *role(struct async_program *p, const char *name, int warps)
{
    struct async_role *r = &p->roles[p->role_count++];

    *r = (struct async_role){ .name = name, .warps = warps, .port = ASYNC_NONE };
    return r;
}

/* for k = from..to-1 */
static struct async_phase *loop(struct async_role *r, int from, int to)
{
    struct async_phase *phase = &r->phases[r->phase_count++];

    *phase = (struct async_phase){ .from = from, .to = to };
    return phase;
}

static struct async_op *add(struct async_phase *phase, struct async_op op)
{
    phase->ops[phase->op_count] = op;
    return &phase->ops[phase->op_count++];
}

static struct async_op *wait(struct async_phase *phase, int tok, int shift)
{
    return add(phase, (struct async_op){
                          .kind = ASYNC_WAIT, .engine = ASYNC_NONE, .token = tok, .shift = shift });
}

/* An engine works for `cycles`; the role goes on. */
static struct async_op *start(struct async_phase *phase, const char *name, int eng, int64_t cycles,
                              int tok, int shift)
{
    return add(phase, (struct async_op){ .kind = ASYNC_START,
                                         .name = name,
                                         .engine = eng,
                                         .token = tok,
                                         .cycles = cycles,
                                         .shift = shift });
}

/* The role works for `cycles`, on an engine that it shares with others. */
static struct async_op *work(struct async_phase *phase, const char *name, int eng, int64_t cycles,
                             int tok)
{
    return add(phase, (struct async_op){ .kind = ASYNC_WORK,
                                         .name = name,
                                         .engine = eng,
                                         .token = tok,
                                         .cycles = cycles,
                                         .hold = cycles });
}

/* A copy into the slot of its step. */
static struct async_op *load(struct async_phase *phase, const struct async_params *a, int eng,
                             int full, int shift)
{
    struct async_op *op = start(phase, "load", eng, a->tma, full, shift);

    op->latency = a->load;
    op->jitter = a->jitter;
    op->access = ASYNC_WRITES;
    return op;
}

/* A multiplication that reads the slot of its step. */
static struct async_op *mma(struct async_phase *phase, const char *name,
                            const struct async_params *a, int eng, int tok, int shift)
{
    struct async_op *op = start(phase, name, eng, a->compute, tok, shift);

    op->access = ASYNC_READS;
    return op;
}

/* ---- GEMM ---- */

/* The loader of every program with roles: waits for the slot, fills it. */
static void write_loader(struct async_program *p, const struct async_params *a, int tma, int full,
                         int empty)
{
    struct async_phase *k = loop(role(p, "loader", 4), 0, a->steps);

    wait(k, empty, -a->pipe)->guard = a->waits;
    load(k, a, tma, full, 0);
}

static void write_ring(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor");
    int full = token(p, "full", 1), empty = token(p, "empty", 1);
    struct async_phase *k;

    write_loader(p, a, tma, full, empty);
    k = loop(role(p, "consumer", 4 * a->groups), 0, a->steps);
    wait(k, full, 0);
    mma(k, "mma", a, tensor, empty, 0);
    p->main_engine = tensor;
    p->period_works = a->pipe;
}

static void write_v1(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor");
    int full = token(p, "full", 1), done = token(p, "done", 1);
    struct async_role *all = role(p, "all", 4 * a->groups);
    struct async_phase *k = loop(all, 0, a->pipe);

    load(k, a, tma, full, 0);
    k = loop(all, a->pipe, a->steps);
    wait(k, full, -a->pipe);
    mma(k, "mma", a, tensor, done, -a->pipe);
    wait(k, done, -a->pipe);
    load(k, a, tma, full, 0);
    k = loop(all, a->steps - a->pipe, a->steps);
    wait(k, full, 0);
    mma(k, "mma", a, tensor, done, 0);
    wait(k, done, 0);
    p->main_engine = tensor;
    p->period_works = a->pipe;
}

static void write_v2(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor"), pipe = a->pipe;
    int full = token(p, "full", 1), done = token(p, "done", 1);
    struct async_role *all = role(p, "all", 4 * a->groups);
    struct async_phase *k = loop(all, 0, pipe);

    load(k, a, tma, full, 0);
    k = loop(all, 0, 1);
    wait(k, full, 0);
    mma(k, "mma", a, tensor, done, 0);
    k = loop(all, pipe, a->steps);
    wait(k, full, 1 - pipe);
    mma(k, "mma", a, tensor, done, 1 - pipe);
    wait(k, done, -pipe);
    load(k, a, tma, full, 0);
    k = loop(all, a->steps - pipe + 1, a->steps);
    wait(k, full, 0);
    mma(k, "mma", a, tensor, done, 0);
    k = loop(all, a->steps - 1, a->steps);
    wait(k, done, 0);
    p->main_engine = tensor;
    p->period_works = pipe - 1;
}

/* ---- a latency that no plan can know ---- */

static void write_static(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "memory"), alu = engine(p, "ALU"), full = token(p, "full", 1);
    struct async_phase *k = loop(role(p, "warp", 1), 0, a->steps);

    load(k, a, tma, full, 0)->access = ASYNC_NO_SLOT;
    work(k, "other", alu, a->plan, ASYNC_NONE);
    wait(k, full, 0);
    work(k, "use", alu, a->compute, ASYNC_NONE);
    p->main_engine = alu;
}

static void write_dynamic(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "memory"), alu = engine(p, "ALU");
    int full = token(p, "full", 1), empty = token(p, "empty", 1);
    struct async_phase *k;

    write_loader(p, a, tma, full, empty);
    k = loop(role(p, "user", 1), 0, a->steps);
    wait(k, full, 0);
    work(k, "use", alu, a->compute, empty)->access = ASYNC_READS;
    k = loop(role(p, "other", 1), 0, a->steps);
    work(k, "other", alu, a->plan, ASYNC_NONE);
    p->main_engine = alu;
}

/* ---- two units, one issue slot a cycle ---- */

struct units {
    int fp, integer;
};

static struct units write_units(struct async_program *p)
{
    p->main_engine = engine(p, "issue");
    p->period_works = 4;
    return (struct units){ engine(p, "FP"), engine(p, "INT") };
}

/* One instruction: an issue slot, then the input of its unit for a while. */
static void issue(struct async_phase *k, const char *name, int unit, int64_t interval)
{
    work(k, name, unit, interval, ASYNC_NONE)->hold = 1;
}

static struct async_phase *issuing(struct async_program *p, const char *name, int steps)
{
    struct async_role *r = role(p, name, 1);

    r->port = p->main_engine;
    return loop(r, 0, steps);
}

static void write_ffii(struct async_program *p, const struct async_params *a)
{
    struct units u = write_units(p);
    struct async_phase *k = issuing(p, "warp", a->steps);

    issue(k, "addf", u.fp, a->fp);
    issue(k, "addf", u.fp, a->fp);
    issue(k, "addi", u.integer, a->integer);
    issue(k, "addi", u.integer, a->integer);
}

static void write_fifi(struct async_program *p, const struct async_params *a)
{
    struct units u = write_units(p);
    struct async_phase *k = issuing(p, "warp", a->steps);

    for (int i = 0; i < 2; i++) {
        issue(k, "addf", u.fp, a->fp);
        issue(k, "addi", u.integer, a->integer);
    }
}

static void write_ffii_roles(struct async_program *p, const struct async_params *a)
{
    struct units u = write_units(p);
    struct async_phase *fp = issuing(p, "fp", a->steps);
    struct async_phase *integer = issuing(p, "int", a->steps);

    for (int i = 0; i < 2; i++) {
        issue(fp, "addf", u.fp, a->fp);
        issue(integer, "addi", u.integer, a->integer);
    }
}

/* ---- flash attention ---- */

/* Scores, softmax, then the product with V, of the tile of step k + shift. */
static void write_tile(struct async_phase *k, const struct async_params *a, int tensor, int alu,
                       int scores, int end, int shift)
{
    mma(k, "QK", a, tensor, scores, shift);
    wait(k, scores, shift);
    work(k, "softmax", alu, a->softmax, ASYNC_NONE)->shift = shift;
    mma(k, "PV", a, tensor, end, shift);
}

static void write_attention_one(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor"), alu = engine(p, "ALU");
    int full = token(p, "full", 1), scores = token(p, "scores", 1), done = token(p, "done", 1);
    struct async_role *all = role(p, "all", 4 * a->groups);
    struct async_phase *k = loop(all, 0, a->pipe);

    load(k, a, tma, full, 0);
    k = loop(all, a->pipe, a->steps);
    wait(k, full, -a->pipe);
    write_tile(k, a, tensor, alu, scores, done, -a->pipe);
    wait(k, done, -a->pipe);
    load(k, a, tma, full, 0);
    k = loop(all, a->steps - a->pipe, a->steps);
    wait(k, full, 0);
    write_tile(k, a, tensor, alu, scores, done, 0);
    wait(k, done, 0);
    p->main_engine = tensor;
    p->period_works = 2 * a->pipe;
}

/* Each consumer has a tile of Q; both read the same K and V, so a slot is free after both. */
static void write_attention(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor"), alu = engine(p, "ALU");
    int full = token(p, "full", 1), empty = token(p, "empty", 2);
    static const char *const names[] = { "consumer0", "consumer1" };

    write_loader(p, a, tma, full, empty);
    for (size_t c = 0; c < COUNT(names); c++) {
        int scores = token(p, "scores", 1);
        struct async_phase *k = loop(role(p, names[c], 4), 0, a->steps);

        wait(k, full, 0);
        write_tile(k, a, tensor, alu, scores, empty, 0);
    }
    p->main_engine = tensor;
    p->period_works = 4 * a->pipe;
}

static void write_blackwell(struct async_program *p, const struct async_params *a)
{
    int tma = engine(p, "TMA"), tensor = engine(p, "tensor"), alu = engine(p, "ALU");
    int full = token(p, "full", 1), empty = token(p, "empty", 1), scores = token(p, "scores", 1);
    int weights = token(p, "weights", 1), scaled = token(p, "scaled", 1), last = a->steps - 1;
    struct async_role *matmul;
    struct async_phase *k;

    write_loader(p, a, tma, full, empty);
    matmul = role(p, "matmul", 1);
    k = loop(matmul, 0, a->steps);
    wait(k, full, 0);
    mma(k, "QK", a, tensor, scores, 0);
    wait(k, scaled, -1);
    mma(k, "PV", a, tensor, empty, -1);
    k = loop(matmul, last, a->steps);
    wait(k, scaled, 0);
    mma(k, "PV", a, tensor, empty, 0);
    k = loop(role(p, "softmax", 8), 0, a->steps);
    wait(k, scores, 0);
    work(k, "softmax", alu, a->softmax, weights);
    k = loop(role(p, "scale", 4), 0, a->steps);
    wait(k, weights, 0);
    wait(k, empty, -1); /* the sum so far must be there to be scaled */
    work(k, "scale", alu, a->softmax / 4, scaled);
    k = loop(role(p, "store", 1), last, a->steps);
    wait(k, empty, 0);
    work(k, "store", ASYNC_NONE, a->tma, ASYNC_NONE)->hold = a->tma;
    p->main_engine = tensor;
    p->period_works = 2 * a->pipe;
}

/* ---- the pattern of model/scheduler.h ---- */

static void write_warps(struct async_program *p, const struct async_params *a)
{
    int scheduler = engine(p, "scheduler");

    for (int w = 0; w < a->pipe; w++) {
        struct async_phase *k = loop(role(p, "warp", 1), 0, a->steps);
        int ready = token(p, "data", 1);

        work(k, "issue", scheduler, a->compute, ready)->latency = a->load;
        wait(k, ready, 0);
    }
    p->main_engine = scheduler;
    p->period_works = a->pipe;
    p->wake = 0; /* a scheduler sees a warp's data in the cycle in which it comes */
}

/* ---- the whole ---- */

#define RING_USES "pipe load tma compute groups wake jitter"
#define TILES_USE "pipe load tma compute softmax wake jitter"

static const struct {
    void (*write)(struct async_program *p, const struct async_params *a);
    int least_pipe;
    bool has_prologue; /* fills all slots before its loop */
    const char *uses;  /* what of struct async_params, steps and seed apart */
} PROGRAMS[] = {
    [ASYNC_RING] = { write_ring, 1, false, RING_USES },
    [ASYNC_V1] = { write_v1, 1, true, RING_USES },
    [ASYNC_V2] = { write_v2, 2, true, RING_USES },
    [ASYNC_STATIC] = { write_static, 1, false, "load tma compute plan wake jitter" },
    [ASYNC_DYNAMIC] = { write_dynamic, 1, false, "pipe load tma compute plan wake jitter" },
    [ASYNC_FFII] = { write_ffii, 1, false, "fp int" },
    [ASYNC_FIFI] = { write_fifi, 1, false, "fp int" },
    [ASYNC_FFII_ROLES] = { write_ffii_roles, 1, false, "fp int" },
    [ASYNC_ATTENTION_ONE] = { write_attention_one, 1, true, RING_USES " softmax" },
    [ASYNC_ATTENTION] = { write_attention, 1, false, TILES_USE },
    [ASYNC_BLACKWELL] = { write_blackwell, 2, false, TILES_USE },
    [ASYNC_WARPS] = { write_warps, 1, false, "pipe load compute" },
};

bool async_program_uses(enum async_program_id id, const char *param)
{
    size_t n = strlen(param);

    for (const char *p = PROGRAMS[id].uses; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && strncmp(p, param, n) == 0)
            return true;
    return false;
}

static int check(enum async_program_id id, const struct async_params *a, struct err *err)
{
    const char *name = async_program_name(id);

    if (a->steps < 1 || a->steps > ASYNC_MAX_STEPS)
        return err_set(err, ERR_ValueError, "steps=%d: %s has 1 to %d", a->steps, name,
                       ASYNC_MAX_STEPS);
    if (a->pipe < 1 || a->pipe > ASYNC_MAX_PIPE)
        return err_set(err, ERR_ValueError, "pipe=%d: %s has 1 to %d", a->pipe, name,
                       ASYNC_MAX_PIPE);
    if (a->pipe < PROGRAMS[id].least_pipe)
        return err_set(err, ERR_ValueError,
                       "pipe=%d: %s needs at least %d slots, as it holds two tiles at once",
                       a->pipe, name, PROGRAMS[id].least_pipe);
    if (a->groups < 1 || a->groups > 8)
        return err_set(err, ERR_ValueError, "groups=%d: %s has 1 to 8", a->groups, name);
    if (PROGRAMS[id].has_prologue && a->steps < a->pipe)
        return err_set(err, ERR_ValueError,
                       "steps=%d: %s fills all %d slots first, so it has at least %d", a->steps,
                       name, a->pipe, a->pipe);
    return 0;
}

int async_build(enum async_program_id id, const struct async_params *params, struct arena *arena,
                struct async_program **out, struct err *err)
{
    struct async_program *p;

    if (check(id, params, err) < 0)
        return -1;
    p = arena_alloc(arena, sizeof(*p));
    if (!p)
        return err_set(err, ERR_ResourceError, "out of memory");
    p->name = async_program_name(id);
    p->steps = params->steps;
    p->pipe = params->pipe;
    p->wake = params->wake;
    p->seed = params->seed;
    PROGRAMS[id].write(p, params);
    *out = p;
    return 0;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

bool async_formula(enum async_program_id id, const struct async_params *a, double *busy)
{
    double c = (double)a->compute, l = (double)(a->load + a->tma), w = (double)a->wake;
    double slots = a->pipe * c;

    if (id == ASYNC_WARPS)
        l = (double)a->load;
    switch (id) {
    case ASYNC_RING:
    case ASYNC_WARPS:
        *busy = least(1, slots / (l + c + (id == ASYNC_RING ? 2 * w : 0)));
        break;
    case ASYNC_V1:
        *busy = least(c / (c + w), slots / (l + c + 2 * w));
        break;
    case ASYNC_V2:
        *busy = least(1, (slots - c) / (l + w));
        break;
    default:
        return false;
    }
    if (id != ASYNC_WARPS && a->tma > a->compute)
        *busy = least(*busy, c / (double)a->tma);
    return a->jitter == 0;
}
