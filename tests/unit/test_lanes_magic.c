/*
 * %lanes as a cell sees it: fields, words, and what it refuses. Expressions of
 * threads (cells/threads.c) are tried here too.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%lanes if={lane < 24} then=4 else=4 after=4\n%check _.kind == \"lanes\"\n"
        "%check _.passes == 2\n%check _.paths == 2\n%check _.issue_slots == 12\n"
        "%check _.lane_slots == 256\n%check _.undivided_slots == 8\n%check _.time_ratio == 1.5\n"
        "%check _.warps.total == 1\n%check _.warps.split == 1\n%check _.cycles == 12\n"
        "%check _.per_warp[0].masks == [0x00ffffff, 0xff000000]\n"
        "%check _.per_warp[0].stretches[1].path == 1\n%check _.per_warp[0].split\n"
        "%check _.timeline.its == \"AAAABBBB>>>>\"\n%check _.device.source == \"model\"\n"
        "%check _.input.if == \"lane < 24\"",
        "%lanes if={lane < 24} then=2 else=0 before=3 wait=4\n%check _.issue_slots == 5\n"
        "%check _.cycles == 3 + 2 + 4\n%check _.timeline.stack == \"<<<AA....\"",
        "%lanes if=[lane < 16, lane % 2 == 0]\n%check _.paths == 4\n"
        "%check _.per_warp[0].masks[0] == 0x5555\n%check count(_.input.if) == 2",
        "%lanes depth=30\n%check _.paths == 32",
        "%lanes path={-(lane / 16)} length={5 - path}\n%check _.per_warp[0].stretches[0].path == -1"
        "\n%check _.issue_slots == 6 + 5",
        "%lanes trips={0}\n%check _.issue_slots == 0\n%check _.lane_efficiency == 1\n"
        "%check _.warps.idle == 1\n%check _.time_ratio == 1",
        "%lanes if={lane < 4} block=33 grid=2\n%check _.warps.total == 4\n"
        "%check _.warps.split == 2\n%check _.per_warp[1].masks == [1]",
        "%lanes paths=2 wait=8 its=off\n%check _.cycles == _.cycles_stack\n"
        "%check _.cycles_its == 16\n%check _.cycles == 24",
        "%lanes paths=1..4 wait=[0,8]\n%check count(_.sweep) == 8\n"
        "%check _.sweep[7].paths == 4\n%check _.sweep[7].paths_taken == 4\n"
        "%check _.sweep[7].cycles == 16 + 8",
        "%lanes if={lane < 3} grid=100 block=32\n%check _.warps.total == 100\n"
        "%check count(_.per_warp) == 64",
    };
    harness_passes(*state, cells, COUNT(cells));
}

/* Braces, quotes, nothing around it: the same; C's names and the session's own in one. */
static void expressions_name_threads_and_variables(void **state)
{
    static const struct {
        const char *cell, *mask;
    } cases[] = {
        { "%lanes if={lane < 8}", "0xff" },
        { "%lanes if=\"lane < 8\"", "0xff" },
        { "%lanes if=lane < 8 then=3", "0xff" },
        { "%lanes if={ threadIdx.x < blockDim.x / 4 }", "0xff" },
        { "m = 8\n%lanes if={lane < m}", "0xff" },
        { "lane = 40\n%lanes if={lane < 8}", "0xff" },
        { "%lanes if={lane * 0.25 < 2.0}", "0xff" },
        { "%lanes if={ty == 1} block=(8,8)", "0xff00" },
        { "%lanes if={y == 1 && tx < 4} block=(8,8)", "0xf00" },
        { "%lanes if={tz == 1 && z == 1} block=(4,4,2)", "0xffff0000" },
        { "%lanes if={blockIdx.x == gridDim.x - 1 || lane < 4} grid=2", "0xf" },
        { "%lanes if={i < 40 && warp == 0 && lane < 4} block=64", "0xf" },
        { "%lanes if={min(lane, 7) == lane}", "0xff" },
        { "#define EDGE 8\n%lanes if={lane < EDGE}", "0xff" },
    };
    char code[200];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(code, sizeof(code), "%s\n%%check _.per_warp[0].masks[0] == %s", cases[i].cell,
                 cases[i].mask);
        harness_must_run(*state, code);
    }
    harness_must_run(*state, "%reset data");
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_mark cases[] = {
        { "%lanes if={lne < 3}", "NameError", "lane is the nearest", "lne" },
        { "%lanes if=\"lne < 3\"", "NameError", "lane is the nearest", "lne" },
        { "%lanes if=[lane < 3, lne]", "NameError", "lane is the nearest", "lne" },
        { "%lanes if={ \"a\" }", "UsageError", "is a text, not a number", "\"a\"" },
        { "%lanes if={lane < 3 3}", "SyntaxError", "stands where", "3" },
        { "%lanes if={7 / lane}", "ValueError", "divides by zero", "7 / lane" },
        { "%lanes if=[]", "UsageError", "the list is empty", "[]" },
        { "%lanes path={lane * 0.5}", "UsageError", "an integer is needed", "lane * 0.5" },
        { "%lanes trips={lane - 5}", "ValueError", "trips is -5 for thread 0: it is 0 to 10000",
          "lane - 5" },
        { "%lanes trips={20000}", "ValueError", "it is 0 to 10000", "20000" },
        { "%lanes trips={3} length={lane}", "ValueError", "the body of a loop has one length",
          "lane" },
        { "%lanes path={lane % 2} length={lane}", "ValueError", "a path has one length", "lane" },
        { "%lanes trips={10000} length=1000", "ValueError", "the model goes to 1000000", "10000" },
        { "%lanes if={lane} paths=7", "UsageError", "are two branches: one at a time", "7" },
        { "%lanes paths=2 then=3", "UsageError", "then= belongs to if=", "3" },
        { "%lanes if=[lane, tid] else=3", "UsageError", "length= says how long", "3" },
        { "%lanes paths=33", "ValueError", "paths is 1 to 32", "33" },
        { "%lanes wait=-1", "ValueError", "wait is 0 to 10000", "-1" },
        { "%lanes its=maybe", "UsageError", "its=maybe is unknown", "maybe" },
        { "%lanes grid=5000", "ValueError", "65536 are allowed; 2048 blocks fit", "5000" },
        { "%lanes block=(64,32)", "ValueError", "1024 are allowed", "(64,32)" },
    };
    struct harness *h = *state;

    harness_marks(h, cases, COUNT(cases));
}

static void texts_read_as_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%lanes if={lane < 24} after=4",
          "Lanes busy 66.7 %: 2 paths in 2 passes, 12 slots for the work of 8 (1.5x).\n",
          { "A then  ########################........" } },
        { "%lanes if={tid % 2 == 0} block=64",
          "Lanes busy 50 %: 2 of 2 warps split, 16 slots for the work of 8 (2x).\n",
          { "0..1     1  A then  #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#." } },
        { "%lanes if={warp % 2 == 0} block=64",
          "Lanes busy 100 %: no warp splits, so the branch costs nothing (1x).\n",
          { "splits every warp" } },
        { "%lanes if={warp % 2 == 0} block=64",
          "Lanes busy 100 %",
          { "     1     1  B else  ####" } },
        { "%lanes path={100 * warp} block=64", "Lanes busy 100 %", { "B path 100" } },
        { "%lanes path={lane / 2 + 17 * warp + lane / 31} block=64",
          "Lanes busy",
          { "A path 17" } },
        { "%lanes trips={4 + lane % 5} length=1",
          "Lanes busy 73.8 %: 8 trips of the longest lane, 8 slots for the work of 5.9",
          { ".####.####.####.####.####.####.#" } },
        { "%lanes paths=2 wait=8", "Lanes busy 50 %", { "wait hides behind the other," } },
        { "%lanes paths=4 wait=10", "Lanes busy 25 %", { "wait hides behind the others," } },
        { "%lanes paths=2 wait=8", "Lanes busy 50 %", { "its    AAAABBBB........" } },
        { "%lanes if={i < 40} else=0 block=96", "Lanes busy 62.5 %", { "nothing to do" } },
        { "%lanes if={lane < warp} block=1024", "Lanes busy", { "more" } },
        { "%lanes paths=32 wait=10000 before=9999 after=9999", "Lanes busy", { "first 72: A B" } },
        { "%lanes trips={lane * 100} length=3 block=(16,16)", "Lanes busy", { "2801..2900" } },
        { "%lanes paths=2 wait=0..20 its=[off,on]", "8 to 48 cycles", { "paths=2 wait=0..20" } },
        { "%lanes depth=0..7",
          "Lanes busy 3.1 % to 100 %: 32x the slots at depth=5",
          { "depth=7" } },
    };
    struct harness *h = *state;

    harness_shows(h, cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(expressions_name_threads_and_variables, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(bad_values_name_their_limit, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(texts_read_as_they_should, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
