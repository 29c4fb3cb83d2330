/*
 * The rows of the experiments: what the host computes without a loop equals the loop, every point
 * of a sweep is a launch that the device can have or says why not, and what follows from times is
 * the same number by the formula, by the value and in the sentence.
 */
#include "kernels/experiments/share.h"

#include "model/device.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct experiment_point point_of(const struct device *device, int64_t x, int64_t series)
{
    return (struct experiment_point){
        .x = x, .series = series, .device = device, .costs = costs_of(device)
    };
}

static void many_multiplications_in_one_step_equal_one_after_the_other(void **state)
{
    uint32_t v = 12345;

    (void)state;
    for (int64_t steps = 0; steps < 300; steps++) {
        assert_int_equal(share_multiply(12345, SHARE_FACTOR, steps), v);
        v = v * SHARE_FACTOR + 1;
    }
}

static void a_walk_ends_where_following_the_table_ends(void **state)
{
    uint32_t *table = malloc(SHARE_TABLE_WORDS * sizeof(*table));

    (void)state;
    assert_non_null(table);
    share_fill_table(table, 0, SHARE_TABLE_WORDS, 7);
    for (int64_t warp = 0; warp < 100000; warp += 997) {
        uint32_t at = (uint32_t)(warp * 97) % SHARE_TABLE_WORDS;

        for (int s = 0; s < 40; s++) {
            assert_int_equal(share_walk(warp, s), at);
            at = table[at];
        }
    }
    free(table);
}

static void the_table_is_one_cycle_through_all_words(void **state)
{
    uint32_t *table = malloc(SHARE_TABLE_WORDS * sizeof(*table)), at = 0;
    int64_t steps = 0;

    (void)state;
    assert_non_null(table);
    share_fill_table(table, 0, SHARE_TABLE_WORDS, 7);
    do
        at = table[at];
    while (++steps < SHARE_TABLE_WORDS && at != 0);
    assert_int_equal(steps, SHARE_TABLE_WORDS);
    free(table);
}

static void sums_along_a_line_equal_the_loop(void **state)
{
    enum { WORDS = 5000 };
    uint32_t in[WORDS];

    (void)state;
    share_fill_line(in, 0, WORDS / 2, 99);
    share_fill_line(in + WORDS / 2, WORDS / 2, WORDS - WORDS / 2, 99);
    for (int64_t step = 1; step < 40; step += 3)
        for (int64_t count = 0; count <= 100; count += 25) {
            uint32_t sum = 0;

            for (int64_t k = 0; k < count; k++)
                sum += in[17 + k * step];
            assert_int_equal(share_sum_line(in, 17, step, count), sum);
        }
}

/* Calls a function for each point of each sweep on a device. */
typedef void point_fn(const struct experiment *, const struct experiment_point *,
                      const struct experiment_launch *);

static void each_point(const char *device, point_fn *visit)
{
    for (size_t e = 0; e < EXPERIMENT_COUNT; e++) {
        const struct experiment *x = EXPERIMENTS[e];

        for (size_t s = 0; s < (x->series.name ? x->series.count : 1); s++)
            for (size_t i = 0; i < x->axis.count; i++) {
                struct experiment_point p = point_of(device_find(device), x->axis.values[i],
                                                     x->series.name ? x->series.values[s] : 0);
                struct experiment_launch l = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };

                x->plan(&p, &l);
                visit(x, &p, &l);
            }
    }
}

static void is_a_launch(const struct experiment *e, const struct experiment_point *p,
                        const struct experiment_launch *l)
{
    if (l->skipped[0])
        return;
    if (!l->kernel[0] || l->block.x * l->block.y * l->block.z > 1024 || l->grid.x < 1 ||
        l->out_words < 1 || l->dynamic_bytes > p->device->shared_per_block_optin ||
        l->argument_count > EXPERIMENT_MAX_ARGUMENTS)
        fail_msg("%s %lld, %lld on %s", e->name, (long long)p->x, (long long)p->series,
                 p->device->name);
}

static void every_point_is_a_launch_or_says_why_not(void **state)
{
    (void)state;
    each_point("H200", is_a_launch);
    each_point("L40S", is_a_launch);
    each_point("V100", is_a_launch);
    each_point("cc=9.0", is_a_launch);
}

static void has_a_finite_formula(const struct experiment *e, const struct experiment_point *p,
                                 const struct experiment_launch *l)
{
    double v = e->formula && !l->skipped[0] ? e->formula(p) : 1;

    if (!(v > 0) || !isfinite(v))
        fail_msg("%s %lld, %lld: %g", e->name, (long long)p->x, (long long)p->series, v);
}

static void formulas_give_numbers_at_every_point(void **state)
{
    (void)state;
    each_point("H200", has_a_finite_formula);
    each_point("L40S", has_a_finite_formula);
}

/* A number that is none, as printf writes it; "nanosecond" is a word. */
static bool has_nan(const char *text)
{
    for (const char *at = text; (at = strstr(at, "nan")); at++)
        if (!isalpha((unsigned char)at[3]))
            return true;
    return false;
}

/* Made-up values that grow along the axis: every sentence must stand on them. */
static void sentences_hold_numbers_and_end(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXPERIMENT_COUNT; e++) {
        const struct experiment *x = EXPERIMENTS[e];
        static const int64_t NONE[] = { 0 };
        size_t series = x->series.name ? x->series.count : 1, n = x->axis.count;
        double *value = malloc(series * n * sizeof(*value));
        struct buf text = { 0 };
        struct experiment_data d = { .device = device_find("H200"),
                                     .costs = costs_of(device_find("H200")),
                                     .xs = x->axis.values,
                                     .series = x->series.name ? x->series.values : NONE,
                                     .x_count = n,
                                     .series_count = series,
                                     .value = value,
                                     .modelled = value,
                                     .closed = value };

        assert_non_null(value);
        for (size_t i = 0; i < series * n; i++)
            value[i] = 1.0 + (double)(i % n) / (double)n + 0.25 * (double)(i / n);
        x->conclude(&d, &text);
        if (!strpbrk(buf_text(&text), "0123456789") || has_nan(buf_text(&text)) ||
            strchr(buf_text(&text), '\n') || buf_text(&text)[text.size - 1] != '.')
            fail_msg("%s: %s", x->name, buf_text(&text));
        buf_done(&text);
        free(value);
    }
}

static double modelled(const char *name, int64_t x, int64_t series, struct experiment_time t)
{
    const struct experiment *e = experiment_find(name);
    struct experiment_point p = point_of(device_find("H200"), x, series);

    e->model(&p, &t);
    return t.cycles;
}

static void the_ring_of_the_model_keeps_the_law(void **state)
{
    const struct experiment *e = experiment_find("pipeline");

    (void)state;
    for (int64_t pipe = 1; pipe <= 8; pipe++) {
        struct experiment_point p = point_of(device_find("H200"), pipe, 0);
        struct experiment_time t = { .cycles = 1 };

        e->model(&p, &t);
        assert_true(fabs(e->value(&p, &t) / e->formula(&p) - 1) < 0.03);
    }
}

static void spilled_words_cost_a_load_and_a_store_a_round(void **state)
{
    struct experiment_time none = { .cycles = 1000 }, some = { .cycles = 1000, .spill_bytes = 800 },
                           busy = { .cycles = 1e6, .spill_bytes = 800 };
    double share = costs_of(device_find("H200"))->l2_bytes_per_cycle / 132.0;

    (void)state;
    assert_true(modelled("spill", 300, 255, none) == 1000);
    /* 100 of 200 words in the loop, 64 rounds, 2 warps a scheduler, 4 cycles each. */
    assert_true(modelled("spill", 300, 255, busy) == 1e6 + 100 * 64 * 2 * 4);
    /* 50 of them are stored to L2, 128 bytes of each of 8 warps: that takes longer. */
    assert_true(fabs(modelled("spill", 300, 255, some) - 50 * 64 * 8 * 128 / share) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_multiplications_in_one_step_equal_one_after_the_other),
        cmocka_unit_test(a_walk_ends_where_following_the_table_ends),
        cmocka_unit_test(the_table_is_one_cycle_through_all_words),
        cmocka_unit_test(sums_along_a_line_equal_the_loop),
        cmocka_unit_test(every_point_is_a_launch_or_says_why_not),
        cmocka_unit_test(formulas_give_numbers_at_every_point),
        cmocka_unit_test(sentences_hold_numbers_and_end),
        cmocka_unit_test(the_ring_of_the_model_keeps_the_law),
        cmocka_unit_test(spilled_words_cost_a_load_and_a_store_a_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
