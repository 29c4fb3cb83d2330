/* Notebook files: what is read from them, and the bytes that are written. */
#include "cells/nbformat.h"

#include "cells/json_text.h"
#include "cells/notebook.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static json_t *read_text(const char *text)
{
    struct err err = { 0 };
    json_t *notebook = NULL;

    if (nbformat_read(bytes_of(text), &notebook, &err) < 0)
        fail_msg("%s", err.text);
    return notebook;
}

static void reals_are_written_as_python_writes_them(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0.1, "0.1" },
        { 5, "5.0" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 1e-4, "0.0001" },
        { 1e-5, "1e-05" },
        { 1.5e300, "1.5e+300" },
        { -0.0, "-0.0" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 5e-324, "5e-324" },
        { 123456.789, "123456.789" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text = { 0 };

        json_text_real(cases[i].v, &text);
        assert_string_equal(buf_text(&text), cases[i].text);
        buf_done(&text);
    }
}

static void a_file_is_written_with_sorted_keys_and_split_lines(void **state)
{
    json_t *notebook = read_text(
        "{\"nbformat\":4,\"nbformat_minor\":5,\"metadata\":{\"z\":1,\"a\":[]},\"cells\":["
        "{\"cell_type\":\"code\",\"id\":\"x\",\"source\":\"a\\nb\",\"metadata\":{\"trusted\":true},"
        "\"execution_count\":null,\"outputs\":[]}]}");
    struct buf text = { 0 };

    (void)state;
    nbformat_write(notebook, &text);
    assert_string_equal(buf_text(&text), "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n"
                                         "   \"execution_count\": null,\n   \"id\": \"x\",\n"
                                         "   \"metadata\": {},\n   \"outputs\": [],\n"
                                         "   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }\n"
                                         " ],\n \"metadata\": {\n  \"a\": [],\n  \"z\": 1\n },\n"
                                         " \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n");
    buf_done(&text);
    json_decref(notebook);
}

static void lines_end_where_python_ends_them(void **state)
{
    static const struct {
        const char *source;
        size_t lines;
    } cases[] = {
        { "", 0 },
        { "a", 1 },
        { "a\\n", 1 },
        { "\\n\\n", 2 },
        { "a\\r\\nb", 2 },
        { "a\\rb", 2 },
        { "a\\u000bb\\fc", 3 },
        { "a\\u001cb", 2 },
        { "a\\u0085b", 2 },
        { "a\\u2028b", 2 },
        { "\\u00e9\\u2029b", 2 },
        { "a\\u001fb", 1 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text = { 0 };
        json_t *notebook, *cell;

        buf_printf(&text, "{\"nbformat\":4,\"cells\":[{\"cell_type\":\"raw\",\"source\":\"%s\"}]}",
                   cases[i].source);
        notebook = read_text(buf_text(&text));
        buf_cut(&text, 0);
        nbformat_write(notebook, &text);
        cell = json_array_get(json_object_get(notebook, "cells"), 0);
        assert_int_equal(json_array_size(json_object_get(cell, "source")), cases[i].lines);
        buf_done(&text);
        json_decref(notebook);
    }
}

static void an_older_notebook_becomes_4_5_with_the_same_ids_each_time(void **state)
{
    static const char old[] = "{\"nbformat\":4,\"nbformat_minor\":2,\"cells\":["
                              "{\"cell_type\":\"code\",\"source\":[\"a\\n\",\"b\"]}]}";
    json_t *one = read_text(old), *two = read_text(old);
    json_t *cell = json_array_get(json_object_get(one, "cells"), 0);

    (void)state;
    assert_true(json_equal(one, two));
    assert_int_equal(json_integer_value(json_object_get(one, "nbformat_minor")), 5);
    assert_string_equal(json_string_value(json_object_get(cell, "source")), "a\nb");
    assert_int_equal(json_string_length(json_object_get(cell, "id")), 8);
    assert_true(json_is_array(json_object_get(cell, "outputs")));
    json_decref(one);
    json_decref(two);
}

static void what_is_no_notebook_is_an_error_that_says_why(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "not JSON: line 1" },
        { "{\"nbformat\":4,", "not JSON" },
        { "[]", "no number nbformat" },
        { "{\"nbformat\":3,\"worksheets\":[]}", "nbformat 3" },
        { "{\"nbformat\":4}", "no list cells" },
        { "{\"nbformat\":4,\"cells\":[1]}", "cell 1 has no cell_type" },
        { "{\"nbformat\":4,\"cells\":[{\"cell_type\":\"code\"}]}", "source of cell 1" },
        { "{\"nbformat\":4,\"cells\":[{\"cell_type\":\"code\",\"source\":[1]}]}",
          "source of cell 1" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };
        json_t *notebook = NULL;

        assert_int_equal(nbformat_read(bytes_of(cases[i].text), &notebook, &err), -1);
        assert_int_equal(err.name, ERR_FileError);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.text);
        err_done(&err);
    }
}

static void parameters_go_behind_their_cell_or_first_or_replace(void **state)
{
    static const struct {
        const char *tags;
        size_t at, count;
    } cases[] = {
        { "[\"parameters\"]", 2, 3 },
        { "[\"injected-parameters\"]", 1, 2 },
        { "[\"other\"]", 0, 3 },
    };
    const struct parameter parameters[] = {
        { "n", "1000" },  { "policy", "gto" }, { "say", "a \"b\"" },
        { "x", "[1,2]" }, { "on", "yes" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text = { 0 };
        struct err err = { 0 };
        json_t *notebook, *cells, *cell;

        buf_printf(&text,
                   "{\"nbformat\":4,\"cells\":[{\"cell_type\":\"raw\",\"source\":\"\"},"
                   "{\"cell_type\":\"code\",\"source\":\"\",\"metadata\":{\"tags\":%s}}]}",
                   cases[i].tags);
        notebook = read_text(buf_text(&text));
        assert_int_equal(notebook_inject(notebook, parameters, COUNT(parameters), &err), 0);
        cells = json_object_get(notebook, "cells");
        assert_int_equal(json_array_size(cells), cases[i].count);
        cell = json_array_get(cells, cases[i].at);
        assert_true(nbformat_has_tag(cell, "injected-parameters"));
        assert_string_equal(json_string_value(json_object_get(cell, "source")),
                            "# Parameters\nn = 1000\npolicy = \"gto\"\nsay = \"a \\\"b\\\"\"\n"
                            "x = [1,2]\non = yes\n");
        buf_done(&text);
        json_decref(notebook);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_written_as_python_writes_them),
        cmocka_unit_test(a_file_is_written_with_sorted_keys_and_split_lines),
        cmocka_unit_test(lines_end_where_python_ends_them),
        cmocka_unit_test(an_older_notebook_becomes_4_5_with_the_same_ids_each_time),
        cmocka_unit_test(what_is_no_notebook_is_an_error_that_says_why),
        cmocka_unit_test(parameters_go_behind_their_cell_or_first_or_replace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
