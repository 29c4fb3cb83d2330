/*
 * %occupancy compare= and maxreg= as a cell sees them: fields, words, figures of two
 * curves, and what does not go together refused.
 */
#include "tests/unit/cell_harness.h"

#include "kernels/child.h"

#define WIDE                                                                                       \
    "__global__ void wide(float *x)\n{\n    float a[96];\n    for (int i = 0; i < 96; i++)\n"      \
    "        a[i] = x[i * 1024 + threadIdx.x];\n    __syncthreads();\n"                            \
    "    for (int i = 0; i < 96; i++)\n"                                                           \
    "        x[(95 - i) * 1024 + threadIdx.x] = a[i] * a[(i * 7 + 1) % 96];\n}\n"

/* Defines a kernel that takes more registers than most; skips where there is no compiler. */
static void define_wide(struct harness *h)
{
    if (harness_run(h, WIDE) < 0 && strcmp(h->report.ename, "DeviceError") == 0)
        skip();
}

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%occupancy block=224 regs=92 device=A100 compare=naive\n%check _.active_blocks == 2\n"
        "%check _.compare.rule == \"naive\"\n%check _.compare.blocks == 3\n"
        "%check _.compare.block == 224\n%check _.compare.occupancy == 672 / 2048.0\n"
        "%check _.compare.difference == 224 / 2048.0\n%check _.input.compare == \"naive\"",
        "%occupancy regs=16..128 compare=naive\n%check _.compare.points == 113\n"
        "%check _.compare.different > 0\n%check _.compare.largest.regs > 32\n"
        "%check _.sweep[0].compare.difference == 0\n%check _.best.occupancy == 1",
        "%occupancy block=100 compare=threads\n%check _.compare.occupancy == 0.78125",
        "%occupancy block=128 compare=fixed\n%check _.compare.blocks == 8\n"
        "%occupancy block=128 compare=fixed parts=12\n%check _.compare.blocks == 12",
        "%occupancy block=1024 regs=40 compare=best\n%check _.compare.block == 768\n"
        "%check _.compare.blocks == 2\n%check _.compare.difference == 512 / 1536.0 +- 0.000001",
        "%occupancy device=[A100,L40S,T4] block=640 compare=best\n%check _.compare.different == 3\n"
        "%check _.compare.largest.device == \"T4\"",
        /* Without compare= nothing of it is there. */
        "a = %occupancy\nb = %occupancy compare=naive\n%check a.active_blocks == b.active_blocks",
    };

    harness_passes(*state, cells, COUNT(cells));
}

static void a_cap_on_registers_is_what_the_compiler_makes_of_it(void **state)
{
    define_wide(*state);
    harness_must_run(
        *state, "%occupancy wide maxreg=[32,64,255]\n%check _.sweep[0].spills.registers == 32\n"
                "%check _.sweep[0].spills.store_bytes > _.sweep[1].spills.store_bytes\n"
                "%check _.sweep[2].spills.store_bytes == 0\n%check _.sweep[2].spills.registers > "
                "64\n%check _.sweep[0].occupancy == 1");
    harness_must_run(*state, "%occupancy wide maxreg=40\n%check _.spills.registers == 40\n"
                             "%check _.spills.stack_bytes > 0");
    /* What the cell itself says gives way, whatever it was compiled with before. */
    harness_must_run(*state, "%%kernel maxreg=32\n" WIDE);
    harness_must_run(*state, "%occupancy wide\n%check _.input.regs == 32");
    harness_must_run(*state, "%occupancy wide maxreg=64\n%check _.input.regs == 64");
    harness_must_run(*state, "%occupancy wide\n%check _.input.regs == 32");
}

static void what_does_not_go_together_is_refused(void **state)
{
    static const struct harness_failure cases[] = {
        { "%occupancy maxreg=32", "UsageError", "maxreg= caps what the compiler gives a kernel" },
        { "%occupancy wide maxreg=32 regs=40", "UsageError", "give one of them" },
        { "%occupancy wide maxreg=16..255 device=[L40S,H200]", "ValueError", "480 compilations" },
        { "%occupancy wide maxreg=8", "ValueError", "maxreg=8: maxreg is 16 to 255" },
        { "%occupancy compare=nave", "UsageError",
          "compare=nave is unknown; naive is the nearest" },
        { "%occupancy compare=fixed parts=25", "ValueError",
          "parts=25: an SM of L40S has 1 to 24 parts" },
        { "%occupancy parts=4", "UsageError", "parts= is of compare=fixed" },
        { "%occupancy compare=naive parts=4", "UsageError", "parts= is of compare=fixed" },
        { "%occupancy compare=fixed parts=0", "ValueError", "parts=0: parts is 1 to 256" },
    };
    struct harness *h = *state;

    define_wide(h);
    harness_fails(h, cases, COUNT(cases));
}

static void tables_say_what_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%occupancy block=224 regs=92 device=A100 compare=naive",
          NULL,
          { "Plain division promises 3 blocks an SM, 32.8 %; the hardware holds 2, 21.9 %.",
            "blocks by registers      >          2                3",
            "each of the 4 partitions has 16,384: 5 warps of 3,072 fit in one, 20" } },
        { "%occupancy compare=naive", NULL, { "Plain division agrees: 6 blocks an SM, 100 %." } },
        { "%occupancy block=100 compare=threads",
          NULL,
          { "Occupancy 100 % by warps, 78.1 % by threads.", "Try block=128, whole warps." } },
        { "%occupancy block=128 compare=threads", NULL, { "both ways of counting agree" } },
        { "%occupancy block=128 compare=fixed",
          NULL,
          { "Fixed parts hold 8 blocks an SM, 66.7 %; shared out as needed it holds 12, 100 %." } },
        { "%occupancy block=1024 regs=40 compare=best",
          NULL,
          { "Blocks of 768 reach 100 % of the threads, blocks of 1,024 66.7 %." } },
        { "%occupancy block=224 device=A100 regs=32..128 compare=naive",
          NULL,
          { "Plain division promises too much at 36 of 97 points,\nup to 21.9 % of an SM at "
            "regs=33.",
            "33..36   >     65.6 %           87.5 %        6            8" } },
        { "%occupancy block=32..1024:32 compare=threads",
          NULL,
          { "Resident warps have idle lanes at none of 32 points." } },
        { "%occupancy block=32..1024:32 regs=16..128:4 device=A100 compare=naive",
          NULL,
          { "at 140 of 928 points", "shows where plain" } },
        { "%occupancy wide maxreg=[32,255]",
          NULL,
          { "without spills (maxreg=255),\nup to 100 % at maxreg=32", "local memory" } },
        { "%occupancy wide maxreg=255", NULL, { "0 bytes stored and 0 loaded a thread" } },
    };
    struct harness *h = *state;

    define_wide(h);
    harness_shows(h, cases, COUNT(cases));
}

static void no_line_is_wider_than_a_notebook(void **state)
{
    static const char *const cells[] = {
        "%occupancy block=1000 regs=92 static=60K compare=naive device=\"RTX PRO 6000 Blackwell\"",
        "%occupancy block=1..1024 compare=threads",
        "%occupancy block=1..1024:7 compare=fixed parts=1..8 device=H200",
        "%occupancy block=1024 regs=255 compare=best",
        "%occupancy device=[A100,H200,L40S,T4] regs=32..128 block=[100,1000] compare=naive",
        "%occupancy wide maxreg=[16,255]",
    };
    struct harness *h = *state;

    define_wide(h);
    harness_passes(h, cells, COUNT(cells));
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_cap_on_registers_is_what_the_compiler_makes_of_it,
                                        harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_go_together_is_refused, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_should, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(no_line_is_wider_than_a_notebook, harness_set_up,
                                        harness_tear_down),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
