/*
 * %simulate on the core layer as a cell sees it: fields obey Nsight Compute's identities, kernels
 * run by name, texts stay within a notebook's width, and wrong bodies have their caret.
 */
#include "tests/unit/cell_harness.h"

static void numbers_are_those_of_nsight_compute(void **state)
{
    static const char *const bodies[] = {
        "fma*8; ldg hit=l1; use",
        "ldg; use; bar",
        "mufu dep=1; fma*3",
        "if (ldg hit=l2; use) else (fma*4); bra",
        "lds conflict=4; use; div; shfl",
    };
    static const char *const policies[] = { "gto",    "gty",           "lrr",
                                            "oldest", "longest-ready", "two-level" };
    char code[900];

    for (size_t i = 0; i < COUNT(bodies); i++)
        for (size_t k = 0; k < COUNT(policies); k++) {
            snprintf(code, sizeof code,
                     "t = %%simulate body=\"%s\" warps=24 schedulers=4 policy=%s\n"
                     "%%check t.scheduler.one_or_more_eligible + t.scheduler.no_eligible == 1 +- "
                     "1e-9\n"
                     "%%check t.scheduler.issued_per_scheduler == t.issue_utilization\n"
                     "%%check t.scheduler.active_warps == 6 +- 1e-9\n"
                     "%%check t.scheduler.warp_cycles_per_issued == 6 / t.issue_utilization +- "
                     "1e-9\n"
                     "%%check t.warp_states.selected + t.warp_states.not_selected + "
                     "t.warp_states.stalled == 6 +- 1e-9\n"
                     "%%check t.warp_states.eligible == t.warp_states.selected + "
                     "t.warp_states.not_selected +- 1e-9\n",
                     bodies[i], policies[k]);
            harness_must_run(*state, code);
        }
}

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        /* A sweep's points have what one run has. */
        "one = %simulate body=\"fma*4 dep=1; ldg hit=l1; use\" warps=4\n"
        "all = %simulate body=\"fma*4 dep=1; ldg hit=l1; use\" warps=1..6 frames=yes\n"
        "%check all.sweep[3].round_cycles == one.round_cycles\n"
        "%check all.sweep[3].ipc == one.ipc\n%check all.input.frames",
        /* The FP32 units are the device's own: 128 lanes on 6.1, 64 on 7.0, 1 of a made-up one. */
        "%simulate body=\"fma\" warps=1 device=[cc=6.1,V100,H200]\n"
        "%check _.sweep[0].issue_utilization == 1 && _.sweep[1].issue_utilization == 0.5\n"
        "%check _.sweep[2].issue_utilization == 1",
        "%simulate body=\"int\" warps=1 device=[cc=6.0,V100]\n"
        "%check _.sweep[0].issue_utilization == 1 && _.sweep[1].issue_utilization == 0.5",
        "%device one from=L40S fp32=1\n%simulate body=\"fma\" warps=1\n"
        "%check _.period == 128 && _.issue_utilization == 1 / 128.0\n%device L40S",
        "%simulate body=\"fma dep=1\" warps=2 cycles=12\n%check _.layer == \"core\"\n"
        "%check _.issue_utilization == 0.5\n%check _.period == 4\n"
        "%check _.timeline.issuer[0] == [0,1,-1,-1,0,1,-1,-1,0,1,-1,-1]\n"
        "%check _.timeline.states[0] == \"#---#---#---\"\n%check _.units.fp32 == 0.5\n"
        "%check _.stalls_per_issue.wait == 3\n%check _.stalls_per_issue.selected == 1",
        "%simulate mix=\"fma=75% ldg.l1=25%\" warps=8\n%check _.round_instructions == 4\n"
        "%check _.memory.l1_bytes > 0",
        "%simulate body=\"ldg hit=l2; use\" warps=8 device=H200\n"
        "%check _.device.name == \"H200\"\n%check _.memory.l2_bytes == 8 * 128 / _.round_cycles",
        "%simulate body=\"fma\" warps=1..4\n%check _.sweep[0].issue_utilization == 1",
        /* 33 threads are two warps. */
        "%simulate body=\"bar\" warps=4 block=33",
        "%simulate switch_cost=0..2\n%check _.sweep[2].issue_utilization == 0.5",
    };

    harness_passes(*state, cells, COUNT(cells));
    /* A round that no warp ends is not 0 cycles long. */
    assert_fails((struct harness *)*state,
                 "%simulate body=\"(fma)*100000\" ilp=16\n%check _.round_cycles > 0", "UsageError",
                 "null");
}

static void bad_calls_have_their_caret_and_limit(void **state)
{
    static const struct {
        const char *code, *ename, *evalue;
        const char *underlined;
    } cases[] = {
        { "%simulate body=\"fma*8; fmaa\"", "ValueError", "fmaa is no instruction; fma", "fmaa" },
        { "%simulate body=\"lds conflict=40\"", "ValueError", "conflict is 1 to 32", "40" },
        { "%simulate body=\"(fma\"", "SyntaxError", "; or ) expected", "\"" },
        { "%simulate mix=\"fma=50%\"", "ValueError", "sum to 50 %, not 100", "fma=50%" },
        { "%simulate body=\"ldg; use\" warps=13", "ValueError", "holds 12 warps", "13" },
        { "%simulate body=\"fma\" schedulers=5", "ValueError", "an SM of L40S has 4", NULL },
        { "%simulate body=\"fma\" wait=3", "UsageError", "wait= is of the pattern layer", NULL },
        { "%simulate body=\"fma; ldg\" hit=l1", "UsageError", "hit= is of a kernel", "l1" },
        { "%simulate body=\"fma\" trips=3", "UsageError", "trips= is of a kernel", "3" },
        { "%simulate body=\"fma; mma\" device=P100", "ValueError", "no tensor cores", "mma" },
        { "%simulate order=out", "UsageError", "order= is of the core layer", NULL },
        { "%simulate body=\"fma\" mix=\"fma=100%\"", "UsageError", "one of body=", NULL },
        { "%simulate body=\"if (fma)\" order=out", "UsageError", "without if and split", NULL },
        { "%simulate body=\"fma\" warps=5 block=96", "ValueError", "no whole number of blocks",
          NULL },
        { "%simulate body=\"fma\" ilp=17", "ValueError", "ilp is 1 to 16", NULL },
        { "%simulate nosuch", "NameError", "nosuch", NULL },
        { "__global__ void idle() {}\n%simulate idle warps=1..16", "ValueError",
          "warps=1 is less than a block of idle, which has 8 warps", "1..16" },
    };
    struct harness *h = *state;
    char caret[80];

    for (size_t i = 0; i < COUNT(cases); i++) {
        if (harness_run(h, cases[i].code) == 0 || strcmp(h->report.ename, cases[i].ename) != 0 ||
            !strstr(h->report.evalue, cases[i].evalue))
            fail_msg("%s: %s: %s", cases[i].code, h->report.ename ? h->report.ename : "no error",
                     h->report.evalue ? h->report.evalue : "");
        harness_caret(h, caret, sizeof caret);
        if (cases[i].underlined && strcmp(caret, cases[i].underlined) != 0)
            fail_msg("%s: the caret is under \"%s\"", cases[i].code, caret);
    }
}

static void texts_stay_in_their_width(void **state)
{
    static const char *const cells[] = {
        "%simulate body=\"ldg hit=l1; lds; mufu dep=1; use; use=2; bra; bar; div\" warps=48 "
        "schedulers=4 cycles=400",
        "%simulate body=\"fma*8; ldg hit=l1; use\" warps=6",
        "%simulate body=\"fma dep=1\" warps=1..4 ilp=[1,2,4]",
    };
    struct harness *h = *state;

    harness_passes(h, cells, COUNT(cells));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_those_of_nsight_compute, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(bad_calls_have_their_caret_and_limit, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(texts_stay_in_their_width, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
