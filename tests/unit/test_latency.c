/*
 * Published latencies: every number has a card and a source, sources that differ
 * give a range, and what nobody measured is unknown. The costs that the model
 * runs on agree with them, or the table below says why not.
 */
#include "model/latency.h"

#include "model/costs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void every_row_has_a_value_a_card_and_a_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATENCY_ROW_COUNT; i++) {
        const struct latency_row *row = &LATENCY_ROWS[i];

        if (!device_by_cc(row->cc_major, row->cc_minor) || row->least <= 0 ||
            row->most < row->least || row->most > 10000 || !row->measured_on || !row->source)
            fail_msg("row %zu, %s of %d.%d", i, latency_name(row->what), row->cc_major,
                     row->cc_minor);
    }
}

static void rows_stand_by_capability_and_quantity(void **state)
{
    (void)state;
    for (size_t i = 1; i < LATENCY_ROW_COUNT; i++) {
        const struct latency_row *a = &LATENCY_ROWS[i - 1], *b = &LATENCY_ROWS[i];
        int cc_a = a->cc_major * 10 + a->cc_minor, cc_b = b->cc_major * 10 + b->cc_minor;

        if (cc_a > cc_b || (cc_a == cc_b && a->what > b->what))
            fail_msg("row %zu, %s of %d.%d", i, latency_name(b->what), b->cc_major, b->cc_minor);
    }
}

static void every_quantity_has_a_name_of_its_own_a_unit_and_words(void **state)
{
    (void)state;
    for (enum latency what = 0; what < LATENCY_COUNT; what++) {
        assert_true(*latency_unit(what) && *latency_text(what));
        for (enum latency other = 0; other < what; other++)
            assert_string_not_equal(latency_name(what), latency_name(other));
    }
}

/* LESSONS.md F11, F127, F136. */
static void ranges_span_their_sources(void **state)
{
    static const struct {
        int cc;
        enum latency what;
        double least, most;
        size_t sources;
    } cases[] = {
        { 89, LATENCY_MEMORY, 589, 636, 2 },   { 89, LATENCY_L2, 222, 339, 3 },
        { 90, LATENCY_MEMORY, 482, 700, 5 },   { 90, LATENCY_FMA, 4, 4.07, 2 },
        { 90, LATENCY_TENSOR, 4096, 4096, 1 }, { 70, LATENCY_SHARED, 19, 33, 2 },
        { 103, LATENCY_BARRIER, 24, 86, 1 },   { 89, LATENCY_DOUBLE, 0, 0, 0 },
        { 72, LATENCY_FMA, 0, 0, 0 },          { 50, LATENCY_MEMORY, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct latency_range r = latency_of(cases[i].cc / 10, cases[i].cc % 10, cases[i].what);

        if (r.least != cases[i].least || r.most != cases[i].most || r.sources != cases[i].sources)
            fail_msg("%s of %d: %g..%g by %zu", latency_name(cases[i].what), cases[i].cc, r.least,
                     r.most, r.sources);
    }
    assert_true(latency_is_known(9, 0));
    assert_false(latency_is_known(7, 2));
    assert_false(latency_is_known(5, 0));
}

/* A whitepaper's operations a cycle give the data sheet's peak: TFLOP/s, as NVIDIA states it. */
static void tensor_rates_give_the_peaks_of_the_data_sheets(void **state)
{
    static const struct {
        const char *device;
        double tflops;
    } cases[] = { { "V100", 125 }, { "T4", 65 }, { "A100", 312 } };
    const struct device *dev;
    double peak;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        dev = device_find(cases[i].device);
        peak = latency_of(dev->cc_major, dev->cc_minor, LATENCY_TENSOR).most * dev->sms *
               dev->clock_mhz * 1e-6;
        assert_true(peak > cases[i].tflops * 0.99 && peak < cases[i].tflops * 1.01);
    }
}

/* ---- the costs that the model runs on ---- */

/*
 * Where costs.c takes another number than the sources give for its compute capability, and why.
 * A row that is no longer needed fails.
 */
static const struct {
    int cc;
    enum latency what;
    const char *why;
} ELSEWHERE[] = {
    { 80, LATENCY_DOUBLE,
      "6 of Accel-Sim's A100 configuration, which was fitted to whole kernels" },
    { 80, LATENCY_MMA,
      "12 for the whole product (Accel-Sim); the source counts each of its HMMAs" },
    { 90, LATENCY_HALF, "4 on an H200 (units); 8.52 is a loop of conversions too" },
    { 90, LATENCY_SHARED, "23 on an H200 (banks), where the loads have nothing between them" },
};

static bool is_elsewhere(int cc, enum latency what)
{
    for (size_t i = 0; i < COUNT(ELSEWHERE); i++)
        if (ELSEWHERE[i].cc == cc && ELSEWHERE[i].what == what)
            return true;
    return false;
}

static bool agrees(int cc, enum latency what, double cost)
{
    struct latency_range r = latency_of(cc / 10, cc % 10, what);

    /* Costs are whole cycles. */
    return !r.sources || (cost >= r.least - 0.5 && cost <= r.most + 0.5);
}

static const int GENERATIONS[] = { 70, 75, 80, 86, 89, 90 };

static void costs_are_as_published_or_say_why_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(GENERATIONS); i++) {
        int cc = GENERATIONS[i];
        const struct costs *c = costs_of(device_by_cc(cc / 10, cc % 10));
        const struct {
            enum latency what;
            double cost;
        } rows[] = {
            { LATENCY_FMA, c->classes[LAT_FMA].latency },
            { LATENCY_INTEGER, c->classes[LAT_ALU].latency },
            { LATENCY_HALF, c->classes[LAT_HALF].latency },
            { LATENCY_DOUBLE, c->classes[LAT_F64].latency },
            { LATENCY_MMA, c->classes[LAT_MMA].latency },
            { LATENCY_SHARED, c->shared_latency },
            { LATENCY_L1, c->l1_latency },
            { LATENCY_L2, c->l2_latency },
            { LATENCY_MEMORY, c->memory_latency },
        };

        assert_int_equal(c->cc_major * 10 + c->cc_minor, cc);
        for (size_t k = 0; k < COUNT(rows); k++)
            if (agrees(cc, rows[k].what, rows[k].cost) == is_elsewhere(cc, rows[k].what))
                fail_msg("%s of %d costs %g", latency_name(rows[k].what), cc, rows[k].cost);
        if (c->far_latency)
            assert_true(agrees(cc, LATENCY_L2_FAR, c->far_latency));
        assert_int_equal(c->far_latency > 0,
                         latency_of(cc / 10, cc % 10, LATENCY_L2_FAR).sources > 0);
    }
}

/* A unit with so many lanes takes a warp every 32 / lanes cycles: lanes are published, an SM's. */
static void units_are_taken_as_long_as_their_lanes_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(GENERATIONS); i++) {
        int cc = GENERATIONS[i];
        const struct device *dev = device_by_cc(cc / 10, cc % 10);
        const struct costs *c = costs_of(dev);
        const struct {
            double lanes; /* of an SM */
            int interval;
        } rows[] = {
            { dev->fp32_lanes, c->classes[LAT_FMA].interval },
            { latency_of(cc / 10, cc % 10, LATENCY_INTEGER_LANES).most,
              c->classes[LAT_ALU].interval },
            { latency_of(cc / 10, cc % 10, LATENCY_SPECIAL_LANES).most,
              c->classes[LAT_SFU].interval },
            { latency_of(cc / 10, cc % 10, LATENCY_DOUBLE_LANES).most,
              c->classes[LAT_F64].interval },
        };

        for (size_t k = 0; k < COUNT(rows); k++)
            if (rows[k].interval != WARP / (rows[k].lanes / dev->partitions))
                fail_msg("unit %zu of %d: %g lanes, %d cycles", k, cc, rows[k].lanes,
                         rows[k].interval);
    }
}

static void made_up_latencies_are_what_a_device_costs(void **state)
{
    struct device dev = *device_find("L40S");
    struct costs room;
    const struct costs *c = costs_with(&dev, &room);

    (void)state;
    assert_memory_equal(c, costs_of(&dev), sizeof(*c));
    dev.memory_latency = 400;
    dev.fma_latency = 20;
    c = costs_with(&dev, &room);
    assert_int_equal(c->memory_latency, 400);
    assert_int_equal(c->classes[LAT_FMA].latency, 20);
    assert_int_equal(c->l2_latency, costs_of(&dev)->l2_latency);
    assert_int_equal(costs_of(&dev)->memory_latency, 600);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_value_a_card_and_a_source),
        cmocka_unit_test(rows_stand_by_capability_and_quantity),
        cmocka_unit_test(every_quantity_has_a_name_of_its_own_a_unit_and_words),
        cmocka_unit_test(ranges_span_their_sources),
        cmocka_unit_test(tensor_rates_give_the_peaks_of_the_data_sheets),
        cmocka_unit_test(costs_are_as_published_or_say_why_not),
        cmocka_unit_test(units_are_taken_as_long_as_their_lanes_say),
        cmocka_unit_test(made_up_latencies_are_what_a_device_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
