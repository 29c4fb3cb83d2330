/*
 * %access as a cell sees it: the published counts of strides and banks as fields,
 * words, and what it refuses.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%access\n%check _.kind == \"access\"\n%check _.requests == 1\n%check _.sectors == 4\n"
        "%check _.best_sectors == 4\n%check _.sectors_per_request == 4\n%check _.lines == 1\n"
        "%check _.efficiency == 1\n%check _.useful_bytes == 128\n%check _.moved_bytes == 128\n"
        "%check _.line_utilization == 1\n%check _.per_warp[0].lanes == 32\n"
        "%check _.device.source == \"model\"\n%check _.input.index == \"tid\"",
        /* Useful 100, 50, 25, 12.5 % for strides 1, 2, 4, 8 and more. */
        "%access stride=[1,2,4,8,32]\n%check _.sweep.efficiency == [1,0.5,0.25,0.125,0.125]",
        "%access index={lane * 8}\n%check _.sectors == 32\n%check _.line_utilization == 0.125",
        "%access offset=1\n%check _.sectors == 5\n%check _.lines == 2",
        "%access base=32\n%check _.sectors == 4\n%check _.lines == 2",
        "%access stride=0\n%check _.sectors == 1\n%check _.efficiency == 0.125",
        "%access bytes=16 block=64\n%check _.sectors == 32\n%check _.sectors_per_request == 16",
        "%access if={lane < 8}\n%check _.sectors == 1\n%check _.per_warp[0].lanes == 8",
        "%access if={0}\n%check _.requests == 0\n%check _.efficiency == 1",
        "%access index={31 - lane}\n%check _.sectors == 4",
        "%access space=shared stride=32\n%check _.passes == 32\n%check _.degree == 32\n"
        "%check _.conflicts == 31\n%check _.best_passes == 1\n%check _.efficiency == 1.0 / 32",
        "%access space=shared stride=32 pad=1\n%check _.conflicts == 0",
        "%access space=shared bytes=8 stride=2\n%check _.passes == 4\n%check _.degree == 2\n"
        "%check _.best_passes == 2",
        "%access space=shared stride=0\n%check _.passes == 1",
        "%access index={tx * 16 + ty} row=16 pad=[0,1] block=(16,16) space=shared\n"
        "%check _.sweep[0].degree == 8\n%check _.sweep[1].degree == 2",
        "%access index=[lane, lane ^ 1, lane * 2]\n%check _.sweep[2].sectors == 8\n"
        "%check _.sweep[1].index == \"lane ^ 1\"",
        "k = 3\n%access index={lane * k}\n%check _.sectors == 12",
        "%access block=40\n%check _.requests == 2\n%check _.per_warp[1].sectors == 1",
    };
    harness_passes(*state, cells, COUNT(cells));
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_mark cases[] = {
        { "%access bytes=3", "ValueError", "1, 2, 4, 8 or 16 bytes at once", "3" },
        { "%access bytes=[4,12]", "ValueError", "bytes=12", "[4,12]" },
        { "%access bytes=32", "ValueError", "bytes is 1 to 16", "32" },
        { "%access base=2", "ValueError", "base=2 is misaligned", "2" },
        { "%access base=8 bytes=16", "ValueError", "a multiple of 16", "8" },
        { "%access index={lane - 3}", "ValueError", "-3 for thread 0: an array starts at 0",
          "lane - 3" },
        { "%access index={lne}", "NameError", "lane is the nearest", "lne" },
        { "%access index=[lane, lne]", "NameError", "lane is the nearest", "lne" },
        { "%access index={lane * 0.5}", "UsageError", "an integer is needed", "lane * 0.5" },
        { "%access index={lane << 45}", "ValueError", "at most 2^44", "lane << 45" },
        { "%access index={lane * 9000} space=shared", "ValueError",
          "shared memory of a block ends at 101376", "lane * 9000" },
        { "%access space=local", "UsageError", "space=local is unknown", "local" },
        { "%access stride=-1", "ValueError", "stride is 0 to 1048576", "-1" },
        { "%access warp=3", "ValueError", "the block has 1 warp, numbered 0 to 0", "3" },
        { "%access block=(64,32)", "ValueError", "1024 are allowed", "(64,32)" },
    };
    struct harness *h = *state;

    harness_marks(h, cases, COUNT(cases));
}

static void texts_read_as_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%access index={tid} stride=2",
          "Useful 50 %: one request moves 8 sectors for 128 bytes (best 4).\n",
          { "128  #-#-#-#- #-#-#-#- #-#-#-#- #-#-#-#-" } },
        { "%access stride=[1,2,8]", "Useful 12.5 % to 100 %", { "Next: %access stride=8 shows" } },
        { "%access offset=1", "Useful 80 %", { "With offset=0 base=0, 4 sectors" } },
        { "%access stride=0",
          "Useful 12.5 %: one request moves 1 sector for 4 bytes",
          { "best 1" } },
        { "%access space=shared stride=32",
          "32-way bank conflict: one request takes 32 passes (best 1), 31 too many.\n",
          { "With pad=1, 1 pass: rows of 33" } },
        { "%access index={tx * 32 + ty} block=(32,8) space=shared pad=1",
          "No bank conflict: 8 requests take 8 passes, the fewest possible.\n",
          { "index={tx * 32 + ty}" } },
        { "%access stride=1000000 bytes=16 offset=1000000000 block=1024",
          "Useful 50 %",
          { "lines more" } },
        { "%access if={0}", "No thread takes part", { "stride=1..32" } },
        { "%access stride=1..64 space=shared", "Banks used 3.1 % to 100 %", { "first 40 of 64" } },
    };
    struct harness *h = *state;

    harness_shows(h, cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(bad_values_name_their_limit, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(texts_read_as_they_should, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
