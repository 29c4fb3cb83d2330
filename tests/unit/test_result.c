/*
 * Results: who owns them, how their fields are found, and what a view holds.
 */
#include "cells/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct result *sample(void)
{
    struct result *result = result_new("occupancy", 1);

    assert_non_null(result);
    json_object_set_new(result->fields, "active_warps", json_integer(40));
    json_object_set_new(result->fields, "limits", json_pack("{s:i,s:n}", "warps", 6, "cluster"));
    json_object_set_new(result->fields, "variants",
                        json_pack("[{s:b},{s:b}]", "correct", 1, "correct", 0));
    json_object_set_new(result->fields, "grid", json_pack("[[i,i],[i,i]]", 1, 2, 3, 4));
    return result;
}

static void a_new_result_says_its_kind_and_schema(void **state)
{
    struct result *result = result_new("simulate", 2);

    (void)state;
    assert_string_equal(json_string_value(json_object_get(result->fields, "kind")), "simulate");
    assert_int_equal(json_integer_value(json_object_get(result->fields, "schema")), 2);
    result_release(&result);
    assert_null(result);
    result_release(&result);
}

static void a_kept_result_outlives_its_first_holder(void **state)
{
    struct result *result = sample(), *held = result_keep(result);

    (void)state;
    result_release(&result);
    assert_null(result);
    assert_int_equal(json_integer_value(json_object_get(held->fields, "active_warps")), 40);
    result_release(&held);
    assert_null(result_keep(NULL));
}

static void numbers_that_json_lacks_are_strings(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = { { INFINITY, "inf" }, { -INFINITY, "-inf" }, { NAN, "nan" }, { -NAN, "nan" } };
    json_t *json;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        json = json_number(cases[i].v);
        assert_string_equal(json_string_value(json), cases[i].text);
        json_decref(json);
    }
    json = json_number(0.25);
    assert_true(json_is_real(json));
    assert_true(json_real_value(json) == 0.25);
    json_decref(json);
}

static void view_blocks_keep_their_order(void **state)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT }, { "warps", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 2);
    struct view_block *facts = view_add_facts(result, 1), *lines = view_add_lines(result, 3);

    (void)state;
    assert_ptr_equal(&result->view.first->table, table);
    assert_ptr_equal(result->view.first->next, facts);
    assert_ptr_equal(result->view.last, lines);
    assert_null(lines->next);
    assert_int_equal(lines->count, 3);
    assert_null(lines->texts[2]);
    result_release(&result);
}

static void cells_outside_a_table_are_ignored(void **state)
{
    static const struct view_column columns[] = { { NULL, VIEW_LEFT } };
    struct result *result = result_new("test", 1);
    struct view_table *table = view_add_table(result, columns, 1, 1);

    (void)state;
    view_cell(table, 0, 0, result_text(result, "%d warps", 40));
    view_cell(table, 1, 0, "no such row");
    view_cell(table, 0, 1, "no such column");
    view_cell(NULL, 0, 0, "no such table");
    view_mark(table, 0);
    view_mark(table, 1);
    view_mark(NULL, 0);
    assert_string_equal(table->cells[0], "40 warps");
    assert_string_equal(table->columns[0].title, "");
    assert_true(table->marked[0]);
    result_release(&result);
}

static void a_table_too_large_leaves_the_result_usable(void **state)
{
    static const struct view_column columns[] = { { "x", VIEW_LEFT }, { "y", VIEW_LEFT } };
    struct result *result = result_new("test", 1);

    (void)state;
    assert_null(view_add_table(result, columns, COUNT(columns), SIZE_MAX / 2));
    assert_null(view_add_lines(result, SIZE_MAX));
    assert_null(result->view.first);
    assert_non_null(view_add_facts(result, 1));
    result_release(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_result_says_its_kind_and_schema),
        cmocka_unit_test(a_kept_result_outlives_its_first_holder),
        cmocka_unit_test(numbers_that_json_lacks_are_strings),
        cmocka_unit_test(view_blocks_keep_their_order),
        cmocka_unit_test(cells_outside_a_table_are_ignored),
        cmocka_unit_test(a_table_too_large_leaves_the_result_usable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
