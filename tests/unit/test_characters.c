/* Program output becomes UTF-8, however it is cut. */
#include "cells/characters.h"

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
            struct characters_carry carry = { 0 };
            struct buf out = { 0 };

            for (size_t at = 0; at < n; at += step)
                characters_repair(&carry,
                                  (struct bytes){ CASES[i].text + at,
                                                  at + step < n ? step : n - at },
                                  &out);
            characters_finish(&carry, &out);
            assert_string_equal(buf_text(&out), CASES[i].repaired);
            buf_done(&out);
        }
    }
}

static void zeros_pass(void **state)
{
    struct buf out = { 0 };

    (void)state;
    characters_repair_all((struct bytes){ "a\0b", 3 }, &out);
    assert_int_equal(out.size, 3);
    assert_memory_equal(out.data, "a\0b", 3);
    buf_done(&out);
}

static void a_character_has_its_size_and_number(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        uint32_t point;
    } cases[] = {
        { "a", 1, 'a' },
        { "\xC3\xA4x", 2, 0xE4 },
        { "\xE2\x82\xAC", 3, 0x20AC },
        { "\xF0\x9F\x98\x80", 4, 0x1F600 },
        { "\xF4\x8F\xBF\xBF", 4, 0x10FFFF },
        { "\xF4\x90\x80\x80", 0, 7 },
        { "\xED\xA0\x80", 0, 7 },
        { "\xE0\x80\xAF", 0, 7 },
        { "\xC0\xAF", 0, 7 },
        { "\xC3", 0, 7 },
        { "\x80", 0, 7 },
        { "", 0, 7 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t point = 7;

        assert_int_equal(character_size(bytes_of(cases[i].text), &point), cases[i].size);
        assert_int_equal(point, cases[i].point);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_gives_the_same_text),
        cmocka_unit_test(zeros_pass),
        cmocka_unit_test(a_character_has_its_size_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
