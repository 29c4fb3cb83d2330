/* Sectors and bank passes of a warp's access: published figures and cases by hand. */
#include "model/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void strided(uint64_t address[WARP], uint64_t base, uint64_t step)
{
    for (int l = 0; l < WARP; l++)
        address[l] = base + step * (uint64_t)l;
}

static void sectors_grow_with_the_stride_up_to_one_a_lane(void **state)
{
    /* Stride in floats: min(32, ceil(32 * 4 * s / 32)) of aligned rows. */
    static const struct {
        int stride, sectors;
    } cases[] = { { 0, 1 }, { 1, 4 }, { 2, 8 }, { 3, 12 }, { 4, 16 }, { 8, 32 }, { 32, 32 } };
    uint64_t address[WARP];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        strided(address, 4096, 4 * (uint64_t)cases[i].stride);
        assert_int_equal(memory_sectors(address, 0xffffffff, 4), cases[i].sectors);
    }
}

static void an_offset_costs_one_sector_more(void **state)
{
    uint64_t address[WARP];

    (void)state;
    strided(address, 4096 + 4, 4);
    assert_int_equal(memory_sectors(address, 0xffffffff, 4), 5);
    strided(address, 4096 + 32, 4);
    assert_int_equal(memory_sectors(address, 0xffffffff, 4), 4);
}

static void wider_words_take_more_sectors(void **state)
{
    uint64_t address[WARP];

    (void)state;
    strided(address, 0, 1);
    assert_int_equal(memory_sectors(address, 0xffffffff, 1), 1);
    strided(address, 0, 8);
    assert_int_equal(memory_sectors(address, 0xffffffff, 8), 8);
    strided(address, 0, 16);
    assert_int_equal(memory_sectors(address, 0xffffffff, 16), 16);
}

static void order_and_mask_do_not_confuse_the_count(void **state)
{
    uint64_t address[WARP];

    (void)state;
    for (int l = 0; l < WARP; l++)
        address[l] = 4096 + 4 * (uint64_t)(l * 7 % 32); /* all 32 words, shuffled */
    assert_int_equal(memory_sectors(address, 0xffffffff, 4), 4);
    strided(address, 4096, 4);
    assert_int_equal(memory_sectors(address, 0x000000ff, 4), 1);
    assert_int_equal(memory_sectors(address, 0x00000101, 4), 2);
    assert_int_equal(memory_sectors(address, 0, 4), 0);
}

static void passes_are_the_greatest_common_divisor_of_stride_and_32(void **state)
{
    static const struct {
        int stride, passes;
    } cases[] = { { 1, 1 },   { 2, 2 },   { 3, 1 },  { 4, 4 }, { 8, 8 },
                  { 16, 16 }, { 32, 32 }, { 33, 1 }, { 31, 1 } };
    uint64_t address[WARP];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        strided(address, 128, 4 * (uint64_t)cases[i].stride);
        assert_int_equal(memory_passes(address, 0xffffffff, 4), cases[i].passes);
    }
}

static void lanes_that_read_the_same_word_share_a_pass(void **state)
{
    uint64_t address[WARP];

    (void)state;
    strided(address, 64, 0);
    assert_int_equal(memory_passes(address, 0xffffffff, 4), 1);
    for (int l = 0; l < WARP; l++)
        address[l] = (uint64_t)l; /* bytes of eight words */
    assert_int_equal(memory_passes(address, 0xffffffff, 1), 1);
    for (int l = 0; l < WARP; l++)
        address[l] = 128 * (uint64_t)(l % 2); /* two words of one bank */
    assert_int_equal(memory_passes(address, 0xffffffff, 4), 2);
}

static void wide_words_go_by_halves_and_quarters(void **state)
{
    uint64_t address[WARP];

    (void)state;
    strided(address, 0, 8);
    assert_int_equal(memory_passes(address, 0xffffffff, 8), 2);
    assert_int_equal(memory_best_passes(0xffffffff, 8), 2);
    strided(address, 0, 16);
    assert_int_equal(memory_passes(address, 0xffffffff, 16), 4);
    assert_int_equal(memory_best_passes(0x000000ff, 16), 1);
    strided(address, 0, 128); /* each half has 16 words of a bank */
    assert_int_equal(memory_passes(address, 0xffffffff, 8), 32);
}

/* LESSONS.md has no number for them; the CUDA C++ Programming Guide 13.0 has: gcd(stride, 32). */
static void the_degree_of_a_stride_is_its_gcd_with_32(void **state)
{
    int8_t lane[WARP][BANKS];
    uint64_t address[WARP];

    (void)state;
    for (int stride = 1; stride <= 64; stride++) {
        int degree, gcd = stride & -stride;

        strided(address, 0, 4 * (uint64_t)stride);
        gcd = gcd > 32 ? 32 : gcd;
        assert_int_equal(memory_schedule(address, 0xffffffff, 4, lane, &degree), gcd);
        assert_int_equal(degree, gcd);
    }
}

static void every_lane_is_served_once_by_the_bank_of_its_word(void **state)
{
    static const int sizes[] = { 1, 2, 4, 8, 16 };
    uint64_t seed = 5, address[WARP];
    int8_t lane[WARP][BANKS];

    (void)state;
    for (int round = 0; round < 300; round++) {
        int bytes = sizes[round % 5], degree, passes, served = 0;
        uint32_t mask;

        for (int l = 0; l < WARP; l++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            /* Different words for all, so that none is shared. */
            address[l] = ((seed >> 50) * WARP + (uint64_t)l) * 16;
        }
        mask = (uint32_t)(seed >> 13);
        passes = memory_schedule(address, mask, bytes, lane, &degree);
        assert_int_equal(passes, memory_passes(address, mask, bytes));
        for (int p = 0; p < WARP; p++)
            for (int b = 0; b < BANKS; b++) {
                if (lane[p][b] < 0)
                    continue;
                assert_true(p < passes && (mask >> lane[p][b] & 1));
                assert_true((uint64_t)b >= address[lane[p][b]] / 4 % BANKS);
                served++;
            }
        assert_int_equal(served, __builtin_popcount(mask) * (bytes <= 4 ? 1 : bytes / 4));
    }
}

static void lines_and_bytes_count_what_differs(void **state)
{
    static const struct {
        uint64_t first, step;
        uint32_t mask;
        int bytes, lines, distinct;
    } cases[] = {
        { 0, 4, 0xffffffff, 4, 1, 128 },
        { 4, 4, 0xffffffff, 4, 2, 128 },
        { 0, 128, 0xffffffff, 4, 32, 128 },
        { 512, 0, 0xffffffff, 8, 1, 8 },
        { 0, 16, 0xffffffff, 16, 4, 512 },
        { 0, 64, 0x0000ffff, 4, 8, 64 },
        { 0, 4, 0, 4, 0, 0 },
    };
    uint64_t address[WARP];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        strided(address, cases[i].first, cases[i].step);
        assert_int_equal(memory_lines(address, cases[i].mask), cases[i].lines);
        assert_int_equal(memory_distinct_bytes(address, cases[i].mask, cases[i].bytes),
                         cases[i].distinct);
    }
}

static void an_atomic_takes_a_pass_for_each_lane_at_a_bank(void **state)
{
    /* Lanes go to `words` words side by side, in turn. */
    static const struct {
        int words, passes;
        uint32_t mask;
    } cases[] = { { 1, 32, 0xffffffff }, { 2, 16, 0xffffffff }, { 8, 4, 0xffffffff },
                  { 32, 1, 0xffffffff }, { 1, 1, 1 << 7 },      { 1, 0, 0 } };
    uint64_t address[WARP];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int l = 0; l < WARP; l++)
            address[l] = 4 * (uint64_t)(l % cases[i].words);
        assert_int_equal(memory_atomic_passes(address, cases[i].mask, 4), cases[i].passes);
    }
    strided(address, 0, 128);
    assert_int_equal(memory_atomic_passes(address, 0xffffffff, 4), 32);
    strided(address, 0, 8);
    assert_int_equal(memory_atomic_passes(address, 0xffffffff, 8), 2);
}

static void an_operation_changes_the_words_of_a_sector_once(void **state)
{
    /* As Nsight Compute counts sectors of additions on an H200: 32 a warp at one word, 4 at 32. */
    static const struct {
        int words, operations;
    } cases[] = { { 1, 32 }, { 2, 16 }, { 4, 8 }, { 8, 4 }, { 16, 4 }, { 32, 4 } };
    uint64_t address[WARP];
    int64_t slices[3] = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int l = 0; l < WARP; l++)
            address[l] = 4096 + 4 * (uint64_t)(l % cases[i].words);
        assert_int_equal(memory_atomic_operations(address, 0xffffffff, 80, NULL),
                         cases[i].operations);
    }
    strided(address, 4096 + 4, 4);
    assert_int_equal(memory_atomic_operations(address, 0xffffffff, 80, NULL), 5);
    assert_int_equal(memory_atomic_operations(address, 0, 80, NULL), 0);
    strided(address, 0, 1 << 16);
    assert_int_equal(memory_atomic_operations(address, 0xffffffff, COUNT(slices), slices), 32);
    assert_int_equal(slices[0] + slices[1] + slices[2], 32);
    assert_true(slices[0] < 24 && slices[1] < 24 && slices[2] < 24);
}

static void memory_gives_two_sectors_at_a_time(void **state)
{
    static const struct {
        uint64_t first, step;
        int granules;
    } cases[] = { { 0, 4, 2 },   { 4, 4, 3 },   { 0, 32, 16 },
                  { 0, 48, 24 }, { 0, 64, 32 }, { 0, 128, 32 } };
    uint64_t address[WARP];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        strided(address, cases[i].first, cases[i].step);
        assert_int_equal(memory_granules(address, 0xffffffff), cases[i].granules);
    }
    assert_int_equal(memory_granules(address, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_grow_with_the_stride_up_to_one_a_lane),
        cmocka_unit_test(an_offset_costs_one_sector_more),
        cmocka_unit_test(wider_words_take_more_sectors),
        cmocka_unit_test(order_and_mask_do_not_confuse_the_count),
        cmocka_unit_test(passes_are_the_greatest_common_divisor_of_stride_and_32),
        cmocka_unit_test(lanes_that_read_the_same_word_share_a_pass),
        cmocka_unit_test(wide_words_go_by_halves_and_quarters),
        cmocka_unit_test(the_degree_of_a_stride_is_its_gcd_with_32),
        cmocka_unit_test(an_atomic_takes_a_pass_for_each_lane_at_a_bank),
        cmocka_unit_test(an_operation_changes_the_words_of_a_sector_once),
        cmocka_unit_test(memory_gives_two_sectors_at_a_time),
        cmocka_unit_test(every_lane_is_served_once_by_the_bank_of_its_word),
        cmocka_unit_test(lines_and_bytes_count_what_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
