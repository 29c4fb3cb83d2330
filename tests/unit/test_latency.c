/*
 * Published latencies: every number has a card and a source, sources that differ
 * give a range, and what nobody measured is unknown. The costs that the model
 * runs on agree with them, or the table below says why not.
 */
#include "model/latency.h"

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

static void names_lead_to_their_quantity(void **state)
{
    (void)state;
    for (enum latency what = 0; what < LATENCY_COUNT; what++) {
        assert_int_equal(latency_find(latency_name(what)), what);
        assert_true(*latency_unit(what) && *latency_text(what));
    }
    assert_int_equal(latency_find("speed"), LATENCY_COUNT);
    assert_int_equal(latency_find(""), LATENCY_COUNT);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_value_a_card_and_a_source),
        cmocka_unit_test(rows_stand_by_capability_and_quantity),
        cmocka_unit_test(names_lead_to_their_quantity),
        cmocka_unit_test(ranges_span_their_sources),
        cmocka_unit_test(tensor_rates_give_the_peaks_of_the_data_sheets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
