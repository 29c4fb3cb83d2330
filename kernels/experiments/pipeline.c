/*
 * pipeline: cycles a tile by the depth of the ring (experiments/pipeline.cu). The interpreter runs
 * the kernel and checks what it computes; its timing has no copies that run beside the warps, so
 * that the model of this experiment is the async layer's (model/async.h): a loader, a ring, a role
 * that computes.
 */
#include "kernels/experiments/share.h"

#include "model/async.h"

#include <math.h>
#include <stdio.h>

enum { ROLES, ONE, KINDS };
enum {
    COMPUTE = 64, /* threads that compute */
    STEPS = 1024, /* tiles of a block */
    WORDS = 256,  /* of a tile */
    WORK = 24,    /* multiplications in a row for each tile */
    SAMPLE = 1,
    MODEL_STEPS = 256,
    UNROLLED = 8,
    /* FlashGPU-Sim's microbenchmarks of an H200: mbarrier arrive and try_wait, cp.async.wait_group.
     */
    ARRIVE = 6,
    TRY_WAIT = 43,
    WAIT_GROUP = 15,
    CONSTANT = 27 /* a load from the constant cache: Jia et al., arXiv 1804.06826 */
};

EXPERIMENT_SOURCE(pipeline)

static const int64_t DEPTHS[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, BOTH[] = { ROLES, ONE };
static const char *const NAMES[] = { "roles", "one" };

static void plan(const struct experiment_point *p, struct experiment_launch *l)
{
    snprintf(l->kernel, sizeof(l->kernel), "%s_%lld", NAMES[p->series], (long long)p->x);
    l->grid.x = (unsigned)share_sms(p->device);
    l->block.x = p->series == ROLES ? COMPUTE + WARP : COMPUTE;
    l->arguments[l->argument_count++] = STEPS;
    l->arguments[l->argument_count++] = WORK;
    l->arguments[l->argument_count++] = SHARE_FACTOR;
    l->in_words = share_sms(p->device) * STEPS * WORDS;
    l->out_words = share_sms(p->device) * COMPUTE;
    l->model_blocks = SAMPLE;
}

static void reference(const struct experiment_point *p, const struct experiment_launch *l,
                      const uint32_t *in, uint32_t *out)
{
    uint32_t term = share_multiply(0, SHARE_FACTOR, WORK);
    uint32_t factor = share_multiply(1, SHARE_FACTOR, WORK) - term;

    (void)p;
    for (int64_t i = 0; i < l->out_words; i++) {
        const uint32_t *tile = in + i / COMPUTE * STEPS * WORDS + i % COMPUTE * 4;
        uint32_t v = 0;

        for (int k = 0; k < STEPS; k++, tile += WORDS)
            v = (v + tile[0] + tile[1] + tile[2] + tile[3]) * factor + term;
        out[i] = v;
    }
}

static double value(const struct experiment_point *p, const struct experiment_time *t)
{
    (void)p;
    return t->cycles / STEPS;
}

/*
 * C: what a compute warp does one after the other for a tile, as its machine code for 9.0 has it:
 * the slot's address (four instructions in a chain), the wait, the tile from shared memory, two
 * additions, the factor from the constant cache, the multiplications, and eight branches (of which
 * the loop over multiplications has one a round). Then two roles tell their barrier; one role meets
 * twice.
 */
enum { ADDRESS = 4, ADDITIONS = 2, OTHER_BRANCHES = 5 };

static int64_t compute_cycles(const struct experiment_point *p)
{
    const struct costs *costs = p->costs;
    const struct class_cost *classes = costs->classes;
    int64_t branches = OTHER_BRANCHES + WORK / UNROLLED;
    int64_t meet = costs->barrier_base + costs->barrier_per_warp * (COMPUTE / WARP);
    int64_t use = (ADDRESS + ADDITIONS) * classes[LAT_ALU].latency + costs->shared_latency +
                  CONSTANT + WORK * classes[LAT_IMUL].latency +
                  branches * classes[LAT_BRANCH].latency;

    return use + (p->series == ROLES ? TRY_WAIT + ARRIVE : WAIT_GROUP + 2 * meet);
}

/* L: from the start of a copy to its tile; with two roles the loader's own wait comes first. */
static int64_t load_cycles(const struct experiment_point *p)
{
    return p->costs->memory_latency + (p->series == ROLES ? TRY_WAIT : 0);
}

static double formula(const struct experiment_point *p)
{
    double c = (double)compute_cycles(p), l = (double)load_cycles(p);

    return fmax(c, (l + c) / (double)p->x);
}

/* full[k]: tile k is there; empty[k]: its slot may be filled again. */
enum { TOKEN_FULL, TOKEN_EMPTY };

static void build_ring(const struct experiment_point *p, struct async_program *ring)
{
    struct async_phase *load = &ring->roles[0].phases[0], *use = &ring->roles[1].phases[0];
    int pipe = (int)p->x;

    ring->name = "ring";
    ring->role_count = 2;
    ring->engine_count = 2;
    ring->token_count = 2;
    ring->steps = MODEL_STEPS;
    ring->pipe = pipe;
    ring->main_engine = 1;
    ring->period_works = 1;
    ring->engines[0] = "copies";
    ring->engines[1] = "compute";
    ring->tokens[TOKEN_FULL] = (struct async_token){ "full", 1 };
    ring->tokens[TOKEN_EMPTY] = (struct async_token){ "empty", 1 };
    ring->roles[0] =
        (struct async_role){ .name = "loader", .warps = 1, .port = ASYNC_NONE, .phase_count = 1 };
    ring->roles[1] = (struct async_role){
        .name = "compute", .warps = COMPUTE / WARP, .port = ASYNC_NONE, .phase_count = 1
    };
    *load = (struct async_phase){ .from = 0, .to = MODEL_STEPS, .op_count = 2 };
    load->ops[0] = (struct async_op){
        .kind = ASYNC_WAIT, .engine = ASYNC_NONE, .token = TOKEN_EMPTY, .shift = -pipe
    };
    load->ops[1] = (struct async_op){ .kind = ASYNC_START,
                                      .access = ASYNC_WRITES,
                                      .name = "load",
                                      .engine = 0,
                                      .token = TOKEN_FULL,
                                      .cycles = 1,
                                      .latency = load_cycles(p) - 1 };
    *use = (struct async_phase){ .from = 0, .to = MODEL_STEPS, .op_count = 2 };
    use->ops[0] =
        (struct async_op){ .kind = ASYNC_WAIT, .engine = ASYNC_NONE, .token = TOKEN_FULL };
    use->ops[1] = (struct async_op){ .kind = ASYNC_WORK,
                                     .access = ASYNC_READS,
                                     .name = "use",
                                     .engine = 1,
                                     .token = TOKEN_EMPTY,
                                     .cycles = compute_cycles(p),
                                     .hold = compute_cycles(p) };
}

static void model(const struct experiment_point *p, struct experiment_time *t)
{
    struct arena *arena = arena_new(0);
    struct async_program *ring = arena ? arena_alloc(arena, sizeof(*ring)) : NULL;
    struct async_run *run = arena ? arena_alloc(arena, sizeof(*run)) : NULL;
    struct err err = { 0 };

    t->cycles = 0;
    if (ring && run) {
        build_ring(p, ring);
        if (async_run(ring, 0, arena, NULL, run, &err) == 0)
            t->cycles = (double)run->cycles * STEPS / MODEL_STEPS;
    }
    err_done(&err);
    arena_free(&arena);
}

static void conclude(const struct experiment_data *d, struct buf *out)
{
    size_t last = d->x_count - 1;

    for (size_t s = 0; s < d->series_count; s++) {
        double first = experiment_at(d, d->value, s, 0), least = first;
        size_t enough = 0;

        for (size_t i = 0; i <= last; i++)
            least = fmin(least, experiment_at(d, d->value, s, i));
        while (experiment_at(d, d->value, s, enough) > 1.05 * least)
            enough++;
        buf_printf(out,
                   "%s%s: %.0f cycles a tile at depth %lld, %.0f from depth %lld on, so compute is "
                   "busy %.0f %% and then all of the time",
                   s ? "; " : "", NAMES[d->series[s]], first, (long long)d->xs[0], least,
                   (long long)d->xs[enough], 100 * least / first);
    }
    buf_puts(out, ".");
}

const struct experiment EXPERIMENT_pipeline = {
    .name = "pipeline",
    .question = "how many tiles must be on their way so that compute never waits?",
    .teaches = "A slot of the ring is filled in L cycles and used in C; with PIPE slots a tile "
               "comes every (L + C) / PIPE cycles, until C is what takes the time.",
    .source = pipeline_source,
    .axis = { "pipe", "slots of the ring", DEPTHS, COUNT(DEPTHS), 1, 8 },
    .series = { "roles", "warps", BOTH, COUNT(BOTH), 0, KINDS - 1, .names = NAMES },
    .basis = EXPERIMENT_CLOCK,
    .quantity = "cycles a tile",
    .unit = "cycles",
    .goal_percent = 25,
    .left_out =
        "reads of special registers, the copies' own issue slots, and latency that grows with "
        "the load on the memory",
    .closed_form = "max(C, (L + C) / PIPE)",
    .plan = plan,
    .fill = share_fill_line,
    .reference = reference,
    .value = value,
    .model = model,
    .formula = formula,
    .conclude = conclude,
};
