/* JSON strings of any text; cursors count code points. */
#include "jupyter-kernel/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BAD "\xEF\xBF\xBD"

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
        cmocka_unit_test(json_strings_are_always_made),
        cmocka_unit_test(offsets_are_code_points_outside_and_bytes_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
