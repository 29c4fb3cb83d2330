/*
 * Pictures: well-formed, on the card, legible, small, and the same bytes for
 * the same figure, whatever a magic or a user puts into them.
 */
#include "cells/render/svg.h"

#include "cells/render/axis.h"
#include "cells/render/pen.h"
#include "tests/unit/markup.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char HOSTILE[] = "</text><script>&\"'\xC3\x28\x01 ]]> --> \xF0\x9F\x98\x80";

static const struct figure_axis PLAIN = { .label = "warps" };
static const struct figure_axis PERCENT = { .label = "busy", .unit = UNIT_PERCENT };
static const struct figure_axis LOG2 = { .label = "bytes",
                                         .scale = SCALE_LOG2,
                                         .unit = UNIT_BYTES };
static const struct figure_axis LOG10 = { .label = "us", .scale = SCALE_LOG10 };

static struct figure *new_figure(struct result **result)
{
    *result = result_new("test", 1);
    assert_non_null(*result);
    return figure_new(*result, "Busy 100 %", "a curve that rises", "Busy 100 % with 5 warps.");
}

static char *draw(const struct figure *figure)
{
    struct buf out = { 0 };

    svg_put_figure(&out, figure, SVG_LIMIT);
    return buf_take(&out);
}

/* Every coordinate attribute of a word lies on the card. */
static void assert_on_card(const char *svg)
{
    const char *p;
    int height = atoi(strstr(svg, "height=\"") + 8);

    for (p = strstr(svg, "<text x=\""); p; p = strstr(p + 1, "<text x=\"")) {
        double x = atof(p + 9), y = atof(strstr(p, " y=\"") + 4);

        if (x < 0 || x > 720 || y < 0 || y > height)
            fail_msg("off the card: %.90s", p);
    }
}

/* What holds for every picture. Draws twice and releases the result. */
static void check(struct result *result, const char *what)
{
    char *svg = draw(result->figure), *again = draw(result->figure);
    const char *error = markup_error(svg), *size;

    if (error)
        fail_msg("%s: not well-formed from here on: %.120s", what, error);
    if (strlen(svg) > SVG_LIMIT)
        fail_msg("%s: %zu bytes", what, strlen(svg));
    if (strcmp(svg, again) != 0)
        fail_msg("%s: drawn twice, two pictures", what);
    if (strstr(svg, "<script") || strstr(svg, "<style") || strstr(svg, "href") ||
        strstr(svg, "nan") || strstr(svg, "inf"))
        fail_msg("%s: holds what a picture must not", what);
    assert_int_equal(markup_count(svg, "<title>"), 1);
    assert_int_equal(markup_count(svg, "<desc>"), 1);
    assert_non_null(strstr(svg, "role=\"img\" width=\"720\""));
    for (size = strstr(svg, "font-size=\""); size; size = strstr(size + 1, "font-size=\""))
        if (atoi(size + 11) < 11)
            fail_msg("%s: text too small to read", what);
    assert_on_card(svg);
    free(svg);
    free(again);
    result_release(&result);
}

static void title_and_desc_come_first(void **state)
{
    static const double v[] = { 1, 2, 3 };
    struct result *result;
    struct figure *figure = new_figure(&result);
    char *svg;

    (void)state;
    panel_add_series(figure_add_lines(figure, NULL, PLAIN, PERCENT), "gto", v, v, 3);
    svg = draw(figure);
    assert_true(strstr(svg, "<title>Busy 100 %</title>\n<desc>a curve that rises</desc>") <
                svg + 200);
    free(svg);
    check(result, "lines");
}

static void hostile_labels_stay_text(void **state)
{
    static const double v[] = { 1, 2, 3, 4 };
    static const char *const names[] = { HOSTILE, HOSTILE };
    static const struct figure_state states[] = { { HOSTILE, TONE_SELECTED } };
    static const uint8_t cycles[] = { 0, 0 };
    static const struct figure_thing thing = { HOSTILE, HOSTILE, 3, TONE_STALLED };
    struct figure_axis axis = { .label = HOSTILE };
    struct result *result = result_new("test", 1);
    struct figure *figure = figure_new(result, HOSTILE, HOSTILE, HOSTILE);
    struct panel *panel = figure_add_lines(figure, HOSTILE, axis, axis);

    (void)state;
    panel_add_series(panel, HOSTILE, v, v, 4);
    panel_add_steps(panel, HOSTILE, v, v, 4);
    panel_add_reference(panel, 2, true, HOSTILE);
    panel_add_reference(panel, 2, false, HOSTILE);
    panel_highlight(panel, 2, HOSTILE);
    figure_add_bars(figure, HOSTILE, axis, names, 2, names, 2, v, NULL);
    figure_add_heat(figure, HOSTILE, axis, axis, axis, names, 2, names, 2, v);
    panel = figure_add_gantt(figure, HOSTILE, axis, states, 1, 1, 2);
    panel_row(panel, 0, HOSTILE, HOSTILE, cycles, NULL);
    panel = figure_add_cells(figure, HOSTILE, axis, states, 1, 1, 2, 1);
    panel_marks(
        panel, 0,
        &(struct figure_marks){
            .name = HOSTILE, .group = HOSTILE, .note = HOSTILE, .states = cycles, .texts = names });
    figure_add_plan(figure, HOSTILE, &(struct figure_plan){ HOSTILE, 2, &thing, &thing, 1, 1 });
    check(result, "hostile");
}

static void long_labels_end_in_dots(void **state)
{
    char name[600];
    const char *names[1] = { name };
    static const double v[] = { 3 };
    struct result *result;
    struct figure *figure = new_figure(&result);
    struct panel *panel;
    char *svg;

    (void)state;
    memset(name, 'W', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    panel = figure_add_lines(figure, name, (struct figure_axis){ .label = name },
                             (struct figure_axis){ .label = name });
    panel_add_series(panel, name, v, v, 1);
    panel_add_series(panel, name, v, v, 1);
    panel_highlight(panel, 3, "here");
    figure_add_bars(figure, name, PLAIN, names, 1, names, 1, v, names);
    figure_add_heat(figure, name, PLAIN, PLAIN, PLAIN, names, 1, names, 1, v);
    svg = draw(figure);
    assert_non_null(strstr(svg, "W\xE2\x80\xA6</text>"));
    assert_null(strstr(svg, name));
    free(svg);
    check(result, "long labels");
}

/* No panel, no series, no points, no cells, no rows. */
static void empty_figures_say_that_they_are_empty(void **state)
{
    struct result *result;
    struct figure *figure = new_figure(&result);
    char *svg;

    (void)state;
    svg = draw(figure);
    assert_null(markup_error(svg));
    free(svg);
    figure_add_lines(figure, "nothing", PLAIN, PERCENT);
    panel_add_series(figure_add_lines(figure, "no points", LOG2, LOG10), "s", NULL, NULL, 0);
    figure_add_bars(figure, "none", PLAIN, NULL, 0, NULL, 0, NULL, NULL);
    figure_add_heat(figure, "none", PLAIN, PLAIN, PERCENT, NULL, 0, NULL, 0, NULL);
    figure_add_gantt(figure, "none", PLAIN, NULL, 0, 0, 0);
    svg = draw(figure);
    assert_int_equal(markup_count(svg, "no values to draw"), 5);
    free(svg);
    check(result, "empty");
}

/* One value on every scale and unit: an axis needs two different ends nevertheless. */
static void one_point_is_drawn(void **state)
{
    static const double values[] = { 0, 1, -1, 0.5, 1e-12, 1e12, 255, 1e300 };
    static const struct figure_axis *const axes[] = { &PLAIN, &PERCENT, &LOG2, &LOG10 };

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        for (size_t a = 0; a < COUNT(axes); a++) {
            static const char *const name[] = { "one" };
            struct result *result;
            struct figure *figure = new_figure(&result);
            struct panel *panel = figure_add_lines(figure, "one", *axes[a], *axes[a]);

            panel_add_series(panel, "s", &values[i], &values[i], 1);
            panel_highlight(panel, values[i], "here");
            figure_add_bars(figure, NULL, *axes[a], name, 1, name, 1, &values[i], NULL);
            figure_add_heat(figure, NULL, PLAIN, PLAIN, *axes[a], name, 1, name, 1, &values[i]);
            check(result, "one point");
        }
    }
}

static void points_without_number_break_a_curve(void **state)
{
    static const double x[] = { 1, 2, 3, 4, NAN, 6, INFINITY, 8, -INFINITY, 10 };
    static const double y[] = { 1, NAN, 3, INFINITY, 5, 6, 7, -INFINITY, 9, 10 };
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
    static const struct figure_axis *const axes[] = { &PLAIN, &LOG2, &LOG10 };

    (void)state;
    for (size_t a = 0; a < COUNT(axes); a++) {
        struct result *result;
        struct figure *figure = new_figure(&result);
        struct panel *panel = figure_add_lines(figure, NULL, *axes[a], *axes[a]);

        panel_add_series(panel, "s", x, y, COUNT(x));
        panel_add_steps(panel, "t", x, y, COUNT(x));
        panel_highlight(panel, NAN, "nowhere");
        panel_add_reference(panel, INFINITY, false, "nowhere");
        figure_add_bars(figure, NULL, *axes[a], names, 10, names, 1, y, NULL);
        figure_add_heat(figure, NULL, PLAIN, PLAIN, *axes[a], names, 5, names, 2, y);
        check(result, "no number");
    }
}

static void nothing_at_all_is_a_number(void **state)
{
    static const double none[] = { NAN, INFINITY };
    static const char *const names[] = { "a", "b" };
    struct result *result;
    struct figure *figure = new_figure(&result);

    (void)state;
    panel_add_series(figure_add_lines(figure, NULL, PLAIN, PLAIN), "s", none, none, 2);
    figure_add_bars(figure, NULL, PLAIN, names, 2, names, 1, none, NULL);
    figure_add_heat(figure, NULL, PLAIN, PLAIN, PERCENT, names, 2, names, 1, none);
    check(result, "only NaN and infinity");
}

static void curves_of_any_length_stay_small(void **state)
{
    static const size_t counts[] = { 2, 16, 17, 255, 4096, 200000 };

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t n = counts[i];
        double *x = calloc(n, sizeof(*x)), *y = calloc(n, sizeof(*y));
        struct result *result;
        struct figure *figure = new_figure(&result);

        assert_non_null(x);
        assert_non_null(y);
        for (size_t k = 0; k < n; k++) {
            x[k] = (double)k;
            y[k] = (double)(k * 7919 % 1009) / 1009;
        }
        for (int s = 0; s < 10; s++) {
            struct panel *panel = figure_add_lines(figure, "panel", PLAIN, PERCENT);

            panel_add_series(panel, "a", x, y, n);
            panel_add_steps(panel, "b", x, y, n);
        }
        free(x);
        free(y);
        check(result, "long curves");
    }
}

static void maps_of_any_size_stay_small(void **state)
{
    static const size_t sides[] = { 1, 9, 70, 700 };

    (void)state;
    for (size_t i = 0; i < COUNT(sides); i++) {
        size_t n = sides[i];
        double *v = calloc(n * n, sizeof(*v));
        const char **names = calloc(n, sizeof(*names));
        struct result *result;
        struct panel *panel;

        assert_non_null(v);
        assert_non_null(names);
        for (size_t k = 0; k < n; k++)
            names[k] = "1024";
        for (size_t k = 0; k < n * n; k++)
            v[k] = k * 7919 % 11 == 10 ? NAN : (double)(k * 7919 % 11) / 9;
        panel = figure_add_heat(new_figure(&result), "map", PLAIN, PLAIN, PERCENT, names, n, names,
                                n, v);
        panel_highlight_cell(panel, n - 1, n - 1);
        free(v);
        free(names);
        check(result, "map");
    }
}

static void bars_of_any_number_stay_small(void **state)
{
    static const size_t counts[] = { 1, 7, 100, 4096 };

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t n = counts[i];
        double *v = calloc(n * 3, sizeof(*v));
        const char **names = calloc(n, sizeof(*names));
        struct result *result;
        struct figure *figure = new_figure(&result);

        assert_non_null(v);
        assert_non_null(names);
        for (size_t k = 0; k < n; k++)
            names[k] = "long, odd/even lanes";
        for (size_t k = 0; k < n * 3; k++)
            v[k] = (double)k - 3;
        figure_add_bars(figure, "bars", PLAIN, names, n, names, n < 3 ? n : 3, v, NULL);
        figure_add_bars(figure, "points", LOG10, names, n, names, 1, v, NULL);
        free(v);
        free(names);
        check(result, "bars");
    }
}

static struct result *timeline(size_t rows, size_t cycles)
{
    static const struct figure_state states[] = { { "selected", TONE_SELECTED },
                                                  { "not selected", TONE_NOT_SELECTED },
                                                  { "stalled", TONE_STALLED },
                                                  { "never occurs", TONE_STALLED_4 } };
    uint8_t *row = calloc(cycles, sizeof(*row));
    int32_t *numbers = calloc(cycles, sizeof(*numbers));
    struct result *result;
    struct panel *panel =
        figure_add_gantt(new_figure(&result), NULL, PLAIN, states, COUNT(states), rows, cycles);

    assert_non_null(row);
    assert_non_null(numbers);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cycles; c++) {
            row[c] = (uint8_t)((c * 7919 + r) % 3);
            numbers[c] = (int32_t)(c % 13) - 1;
        }
        row[0] = 200; /* no such state */
        panel_row(panel, r, "warp 12", r < rows / 2 ? "scheduler 0" : "scheduler 1", row, numbers);
    }
    panel_row(panel, rows, "no such row", NULL, row, NULL);
    free(row);
    free(numbers);
    return result;
}

static void timelines_of_any_size_stay_small(void **state)
{
    static const struct {
        size_t rows, cycles;
    } cases[] = { { 1, 1 }, { 5, 60 }, { 24, 60 }, { 64, 2000 }, { 4096, 100 }, { 2, 300000 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check(timeline(cases[i].rows, cases[i].cycles), "timeline");
}

static void merged_marks_are_confessed(void **state)
{
    struct result *small = timeline(5, 60), *large = timeline(64, 2000);
    char *a = draw(small->figure), *b = draw(large->figure);

    (void)state;
    assert_null(strstr(a, "Marks were merged"));
    assert_non_null(strstr(b, "Marks were merged"));
    free(a);
    free(b);
    result_release(&small);
    result_release(&large);
}

static void only_states_that_occur_are_explained(void **state)
{
    struct result *result = timeline(2, 60);
    char *svg = draw(result->figure);

    (void)state;
    assert_non_null(strstr(svg, ">not selected</text>"));
    assert_null(strstr(svg, ">never occurs</text>"));
    free(svg);
    result_release(&result);
}

static const struct figure_state LANES[] = { { "busy", TONE_SELECTED },
                                             { "idle", TONE_NONE },
                                             { "never", TONE_STALLED } };

/* A grid of marks whose first `busy` columns are busy; every mark has the same word. */
static struct panel *add_marks(struct figure *figure, size_t rows, size_t columns, size_t busy,
                               const char *word)
{
    struct panel *panel =
        figure_add_cells(figure, "lanes", PLAIN, LANES, COUNT(LANES), rows, columns, 8);
    const char *texts[FIGURE_MARK_COLUMNS];
    uint8_t states[FIGURE_MARK_COLUMNS];

    for (size_t c = 0; panel && c < columns; c++) {
        states[c] = c >= busy;
        texts[c] = word;
    }
    for (size_t r = 0; panel && r < rows; r++)
        panel_marks(panel, r,
                    &(struct figure_marks){
                        .name = "warp", .note = "24 lanes", .states = states, .texts = texts });
    return panel;
}

static void marks_of_one_state_are_one_stretch_up_to_a_gap(void **state)
{
    struct result *result;
    struct figure *figure = new_figure(&result);
    const char *blue;
    char *svg;

    (void)state;
    add_marks(figure, 1, 32, 24, NULL);
    svg = draw(figure);
    blue = strstr(svg, "z\" fill=\"#0072b2\"/>");
    assert_non_null(blue);
    /* Three bundles of eight are busy, so three stretches end before the fill. */
    assert_int_equal(markup_count(svg, "z\" fill"), 2);
    while (blue > svg && *blue != '<')
        blue--;
    assert_int_equal(markup_count(blue, "zM"), 2);
    assert_non_null(strstr(svg, ">24 lanes</text>"));
    assert_null(strstr(svg, ">never</text>"));
    free(svg);
    check(result, "marks");
}

static void words_stand_in_marks_where_all_of_them_fit(void **state)
{
    static const struct {
        const char *word;
        int count;
    } cases[] = { { "7", 2 },
                  { "a word", 2 },
                  { "a word that no stretch of marks has room for: it "
                    "is wider than the whole of the picture is, and "
                    "then some",
                    0 } };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct result *result;
        struct figure *figure = new_figure(&result);
        struct buf found = { 0 };
        char *svg;

        add_marks(figure, 2, 32, 32, cases[i].word);
        svg = draw(figure);
        buf_printf(&found, "%s\">%s</text>", i ? "600" : "#ffffff", cases[i].word);
        assert_int_equal(markup_count(svg, buf_text(&found)), cases[i].count);
        buf_done(&found);
        free(svg);
        check(result, "words in marks");
    }
}

static void grids_of_any_size_stay_small(void **state)
{
    static const size_t rows[] = { 0, 1, 40, 72, 128, 129, 100000 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct result *result;
        struct figure *figure = new_figure(&result);

        add_marks(figure, rows[i], FIGURE_MARK_COLUMNS, 7, "9");
        assert_null(add_marks(figure, 1, FIGURE_MARK_COLUMNS + 1, 1, "9"));
        check(result, "a grid");
    }
}

/* 3 parts of 20 marks and 5 that they share; then as many of everything as a device may have. */
static void a_plan_draws_each_thing_of_each_part_one_by_one(void **state)
{
    static const struct figure_thing few = { "lanes", "20", 20, TONE_NOT_SELECTED };
    static const struct figure_thing shared = { "cache", "a note much too long for a part", 5,
                                                TONE_SELECTED };
    static const struct figure_thing many = { "lanes", "1,024", 1024, TONE_STALLED };
    struct result *result;
    struct figure *figure = new_figure(&result);
    char *svg;

    (void)state;
    figure_add_plan(figure, NULL, &(struct figure_plan){ "part", 3, &few, &shared, 1, 1 });
    svg = draw(figure);
    assert_int_equal(markup_count(svg, "h7v7h-7z"), 3 * 20 + 5);
    assert_int_equal(markup_count(svg, ">20</text>"), 3);
    assert_non_null(strstr(svg, ">part 2</text>"));
    assert_null(strstr(svg, ">part 3</text>"));
    free(svg);
    figure_add_plan(figure, "large", &(struct figure_plan){ "part", 16, &many, &many, 1, 1 });
    figure_add_plan(figure, "empty", &(struct figure_plan){ NULL, 0, NULL, NULL, 0, 0 });
    check(result, "plans");
}

static void cliffs_are_upright(void **state)
{
    static const double x[] = { 40, 41, 42, 43 }, y[] = { 1, 0.75, 0.75, 0.75 };
    struct result *result;
    struct figure *figure = new_figure(&result);
    char *svg;

    (void)state;
    panel_add_steps(figure_add_lines(figure, NULL, PLAIN, PERCENT), "s", x, y, COUNT(x));
    svg = draw(figure);
    /* Along 100 % to x = 41, down, then one stroke to the end. */
    assert_non_null(strstr(svg, "<path d=\"M61.6 90H269.7V143.8H686\""));
    free(svg);
    result_release(&result);
}

static void a_figure_built_without_memory_is_no_figure(void **state)
{
    (void)state;
    assert_null(figure_add_lines(NULL, "t", PLAIN, PLAIN));
    assert_null(panel_add_series(NULL, "s", NULL, NULL, 0));
    assert_null(panel_add_steps(NULL, "s", NULL, NULL, 0));
    assert_null(figure_add_frame(NULL, "k", "l", "t", "d", "c"));
    panel_highlight(NULL, 0, NULL);
    panel_highlight_cell(NULL, 0, 0);
    panel_add_reference(NULL, 0, true, NULL);
    panel_row(NULL, 0, NULL, NULL, NULL, NULL);
}

static void ticks_stand_at_round_numbers(void **state)
{
    static const struct {
        struct figure_axis axis;
        double min, max;
        size_t count;
        double first, last;
    } cases[] = {
        { { .unit = UNIT_PERCENT }, 0.2, 0.9, 5, 0, 1 },
        { { .unit = UNIT_PERCENT }, 0, 0.1, 5, 0, 0.1 },
        { { .unit = UNIT_BYTES }, 0, 102400, 5, 0, 131072 },
        { { .unit = UNIT_POW2 }, 0, 1024, 5, 0, 1024 },
        { { .unit = UNIT_NUMBER }, 0, 694, 5, 0, 800 },
        { { .unit = UNIT_NUMBER }, -5, 5, 3, -5, 5 },
        { { .scale = SCALE_LOG10 }, 5, 694, 4, 1, 1000 },
        { { .scale = SCALE_LOG2 }, 1024, 8192, 4, 1024, 8192 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct axis_range range = { cases[i].min, cases[i].max, false };
        struct axis axis = axis_make(&cases[i].axis, range, true, 0, 1000);
        double ticks[AXIS_MAX_TICKS];
        size_t n = axis_ticks(&axis, 5, ticks);

        if (n != cases[i].count || fabs(ticks[0] - cases[i].first) > 1e-9 ||
            fabs(ticks[n - 1] - cases[i].last) > 1e-9)
            fail_msg("row %zu: %zu ticks, %g to %g", i, n, ticks[0], ticks[n - 1]);
        assert_int_equal(axis_at(&axis, axis.min), 0);
        assert_int_equal(axis_at(&axis, axis.max), 1000);
    }
}

static void logarithms_agree_with_libm(void **state)
{
    static const double values[] = { 1, 2, 3, 10, 0.001, 1e-300, 1e300, 1048576, 0.7 };

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        if (fabs(axis_log2(values[i]) - log2(values[i])) > 1e-9)
            fail_msg("log2(%g) = %.12g", values[i], axis_log2(values[i]));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(title_and_desc_come_first),
        cmocka_unit_test(hostile_labels_stay_text),
        cmocka_unit_test(long_labels_end_in_dots),
        cmocka_unit_test(empty_figures_say_that_they_are_empty),
        cmocka_unit_test(one_point_is_drawn),
        cmocka_unit_test(points_without_number_break_a_curve),
        cmocka_unit_test(nothing_at_all_is_a_number),
        cmocka_unit_test(curves_of_any_length_stay_small),
        cmocka_unit_test(maps_of_any_size_stay_small),
        cmocka_unit_test(bars_of_any_number_stay_small),
        cmocka_unit_test(timelines_of_any_size_stay_small),
        cmocka_unit_test(merged_marks_are_confessed),
        cmocka_unit_test(only_states_that_occur_are_explained),
        cmocka_unit_test(marks_of_one_state_are_one_stretch_up_to_a_gap),
        cmocka_unit_test(words_stand_in_marks_where_all_of_them_fit),
        cmocka_unit_test(grids_of_any_size_stay_small),
        cmocka_unit_test(a_plan_draws_each_thing_of_each_part_one_by_one),
        cmocka_unit_test(cliffs_are_upright),
        cmocka_unit_test(a_figure_built_without_memory_is_no_figure),
        cmocka_unit_test(ticks_stand_at_round_numbers),
        cmocka_unit_test(logarithms_agree_with_libm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
