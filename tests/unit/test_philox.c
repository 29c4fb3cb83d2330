/*
 * Philox4x32-10 against the vectors that Random123 publishes, and its two maps
 * to numbers at their edges.
 */
#include "model/base/philox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Random123, tests/kat_vectors: "philox4x32 10". */
static void published_vectors_are_met(void **state)
{
    static const struct {
        struct philox counter;
        uint32_t key[2];
        struct philox out;
    } cases[] = {
        { { { 0, 0, 0, 0 } }, { 0, 0 }, { { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } } },
        { { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff } },
          { 0xffffffff, 0xffffffff },
          { { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } } },
        { { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 } },
          { 0xa4093822, 0x299f31d0 },
          { { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct philox out = philox4x32(cases[i].counter, cases[i].key[0], cases[i].key[1]);

        for (int k = 0; k < 4; k++)
            if (out.word[k] != cases[i].out.word[k])
                fail_msg("vector %zu, word %d: %08x, not %08x", i, k, out.word[k],
                         cases[i].out.word[k]);
    }
}

static void seed_index_and_stream_are_key_and_counter(void **state)
{
    struct philox a = philox_at(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e);

    (void)state;
    assert_int_equal(a.word[0], 0xd16cfe09);
    assert_int_equal(a.word[3], 0x24126ea1);
}

static void floats_are_below_one_and_integers_reach_both_ends(void **state)
{
    (void)state;
    assert_true(philox_float(0) == 0.0f);
    assert_true(philox_float(0xffffffff) < 1.0f);
    assert_true(philox_float(0x80000000) == 0.5f);
    assert_int_equal(philox_below(0, 7), 0);
    assert_int_equal(philox_below(0xffffffff, 7), 7);
    assert_int_equal(philox_below(0xffffffff, 0), 0);
    assert_int_equal(philox_below(0xffffffff, 0xffffffff), 0xffffffff);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_are_met),
        cmocka_unit_test(seed_index_and_stream_are_key_and_counter),
        cmocka_unit_test(floats_are_below_one_and_integers_reach_both_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
