/*
 * %specialize as a cell sees it: fields, words and figures of programs, sweeps
 * and the three conditions, and values that no block can have.
 */
#include "tests/unit/cell_harness.h"

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%specialize\n%check _.kind == \"specialize\"\n%check _.program == \"ring\"\n"
        "%check _.device.name == \"H200\" && _.device.source == \"model\"\n"
        "%check _.main_engine == \"tensor\"\n%check _.busy == 0.8 && _.formula == 0.8\n"
        "%check _.as_warps == 0.8\n%check _.cycles == 166 && _.works == 64\n"
        "%check _.utilization == 128.0 / 166 +- 0.000001\n%check _.idle_per_work == 0.5\n"
        "%check _.roles[1].name == \"consumer\" && _.roles[1].warps == 8\n"
        "%check _.engines[1].busy_cycles == 128\n%check _.overwritten == 0\n"
        "%check count(_.overwrites) == 0\n%check _.events[0].what == \"load\"",
        "%specialize pipe=1..8\n%check count(_.sweep) == 8\n%check _.best.pipe == 5\n"
        "%check _.sweep[6].formula == 1",
        "%specialize program=[v1,v2,ring] wake=1 compute=4\n"
        "%check _.sweep[0].program == \"v1\"\n%check _.sweep[0].busy == 0.8",
        "%specialize static load=25 compute=5\n%check _.busy == 1\n"
        "%check _.main_engine == \"ALU\" && _.cycles == 64 * 30",
        "%specialize tile=(128,256) ktile=64 rate=4096\n%check _.engines[1].busy_cycles == 1024 * 64\n"
        "%check _.shared.slot_bytes == (128 + 256) * 64 * 2\n%check _.shared.most_slots == 4\n"
        "%check _.registers.accumulators == 128 && _.registers.fits",
        "%specialize regs=\"loader=24, consumer=240\"\n%check _.roles[0].registers == 24\n"
        "%check _.roles[1].registers == 240\n%check _.registers.total == 64512",
        "%specialize wait_when=\"k >= pipe + 2\"\n%check _.overwritten == 2\n"
        "%check _.overwrites[1].slot == 1 && _.overwrites[1].writer == 5",
        "a = %specialize jitter=20 seed=1\nb = %specialize jitter=20 seed=1\n"
        "c = %specialize jitter=20 seed=2\n%check a.cycles == b.cycles && a.cycles != c.cycles",
        "%specialize conditions\n%check count(_.conditions) == 3\n"
        "%check _.conditions[2].on.roles > _.conditions[2].on.one_stream",
        "%specialize blackwell\n%check count(_.roles) == 5",
        "%specialize warps pipe=64 steps=300 load=100 compute=1\n%check _.busy == 64.0 / 101 +- 0.01",
        "%specialize steps=65536 load=3 compute=3 pipe=2\n%check _.busy == 1",
    };

    harness_passes(*state, cells, COUNT(cells));
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_failure cases[] = {
        { "%specialize pipe=0", "ValueError", "pipe=0: pipe is 1 to 64" },
        { "%specialize pipe=65", "ValueError", "pipe=65: pipe is 1 to 64" },
        { "%specialize load=-1", "ValueError", "load=-1: load is 0 to 1000000" },
        { "%specialize wake=-5", "ValueError", "wake=-5: wake is 0 to" },
        { "%specialize compute=0", "ValueError", "compute=0: compute is 1 to" },
        { "%specialize v2 pipe=1", "ValueError", "v2 needs at least 2 slots" },
        { "%specialize blackwell pipe=1", "ValueError", "blackwell needs at least 2 slots" },
        { "%specialize v1 steps=2", "ValueError", "steps=2: v1 fills all 4 slots first" },
        { "%specialize v3", "UsageError", "program=v3 is unknown; v1 is the nearest" },
        { "%specialize program=[ring,conditions]", "UsageError", "conditions stands alone" },
        { "%specialize conditions pipe=3", "UsageError", "conditions has its own values" },
        { "%specialize tile=64 compute=5", "UsageError", "tile= sets compute=" },
        { "%specialize tile=0", "ValueError", "tile=0: tile is 1 to 1024" },
        { "%specialize tile=1024 rate=1", "ValueError", "takes 134217728 cycles at rate=1" },
        { "%specialize tile=64 acc=24", "ValueError", "acc=24: accumulators have 16 or 32 bits" },
        { "%specialize acc=16", "UsageError", "acc= is of a tile: it needs tile= beside it" },
        { "%specialize tile=(64,64,2)", "ValueError", "(64,64) is the nearest" },
        { "%specialize softmax=3", "UsageError", "softmax= does not act on ring" },
        { "%specialize program=[v1,v2] plan=3", "UsageError", "plan= does not act on [v1,v2]" },
        { "%specialize ffii pipe=3", "UsageError", "pipe= does not act on ffii" },
        { "%specialize regs=\"loader=40 loader=48\"", "ValueError", "loader= is given twice" },
        { "%specialize regs=\"\"", "ValueError", "regs=\"\" names no role" },
        { "%specialize regs=\"loader=40 consumer=240\"", "ValueError",
          "the roles take 66560 registers together: an SM of H200 has 65536" },
        { "%specialize regs=\"loadr=40\"", "NameError", "ring has no role loadr; loader is" },
        { "%specialize regs=\"x=40\"", "NameError", "ring has no role x" },
        { "%specialize regs=\"loader=41\"", "ValueError", "40 is the nearest" },
        { "%specialize regs=\"loader=300\"", "ValueError", "256 is the nearest" },
        { "%specialize regs=\"loader\"", "SyntaxError", "regs= takes" },
        { "%specialize regs=\"loader=many\"", "SyntaxError", "a number of registers" },
        { "%specialize wait_when=\"k > pip\"", "NameError", "pip" },
        { "%specialize wait_when=\"k >\"", "SyntaxError", "" },
        { "%specialize wait_when=\"k > 3 4\"", "SyntaxError", "4 stands behind the condition" },
        { "%specialize v1 wait_when=\"k > pipe\"", "UsageError", "v1 has no loader" },
        { "%specialize device=H201", "NameError", "H200" },
    };

    harness_fails(*state, cases, COUNT(cases));
}

static void tables_say_what_they_should(void **state)
{
    static const struct {
        const char *code, *texts[6];
    } cases[] = {
        { "%specialize",
          { "Tensor busy 80 %: it idles 0.5 cycles for every 2 of work.\n"
            "async model, ring of H200 (model, cc 9.0)  defaults: pipe=4 load=8 compute=2",
            "tensor      ........00112233..44556677..8899aabb",
            "slot 1      --------==11--------55--------99",
            "loader    k = 0..63: wait empty[k-4]; load[k] -> full[k]",
            "min(1, 4 x 2 / (8 + 2)) = 80 %, simulated 80 %",
            "80 %: %simulate warps=4 issue=2 wait=8 is the same curve" } },
        { "%specialize pipe=1..8",
          { "Busy 20 % to 100 %: full first at pipe=5.", "One curve for both." } },
        { "%specialize wait_when=\"k > pipe\"",
          { "Slot 0: step 4 is loaded over step 0 before that was read.", "wait_when=\"k > pipe\"",
            "step 0 reads it", "To keep every tile: wait_when=\"k >= pipe\"." } },
        { "%specialize v1 load=700 compute=1000 wake=207",
          { "Tensor busy 82.9 %: it idles 207 cycles for every 1,000 of work." } },
        { "%specialize tile=256 acc=16 groups=1",
          { "256 registers of accumulators each, and", "it takes 2 groups of 4 warps",
            "H200 has room for 3: it does not", "To fit: groups=2" } },
        { "%specialize tile=256 acc=16 groups=[1,2] pipe=3",
          { "Busy 100 % at both points; 1 needs more registers than a thread has.", "regs a thread",
            "1        100 %     100 %       256 > 255",
            "2        100 %     100 %             128" } },
        /* The best point is one that fits. */
        { "%specialize tile=(256,256) groups=[1,2,4] pipe=[1,2,4] device=H200 load=2000",
          { "full first at pipe=2 groups=4; 7 do not fit on an SM" } },
        { "%specialize program=[v2,ring] jitter=800",
          { "async model  program=[v2,ring] jitter=800" } },
        { "%specialize tile=256",
          { "Does not fit on an SM of H200.\nIf it did: Tensor busy 100 %",
            "To fit: groups=4 pipe=3." } },
        { "%specialize tile=256 acc=16 groups=1 pipe=3",
          { "Does not fit", "To fit: groups=2, each" } },
        { "%specialize tile=1024 ktile=1024", { "Does not fit", "a smaller tile= or ktile=" } },
        { "%specialize conditions",
          { "Roles gain 2.04x where latency varies, 1.21x where waits block, else nothing.",
            "256 regs > 255" } },
        { "%specialize program=[v2,ring] tile=[64,256] wait_when=\"k >= pipe\"", { NULL } },
    };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!cases[i].texts[0]) { /* v2 has no loader, also as one of several */
            assert_fails(h, cases[i].code, "UsageError", "v2 has no loader");
            continue;
        }
        harness_must_run(h, cases[i].code);
        for (size_t k = 0; k < COUNT(cases[i].texts) && cases[i].texts[k]; k++)
            if (!strstr(buf_text(&h->display), cases[i].texts[k]))
                fail_msg("%s lacks \"%s\":\n%s", cases[i].code, cases[i].texts[k],
                         buf_text(&h->display));
    }
}

static void no_line_is_wider_than_a_notebook(void **state)
{
    static const char *const cells[] = {
        "%specialize pipe=64 load=1000000 compute=1000000 tma=1000 wake=1000000 jitter=1000000",
        "%specialize warps pipe=40 load=999 compute=77",
        "%specialize blackwell pipe=12 softmax=999999 load=999999 compute=999999",
        "%specialize attention tile=(1000,1000) groups=8 acc=32 rate=256 device=A100",
        "%specialize program=[ring,v1,v2,static,dynamic,ffii,fifi,ffii-roles,attention-one,attention]",
        "%specialize program=[v1,v2,ring] pipe=2..40 wake=[0,50]",
        "%specialize pipe=1..64 load=999999 compute=12345",
        "%specialize v1 load=999999 compute=999999 wake=999999",
        "%specialize conditions",
    };
    struct harness *h = *state;

    harness_passes(h, cells, COUNT(cells));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_as_documented, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(bad_values_name_their_limit, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_should, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(no_line_is_wider_than_a_notebook, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
