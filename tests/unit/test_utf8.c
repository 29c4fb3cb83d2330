/* Program output becomes UTF-8, however it is cut; cursors count code points. */
#include "jupyter-kernel/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BAD "\xEF\xBF\xBD"

static const struct {
    const char *text, *repaired;
} CASES[] = {
    { "plain", "plain" },
    { "", "" },
    { "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80" },
    { "a\xFF"
      "b",
      "a" BAD "b" },
    { "\x80\x80", BAD BAD },
    { "\xC0\xAF", BAD BAD },                 /* overlong '/' */
    { "\xE0\x80\xAF", BAD BAD BAD },         /* overlong '/' */
    { "\xED\xA0\x80", BAD BAD BAD },         /* a surrogate */
    { "\xF4\x90\x80\x80", BAD BAD BAD BAD }, /* beyond U+10FFFF */
    { "\xE2\x82", BAD },                     /* cut at the end */
    { "\xE2\x82x", BAD "x" },
    { "\xF0\x9F\x98\xC3\xA4", BAD "\xC3\xA4" },
};

static void every_split_gives_the_same_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t n = strlen(CASES[i].text);

        for (size_t step = 1; step <= n + 1; step++) {
            struct utf8_carry carry = { 0 };
            struct buf out = { 0 };

            for (size_t at = 0; at < n; at += step)
                utf8_repair(&carry, CASES[i].text + at, at + step < n ? step : n - at, &out);
            utf8_finish(&carry, &out);
            assert_string_equal(buf_text(&out), CASES[i].repaired);
            buf_done(&out);
        }
    }
}

static void zeros_pass(void **state)
{
    struct utf8_carry carry = { 0 };
    struct buf out = { 0 };

    (void)state;
    utf8_repair(&carry, "a\0b", 3, &out);
    assert_int_equal(out.size, 3);
    assert_memory_equal(out.data, "a\0b", 3);
    buf_done(&out);
}

static void json_strings_are_always_made(void **state)
{
    json_t *json = utf8_json("x\xFF");

    (void)state;
    assert_string_equal(json_string_value(json), "x" BAD);
    json_decref(json);
    json = utf8_json(NULL);
    assert_string_equal(json_string_value(json), "");
    json_decref(json);
}

static void offsets_are_code_points_outside_and_bytes_inside(void **state)
{
    /* a, a with umlaut, an emoji, and a Hangul syllable: 1 + 2 + 4 + 3 bytes */
    struct bytes text = bytes_of("a\xC3\xA4\xF0\x9F\x98\x80\xED\x95\x9C");
    static const size_t bytes[] = { 0, 1, 3, 7, 10, 10, 10 };

    (void)state;
    for (size_t points = 0; points < COUNT(bytes); points++)
        assert_int_equal(utf8_bytes(text, points), bytes[points]);
    for (size_t points = 0; points < 5; points++)
        assert_int_equal(utf8_points(text, bytes[points]), points);
    assert_int_equal(utf8_points(text, 99), 4);
    assert_int_equal(utf8_bytes((struct bytes){ "", 0 }, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_gives_the_same_text),
        cmocka_unit_test(zeros_pass),
        cmocka_unit_test(json_strings_are_always_made),
        cmocka_unit_test(offsets_are_code_points_outside_and_bytes_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
