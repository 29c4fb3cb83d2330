/* What cells write becomes the outputs of a notebook. */
#include "cells/cell_outputs.h"

#include "cells/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static int set_up(void **state)
{
    static struct cell_outputs o;
    struct err err = { 0 };

    if (cell_outputs_init(&o, &err) < 0)
        return -1;
    cell_outputs_begin(&o, 1);
    *state = &o;
    return 0;
}

static int tear_down(void **state)
{
    cell_outputs_done(*state);
    return 0;
}

static void expect(struct cell_outputs *o, const char *wanted)
{
    struct buf text = { 0 };
    struct err err = { 0 };
    json_t *list;

    assert_int_equal(cell_outputs_end(o, &list, &err), 0);
    json_text(list, JSON_TEXT_LINE, &text);
    assert_string_equal(buf_text(&text), wanted);
    buf_done(&text);
    json_decref(list);
}

static void display(struct cell_outputs *o, const char *text, const char *id, bool is_update)
{
    json_t *data = json_pack("{s:s}", "text/plain", text);

    sink_display(&o->sink, data, NULL, id, is_update);
    json_decref(data);
}

static void text_of_one_stream_is_joined(void **state)
{
    struct cell_outputs *o = *state;

    sink_write(&o->sink, STREAM_STDOUT, "a", 1);
    sink_write(&o->sink, STREAM_STDOUT, "b\n", 2);
    sink_write(&o->sink, STREAM_STDERR, "c", 1);
    sink_write(&o->sink, STREAM_STDOUT, "d", 1);
    expect(o, "[{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":\"ab\\n\"},"
              "{\"name\":\"stderr\",\"output_type\":\"stream\",\"text\":\"c\"},"
              "{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":\"d\"}]");
}

static void a_character_may_come_in_pieces(void **state)
{
    struct cell_outputs *o = *state;

    sink_write(&o->sink, STREAM_STDOUT, "\xC3", 1);
    sink_write(&o->sink, STREAM_STDOUT, "\xA9\xFF", 2);
    expect(o,
           "[{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":\"\xC3\xA9\xEF\xBF\xBD\"}]");
}

static void too_much_text_is_cut_and_says_so(void **state)
{
    static const size_t firsts[] = { CELL_OUTPUTS_MAX_TEXT + 10, CELL_OUTPUTS_MAX_TEXT, 10 };
    struct cell_outputs *o = *state;
    char *much = malloc(CELL_OUTPUTS_MAX_TEXT + 10);

    assert_non_null(much);
    memset(much, 'x', CELL_OUTPUTS_MAX_TEXT + 10);
    for (size_t i = 0; i < COUNT(firsts); i++) {
        struct err err = { 0 };
        json_t *list, *text;
        const char *notice;

        cell_outputs_begin(o, 1);
        sink_write(&o->sink, STREAM_STDOUT, much, firsts[i]);
        sink_write(&o->sink, STREAM_STDOUT, much, CELL_OUTPUTS_MAX_TEXT);
        sink_write(&o->sink, STREAM_STDOUT, much, 10);
        assert_int_equal(cell_outputs_end(o, &list, &err), 0);
        text = json_object_get(json_array_get(list, 0), "text");
        notice = strstr(json_string_value(text), "\n[output cut: a cell may print 8 MB]\n");
        assert_non_null(notice);
        assert_int_equal(notice - json_string_value(text), CELL_OUTPUTS_MAX_TEXT);
        assert_null(strchr(notice + 3, '['));
        json_decref(list);
    }
    free(much);
}

static void clear_empties_now_or_with_the_next_output(void **state)
{
    struct cell_outputs *o = *state;

    sink_write(&o->sink, STREAM_STDOUT, "old", 3);
    o->sink.clear(&o->sink, false);
    display(o, "kept", NULL, false);
    o->sink.clear(&o->sink, true);
    sink_write(&o->sink, STREAM_STDOUT, "new", 3);
    expect(o, "[{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":\"new\"}]");
}

static void a_clear_that_waits_for_nothing_clears_nothing(void **state)
{
    struct cell_outputs *o = *state;

    sink_write(&o->sink, STREAM_STDOUT, "old", 3);
    o->sink.clear(&o->sink, true);
    expect(o, "[{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":\"old\"}]");
}

static void an_update_reaches_the_display_of_an_earlier_cell(void **state)
{
    struct cell_outputs *o = *state;
    struct err err = { 0 };
    json_t *first, *output;

    display(o, "before", "x", false);
    assert_int_equal(cell_outputs_end(o, &first, &err), 0);
    cell_outputs_begin(o, 2);
    display(o, "after", "x", true);
    display(o, "nobody shows this", "y", true);
    expect(o, "[]");
    output = json_array_get(first, 0);
    assert_string_equal(json_string_value(
                            json_object_get(json_object_get(output, "data"), "text/plain")),
                        "after");
    json_decref(first);
}

static void a_score_carries_the_count_of_its_cell(void **state)
{
    struct cell_outputs *o = *state;
    json_t *data = json_pack("{s:s}", "text/plain", "2");

    cell_outputs_begin(o, 7);
    o->sink.result(&o->sink, data, NULL);
    json_decref(data);
    expect(o, "[{\"output_type\":\"execute_result\",\"execution_count\":7,\"metadata\":{},"
              "\"data\":{\"text/plain\":\"2\"}}]");
}

static void an_error_keeps_its_lines(void **state)
{
    struct cell_outputs *o = *state;
    char *lines[] = { (char *)"ValueError: no", (char *)"" };
    struct error_report report = { (char *)"ValueError", (char *)"no", lines, 2 };

    o->sink.error(&o->sink, &report);
    expect(o, "[{\"output_type\":\"error\",\"ename\":\"ValueError\",\"evalue\":\"no\","
              "\"traceback\":[\"ValueError: no\",\"\"]}]");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_of_one_stream_is_joined),
        TEST(a_character_may_come_in_pieces),
        TEST(too_much_text_is_cut_and_says_so),
        TEST(clear_empties_now_or_with_the_next_output),
        TEST(a_clear_that_waits_for_nothing_clears_nothing),
        TEST(an_update_reaches_the_display_of_an_earlier_cell),
        TEST(a_score_carries_the_count_of_its_cell),
        TEST(an_error_keeps_its_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
