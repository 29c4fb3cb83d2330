/*
 * HTML of views and sliders: well-formed whatever the labels are, in the order
 * of the text, and harmless.
 */
#include "cells/render/html.h"

#include "cells/render/render.h"
#include "cells/render/slider.h"
#include "tests/unit/markup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char HOSTILE[] = "</td><script>alert('x')</script><&\"\xFF\x1B]]>--";

static char *view_html(const struct result *result)
{
    struct buf out = { 0 };

    html_put_view(&out, &result->view);
    return buf_take(&out);
}

static void assert_well_formed(const char *html)
{
    const char *error = markup_error(html);

    if (error)
        fail_msg("not well-formed from here on: %.80s", error);
}

static struct result *sample(const char *text)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT },
                                                  { "warps\nof 48", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 2);
    struct view_block *facts = view_add_facts(result, 1), *lines = view_add_lines(result, 2);

    result->view.answer = text;
    result->view.origin = text;
    result->view.closing = text;
    view_cell(table, 0, 0, text);
    view_cell(table, 0, 1, "40");
    view_cell(table, 1, 0, "registers");
    view_mark(table, 1);
    facts->names[0] = text;
    facts->texts[0] = text;
    lines->texts[0] = text;
    return result;
}

static void order_and_roles_are_those_of_the_text(void **state)
{
    struct result *result = sample("Occupancy 83.3 %");
    char *html = view_html(result);
    static const char *const order[] = {
        "<strong>Occupancy",
        "<table",
        "<thead",
        "<th scope=\"col\" style=\"text-align:right\">warps<br>of 48",
        "<th scope=\"row\" style=\"text-align:left\">Occupancy",
        "<td style=\"text-align:right\">40</td>",
        "<tr style=\"font-weight:bold\">",
        "&gt; registers",
        "</table>",
        "<pre",
        "Occupancy 83.3 %</p>"
    };
    const char *at = html;

    (void)state;
    for (size_t i = 0; i < COUNT(order); i++) {
        at = strstr(at, order[i]);
        if (!at)
            fail_msg("%s is missing or out of order", order[i]);
    }
    free(html);
    result_release(&result);
}

static void hostile_labels_stay_text(void **state)
{
    struct result *result = sample(HOSTILE);
    char *html = view_html(result);

    (void)state;
    assert_well_formed(html);
    assert_null(strstr(html, "<script"));
    free(html);
    result_release(&result);
}

/* Colours would be unreadable in one of the two themes; ids and scripts do not survive copies. */
static void html_has_no_colour_script_style_element_or_id(void **state)
{
    static const char *const never[] = { "color",  "background", "<script",
                                         "<style", " id=",       "onclick" };
    struct result *result = sample("text");
    char *html = view_html(result);

    (void)state;
    for (size_t i = 0; i < COUNT(never); i++)
        if (strstr(html, never[i]))
            fail_msg("html holds %s", never[i]);
    free(html);
    result_release(&result);
}

static void blanks_that_stand_together_stay_apart(void **state)
{
    struct result *result = sample("regs=42  defaults: block=256\nline two");
    char *html = view_html(result);

    (void)state;
    assert_non_null(strstr(html, "regs=42\xC2\xA0 defaults: block=256<br>line two</p>"));
    free(html);
    result_release(&result);
}

static void marks_stand_under_their_numbers(void **state)
{
    static const struct view_column columns[] = { { "0   4", VIEW_CODE }, { "n", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), 1);
    char *html;

    (void)state;
    view_cell(table, 0, 0, "#.#.");
    view_cell(table, 0, 1, "4");
    html = view_html(result);
    assert_well_formed(html);
    assert_non_null(strstr(html, "font-family:monospace;white-space:pre\">#.#.</td>"));
    assert_null(strstr(html, "monospace;white-space:pre\">4"));
    free(html);
    result_release(&result);
}

static void empty_views_and_large_tables_are_well_formed(void **state)
{
    static const struct view_column columns[] = { { "warps", VIEW_RIGHT } };
    struct result *result = result_new("test", 1);
    char *html = view_html(result);

    (void)state;
    assert_well_formed(html);
    free(html);
    view_add_table(result, columns, 1, 4096);
    view_add_table(result, columns, 0, 0);
    html = view_html(result);
    assert_well_formed(html);
    assert_int_equal(markup_count(html, "<tr>"), 4096 + 1);
    free(html);
    result_release(&result);
}

static struct result *slider_sample(size_t frames, const char *label)
{
    struct result *result = result_new("simulate", 1);
    struct figure *figure = figure_new(result, "t", "d", "Busy 20 % to 100 %.");
    static const double x[] = { 1, 2 }, y[] = { 0.2, 1 };

    for (size_t i = 0; i < frames; i++) {
        struct figure *frame = figure_add_frame(figure, "warps", label, label, label, label);
        struct panel *panel = figure_add_lines(frame, label, (struct figure_axis){ .label = label },
                                               (struct figure_axis){ .unit = UNIT_PERCENT });

        panel_add_series(panel, label, x, y, COUNT(x));
    }
    return result;
}

static char *slider_html(const struct result *result)
{
    struct buf out = { 0 };

    slider_put_html(&out, result->figure);
    return buf_take(&out);
}

static void a_slider_shows_its_first_frame_without_style_or_script(void **state)
{
    struct result *result = slider_sample(12, "warps=5");
    char *html = slider_html(result);

    (void)state;
    assert_well_formed(html);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<svg"));
    assert_int_equal(markup_count(html, "<img"), 12);
    assert_int_equal(markup_count(html, "<div style=\"display:none\"><img"), 11);
    assert_int_equal(markup_count(html, "type=\"radio\""), 12);
    assert_int_equal(markup_count(html, " checked "), 1);
    assert_int_equal(markup_count(html, "value=\"5\""), 12);
    free(html);
    result_release(&result);
}

static void hostile_frames_stay_text(void **state)
{
    struct result *result = slider_sample(2, HOSTILE);
    char *html = slider_html(result);

    (void)state;
    assert_well_formed(html);
    assert_null(strstr(html, "<script"));
    free(html);
    result_release(&result);
}

static void sliders_are_limited_and_say_so(void **state)
{
    struct result *result = slider_sample(SLIDER_MAX_FRAMES + 10, "n=1"),
                  *none = slider_sample(0, "");
    char *html = slider_html(result), *empty = slider_html(none);

    (void)state;
    assert_int_equal(markup_count(html, "<img"), SLIDER_MAX_FRAMES);
    assert_non_null(strstr(html, "The first 64 of 74 frames."));
    assert_string_equal(empty, "");
    free(html);
    free(empty);
    result_release(&result);
    result_release(&none);
}

static void bundles_come_in_order_and_never_html_beside_svg(void **state)
{
    struct result *result = slider_sample(3, "warps=1");
    struct rendering out;
    struct err err = { 0 };
    static const double v[] = { 1 };

    (void)state;
    json_object_set_new(result->fields, "device", json_object());
    panel_add_series(figure_add_lines(result->figure, NULL, (struct figure_axis){ 0 },
                                      (struct figure_axis){ 0 }),
                     "s", v, v, 1);
    assert_int_equal(render_result(result, &out, &err), 0);
    assert_int_equal(out.count, 3);
    assert_non_null(json_object_get(out.bundles[0], "application/vnd.warpbook.v1+json"));
    assert_non_null(json_object_get(out.bundles[0], "text/html"));
    assert_non_null(json_object_get(out.bundles[1], "image/svg+xml"));
    assert_null(json_object_get(out.bundles[1], "text/html"));
    assert_string_equal(json_string_value(json_object_get(out.bundles[1], "text/plain")),
                        "Busy 20 % to 100 %.");
    assert_non_null(json_object_get(out.bundles[2], "text/html"));
    for (size_t i = 0; i < out.count; i++)
        assert_non_null(json_object_get(out.bundles[i], "text/plain"));
    rendering_done(&out);
    assert_int_equal(out.count, 0);
    result_release(&result);
}

static void a_result_without_figure_is_one_bundle(void **state)
{
    struct result *result = result_new("test", 1);
    struct rendering out;
    struct err err = { 0 };

    (void)state;
    json_object_set_new(result->fields, "x", json_integer(1));
    json_object_set_new(result->fields, "input", json_object());
    json_object_set_new(result->fields, "device", json_object());
    assert_int_equal(render_result(result, &out, &err), 0);
    assert_int_equal(out.count, 1);
    {
        char *json = json_dumps(json_object_get(out.bundles[0], "application/vnd.warpbook.v1+json"),
                                JSON_COMPACT);

        assert_string_equal(json,
                            "{\"kind\":\"test\",\"schema\":1,\"device\":{},\"input\":{},\"x\":1}");
        free(json);
    }
    rendering_done(&out);
    result_release(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_roles_are_those_of_the_text),
        cmocka_unit_test(hostile_labels_stay_text),
        cmocka_unit_test(html_has_no_colour_script_style_element_or_id),
        cmocka_unit_test(blanks_that_stand_together_stay_apart),
        cmocka_unit_test(marks_stand_under_their_numbers),
        cmocka_unit_test(empty_views_and_large_tables_are_well_formed),
        cmocka_unit_test(a_slider_shows_its_first_frame_without_style_or_script),
        cmocka_unit_test(hostile_frames_stay_text),
        cmocka_unit_test(sliders_are_limited_and_say_so),
        cmocka_unit_test(bundles_come_in_order_and_never_html_beside_svg),
        cmocka_unit_test(a_result_without_figure_is_one_bundle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
