/*
 * %schedule as a cell sees it: fields, words and figures of launches and sweeps,
 * costs given as expressions, and values that no launch can have.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%schedule\n%check _.kind == \"schedule\"\n%check _.device.source == \"model\"\n"
        "%check _.blocks == 1000\n%check _.sms == 142\n%check _.blocks_per_sm == 6\n"
        "%check _.places == 852\n%check _.full_waves == 1\n%check _.partial_blocks == 148\n"
        "%check _.waves == 1000.0 / 852 +- 0.000001\n%check _.cycles == 2000\n"
        "%check _.efficiency == _.tail_efficiency\n%check _.work == 1000000\n"
        "%check _.time_us == 2000.0 / 2520 +- 0.000001\n%check _.occupancy == 1\n"
        "%check _.tail.cycles == 1000\n%check _.tail.share == 0.5\n%check _.tail.warns\n"
        "%check _.timeline.sms[0].count == 6\n%check _.timeline.sms[1].blocks == 7\n"
        "%check _.timeline.resident[0] == 852\n%check count(_.timeline.blocks) == 1000",
        /* A dimension counts all its blocks and threads. */
        "%schedule grid=(10,5,2) block=(16,16)\n%check _.blocks == 100\n"
        "%check _.blocks_per_sm == 6\n%check _.sm_busy == 100.0 / 142 +- 0.000001",
        "%schedule grid=1 sms=1 per_sm=1\n%check _.work == 1000\n"
        "%check _.tail.cycles == 0 && !_.tail.warns && _.efficiency == 1",
        "%schedule device=cc=8.9 sms=10 grid=20\n%check _.places == 60",
        "%buffer int costs[6] = (10, 20, 30, 40, 50, 60)\n"
        "%schedule grid=6 sms=3 per_sm=1 cost=\"costs[i]\"\n%check _.work == 210\n"
        "%check _.timeline.blocks[3].start == 10 && _.timeline.blocks[3].sm == 0",
        "a = %schedule jitter=300 seed=1\nb = %schedule jitter=300 seed=1\n"
        "c = %schedule jitter=300 seed=2\n%check a.work == b.work && a.cycles == b.cycles\n"
        "%check a.work != c.work",
        "%schedule grid=100 cost=[10,20]\n%check _.sweep[1].cycles == 2 * _.sweep[0].cycles",
        "%schedule grid=8 sms=2 per_sm=1 cost=[\"10 + i\",\"20\"]\n"
        "%check _.sweep[1].cycles == 80",
        "%schedule grid=[1,2] sms=[1,2] per_sm=1\n%check count(_.sweep) == 4\n"
        "%check _.best.efficiency == 1",
        /* Starting costs as calibrated: more than free starts, and less busy. */
        "a = %schedule device=H200\nb = %schedule device=H200 start=device launch=device\n"
        "%check b.cycles > a.cycles + 3000 && b.work == a.work && b.efficiency < a.efficiency",
        /* What an expression leaves in memory is freed on the way: here 40 lists of a million. */
        "%schedule grid=40 sms=1 per_sm=1 cost=\"count(1..1000000)\"\n%check _.work == 40000000",
        "%schedule grid=1M block=32 cost=7\n%check _.blocks == 1048576",
    };
    harness_passes(*state, cells, COUNT(cells));
}

static void a_clock_that_nobody_knows_gives_no_time(void **state)
{
    assert_fails((struct harness *)*state, "%schedule device=cc=8.9 sms=4\n%check _.time_us > 0",
                 "UsageError", "null");
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_failure cases[] = {
        { "%schedule grid=0", "ValueError", "grid=0: grid is 1 to 4194304" },
        { "%schedule grid=(5000,5000)", "ValueError",
          "a grid that is run block by block has 1 to" },
        { "%schedule block=1025", "ValueError", "block=1025: block is 1 to 1024" },
        { "%schedule block=(64,32)", "ValueError", "block=(64,32): a block has 1 to 1024" },
        { "%schedule block=1024 regs=65", "LaunchError",
          "no block of 1024 threads with 65 registers a thread and 0 shared bytes fits" },
        { "%schedule device=cc=9.0", "ValueError", "cc 9.0 has no number of SMs" },
        { "%schedule device=L40X", "NameError", "L40S is the nearest" },
        { "%schedule nosuch", "NameError", "nosuch" },
        { "%schedule cost=0", "ValueError",
          "cost is 0: a block takes 1 to 1000000000 whole cycles; 1 is the nearest" },
        { "%schedule cost=1.5", "ValueError", "cost is 1.5: a block takes 1 to 1000000000 whole" },
        { "%schedule cost=\"sqrt(i - 1)\"", "ValueError", "cost of block 0 is no number" },
        { "%schedule cost=\"1 / (0.0 * i)\"", "ValueError", "cost of block 0" },
        { "%schedule cost=(1,2)", "UsageError", "cost= takes cycles, or an expression" },
        { "%schedule grid=9 cost=\"5 - i\"", "ValueError", "cost of block 5 is 0" },
        { "%schedule cost=\"i +\"", "SyntaxError", "" },
        { "%schedule cost=\"10 i\"", "SyntaxError", "i stands behind the expression of cost=" },
        { "%schedule cost=\"10 * j\"", "NameError", "j" },
        { "%schedule jitter=-1", "ValueError", "jitter=-1: jitter is 0 to" },
        { "%schedule sms=0", "ValueError", "sms=0: sms is 1 to 1024" },
        { "%schedule per_sm=65", "ValueError", "per_sm=65: per_sm is 1 to 64" },
        { "%schedule start=gpu", "", "" },
        { "%schedule launch=device device=cc=8.9 sms=4", "ValueError", "the clock of cc 8.9" },
        { "%schedule grid=4M cost=\"i + 1\"", "ValueError",
          "evaluated for 1048576 blocks at most" },
        { "%schedule gird=4", "UsageError", "grid" },
    };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(cases); i++)
        if (harness_run(h, cases[i].code) == 0 ||
            (*cases[i].name && strcmp(h->report.ename, cases[i].name) != 0) ||
            !strstr(h->report.evalue, cases[i].part))
            fail_msg("%s: %s: %s", cases[i].code, h->report.ename ? h->report.ename : "no error",
                     h->report.evalue ? h->report.evalue : "");
}

static void a_caret_points_into_the_cost(void **state)
{
    struct harness *h = *state;
    bool is_found = false;

    assert_fails(h, "%schedule cost=\"10 + nosuch\"", "NameError", "nosuch");
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        is_found |= strstr(h->report.traceback[i], "                       ^") != NULL;
    assert_true(is_found);
}

static void tables_say_what_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%schedule grid=133 device=H200 per_sm=1",
          NULL,
          { "133 blocks: 1.008 waves, 2,000 cycles = 1.01 us. Places busy 50.4 %.\n"
            "H200 (model, cc 9.0)  grid=133 per_sm=1  defaults: cost=1000",
            "SM 0               0000000000000000000000000111",
            "block 132 starts on SM 0 in cycle 1,000, as soon as a place is free",
            "the partial wave takes up to 50 % of the time",
            "132 of 133 blocks can meet at one: a cooperative launch of all",
            "To have no tail: grid=132 or grid=264" } },
        { "%schedule grid=1000 device=H200",
          NULL,
          { "SM 76..131 place 0  00000", "           place 7  .....",
            "1,000 of 1,000 blocks can meet at one (cooperative launch)" } },
        { "%schedule grid=50", NULL, { "To fill all places: grid=852" } },
        { "%schedule grid=852",
          NULL,
          { "1 whole, no partial one: 100 %", "nobody: all blocks are" } },
        { "%schedule grid=1..532 device=H200 per_sm=1",
          NULL,
          { "Places busy 0.8 % to 100 %: the best first at grid=132.", "1..132    >",
            "50.4 %..100 %", "529..532" } },
        { "%schedule grid=264 sms=[2,4,132] per_sm=1",
          NULL,
          { "66 times as fast: 132,000 cycles at sms=2, 2,000 at sms=132, the same blocks." } },
        { "%schedule grid=500 jitter=99", NULL, { "kinds of SM" } },
        { "%schedule grid=[10,20] sms=[2,4] cost=\"5 + i\" per_sm=1",
          NULL,
          { "Next: %schedule grid=20 cost=\"5 + i\" sms=" } },
    };
    struct harness *h = *state;

    harness_shows(h, cases, COUNT(cases));
}

static void no_line_is_wider_than_a_notebook(void **state)
{
    static const char *const cells[] = {
        "%schedule grid=100000 cost=\"100 + i % 7\"",
        "%schedule grid=500 sms=1024 per_sm=2",
        "%schedule grid=1000000 sms=1024 per_sm=64 cost=999999999",
        "%schedule grid=1..2000 device=H200",
        "%schedule grid=777 device=A100 regs=77 static=12345 dynamic=777 jitter=1000000 seed=77 "
        "start=device launch=device",
        "%schedule grid=[1,2,3] block=[32,64] device=[T4,A100,H200]",
        "%schedule grid=99 sms=3 per_sm=20",
        "%schedule grid=99 sms=9 per_sm=2 cost=\"100 + 1000000 * (i % 7 == 3) + 5 * (i % 3)\"",
    };
    struct harness *h = *state;

    harness_passes(h, cells, COUNT(cells));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_nobody_knows_gives_no_time, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(bad_values_name_their_limit, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_caret_points_into_the_cost, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_should, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(no_line_is_wider_than_a_notebook, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
