/*
 * The timing model against what is known without it: latencies of a chain, the rates of units and
 * memory, and the ratios of divergence. One SM of an H200; launches are small.
 */
#include "tests/unit/ptx_rig.h"

enum { CHAIN = 1000, SMS = 132 };

static const char HEAD[] = ".version 9.0\n.target sm_80\n.address_size 64\n";

static char *text_of(struct buf *b)
{
    char *text = buf_take(b);

    assert_non_null(text);
    return text;
}

/* `ilp` chains of dependent instructions, CHAIN instructions in all. */
static char *chain_text(const char *instruction, int ilp)
{
    struct buf b = { 0 };

    buf_printf(&b,
               "%s.visible .entry k(.param .u64 p)\n{\n.reg .f32 %%f<20>;\n.reg .b32 %%r<20>;\n"
               ".reg .f64 %%d<20>;\n",
               HEAD);
    for (int i = 0; i < CHAIN; i++)
        buf_printf(&b, instruction, i % ilp, i % ilp, i % ilp);
    buf_puts(&b, "ret;\n}\n");
    return text_of(&b);
}

static struct ptx_timing time_text(const char *text, unsigned grid, unsigned block)
{
    struct rig rig;
    struct ptx_timing timing;
    uint64_t nothing = 0;

    rig_load(&rig, bytes_of(text));
    rig.launch.is_timed = true;
    rig.launch.checks &= ~PTX_CHECK_UNINITIALISED; /* it loads what nobody stored */
    rig_run(&rig, "k", grid, block, &nothing);
    timing = rig.facts.timing;
    rig_done(&rig);
    return timing;
}

static void assert_near(double got, double want, double tolerance, const char *what)
{
    if (!(got >= want * (1 - tolerance) && got <= want * (1 + tolerance)))
        fail_msg("%s: %g, not %g within %g %%", what, got, want, 100 * tolerance);
}

static void a_chain_takes_its_latency_and_enough_warps_hide_it(void **state)
{
    static const struct {
        const char *instruction;
        int ilp, warps; /* warps of the block: a quarter of them a scheduler */
        double cycles;  /* an instruction of each warp */
    } cases[] = {
        { "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 1, 1, 4 }, /* dependent: latency 4 */
        { "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 4, 1, 1 }, /* 4 chains hide it */
        { "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 1, 8, 4 }, /* 2 warps: still hidden */
        { "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 1, 16, 4 },
        { "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 1, 32, 8 }, /* 8 warps: issue-bound */
        { "add.s32 %%r%d, %%r%d, %%r%d;\n", 8, 4, 2 },                 /* 16 lanes a sub-core */
        { "add.f64 %%d%d, %%d%d, %%d%d;\n", 1, 1, 8 },
        { "add.f64 %%d%d, %%d%d, %%d%d;\n", 8, 4, 2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = chain_text(cases[i].instruction, cases[i].ilp);
        struct ptx_timing t = time_text(text, 1, 32 * (unsigned)cases[i].warps);
        double cycles = (double)t.cycles;

        assert_near(cycles / CHAIN, cases[i].cycles, 0.03, cases[i].instruction);
        free(text);
    }
}

static void stalls_are_shares_of_the_warps_cycles(void **state)
{
    char *text = chain_text("fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3f800000;\n", 1);
    struct ptx_timing t = time_text(text, 1, 32);
    double sum = 0.0;

    (void)state;
    for (int i = 0; i < STALL_COUNT; i++)
        sum += t.stalls[i];
    assert_near(sum, 1.0, 1e-9, "sum of stalls");
    assert_near(t.stalls[STALL_selected], 0.25, 0.02, "selected");
    assert_near(t.stalls[STALL_wait], 0.75, 0.02, "wait");
    assert_near(t.issue_utilization, 1.0 / 16, 0.03, "one scheduler of four, every fourth cycle");
    free(text);
}

/* Two paths of the same length; `test` says which lanes take the second. */
static char *paths_text(const char *test)
{
    struct buf b = { 0 };

    buf_printf(&b,
               "%s.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .f32 %%f<4>;\n"
               ".reg .b32 %%r<8>;\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, 0;\n%s"
               "setp.ne.s32 %%p1, %%r3, 0;\n@%%p1 bra $second;\n",
               HEAD, test);
    for (int path = 0; path < 2; path++) {
        buf_printf(&b, "%s:\n", path ? "$second" : "$first");
        for (int i = 0; i < 16; i++)
            buf_puts(&b, "fma.rn.f32 %f1, %f1, %f1, 0f3f800000;\n");
        buf_printf(&b,
                   "add.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p2, %%r2, 64;\n@%%p2 bra %s;\n"
                   "bra.uni $join;\n",
                   path ? "$second" : "$first");
    }
    buf_puts(&b, "$join:\nret;\n}\n");
    return text_of(&b);
}

static void divergence_costs_its_paths(void **state)
{
    static const struct {
        const char *test;
        double ratio;
    } cases[] = {
        { "shr.u32 %r3, %r1, 5;\nand.b32 %r3, %r3, 1;\n", 1.0 }, /* by warp */
        { "and.b32 %r3, %r1, 1;\n", 2.0 },                       /* by lane */
    };
    double twin = 0.0;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = paths_text(cases[i].test);
        struct ptx_timing t = time_text(text, 4 * SMS, 256);

        twin = i ? twin : (double)t.cycles;
        assert_near((double)t.cycles / twin, cases[i].ratio, 0.05, cases[i].test);
        free(text);
    }
}

static struct ptx_timing time_vector_add(int n, int host_threads)
{
    struct {
        uint64_t a, b, c;
        int n;
    } p = { .n = n };
    struct rig rig;
    struct ptx_timing timing;

    rig_load_sample(&rig, "basics.opt");
    rig_buffer(&rig, 4 * (size_t)n, &p.a);
    rig_buffer(&rig, 4 * (size_t)n, &p.b);
    rig_buffer(&rig, 4 * (size_t)n, &p.c);
    rig.launch.is_timed = true;
    rig.launch.host_threads = host_threads;
    rig_run(&rig, "vector_add", (unsigned)n / 256, 256, &p);
    timing = rig.facts.timing;
    rig_done(&rig);
    return timing;
}

static void a_launch_beyond_the_cache_is_bound_by_memory(void **state)
{
    enum { N = 1 << 23 }; /* 96 MiB in three arrays; L2 has 60 */
    struct ptx_timing t = time_vector_add(N, 2);
    double gbs = 12.0 * N / (t.time_us * 1e3), nominal = device_find("H200")->bandwidth_gbs;

    (void)state;
    if (gbs > nominal || gbs < 0.6 * nominal)
        fail_msg("%.0f GB/s of %.0f", gbs, nominal);
    assert_true(t.stalls[STALL_long_scoreboard] > 0.5);
}

enum { ROUNDS = 16, BLOCK = 256 };

/*
 * Each thread t of the grid does `instruction` ROUNDS times at the address
 * ((t & mask) + u * grid's threads) * step + offset, with u from 0 on while `mask` is all ones,
 * else 0.
 */
static struct ptx_timing time_accesses(const char *instruction, uint32_t mask, int step, int offset)
{
    int threads = SMS * BLOCK, round = mask == UINT32_MAX ? threads * step : 0;
    struct buf b = { 0 };
    struct ptx_timing timing;
    struct rig rig;
    uint64_t at;
    char *text;

    buf_printf(&b,
               "%s.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<50>;\n.reg .b64 %%d<8>;\n"
               "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
               "mad.lo.s32 %%r1, %%r2, %d, %%r1;\nand.b32 %%r1, %%r1, %u;\n"
               "mul.wide.u32 %%d2, %%r1, %d;\nadd.s64 %%d1, %%d1, %%d2;\nmov.u32 %%r3, 1;\n",
               HEAD, BLOCK, mask, step);
    for (int u = 0; u < ROUNDS; u++)
        buf_printf(&b, instruction, 10 + u, u * round + offset);
    buf_puts(&b, "ret;\n}\n");
    text = text_of(&b);
    rig_load(&rig, bytes_of(text));
    rig_buffer(&rig, (size_t)(round ? 1 << 27 : 1 << 12), &at); /* beyond L2, or not */
    rig.launch.is_timed = true;
    rig_run(&rig, "k", SMS, BLOCK, &at);
    timing = rig.facts.timing;
    rig_done(&rig);
    free(text);
    return timing;
}

static void additions_to_few_addresses_queue_up_at_a_slice(void **state)
{
    static const struct {
        uint32_t mask;
        int operations; /* of a warp's addition */
    } cases[] = { { 0, 32 }, { 1, 16 }, { 7, 4 }, { 31, 4 } };
    double mhz = device_find("H200")->clock_mhz, all = SMS * (BLOCK / 32.0) * ROUNDS;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ptx_timing t =
            time_accesses("atom.global.add.u32 %%r%d, [%%d1+%d], %%r3;\n", cases[i].mask, 4, 0);

        /* One operation in a cycle of L2, which runs at 1,700 MHz. */
        assert_near((double)t.cycles, all * cases[i].operations * mhz / 1700, 0.05, "one slice");
    }
}

static void memory_gives_64_bytes_and_neighbours_share_a_sector(void **state)
{
    static const char LOAD[] = "ld.global.u32 %%r%d, [%%d1+%d];\n";
    double dense = (double)time_accesses(LOAD, UINT32_MAX, 32, 0).cycles;

    (void)state;
    /* A sector a lane: twice as far apart, they are as many, but each comes with another one. */
    assert_near((double)time_accesses(LOAD, UINT32_MAX, 64, 0).cycles / dense, 2, 0.1, "64 bytes");
    /* Five sectors a warp in place of four, of which one is the neighbour's too. */
    dense = (double)time_accesses(LOAD, UINT32_MAX, 4, 0).cycles;
    assert_near((double)time_accesses(LOAD, UINT32_MAX, 4, 4).cycles / dense, 1, 0.1, "an offset");
}

static void cycles_do_not_depend_on_host_threads(void **state)
{
    struct ptx_timing one = time_vector_add(1 << 16, 1), three = time_vector_add(1 << 16, 3);

    (void)state;
    assert_memory_equal(&one, &three, sizeof one);
}

static void bank_conflicts_take_passes(void **state)
{
    static const struct {
        int stride_bytes;
    } cases[] = { { 4 }, { 128 } };
    double cycles[2];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf b = { 0 };
        char *text;

        buf_printf(&b,
                   "%s.visible .entry k(.param .u64 p)\n{\n.shared .align 4 .b8 s[4096];\n"
                   ".reg .b32 %%r<8>;\nmov.u32 %%r1, %%laneid;\nmul.lo.s32 %%r2, %%r1, %d;\n",
                   HEAD, cases[i].stride_bytes);
        for (int k = 0; k < 200; k++)
            buf_puts(&b, "ld.shared.u32 %r3, [%r2];\n");
        buf_puts(&b, "ret;\n}\n");
        text = text_of(&b);
        cycles[i] = (double)time_text(text, 1, 1024).cycles;
        free(text);
    }
    assert_near(cycles[1] / cycles[0], 32.0, 0.15, "32-way conflicts");
}

/* 32 warps that alternate between two blocks 20,000 times: 40 MB of steps, in 8 MB or not. */
static int64_t swing(int64_t memory_limit)
{
    static const char TEXT[] =
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry swings()\n{\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<4>;\nmov.u32 %r0, 0;\nmov.u32 %r2, 0;\n"
        "loop:\nand.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra even;\n"
        "add.u32 %r2, %r2, 3;\neven:\nadd.u32 %r0, %r0, 1;\n"
        "setp.lt.u32 %p1, %r0, 20000;\n@%p1 bra loop;\nret;\n}\n";
    struct rig rig;
    int64_t cycles;

    rig_load(&rig, bytes_of(TEXT));
    rig.launch.is_timed = true;
    if (memory_limit)
        rig.launch.memory_limit = memory_limit;
    rig_run(&rig, "swings", 1, 1024, NULL);
    cycles = rig.facts.timing.cycles;
    rig_done(&rig);
    return cycles;
}

static void a_trace_that_does_not_fit_is_scaled_to_its_length(void **state)
{
    (void)state;
    assert_near((double)swing(8 << 20), (double)swing(0), 0.01, "cycles of a cut trace");
}

/* CHAIN products of matrices by each warp, one after the other or side by side. */
static double product_cycles(const char *product, bool is_chain, unsigned warps)
{
    struct buf b = { 0 };
    char *text;
    double cycles;

    buf_printf(&b,
               "%s.visible .entry k(.param .u64 p)\n{\n.reg .f32 %%f<40>;\n.reg .b32 %%r<20>;\n"
               ".reg .f64 %%d<20>;\n",
               HEAD);
    for (int i = 0; i < CHAIN; i++) {
        int at = is_chain ? 0 : i % 8 * 4;

        buf_printf(&b, product, at, at + 1, at + 2, at + 3, at, at + 1, at + 2, at + 3);
    }
    buf_puts(&b, "ret;\n}\n");
    text = text_of(&b);
    cycles = (double)time_text(text, 1, 32 * warps).cycles / CHAIN;
    free(text);
    return cycles;
}

static void products_of_matrices_have_a_unit_of_their_own(void **state)
{
    static const char LONG[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                               "{%%f%d,%%f%d,%%f%d,%%f%d}, {%%r0,%%r1,%%r2,%%r3}, {%%r4,%%r5}, "
                               "{%%f%d,%%f%d,%%f%d,%%f%d};\n",
                      SHORT[] = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                                "{%%f%d,%%f%d,%%f%d,%%f%d}, {%%r0,%%r1}, {%%r4}, "
                                "{%%f%d,%%f%d,%%f%d,%%f%d};\n";

    (void)state;
    /* On an H200: 29 cycles from one to the next that needs it, and 6 or 3 of a tensor core. */
    assert_near(product_cycles(LONG, true, 1), 29, 0.03, "a chain of m16n8k16");
    assert_near(product_cycles(LONG, false, 4), 6, 0.03, "m16n8k16 side by side");
    assert_near(product_cycles(LONG, false, 32), 48, 0.03, "eight warps a tensor core");
    assert_near(product_cycles(SHORT, false, 32), 24, 0.03, "m16n8k8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_takes_its_latency_and_enough_warps_hide_it),
        cmocka_unit_test(stalls_are_shares_of_the_warps_cycles),
        cmocka_unit_test(divergence_costs_its_paths),
        cmocka_unit_test(a_launch_beyond_the_cache_is_bound_by_memory),
        cmocka_unit_test(additions_to_few_addresses_queue_up_at_a_slice),
        cmocka_unit_test(memory_gives_64_bytes_and_neighbours_share_a_sector),
        cmocka_unit_test(cycles_do_not_depend_on_host_threads),
        cmocka_unit_test(bank_conflicts_take_passes),
        cmocka_unit_test(a_trace_that_does_not_fit_is_scaled_to_its_length),
        cmocka_unit_test(products_of_matrices_have_a_unit_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
