/*
 * %layout as a cell sees it: fields, words, and what it refuses.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%layout block=100\n%check _.kind == \"layout\"\n%check _.threads == 100\n"
        "%check _.warps == 4\n%check _.idle_lanes == 28\n%check _.lane_efficiency == 0.78125\n"
        "%check _.blocks == 1\n%check _.total_warps == 4\n%check _.device.source == \"model\"\n"
        "%check _.per_warp[3].first == [96,0,0]\n%check _.per_warp[3].mask == 15\n"
        "%check count(_.per_warp) == 4\n%print _.thread",
        "%layout block=(8,8,2) thread=(3,2,1)\n%check _.thread.tid == 83\n"
        "%check _.thread.warp == 2\n%check _.thread.lane == 19\n%check _.thread.i == 83",
        "%layout block=(8,8,2) thread=83\n%check _.thread.threadIdx == [3,2,1]",
        "%layout block=(8,8) thread=(3)\n%check _.thread.tid == 3",
        "%layout block=(8,8) grid=(2,2) blockIdx=3 thread=0\n"
        "%check _.thread.blockIdx == [1,1,0]\n%check _.thread.x == 8\n%check _.thread.y == 8\n"
        "%check _.thread.i == 192",
        "%layout block=64 grid=4 i=200\n%check _.thread.blockIdx == [3,0,0]\n"
        "%check _.thread.tid == 8\n%check _.thread.x == 200",
        "%layout block=(16,16) n=(40,33)\n%check _.blocks == 9\n%check _.bounds.inside == 40*33",
        "%layout block=(16,16) n=1000\n%check _.blocks == 4\n%check _.bounds.split == 1",
        "%layout block=256 n=0\n%check _.bounds.out == 8\n%check _.bounds.lane_efficiency == 0",
        "%layout block=1..64\n%check _.sweep[31].lane_efficiency == 1\n"
        "%check _.sweep[32].warps == 2\n%check count(_.sweep) == 64",
        "%layout block=[(8,8),(16,16)]\n%check _.sweep[1].warps == 8",
    };
    harness_passes(*state, cells, COUNT(cells));
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_mark cases[] = {
        { "%layout block=(64,32)", "ValueError", "has 2048 threads; 1024 are allowed", "(64,32)" },
        { "%layout block=(1,1,65)", "ValueError", "z is at most 64", "(1,1,65)" },
        { "%layout block=0", "ValueError", "block is 1 to 1024", "0" },
        { "%layout block=100 thread=100", "ValueError", "there are 100, numbered 0 to 99", "100" },
        { "%layout block=(8,8) thread=(8,0)", "ValueError", "the last one is (7,7,0)", "(8,0)" },
        { "%layout block=100 warp=4", "ValueError", "has 4 warps, numbered 0 to 3", "4" },
        { "%layout block=100 warp=3 lane=5", "ValueError", "is idle: the block ends with lane 3",
          "5" },
        { "%layout grid=3 thread=1 blockIdx=9", "ValueError", "there are 3, numbered 0 to 2", "9" },
        { "%layout i=256", "ValueError", "the grid has 256 threads", "256" },
        { "%layout lane=3", "UsageError", "lane= needs warp=", "3" },
        { "%layout thread=1 warp=7", "UsageError", "one of them is enough", "7" },
        { "%layout i=3 blockIdx=0", "UsageError", "says already which block", "0" },
        { "%layout block=1024 grid=(2147483647,65535,65535)", "ValueError", "2^53 threads",
          "(2147483647,65535,65535)" },
        { "%layout thread=1..3", "UsageError", "no range or list", "1..3" },
    };
    struct harness *h = *state;

    harness_marks(h, cases, COUNT(cases));
}

/* The answer comes first, and no line is wider than a table may be. */
static void texts_read_as_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%layout block=100",
          "Lanes in use 78.1 %: 100 threads take 4 warps, and 28 lanes of the last are idle.\n",
          { "####............................" } },
        { "%layout block=33", "Lanes in use 51.6 %: 33 threads take 2 warps", { "#...." } },
        { "%layout block=(8,8,2)",
          "Lanes in use 100 %: 128 threads are 4 warps of 32.\n",
          { "z=1 y=4   33333333" } },
        { "%layout block=256 grid=3 thread=77 blockIdx=2",
          "Thread 77 is lane 13 of warp 2, and its global index is 589.\n",
          { "2*256 + 77 = 589" } },
        { "%layout block=256 n=10000",
          "1 of 320 warps splits at i < 10,000 (0.3 %): 312 pass whole, 7 stay out.\n",
          { "warp 0 of block 39: 16 of its 32 threads pass" } },
        { "%layout block=256 grid=2 n=1000",
          "0 of 16 warps split",
          { "elements 512 to 999 have no" } },
        { "%layout block=(16,16) warp=3",
          "Warp 3 holds threads (0,6) to (15,7): numbers 96 to 127 of the block.\n",
          { ">    3" } },
        { "%layout block=1000 warp=31", "Warp 31 holds threads 992 to 999.\n", { "   10" } },
        { "%layout block=(10,6) grid=(70000,1000,2) n=(600000,900,2) thread=(3,2)",
          "Thread (3,2) is lane 23 of warp 0",
          { "holds for this thread" } },
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
