/*
 * The core layer against what is known without it: closed forms of latency and units, the pattern
 * layer, and the identities that Nsight Compute's numbers obey.
 */
#include "model/core.h"
#include "model/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { MAX_OPS = 64, RUN = 20000 };

/* A body that every warp repeats for ever. */
struct bench {
    struct core_op ops[MAX_OPS];
    core_access accesses[MAX_OPS];
    struct core_block block;
    struct core_step step;
    struct core_stream stream;
    struct core_config config;
    struct arena *arena;
    int op_count, access_count, next_register;
};

static const struct core_stream *only_stream(const void *context, int64_t block, int warp)
{
    (void)block;
    (void)warp;
    return context;
}

static void bench_init(struct bench *b, const char *device, int warps)
{
    const struct device *d = device_find(device);

    *b = (struct bench){ .arena = arena_new(0), .next_register = 1 };
    assert_non_null(b->arena);
    b->config = (struct core_config){ .costs = costs_of(d),
                                      .partitions = 1,
                                      .policy = POLICY_GTO,
                                      .resident_blocks = warps,
                                      .warps_per_block = 1,
                                      .block_count = warps,
                                      .stream_of = only_stream,
                                      .context = &b->stream };
    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        b->config.places[i] = (uint8_t)i;
    core_set_memory(&b->config, d, d->sms);
}

/* Adds an instruction that reads the result of the one `distance` before it, and writes its own. */
static struct core_op *add(struct bench *b, enum latency_class class, int distance)
{
    struct core_op *op = &b->ops[b->op_count++];

    *op = (struct core_op){ .class = (uint8_t) class, .lanes = WARP, .write_count = 1 };
    op->writes[0] = (uint16_t)b->op_count;
    if (distance)
        op->read_count = 1;
    op->reads[0] = (uint16_t)(b->op_count - distance);
    return op;
}

static void add_access(struct bench *b, enum latency_class class, enum core_place place,
                       int sectors)
{
    add(b, class, 0)->is_access = true;
    b->accesses[b->access_count++] = (core_access)sectors | (core_access)place << 16;
}

static struct core *start(struct bench *b, const struct core_record *record)
{
    struct core *core;

    /* A read before the first instruction means the last of the iteration before. */
    for (int i = 0; i < b->op_count; i++)
        if (b->ops[i].read_count && (int16_t)b->ops[i].reads[0] < 1)
            b->ops[i].reads[0] = (uint16_t)(b->ops[i].reads[0] + b->op_count);
    b->block = (struct core_block){ b->ops, b->op_count };
    b->step = (struct core_step){ .block = 0, .repeat = 1, .accesses = b->access_count };
    b->stream = (struct core_stream){
        .steps = &b->step, .step_count = 1, .accesses = b->accesses, .is_endless = true
    };
    b->config.blocks = &b->block;
    b->config.register_count = b->op_count + 1;
    core = core_new(&b->config, record, b->arena);
    assert_non_null(core);
    return core;
}

/* Issue slots used, in thousandths, between RUN and 2 * RUN cycles. */
static int permille(struct bench *b)
{
    struct core *core = start(b, NULL);
    struct core_totals from, to;

    while (core_next_cycle(core) < RUN)
        assert_true(core_step(core));
    core_totals(core, RUN, &from);
    while (core_next_cycle(core) < 2 * RUN)
        assert_true(core_step(core));
    core_totals(core, 2 * RUN, &to);
    arena_free(&b->arena);
    return (int)((to.issued - from.issued) * 1000 / ((int64_t)RUN * b->config.partitions));
}

static void warps_times_ilp_fill_the_latency(void **state)
{
    (void)state;
    for (int warps = 1; warps <= 6; warps++)
        for (int ilp = 1; ilp <= 4; ilp++) {
            struct bench b;
            int want = warps * ilp >= 4 ? 1000 : 250 * warps * ilp, got;

            bench_init(&b, "H200", warps);
            for (int i = 0; i < 12; i++)
                add(&b, LAT_FMA, ilp);
            got = permille(&b);
            if (abs(got - want) > 1)
                fail_msg("%d warps, ilp %d: %d, not %d", warps, ilp, got, want);
        }
}

static void units_of_16_lanes_take_two_cycles(void **state)
{
    static const struct {
        const char *device;
        enum latency_class classes[4];
        int window, permille;
    } cases[] = {
        { "A100", { LAT_FMA, LAT_FMA, LAT_FMA, LAT_FMA }, 0, 500 },
        { "H200", { LAT_FMA, LAT_FMA, LAT_FMA, LAT_FMA }, 0, 1000 },
        { "H200", { LAT_ALU, LAT_ALU, LAT_ALU, LAT_ALU }, 0, 500 },
        { "H200", { LAT_FMA, LAT_FMA, LAT_ALU, LAT_ALU }, 0, 800 }, /* F150 */
        { "H200", { LAT_FMA, LAT_ALU, LAT_FMA, LAT_ALU }, 0, 1000 },
        { "A100", { LAT_FMA, LAT_FMA, LAT_ALU, LAT_ALU }, 0, 666 },
        { "A100", { LAT_FMA, LAT_ALU, LAT_FMA, LAT_ALU }, 0, 1000 },
        { "H200", { LAT_FMA, LAT_FMA, LAT_ALU, LAT_ALU }, 8, 1000 }, /* F152 */
        { "A100", { LAT_FMA, LAT_FMA, LAT_ALU, LAT_ALU }, 8, 1000 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bench b;
        int got;

        bench_init(&b, cases[i].device, 1);
        b.config.window = cases[i].window;
        for (int k = 0; k < 4; k++)
            add(&b, cases[i].classes[k], 0);
        got = permille(&b);
        if (abs(got - cases[i].permille) > 1)
            fail_msg("row %zu: %d, not %d", i, got, cases[i].permille);
    }
}

/* issue instructions, the last of which takes so long that the next one waits `wait` cycles. */
static void make_pattern(struct bench *b, int issue, int wait)
{
    for (int i = 0; i < issue; i++)
        add(b, LAT_FMA, i ? 0 : 1)->latency = (uint16_t)(wait + 1);
}

static void the_core_does_what_the_pattern_layer_does(void **state)
{
    static const struct {
        int issue, wait;
    } patterns[] = { { 2, 8 }, { 1, 8 }, { 4, 12 }, { 3, 17 } };

    (void)state;
    for (size_t i = 0; i < COUNT(patterns); i++)
        for (int policy = 0; policy < POLICY_COUNT; policy++)
            for (int warps = 1; warps <= 13; warps++) {
                struct pattern p = { .warps = warps,
                                     .issue = patterns[i].issue,
                                     .wait = patterns[i].wait,
                                     .schedulers = 1,
                                     .policy = (enum scheduler_policy)policy };
                struct steady steady;
                struct bench b;
                int got;

                bench_init(&b, "H200", warps);
                assert_int_equal(scheduler_steady(&p, b.arena, &steady, NULL, NULL), 0);
                b.config.policy = policy;
                make_pattern(&b, p.issue, p.wait);
                got = permille(&b);
                if (abs(got - (int)(1000 * steady.issue_utilization)) > 1)
                    fail_msg("%d/%d, %d warps, %s: %d, not %.3f", p.issue, p.wait, warps,
                             scheduler_policy_name(p.policy), got, steady.issue_utilization);
            }
}

static void first_slots_are_those_of_the_policies(void **state)
{
    static const struct {
        int policy, warps;
        const char *slots;
    } cases[] = {
        { POLICY_GTO, 5, "00112233440011223344" },        { POLICY_GTY, 5, "44332211004433221100" },
        { POLICY_LRR, 5, "0123401234....012340" },        { POLICY_GTO, 3, "001122....001122...." },
        { CORE_LEAST_RECENT, 5, "00112233440011223344" },
    };
    enum { CYCLES = 20 };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t states[5 * CYCLES];
        int32_t issuer[CYCLES];
        struct core_record record = { CYCLES, states, issuer };
        char slots[CYCLES + 1] = "";
        struct core *core;
        struct bench b;

        bench_init(&b, "H200", cases[i].warps);
        b.config.policy = cases[i].policy;
        make_pattern(&b, 2, 8);
        core = start(&b, &record);
        while (core_next_cycle(core) < CYCLES)
            core_step(core);
        for (int c = 0; c < CYCLES; c++)
            slots[c] = (char)(issuer[c] < 0 ? '.' : '0' + issuer[c]);
        assert_string_equal(slots, cases[i].slots);
        arena_free(&b.arena);
    }
}

static void a_switch_costs_its_cycles(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, "H200", 5);
    make_pattern(&b, 2, 8);
    b.config.switch_cost = 1;
    assert_in_range(permille(&b), 666, 667); /* F13 */
}

/* Every warp is in one state in every cycle; the record shows the states that were counted. */
static void states_sum_to_warps_times_cycles_and_are_as_painted(void **state)
{
    enum { WARPS = 12, CYCLES = 5000 };
    static uint8_t states[WARPS * CYCLES];
    static int32_t issuer[4 * CYCLES];

    (void)state;
    for (int policy = 0; policy <= POLICY_COUNT; policy++) {
        struct core_record record = { CYCLES, states, issuer };
        int64_t painted[STALL_COUNT + 1] = { 0 }, sum = 0;
        struct core_totals totals;
        struct core *core;
        struct bench b;

        bench_init(&b, "L40S", WARPS);
        b.config.partitions = 4;
        b.config.policy = policy;
        add_access(&b, LAT_GLOBAL, CORE_L2, 4);
        add(&b, LAT_FMA, 0);
        add(&b, LAT_ALU, 0);
        add(&b, LAT_ALU, 0);
        add(&b, LAT_SFU, 1);
        add(&b, LAT_FMA, 5);
        add(&b, LAT_DIVIDE, 1);
        add(&b, LAT_BRANCH, 0);
        core = start(&b, &record);
        while (core_next_cycle(core) < CYCLES)
            assert_true(core_step(core));
        core_totals(core, CYCLES, &totals);
        core_finish_record(core);
        for (size_t i = 0; i < COUNT(states); i++)
            painted[states[i]]++;
        for (int i = 0; i < STALL_COUNT; i++) {
            sum += totals.stalls[i];
            if (totals.stalls[i] != painted[i])
                fail_msg("policy %d: %lld cycles of %s counted, %lld painted", policy,
                         (long long)totals.stalls[i], stall_name((enum stall)i),
                         (long long)painted[i]);
        }
        assert_int_equal(sum, (int64_t)WARPS * CYCLES);
        assert_int_equal(totals.stalls[STALL_selected], totals.issued);
        arena_free(&b.arena);
    }
}

static void memory_is_a_latency_and_then_a_rate(void **state)
{
    static const struct {
        int warps, sectors;
        enum core_place place;
        double bytes_per_cycle, tolerance; /* of the SM */
    } cases[] = {
        { 1, 4, CORE_DRAM, 128.0 / 660, 0.02 },                    /* Little: one load in flight */
        { 8, 4, CORE_DRAM, 8 * 128.0 / 660, 0.03 },                /* eight */
        { 64, 16, CORE_DRAM, 4800e9 / 1.98e9 / 132 * 0.90, 0.01 }, /* the SM's share */
        { 64, 16, CORE_L2, 4500.0 / 132, 0.01 },
        { 64, 4, CORE_L1, 128, 0.01 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct core_totals from, to;
        struct core *core;
        struct bench b;
        double rate;

        bench_init(&b, "H200", cases[i].warps);
        b.config.partitions = 4;
        add_access(&b, LAT_GLOBAL, cases[i].place, cases[i].sectors);
        add(&b, LAT_FMA, 1);
        b.ops[0].reads[0] = 2; /* the next load after the use */
        b.ops[0].read_count = 1;
        core = start(&b, NULL);
        while (core_next_cycle(core) < RUN)
            assert_true(core_step(core));
        core_totals(core, RUN, &from);
        while (core_next_cycle(core) < 4 * RUN)
            assert_true(core_step(core));
        core_totals(core, 4 * RUN, &to);
        rate = (double)(to.sectors[cases[i].place] - from.sectors[cases[i].place]) * 32 / (3 * RUN);
        if (rate < cases[i].bytes_per_cycle * (1 - cases[i].tolerance) ||
            rate > cases[i].bytes_per_cycle * (1 + cases[i].tolerance))
            fail_msg("row %zu: %.2f bytes a cycle, not %.2f", i, rate, cases[i].bytes_per_cycle);
        arena_free(&b.arena);
    }
}

/* Two paths of `length` loads and uses each, then a common instruction. */
static struct core_totals run_paths(bool is_stack, int *cycles)
{
    enum { ROUNDS = 100 };
    static struct core_op ops[2][2], common[1];
    static const struct core_block blocks[] = { { ops[0], 2 }, { ops[1], 2 }, { common, 1 } };
    static const core_access access = 4 | (core_access)CORE_L2 << 16;
    static const struct core_step path_steps[] = { { 0, 1, 0, 1 }, { 1, 1, 0, 1 } };
    static const struct core_stream paths[] = {
        { .steps = &path_steps[0], .step_count = 1, .accesses = &access },
        { .steps = &path_steps[1], .step_count = 1, .accesses = &access },
    };
    static const struct core_fork fork = { paths, 2 };
    static const struct core_step steps[] = { { -1, 1, 0, 0 }, { 2, 1, 0, 0 } };
    static const struct core_stream stream = {
        .steps = steps, .step_count = 2, .forks = &fork, .is_endless = true
    };
    struct core_totals totals;
    struct core *core;
    struct bench b;

    for (int i = 0; i < 2; i++) {
        ops[i][0] = (struct core_op){ .class = LAT_GLOBAL,
                                      .is_access = true,
                                      .lanes = 16,
                                      .write_count = 1,
                                      .writes = { (uint16_t)(1 + i) } };
        ops[i][1] = (struct core_op){
            .class = LAT_FMA, .lanes = 16, .read_count = 1, .reads = { (uint16_t)(1 + i) }
        };
    }
    common[0] = (struct core_op){ .class = LAT_FMA, .lanes = 32 };
    bench_init(&b, "H200", 1);
    b.config.context = &stream;
    b.config.blocks = blocks;
    b.config.register_count = 3;
    b.config.has_forks = true;
    b.config.is_stack = is_stack;
    core = core_new(&b.config, NULL, b.arena);
    assert_non_null(core);
    do {
        assert_true(core_step(core));
        core_totals(core, core_last_cycle(core), &totals);
    } while (totals.rounds < ROUNDS);
    *cycles = (int)totals.cycles / ROUNDS;
    arena_free(&b.arena);
    return totals;
}

static void paths_issue_as_much_in_turns_as_one_after_the_other(void **state)
{
    int stack_cycles, its_cycles;
    struct core_totals stack = run_paths(true, &stack_cycles), its = run_paths(false, &its_cycles);

    (void)state;
    assert_int_equal(stack.instructions, its.instructions); /* F41, F72 */
    assert_int_equal(stack.lanes, its.lanes);
    assert_int_equal(stack.lanes, 100 * (4 * 16 + 32));
    assert_in_range(stack_cycles, 2 * 279, 2 * 293); /* each path's wait */
    assert_in_range(its_cycles, 279, 293);           /* one wait covers the other */
}

static void a_barrier_holds_until_the_last_warp_comes(void **state)
{
    struct core_totals totals;
    struct core *core;
    struct bench b;

    (void)state;
    bench_init(&b, "H200", 1);
    b.config.warps_per_block = 8;
    b.config.partitions = 4;
    add(&b, LAT_FMA, 0);
    add(&b, LAT_BARRIER, 0);
    core = start(&b, NULL);
    do {
        assert_true(core_step(core));
        core_totals(core, core_last_cycle(core), &totals);
    } while (totals.rounds < 800);
    /* 12 + 2 * 8 cycles from the first arrival, and what a warp issues before it. */
    assert_in_range(totals.cycles, 100 * 28, 100 * 31);
    assert_true(totals.stalls[STALL_barrier] > totals.stalls[STALL_selected]);
    arena_free(&b.arena);
}

static void the_state_recurs_with_the_period(void **state)
{
    struct core *core;
    struct bench b;
    uint64_t first;
    int64_t from;

    (void)state;
    bench_init(&b, "H200", 6);
    make_pattern(&b, 2, 8);
    core = start(&b, NULL);
    while (core_next_cycle(core) < 100)
        core_step(core);
    first = core_state(core);
    from = core_next_cycle(core);
    do
        core_step(core);
    while (core_state(core) != first);
    assert_int_equal(core_next_cycle(core) - from, 10);
    arena_free(&b.arena);
}

static void jitter_is_the_same_for_the_same_seed(void **state)
{
    int rates[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bench b;

        bench_init(&b, "H200", 2);
        b.config.jitter = 90;
        b.config.seed = i == 2 ? 8 : 7;
        add(&b, LAT_GLOBAL, 0)->latency = 10;
        add(&b, LAT_FMA, 1);
        b.ops[0].reads[0] = 2;
        b.ops[0].read_count = 1;
        rates[i] = permille(&b);
    }
    assert_int_equal(rates[0], rates[1]);
    assert_in_range(rates[0], 60, 80); /* 2 * 2 of 10 + 45 + the fma's cycles */
    assert_in_range(rates[2], 60, 80);
}

/* Who issues was the last who did, or no other that could has waited longer for its turn. */
static void the_same_warp_goes_on_else_who_issued_longest_ago(void **state)
{
    enum { WARPS = 12, CYCLES = 4000 };
    uint8_t *states = malloc(WARPS * CYCLES);
    int32_t *issuer = malloc(CYCLES * sizeof *issuer);
    struct core_record record = { CYCLES, states, issuer };
    int last[WARPS], contests = 0, before = -1;
    struct core *core;
    struct bench b;

    (void)state;
    assert_true(states && issuer);
    bench_init(&b, "H200", WARPS / 4);
    b.config.warps_per_block = 4;
    b.config.policy = CORE_LEAST_RECENT;
    add(&b, LAT_ALU, 0);
    add(&b, LAT_FMA, 1);
    add_access(&b, LAT_GLOBAL, CORE_L1, 4);
    add(&b, LAT_FMA, 1);
    add(&b, LAT_BARRIER, 0);
    core = start(&b, &record);
    while (core_next_cycle(core) < CYCLES)
        assert_true(core_step(core));
    core_finish_record(core);
    for (int w = 0; w < WARPS; w++)
        last[w] = w - WARPS;
    for (int c = 0; c < CYCLES; c++) {
        for (int w = 0; w < WARPS && issuer[c] >= 0; w++) {
            if (states[w * CYCLES + c] != STALL_not_selected)
                continue;
            contests++;
            if (last[w] < last[issuer[c]] && issuer[c] != before)
                fail_msg("cycle %d: warp %d issues, but warp %d waits longer", c, issuer[c], w);
        }
        if (issuer[c] >= 0)
            last[before = issuer[c]] = c;
    }
    assert_true(contests > 1000);
    arena_free(&b.arena);
    free(states);
    free(issuer);
}

/* Ten times the limit of the benchmark, which is 10 million a second. */
static void a_million_instructions_a_second(void **state)
{
    enum { INSTRUCTIONS = 1000000 };
    static const int POLICIES[] = { POLICY_GTO, POLICY_LRR, CORE_LEAST_RECENT };

    (void)state;
    for (size_t i = 0; i < COUNT(POLICIES); i++) {
        clock_t from = clock();
        struct core *core;
        struct bench b;

        bench_init(&b, "H200", 64);
        b.config.partitions = 4;
        b.config.policy = POLICIES[i];
        for (int k = 0; k < 8; k++)
            add(&b, LAT_FMA, 0);
        add_access(&b, LAT_GLOBAL, CORE_L1, 4);
        add(&b, LAT_FMA, 1);
        core = start(&b, NULL);
        while (core_issued(core) < INSTRUCTIONS)
            assert_true(core_step(core));
        arena_free(&b.arena);
        if (clock() - from > CLOCKS_PER_SEC)
            fail_msg("policy %d: a million instructions take %.2f s", POLICIES[i],
                     (double)(clock() - from) / CLOCKS_PER_SEC);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_times_ilp_fill_the_latency),
        cmocka_unit_test(units_of_16_lanes_take_two_cycles),
        cmocka_unit_test(the_core_does_what_the_pattern_layer_does),
        cmocka_unit_test(first_slots_are_those_of_the_policies),
        cmocka_unit_test(a_switch_costs_its_cycles),
        cmocka_unit_test(states_sum_to_warps_times_cycles_and_are_as_painted),
        cmocka_unit_test(memory_is_a_latency_and_then_a_rate),
        cmocka_unit_test(paths_issue_as_much_in_turns_as_one_after_the_other),
        cmocka_unit_test(a_barrier_holds_until_the_last_warp_comes),
        cmocka_unit_test(the_state_recurs_with_the_period),
        cmocka_unit_test(jitter_is_the_same_for_the_same_seed),
        cmocka_unit_test(the_same_warp_goes_on_else_who_issued_longest_ago),
        cmocka_unit_test(a_million_instructions_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
