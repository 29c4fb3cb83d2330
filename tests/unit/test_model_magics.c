/*
 * %occupancy, %simulate, %device and %devices as a cell sees them: fields equal
 * the reference rows, texts read as they should, and bad values name their limit.
 */
#include "tests/unit/cell_harness.h"
#include "tests/unit/rows.h"

/* Runs a cell that must succeed. */
static void reference_rows_of_occupancy_hold_as_fields(void **state)
{
    enum { EVERY = 7 }; /* test_occupancy.c checks all of them on the model */
    struct rows rows;
    char code[600];
    const char *limits;
    int checked = 0;

    for (rows_open(&rows, "tests/data/occupancy.csv"); rows_next(&rows);) {
        if (rows.count % EVERY || rows_int(&rows, "cc_major") < 5 ||
            rows_int(&rows, "threads_per_block") > 1024)
            continue;
        limits = rows_text(&rows, "expect_limiting");
        snprintf(code, sizeof(code),
                 "%%occupancy device=cc=%d.%d block=%d regs=%d static=%d dynamic=%d carveout=%d\n"
                 "%%check _.active_blocks == %d\n%%check _.active_warps == %d\n"
                 "%%check _.limiters[0] == \"%.*s\"\n",
                 rows_int(&rows, "cc_major"), rows_int(&rows, "cc_minor"),
                 rows_int(&rows, "threads_per_block"), rows_int(&rows, "regs_per_thread"),
                 rows_int(&rows, "static_smem_bytes"), rows_int(&rows, "dynamic_smem_bytes"),
                 rows_int(&rows, "carveout_percent"), rows_int(&rows, "expect_active_blocks"),
                 rows_int(&rows, "expect_active_warps"), (int)strcspn(limits, "+"), limits);
        harness_must_run(*state, code);
        checked++;
    }
    assert_in_range(checked, 500, 1000);
}

static void reference_rows_of_simulate_hold_as_fields(void **state)
{
    enum { EVERY = 5 };
    struct rows rows;
    char code[400];

    for (rows_open(&rows, "tests/data/simulate.csv"); rows_next(&rows);) {
        if (rows.count % EVERY)
            continue;
        snprintf(code, sizeof(code),
                 "%%simulate warps=%s issue=%s wait=%s schedulers=%s policy=%s\n"
                 "%%check _.issue_utilization == %s +- 0.000000001\n"
                 "%%check _.warp_states.eligible == %s +- 0.000000001\n"
                 "%%check _.issued == %s\n",
                 rows_text(&rows, "warps"), rows_text(&rows, "issue"), rows_text(&rows, "wait"),
                 rows_text(&rows, "schedulers"), rows_text(&rows, "policy"),
                 rows_text(&rows, "issue_utilization"), rows_text(&rows, "eligible_mean"),
                 rows_text(&rows, "issued_in_60_cycles"));
        harness_must_run(*state, code);
    }
    assert_int_equal(rows.count, 400);
}

static void fields_are_as_documented(void **state)
{
    static const char *const cells[] = {
        "%occupancy block=256 regs=42 static=8K\n"
        "%check _.kind == \"occupancy\"\n%check _.device.name == \"L40S\"\n"
        "%check _.input.block == 256\n%check _.input.static == 8192\n"
        "%check _.max_warps == 48\n%check _.occupancy == 5.0 / 6 +- 0.000001\n"
        "%check _.limits.warps == 6\n%check _.limits.blocks == 24\n"
        "%check _.limits.registers == 5\n%check _.limits.shared == 11\n"
        "%check _.allocated.registers_per_block == 12288\n"
        "%check _.allocated.shared_per_block == 9216\n"
        "%check _.limiters == [\"registers\"]\n"
        "%check _.advice.to == 40\n%check _.advice.change == \"regs\"",
        "%occupancy regs=40\n%check _.limiters == [\"warps\", \"registers\"]\n"
        "%check _.occupancy == 1",
        /* Above 48 KB static the compiler refuses; above the opt-in limit no launch starts. */
        "%occupancy static=49153\n%check _.active_blocks == 0\n%check _.limiters == [\"shared\"]",
        "%occupancy dynamic=101376\n%check _.active_blocks == 1",
        "%occupancy dynamic=101377\n%check _.active_blocks == 0\n%check _.occupancy == 0",
        "%occupancy cluster=2\n%check _.limiters == [\"cluster\"]",
        "%occupancy cluster=8 device=H200\n%check _.active_blocks == 8\n"
        "%check _.max_clusters == 132",
        "%occupancy regs=32..255\n%check _.sweep[0].regs == 32\n"
        "%check _.sweep[223].occupancy == 8.0 / 48 +- 0.000001",
        "%occupancy device=[L40S,A100] block=1024\n%check _.sweep[1].active_warps == 64",
        "%simulate warps=6\n%check _.issue_utilization == 1\n%check _.period == 10\n"
        "%check _.per_warp[5].starved\n%check _.per_warp[5].issued == 0\n"
        "%check _.per_warp[0].per_period == 2\n%check _.warp_states.not_selected == 1\n"
        "%check _.warp_states.stalled == 4\n%check _.timeline.issuer[0][2] == 1\n"
        "%check _.device.source == \"model\"",
        "%simulate policy=lrr\n%check _.issue_utilization == 10.0 / 14 +- 0.000001\n"
        "%check _.period == 14",
        "%simulate warps=1..12 policy=[gto,lrr]\n%check _.sweep[0].warps == 1\n"
        "%check _.sweep[9].issue_utilization == 10.0 / 14 +- 0.000001",
        "a = %simulate jitter=5 seed=3\nb = %simulate jitter=5 seed=3\n"
        "c = %simulate jitter=5 seed=4\n%check a.issue_utilization == b.issue_utilization\n"
        "%check a.issue_utilization != c.issue_utilization",
        "%device RTX-4090\n%check _.sms == 128\n%occupancy\n%check _.device.name == \"RTX 4090\"",
        "%device toy threads=512 blocks=4 registers=16384\n%check _.warps_per_sm == 16\n"
        "%occupancy block=128 regs=40\n%check _.active_warps == 12\n"
        "%device L40S\n%occupancy device=toy regs=16\n%check _.max_warps == 16",
        "%devices\n%check _.devices[0].name == \"P100\"",
    };

    harness_passes(*state, cells, COUNT(cells));
}

static void bad_values_name_their_limit(void **state)
{
    static const struct harness_failure cases[] = {
        { "%occupancy block=1025", "ValueError", "block=1025: block is 1 to 1024" },
        { "%occupancy block=0", "ValueError", "block=0: block is 1 to 1024" },
        { "%occupancy regs=256", "ValueError", "regs=256: regs is 0 to 255" },
        { "%occupancy regs=-1", "ValueError", "regs=-1: regs is 0 to 255" },
        { "%occupancy carveout=101", "ValueError", "carveout=101: carveout is -1 to 100" },
        { "%occupancy device=L40X", "NameError", "no device is called L40X; L40S is the nearest" },
        { "%occupancy nosuch", "NameError", "nosuch" },
        { "%simulate warps=0..12", "ValueError", "warps=0..12: warps is 1 to 4096" },
        { "%simulate warps=4097", "ValueError", "warps=4097: warps is 1 to 4096" },
        { "%simulate policy=gtz", "UsageError", "policy=gtz is unknown; gto is the nearest" },
        { "%simulate frames=yes", "UsageError", "frames=yes needs one key with a range" },
        { "%simulate warps=4096 cycles=10000", "ValueError",
          "warps=4096 cycles=10000: a timeline has at most 1000000 cells" },
        { "%device toy threads=500", "ValueError", "threads=500: an SM holds whole warps" },
        { "%device toy blocks=0", "ValueError", "blocks=0: blocks is 1 to 256" },
        { "%device toy block_shared=200K", "ValueError", "block_shared=204800: shared bytes" },
        { "%device L40S threads=64", "ValueError", "L40S is a device already" },
        { "%device threads=64", "UsageError", "a made-up device needs a name" },
    };
    struct harness *h = *state;

    harness_fails(h, cases, COUNT(cases));
}

static void tables_say_what_they_should(void **state)
{
    static const struct harness_table cases[] = {
        { "%occupancy regs=42 static=8K",
          NULL,
          { "Occupancy 83.3 %: 5 blocks of 8 warps = 40 of 48 warps an SM. Limit: registers.\n"
            "L40S (model, cc 8.9)  regs=42 static=8K  defaults: block=256 dynamic=0  theoretical",
            "a warp gets units of 256, so 42 a thread count as 48",
            "8,192 asked + 1,024 reserved by the system for every block",
            "..40: 100 %    41..48: 83.3 % <    49..64: 66.7 %    65..80: 50 %",
            "To 100 %: 40 registers, __launch_bounds__(256, 6); costs 2 registers, may spill." } },
        { "%occupancy block=100",
          NULL,
          { "100 threads are 4 warps with 28 idle lanes: 78.1 % by threads" } },
        { "%occupancy block=32", NULL, { "To 100 %: blocks of 64 threads" } },
        { "%occupancy block=1024 regs=65", NULL, { "no block fits, the launch would fail" } },
        { "%occupancy static=60K", NULL, { "the compiler refuses more than 49,152" } },
        { "%occupancy regs=16..128",
          NULL,
          { "Occupancy 33.3 % to 100 %: the best at regs=16..40.",
            "Deepest cliff: from regs=48 to 49 it falls from 83.3 % to 66.7 %." } },
        { "%occupancy block=64..256:64 regs=32..128:32", NULL, { "block \\ regs, %", "Next: " } },
        { "%simulate policy=lrr",
          NULL,
          { "Scheduler busy 71.4 %: it issues in 10 of every 14 cycles and idles in 4.",
            "issued   0123401234....0123401234....0123401234....0123401234....0123",
            "warp 0   #....#--------#....#--------#....#--------#....#--------#...",
            "exact: period 14, every warp issues 2 of 14, none starves",
            "100 %: the waits fall apart; under lrr all 5 wait together",
            "5 warps under gto, 9 under lrr" } },
        { "%simulate warps=6",
          NULL,
          { "exact: period 10, warp 5 never issues (starves), others 2 of 10" } },
        { "%simulate warps=9", NULL, { "warps 5..8 never issue (starve), others 2 of 10" } },
        { "%simulate warps=20", NULL, { "20 warps: L40S holds 12 a scheduler" } },
        { "%simulate warps=1..8 frames=yes", NULL, { "full first at warps=5" } },
        { "%device", NULL, { "142 SMs of 48 warps hold 218,112 threads", "91.6 TFLOP/s" } },
        { "%devices", NULL, { "unknown" } },
    };
    struct harness *h = *state;

    harness_shows(h, cases, COUNT(cases));
}

static void no_line_is_wider_than_a_notebook(void **state)
{
    static const char *const cells[] = {
        "%occupancy block=1000 regs=92 static=60K",
        "%occupancy block=1..1024 regs=32",
        "%occupancy block=32..1024:32 regs=16..128:8",
        "%occupancy device=[A100,H200,L40S,T4] regs=[32,64] block=[64,128]",
        "%occupancy cluster=16 device=H200 dynamic=100K carveout=50",
        "%simulate warps=200 cycles=500",
        "%simulate warps=100 schedulers=16 wait=77 issue=3 policy=longest-ready",
        "%simulate warps=1..12 policy=[gto,gty,lrr,oldest,longest-ready,two-level]",
        "%simulate warps=1..100 wait=0..20",
        "%device",
        "%devices",
    };
    struct harness *h = *state;

    harness_passes(h, cells, COUNT(cells));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reference_rows_of_occupancy_hold_as_fields, harness_set_up,
                                        harness_tear_down),
        cmocka_unit_test_setup_teardown(reference_rows_of_simulate_hold_as_fields, harness_set_up,
                                        harness_tear_down),
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
