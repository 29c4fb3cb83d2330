/*
 * Tables as text: aligned, at most 83 columns, and never a number cut.
 */
#include "cells/render/table.h"

#include "cells/render/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static char *view_text(struct result *result)
{
    struct buf out = { 0 };

    table_put_view(&out, &result->view);
    return buf_take(&out);
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text) {
        size_t size = strcspn(text, "\n"), columns = text_columns(text, size);

        widest = columns > widest ? columns : widest;
        text += size + (text[size] == '\n');
    }
    return widest;
}

static void check_text(struct result *result, const char *want)
{
    char *got = view_text(result);

    assert_string_equal(got, want);
    free(got);
    result_release(&result);
}

static void fill(struct view_table *table, const char *const *cells)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        view_cell(table, i / table->column_count, i % table->column_count, cells[i]);
}

static void an_occupancy_result_reads_as_in_the_manual(void **state)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT },
                                                  { "a block takes", VIEW_RIGHT },
                                                  { "an SM has", VIEW_RIGHT },
                                                  { "blocks fit", VIEW_RIGHT } };
    static const char *const cells[] = { "registers", "12,288", "65,536", "5",
                                         "warps",     "8",      "48",     "6" };
    struct result *result = result_new("occupancy", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 2);
    struct view_block *facts = view_add_facts(result, 1);

    (void)state;
    fill(table, cells);
    view_mark(table, 0);
    facts->names[0] = "registers";
    facts->texts[0] = "a warp gets units of 256";
    result->view.answer = "Occupancy 83.3 %: 5 blocks of 8 warps.";
    result->view.origin = "L40S (model)";
    result->view.closing = "To 100 %: 40 registers.";
    check_text(result, "Occupancy 83.3 %: 5 blocks of 8 warps.\n"
                       "L40S (model)\n"
                       "\n"
                       "                 a block takes   an SM has   blocks fit\n"
                       "  registers  >          12,288      65,536            5\n"
                       "  warps                      8          48            6\n"
                       "\n"
                       "  registers  a warp gets units of 256\n"
                       "To 100 %: 40 registers.");
}

static void a_number_first_puts_the_mark_into_the_margin(void **state)
{
    static const struct view_column columns[] = { { "line", VIEW_RIGHT }, { "source", VIEW_LEFT } };
    static const char *const cells[] = { "4", "y[i] = a * x[i];", "6", "out[u] = t;" };
    struct result *result = result_new("launch", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 2);

    (void)state;
    fill(table, cells);
    view_mark(table, 1);
    check_text(result, "  line   source\n"
                       "     4   y[i] = a * x[i];\n"
                       ">    6   out[u] = t;");
}

static void heads_of_two_lines_stand_on_the_cells(void **state)
{
    static const struct view_column columns[] = { { "variant", VIEW_LEFT },
                                                  { "measured us\nmedian", VIEW_RIGHT } };
    static const char *const cells[] = { "short", "5.1" };
    struct result *result = result_new("run", 1);

    (void)state;
    fill(view_add_table(result, columns, COUNT(columns), 1), cells);
    check_text(result, "            measured us\n"
                       "  variant        median\n"
                       "  short             5.1");
}

static void names_are_aligned_by_columns_not_bytes(void **state)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT }, { "", VIEW_RIGHT } };
    static const char *const cells[] = { "caf\xC3\xA9", "1",          "\xE6\xBC\xA2\xE5\xAD\x97",
                                         "2",           "e\xCC\x81t", "3",
                                         "bad\xFF",     "4",          "ab\ncd",
                                         "5\n6" };
    struct result *result = result_new("test", 1);

    (void)state;
    fill(view_add_table(result, columns, COUNT(columns), 5), cells);
    check_text(result, "  caf\xC3\xA9   1\n"
                       "  \xE6\xBC\xA2\xE5\xAD\x97   2\n"
                       "  e\xCC\x81t     3\n"
                       "  bad\xEF\xBF\xBD   4\n"
                       "  ab     5\n"
                       "  cd     6");
}

static void control_characters_become_blanks(void **state)
{
    struct result *result = result_new("test", 1);
    struct view_block *lines = view_add_lines(result, 2);

    (void)state;
    lines->texts[0] = "a\x1B[31mb\tc";
    check_text(result, "a [31mb c\n");
}

static void no_line_ends_in_blanks(void **state)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT }, { "", VIEW_LEFT } };
    static const char *const cells[] = { "long name", NULL, "x", "" };
    struct result *result = result_new("test", 1);

    (void)state;
    fill(view_add_table(result, columns, COUNT(columns), 2), cells);
    check_text(result, "  long name\n  x");
}

static void long_texts_wrap_under_themselves(void **state)
{
    struct result *result = result_new("test", 1);
    struct view_block *facts = view_add_facts(result, 1);
    char *text;

    (void)state;
    facts->names[0] = "why";
    facts->texts[0] =
        "blocks are whole, so i runs to 1023; no test keeps i below n = 1000, which is "
        "what the buffer holds";
    text = view_text(result);
    assert_string_equal(text,
                        "  why  blocks are whole, so i runs to 1023; no test keeps i below n = "
                        "1000, which\n       is what the buffer holds");
    free(text);
    facts->texts[0] = "100 % busy   one part of the row that is long enough   another that would "
                      "break inside";
    text = view_text(result);
    assert_string_equal(text, "  why  100 % busy   one part of the row that is long enough\n"
                              "       another that would break inside");
    free(text);
    result_release(&result);
}

/* Tables of many shapes, all with text that can wrap: 83 columns, and all numbers whole. */
static void tables_stay_within_83_columns(void **state)
{
    static const size_t shapes[] = { 1, 2, 5, 12, 40 };
    static const char number[] = "1,234,567.89";

    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        struct view_column columns[40];
        struct result *result = result_new("test", 1);
        struct view_table *table;
        size_t n = shapes[s], found = 0;
        char *text;

        for (size_t c = 0; c < n; c++)
            columns[c] = (struct view_column){ c ? "thread instructions" : "variant of the kernel",
                                               c ? VIEW_RIGHT : VIEW_LEFT };
        table = view_add_table(result, columns, n, 3);
        for (size_t r = 0; r < 3; r++)
            for (size_t c = 0; c < n; c++)
                view_cell(table, r, c,
                          c ? number
                            : "a name of many words that goes on and on until it is longer than a "
                              "line of 83 columns can be");
        text = view_text(result);
        if (widest_line(text) > TEXT_COLUMNS)
            fail_msg("%zu columns: a line of %zu columns", n, widest_line(text));
        for (const char *p = strstr(text, number); p; p = strstr(p + 1, number))
            found++;
        assert_int_equal(found, 3 * (n - 1));
        free(text);
        result_release(&result);
    }
}

static void tables_without_rows_or_columns_are_no_trouble(void **state)
{
    static const struct view_column columns[] = { { "warps", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);

    (void)state;
    view_add_table(result, columns, 0, 5);
    view_add_table(result, columns, 1, 0);
    view_add_lines(result, 0);
    view_add_facts(result, 0);
    check_text(result, "  warps");
}

static void an_empty_view_is_an_empty_text(void **state)
{
    struct result *result = result_new("test", 1);

    (void)state;
    check_text(result, "");
}

static void thousands_of_rows_are_as_wide_as_one(void **state)
{
    static const struct view_column columns[] = { { "warps", VIEW_RIGHT }, { "busy", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 4096);
    char *text;
    size_t lines = 0;

    (void)state;
    for (size_t r = 0; r < 4096; r++) {
        view_cell(table, r, 0, result_text(result, "%zu", r + 1));
        view_cell(table, r, 1, "100 %");
    }
    text = view_text(result);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 4096);
    assert_int_equal(widest_line(text), 2 + 5 + 3 + 5);
    free(text);
    result_release(&result);
}

static void numbers_are_grouped_and_short(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0, "0" },          { -0.0, "0" },        { 12288, "12,288" },
        { 999, "999" },      { 1000, "1,000" },    { 1234567, "1,234,567" },
        { -1234, "-1,234" }, { 0.25, "0.25" },     { 83.333333, "83.33" },
        { 1980.4, "1,980" }, { 0.0125, "0.0125" }, { 1e18, "1e+18" },
        { 1e-9, "1e-09" },   { INFINITY, "inf" },  { -INFINITY, "-inf" },
        { NAN, "nan" },      { 2.5, "2.5" },       { -0.00001, "-1e-05" },
    };
    char out[TEXT_NUMBER];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_number(out, cases[i].v), cases[i].text);
}

static void percentages_have_one_decimal(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0, "0 %" },    { 1, "100 %" },       { 5.0 / 6, "83.3 %" },
        { 0.5, "50 %" }, { 1.985, "198.5 %" }, { NAN, "nan" },
    };
    char out[TEXT_NUMBER];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_percent(out, cases[i].v), cases[i].text);
}

static void bytes_are_powers_of_1024_only_where_exact(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0, "0" },       { 1000, "1,000" }, { 1024, "1K" },    { 49152, "48K" },
        { 1536, "1.5K" }, { 1500, "1,500" }, { 1048576, "1M" }, { 5368709120.0, "5G" },
        { -2048, "-2K" }, { 1e30, "1e+30" },
    };
    char out[TEXT_NUMBER];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_bytes(out, cases[i].v), cases[i].text);
}

/* Under AddressSanitizer a byte too many stops here: bytes of a cell have no terminator. */
static void widths_read_no_further_than_their_size(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        { "a", 1 }, { "\xC3\xA9", 1 }, { "\xE4\xB8\xAD", 2 }, { "\xC3", 1 }, { "\xE4\xB8", 2 }
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = strlen(cases[i].text);
        char *exact = malloc(n);

        assert_non_null(exact);
        memcpy(exact, cases[i].text, n);
        assert_int_equal(text_columns(exact, n), cases[i].columns);
        free(exact);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_read_no_further_than_their_size),
        cmocka_unit_test(an_occupancy_result_reads_as_in_the_manual),
        cmocka_unit_test(a_number_first_puts_the_mark_into_the_margin),
        cmocka_unit_test(heads_of_two_lines_stand_on_the_cells),
        cmocka_unit_test(names_are_aligned_by_columns_not_bytes),
        cmocka_unit_test(control_characters_become_blanks),
        cmocka_unit_test(no_line_ends_in_blanks),
        cmocka_unit_test(long_texts_wrap_under_themselves),
        cmocka_unit_test(tables_stay_within_83_columns),
        cmocka_unit_test(tables_without_rows_or_columns_are_no_trouble),
        cmocka_unit_test(an_empty_view_is_an_empty_text),
        cmocka_unit_test(thousands_of_rows_are_as_wide_as_one),
        cmocka_unit_test(numbers_are_grouped_and_short),
        cmocka_unit_test(percentages_have_one_decimal),
        cmocka_unit_test(bytes_are_powers_of_1024_only_where_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
