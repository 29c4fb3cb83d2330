/*
 * Bodies: what they become on the core layer, against results that are known by hand, and what is
 * said of those that cannot be read, with the place of the caret.
 */
#include "model/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct core_stream *only_stream(const void *context, int64_t block, int warp)
{
    (void)block;
    (void)warp;
    return context;
}

struct outcome {
    struct body body;
    struct core_steady steady;
    double busy; /* of the schedulers */
};

/* Runs a body of `warps` warps in one block on one scheduler of a device until it recurs. */
static struct outcome settle(const char *text, const char *device, int warps, int ilp,
                             bool is_stack)
{
    const struct device *d = device_find(device);
    struct arena *arena = arena_new(0);
    struct outcome out = { 0 };
    struct body_place place;
    struct err err = { 0 };
    struct core_config config = { .costs = costs_of(d),
                                  .partitions = 1,
                                  .policy = POLICY_GTO,
                                  .is_stack = is_stack,
                                  .resident_blocks = 1,
                                  .warps_per_block = warps,
                                  .block_count = 1,
                                  .stream_of = only_stream,
                                  .context = &out.body.stream };

    assert_non_null(arena);
    if (body_parse(text, ilp, config.costs, arena, &out.body, &place, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    config.blocks = out.body.blocks;
    config.register_count = out.body.register_count;
    config.has_forks = out.body.has_forks;
    for (int i = 0; i < CORE_PLACE_COUNT; i++)
        config.places[i] = (uint8_t)i;
    core_set_memory(&config, d, d->sms);
    assert_int_equal(core_settle(&config, NULL, arena, &out.steady, NULL, &err), 0);
    out.busy = (double)out.steady.sums.issued / (double)out.steady.cycles;
    arena_free(&arena);
    return out;
}

static void bodies_settle_where_arithmetic_says(void **state)
{
    static const struct {
        const char *text, *device;
        int warps, ilp;
        double busy;
    } cases[] = {
        { "fma dep=1", "L40S", 1, 1, 0.25 }, /* latency 4 */
        { "fma dep=1", "L40S", 4, 1, 1 },    /* F90 */
        { "fma dep=1", "L40S", 2, 2, 1 },    /* F44: warps x ILP */
        { "fma*8 dep=1", "L40S", 1, 1, 0.25 },
        { "fma", "A100", 1, 1, 0.5 }, /* F67: 16 lanes */
        { "fp*2; int*2", "H200", 1, 1, 0.8 },
        { "fp; int; fp; int", "H200", 1, 1, 1 },
        { "fp*2; int*2", "A100", 1, 1, 2.0 / 3 },
        { "(fma)*7; mufu", "L40S", 1, 1, 1 },
        { "mufu", "L40S", 1, 1, 1.0 / 8 },
        { "ldg lat=8; use", "L40S", 1, 1, 2.0 / 9 }, /* issue, 8 until the use, the use */
        { "fma; ldg lat=25; fma*24; use", "L40S", 1, 1, 27.0 / 27 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct outcome out =
            settle(cases[i].text, cases[i].device, cases[i].warps, cases[i].ilp, false);

        if (!out.steady.is_exact || out.busy < cases[i].busy - 1e-9 ||
            out.busy > cases[i].busy + 1e-9)
            fail_msg("%s on %s, %d warps: %g, not %g%s", cases[i].text, cases[i].device,
                     cases[i].warps, out.busy, cases[i].busy,
                     out.steady.is_exact ? "" : " (no period)");
    }
}

static void rounds_count_instructions_and_lanes(void **state)
{
    static const struct {
        const char *text;
        int instructions, lanes;
    } cases[] = {
        { "fma*8; ldg hit=l1; use", 10, 320 },
        { "(fma; iadd)*4", 8, 256 },
        { "((fma)*3; iadd)*2", 8, 256 },
        { "if lanes=24 (fma*4) else (iadd*4); mufu*4", 12, 24 * 4 + 8 * 4 + 32 * 4 }, /* F71 */
        { "if (fma) else (iadd)", 2, 32 },                                            /* F40 */
        { "if mask=0x55555555 (fma) else (iadd)", 2, 32 },                            /* F115 */
        { "split=32 (fma)", 32, 32 },                                                 /* F75 */
        { "(fma)*4..8", 8, 189 },                                                     /* F77 */
        { "fma lanes=5; iadd mask=0xf0", 2, 9 },
        { "if (if (if (fma) else (fma)) else (if (fma) else (fma)))"
          " else (if (if (fma) else (fma)) else (if (fma) else (fma)))",
          8, 32 }, /* F73: depth 3 */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct outcome out = settle(cases[i].text, "L40S", 1, 1, true);

        if (out.body.instructions != cases[i].instructions || out.body.lanes != cases[i].lanes)
            fail_msg("%s: %lld instructions, %lld lanes", cases[i].text,
                     (long long)out.body.instructions, (long long)out.body.lanes);
        assert_int_equal(out.steady.sums.instructions,
                         out.steady.sums.rounds * cases[i].instructions);
        assert_int_equal(out.steady.sums.lanes, out.steady.sums.rounds * cases[i].lanes);
    }
}

static void paths_that_wait_overlap_where_they_take_turns(void **state)
{
    static const char text[] = "if (ldg hit=l2; use) else (ldg hit=l2; use); fma";
    struct outcome stack = settle(text, "H200", 1, 1, true),
                   its = settle(text, "H200", 1, 1, false);
    int64_t stack_cycles = stack.steady.cycles / stack.steady.sums.rounds;
    int64_t its_cycles = its.steady.cycles / its.steady.sums.rounds;

    (void)state;
    assert_int_equal(stack.body.instructions, its.body.instructions);
    assert_in_range(stack_cycles, 2 * 279, 2 * 288);
    assert_in_range(its_cycles, 279, 293);
}

static void barriers_and_conflicts_take_what_they_take(void **state)
{
    struct outcome one, many;

    (void)state;
    one = settle("lds conflict=1; use", "L40S", 1, 1, false);
    many = settle("lds conflict=8; use", "L40S", 1, 1, false);
    /* F-rows of banks: 2 cycles for each further pass (53, 55, 59, 67... on Ada). */
    assert_int_equal(many.steady.cycles / many.steady.sums.rounds -
                         one.steady.cycles / one.steady.sums.rounds,
                     2 * 7);
    one = settle("lds stride=32; use", "L40S", 1, 1, false);
    assert_int_equal(one.steady.sums.sectors[CORE_SHARED], 32 * one.steady.sums.rounds);
    one = settle("ldg stride=8 hit=l1; use", "L40S", 1, 1, false);
    assert_int_equal(one.steady.sums.sectors[CORE_L1], 32 * one.steady.sums.rounds);
    one = settle("ldg bytes=16 hit=l1; use", "L40S", 1, 1, false);
    assert_int_equal(one.steady.sums.sectors[CORE_L1], 16 * one.steady.sums.rounds);
    one = settle("fma; bar", "L40S", 8, 1, false);
    assert_true(one.steady.sums.stalls[STALL_barrier] > one.steady.cycles);
}

static void wrong_bodies_name_the_word_and_the_limit(void **state)
{
    static const struct {
        const char *text;
        enum err_name name;
        const char *says;
        size_t start, end;
    } cases[] = {
        { "fma*8; fmaa", ERR_ValueError, "fmaa is no instruction; fma is the nearest", 7, 11 },
        { "fma dpe=1", ERR_ValueError, "dpe is no key of an instruction; dep is the nearest", 4,
          7 },
        { "ldg hit=l3", ERR_ValueError, "l3 is no place", 8, 10 },
        { "lds conflict=40", ERR_ValueError, "conflict=40: conflict is 1 to 32", 13, 15 },
        { "ldg lat=-5", ERR_ValueError, "lat=-5: lat is 1 to 10000", 8, 10 },
        { "fma*0", ERR_ValueError, "repeats=0: repeats is 1 to 2000", 4, 5 },
        { "fma*3000", ERR_ValueError, "repeats is 1 to 2000", 4, 8 },
        { "fma hit=l1", ERR_ValueError, "hit= is for ldg", 4, 7 },
        { "ldg bytes=3", ERR_ValueError, "bytes=3: a lane takes 1, 2, 4, 8 or 16", 10, 11 },
        { "use", ERR_ValueError, "use=1: the body has no load before it", 0, 3 },
        { "(fma", ERR_SyntaxError, "; or ) expected, but the body ends", 4, 5 },
        { "fma)", ERR_SyntaxError, "';' expected, not )", 3, 4 },
        { "fma fma", ERR_SyntaxError, "';' or key=value expected, not fma", 4, 7 },
        { "", ERR_SyntaxError, "an instruction expected, but the body ends", 0, 1 },
        { "split=40 (fma)", ERR_ValueError, "split=40: split is 2 to 32", 6, 8 },
        { "(fma)*8..4", ERR_ValueError, "trips 8..4: the first is the lower one", 6, 10 },
        { "if lanes=32 (fma)", ERR_ValueError, "lanes=32: lanes is 1 to 31", 9, 11 },
        { "(fma)*0", ERR_ValueError, "no instruction that any lane executes", 0, 7 },
        { "((fma; (iadd)*2)*400; mufu)*400", ERR_ValueError, "more than 65536 pieces", 0, 31 },
        /* The product is no int64_t. */
        { "((((fma)*100000)*100000)*100000)*100000", ERR_ValueError, "more than 65536", 0, 39 },
        /* Neither is what int counts of steps. */
        { "((fma)*2; (fma)*3)*100000", ERR_ValueError, "more than 65536 pieces", 0, 25 },
        { "((((((((((fma)*0..31)*0..31)*0..31)*0..31)*0..31)*0..31)*0..31)*0..31)*0..31)*0..31",
          ERR_ValueError, "a round for each lane that differs", 0, 83 },
        { "fma dep=1 dep=2", ERR_ValueError, "dep= is given twice", 10, 13 },
        { "fma lanes=3 mask=7", ERR_ValueError, "lanes= and mask= say the same thing", 12, 16 },
        { "ldg stride=2 sectors=4", ERR_ValueError, "stride= and sectors= say the same", 13, 20 },
        { "lds bytes=8 conflict=4", ERR_ValueError, "bytes= and conflict= say the same", 12, 20 },
        { "fma*2*3", ERR_SyntaxError, "* stands behind a * already", 5, 6 },
        { "fma; \xc3\xbc", ERR_SyntaxError, "expected, not \xc3\xbc", 5, 7 },
        { "split=32(split=32(fma))", ERR_ValueError, "lanes part into 65 paths at once", 0, 23 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(0);
        struct body_place place;
        struct body body;
        struct err err = { 0 };

        if (body_parse(cases[i].text, 1, costs_of(device_find("L40S")), arena, &body, &place,
                       &err) == 0)
            fail_msg("%s: read", cases[i].text);
        if (err.name != cases[i].name || !strstr(err.text, cases[i].says) ||
            place.start != cases[i].start || place.end != cases[i].end)
            fail_msg("%s: %s at %zu..%zu", cases[i].text, err.text, place.start, place.end);
        arena_free(&arena);
        err_done(&err);
    }
}

static void mixes_are_dealt_out_evenly(void **state)
{
    static const struct {
        const char *mix, *body;
    } cases[] = {
        { "fma=50% iadd=50%", "fma dep=1; iadd dep=1" },
        { "fma=75%, ldg.l2=25%", "fma dep=1; fma dep=1; ldg dep=1 hit=l2; fma dep=1" },
    };
    static const char *const wrong[] = { "fma=50%",  "fma", "fma=0%",
                                         "fma=120%", "=5%", "fma=33.3% iadd=66.7%" };
    struct arena *arena = arena_new(0);
    struct body_place place;
    const char *text;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(body_from_mix(cases[i].mix, arena, &text, &place, NULL), 0);
        assert_string_equal(text, cases[i].body);
    }
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(body_from_mix(wrong[i], arena, &text, &place, NULL), -1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_settle_where_arithmetic_says),
        cmocka_unit_test(rounds_count_instructions_and_lanes),
        cmocka_unit_test(paths_that_wait_overlap_where_they_take_turns),
        cmocka_unit_test(barriers_and_conflicts_take_what_they_take),
        cmocka_unit_test(wrong_bodies_name_the_word_and_the_limit),
        cmocka_unit_test(mixes_are_dealt_out_evenly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
