/*
 * %little as a cell sees it: fields as documented, texts as they should read, and
 * what has no answer refused by name.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%little latency=5 throughput=6\n%check _.kind == \"little\"\n"
        "%check _.concurrency == 30\n%check _.input.latency == 5",
        "%little device=H200 latency=690\n%check _.device.name == \"H200\"\n"
        "%check _.device.source == \"model\"\n%check _.latency == 690\n"
        "%check _.throughput == 4800 / 1.98 +- 0.001\n%check _.needed.lines == 99 +- 0.01\n"
        "%check _.needed.warps == 99\n%check _.needed.threads == 3168\n"
        "%check _.needed.occupancy > 1\n%check _.reached.warps == 64\n"
        "%check _.reached.loaded.fraction < _.reached.fraction\n"
        "%check _.reached.bandwidth_gbs == 4800 * _.reached.fraction +- 0.001",
        "%little arithmetic device=A100\n%check _.concurrency == 8\n%check _.throughput == 2\n"
        "%check _.needed.warps == 8\n%check _.reached.ipc == 2\n%check _.reached.fraction == 1",
        /* Without a queue both latencies are the same. */
        "%little device=H200 queue=0\n%check _.reached.loaded.fraction == _.reached.fraction",
        "%little device=H200 warps=1..64 ilp=[1,2,4]\n%check _.sweep[0].warps == 1\n"
        "%check _.sweep[191].reached.fraction == 1\n%check _.sweep[191].ilp == 4\n"
        "%check _.best.reached.fraction == 1",
        "%little device=[A100,H200]\n%check _.sweep[1].device == \"H200\"",
        "%device toy sms=10 clock=1000\n%little bandwidth=100GB/s latency=500\n"
        "%check _.needed.bytes == 5000 +- 0.001\n%check _.device.name == \"toy\"",
        "%little device=TX2 bandwidth=58GB/s latency=400\n%check _.reached.fraction == 0.918 +- 0.001",
        "%little device=H200 alpha=64\n%check _.reached.bound == \"issue\"\n"
        "%check _.needed.iterations == 4.0 / 65 * (650 + 64 * 4) +- 0.001",
        "%little device=H200 latency=690\n%check _.reached.simulated.fraction == 64 / 99.0 +- 0.002\n"
        "%check _.reached.simulated.latency == 690 +- 1\n%check _.simulated.points > 40\n"
        "%check _.simulated.difference < 0.002",
        "%little arithmetic device=L40S warps=2 ilp=[4,8]\n"
        "%check _.sweep[1].reached.fraction == 1\n"
        "%check _.sweep[1].reached.simulated.fraction == 0.5 +- 0.001\n"
        "%check _.simulated.points == 2\n%check _.simulated.difference == 0.5 +- 0.001",
        /* Too many instructions for one call: every n-th value of the first key. */
        "%little device=H200 warps=1..64 alpha=[64,128,256]\n%check _.simulated.points > 10\n"
        "%check _.simulated.points < 192",
    };

    harness_passes(*state, cells, COUNT(cells));
}

static void what_has_no_answer_is_refused(void **state)
{
    static const struct harness_failure cases[] = {
        { "%little concurrency=3", "UsageError", "two of concurrency= latency= throughput=" },
        { "%little concurrency=3 latency=4 throughput=5", "UsageError", "give the third" },
        { "%little throughput=3 latency=1..4", "UsageError", "one latency, not a range" },
        { "%little concurrency=3 latency=4 warps=2", "UsageError", "warps= does not act on" },
        { "%little arithmetic alpha=2", "UsageError", "alpha= does not act on %little arithmetic" },
        { "%little latency=0", "ValueError", "latency=0: latency is 1e-06 to" },
        { "%little warps=49", "ValueError", "warps=49: an SM of L40S holds 48 warps" },
        { "%little warps=40..64:8", "ValueError", "warps=56: an SM of L40S holds 48 warps" },
        { "%little latency=5us", "UsageError", "latency=5us: not in this unit (cycles that" },
        { "%little latency=[5,6us]", "UsageError", "latency=6us: not in this unit" },
        { "%little bandwidth=3TFLOP/s", "UsageError", "bandwidth=3TFLOP/s: not in this unit" },
        { "%little ilp=0", "ValueError", "ilp=0: ilp is 1 to 64" },
        { "%little device=cc=9.0", "ValueError", "name a product, such as H200" },
        { "%little device=TX2", "ValueError", "the bandwidth of Jetson TX2 is unknown" },
        { "%little device=H20X", "NameError", "no device is called H20X" },
        { "%little cache", "UsageError", "cache" },
    };
    struct harness *h = *state;

    harness_fails(h, cases, COUNT(cases));
}

static void tables_say_what_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%little latency=5 throughput=6",
          NULL,
          { "30 must be in flight: 5 cycles x 6 a cycle.\nLittle's law   latency=5 throughput=6\n",
            "half as many, 15, finish 3 a cycle" } },
        { "%little concurrency=30 latency=5",
          NULL,
          { "6 finish a cycle: 30 in flight / 5 cycles each." } },
        { "%little device=H200 latency=690",
          NULL,
          { "64.6 % of the bandwidth: 64 loads of 128 bytes in flight an SM, 99 fill it.\n"
            "4,800 GB/s x 690 cycles at 1,980 MHz = 12,672 bytes an SM, 99 lines of 128.",
            "bytes on 132 SMs           1,081,344      1,672,727", "out of reach",
            "52.8 %, 844 cycles each", "To 100 %: ilp=2, or bytes_per_thread=8." } },
        { "%little device=H200 latency=690 bytes_per_thread=16 warps=16",
          NULL,
          { "To 100 %: ilp=2, or warps=25." } },
        { "%little arithmetic device=L40S",
          NULL,
          { "4 cycles x 4 a cycle = 16 instructions, 512 lanes, an SM.",
            "4 schedulers and 128 FP32 lanes: 4 warp instructions a cycle" } },
        { "%little arithmetic device=L40S warps=1",
          NULL,
          { "6.2 % of the FP32 units: 1 instruction in flight an SM, 16 fill it." } },
        { "%little device=H200 alpha=40",
          NULL,
          { "An iteration takes 650 + 40 x 4 = 810 cycles when it is alone." } },
        { "%little device=H200 warps=8..64:8", NULL, { "never full: the most at warps=64" } },
        { "%little device=H200 warps=16 alpha=[0,100]",
          NULL,
          { "of the unit with the least room" } },
        { "%little device=H200",
          NULL,
          { "simulated   68.6 %, 650 cycles each, on the core layer: so are the figure's" } },
        { "%little device=H200 latency=690.5", NULL, { "not: the core layer has whole cycles" } },
        { "%little arithmetic device=L40S warps=2 ilp=[4,8]",
          NULL,
          { "2 of 2 points on the core layer", "up to 50 % of the unit away, at ilp=8" } },
    };
    struct harness *h = *state;

    harness_shows(h, cases, COUNT(cases));
}

/* The closed form, under load and not, as lines, and what was simulated as dots. */
static void a_sweep_draws_both_forms_and_the_dots(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, "%little device=H200 warps=1..64");
    for (size_t i = 0; i < 2; i++) {
        static const char *const texts[] = { "under load", "simulated" };

        if (!strstr(buf_text(&h->drawn), texts[i]))
            fail_msg("the figure lacks %s", texts[i]);
    }
}

static void no_line_is_wider_than_a_notebook(void **state)
{
    static const char *const cells[] = {
        "%little device=\"RTX PRO 6000 Blackwell\" latency=1234.5 alpha=3.25 bytes_per_thread=16",
        "%little device=GH200 latency=1085 bytes_per_thread=8 queue=12.5%",
        "%little arithmetic device=\"RTX PRO 6000 Blackwell\" latency=23.5 warps=7 ilp=3",
        "%little device=[A100,H200,L40S,T4] warps=[8,16,32] ilp=1..8",
        "%little concurrency=123456.789 latency=98765.4321",
    };
    struct harness *h = *state;

    harness_passes(h, cells, COUNT(cells));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_answer_is_refused, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_should, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(a_sweep_draws_both_forms_and_the_dots, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(no_line_is_wider_than_a_notebook, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
