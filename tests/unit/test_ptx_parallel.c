/*
 * Blocks side by side: memory, facts and faults are those of running the blocks in order, whatever
 * the number of host threads, for kernels that show the order and for those that do not.
 */
#include "tests/unit/ptx_rig.h"

enum { MOST_BUFFERS = 3, BIG = 1 << 16 };

/* What a launch left: every buffer, and what was counted or went wrong. */
struct outcome {
    uint8_t *data[MOST_BUFFERS];
    int64_t thread_instructions, sectors, atom;
    enum err_name name;
    struct ptx_dim block, thread;
    int line;
};

struct launch {
    const char *kernel;
    unsigned grid, block;
    size_t sizes[MOST_BUFFERS]; /* bytes of the buffers that the kernel gets first */
    int numbers[2];             /* and the integers behind them */
    int number_count;
    enum err_name fails;
};

static const struct launch LAUNCHES[] = {
    { "scale", 512, 128, { 4 * 65536 }, { 65500 }, 1, ERR_none },
    { "bytes", 4000, 32, { 12000 }, { 0 }, 0, ERR_none },
    { "last_writer", 6000, 256, { 1024 }, { 0 }, 0, ERR_none },
    { "chain", 10000, 64, { 4 * 640000 }, { 640000 }, 1, ERR_none },
    { "meet_once", 8000, 128, { 4 * 1024000 }, { 1024000 }, 1, ERR_none },
    { "count", 800, 128, { 256, 8, 4 }, { 0 }, 0, ERR_none },
    { "sum", 500, 128, { 12, 8 }, { 0 }, 0, ERR_none },
    { "sum_and_look", 2000, 32, { 4, 8000 }, { 0 }, 0, ERR_none },
    { "float_and_look", 2000, 32, { 8000, 8000 }, { 0 }, 0, ERR_none },
    { "add_and_max", 2000, 64, { 4 }, { 0 }, 0, ERR_none },
    { "tickets", 3000, 32, { 4, 12000 }, { 0 }, 0, ERR_none },
    { "bad_index", 3000, 32, { 12000, 16000 }, { 0 }, 0, ERR_MemoryFault },
    { "busy", 400, 64, { 4 * 25600 }, { 20 }, 1, ERR_none },
};

/* The buffers as they were, for who asks. */
struct originals {
    const struct rig *rig;
    uint8_t *data[MOST_BUFFERS];
    size_t given; /* bytes that were asked for */
};

static void give_back(void *context, size_t i, size_t at, size_t size)
{
    struct originals *o = context;

    assert_int_equal(at % 4096, 0);
    assert_true(at + size <= o->rig->buffers[i].size);
    memcpy((uint8_t *)o->rig->buffers[i].data + at, o->data[i] + at, size);
    o->given += size;
}

static void keep_originals(struct rig *rig, struct originals *o)
{
    *o = (struct originals){ .rig = rig };
    for (size_t i = 0; i < rig->launch.buffer_count; i++) {
        o->data[i] = malloc(rig->buffers[i].size);
        assert_non_null(o->data[i]);
        memcpy(o->data[i], rig->buffers[i].data, rig->buffers[i].size);
    }
    rig->launch.restore = give_back;
    rig->launch.restore_context = o;
}

/* is_kept: who launches has the buffers as they were. *given: what was asked back of them. */
static struct outcome run_kept(const char *sample, const struct launch *l, int host_threads,
                               bool is_kept, size_t *given)
{
    struct originals originals = { 0 };
    struct outcome out = { .name = ERR_none };
    uint64_t parameters[8] = { 0 };
    uint8_t *blob = (uint8_t *)parameters;
    uint32_t seed = 7;
    struct rig rig;
    int at = 0;

    rig_load_sample(&rig, sample);
    for (int i = 0; i < MOST_BUFFERS && l->sizes[i]; i++) {
        uint8_t *data = rig_buffer(&rig, l->sizes[i], &parameters[at / 8]);

        for (size_t k = 0; k < l->sizes[i] && strcmp(l->kernel, "bad_index"); k++) {
            seed = seed * 1664525U + 1013904223U;
            data[k] = (uint8_t)(seed >> 26);
        }
        at += 8;
    }
    for (int i = 0; i < l->number_count; i++)
        memcpy(blob + at + 4 * i, &l->numbers[i], sizeof l->numbers[i]);
    rig.launch.host_threads = host_threads;
    if (is_kept)
        keep_originals(&rig, &originals);
    if (rig_try(&rig, l->kernel, l->grid, l->block, parameters) < 0)
        out.name = rig.err.name;
    *given = originals.given;
    for (int i = 0; i < MOST_BUFFERS; i++)
        free(originals.data[i]);
    out.thread_instructions = rig.facts.thread_instructions;
    out.sectors = rig.facts.global_load.sectors + rig.facts.global_store.sectors;
    out.atom = rig.facts.atom;
    out.block = rig.fault.block;
    out.thread = rig.fault.thread;
    out.line = rig.fault.ptx_line;
    for (int i = 0; i < MOST_BUFFERS && l->sizes[i]; i++) {
        out.data[i] = malloc(l->sizes[i]);
        assert_non_null(out.data[i]);
        memcpy(out.data[i], rig.buffers[i].data, l->sizes[i]);
    }
    rig_done(&rig);
    return out;
}

static struct outcome run(const char *sample, const struct launch *l, int host_threads)
{
    size_t given;

    return run_kept(sample, l, host_threads, false, &given);
}

static void done(struct outcome *o)
{
    for (int i = 0; i < MOST_BUFFERS; i++)
        free(o->data[i]);
}

static void compare(const struct launch *l, const struct outcome *want, const struct outcome *got,
                    int host_threads)
{
    if (got->name != l->fails)
        fail_msg("%s with %d host threads: error %d", l->kernel, host_threads, got->name);
    for (int i = 0; i < MOST_BUFFERS && l->sizes[i]; i++)
        for (size_t k = 0; k < l->sizes[i]; k++)
            if (got->data[i][k] != want->data[i][k])
                fail_msg("%s with %d host threads: byte %zu of buffer %d", l->kernel, host_threads,
                         k, i);
    assert_int_equal(got->thread_instructions, want->thread_instructions);
    assert_int_equal(got->sectors, want->sectors);
    assert_int_equal(got->atom, want->atom);
    assert_memory_equal(&got->block, &want->block, sizeof got->block);
    assert_memory_equal(&got->thread, &want->thread, sizeof got->thread);
    assert_int_equal(got->line, want->line);
}

static void results_are_those_of_blocks_in_order(void **state)
{
    static const int THREADS[] = { 2, 3, 7 };
    static const char *const SAMPLES[] = { "parallel.opt", "parallel.debug" };

    (void)state;
    for (size_t s = 0; s < COUNT(SAMPLES); s++)
        for (size_t i = 0; i < COUNT(LAUNCHES); i++) {
            struct outcome want = run(SAMPLES[s], &LAUNCHES[i], 1);

            assert_int_equal(want.name, LAUNCHES[i].fails);
            for (size_t t = 0; t < COUNT(THREADS); t++) {
                struct outcome got = run(SAMPLES[s], &LAUNCHES[i], THREADS[t]);

                compare(&LAUNCHES[i], &want, &got, THREADS[t]);
                done(&got);
            }
            done(&want);
        }
}

/* Of blocks that met all is undone: page by page from copies, or by who launched. */
static void what_met_is_asked_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(LAUNCHES); i++) {
        size_t given;
        struct outcome want = run("parallel.opt", &LAUNCHES[i], 1);
        struct outcome got = run_kept("parallel.opt", &LAUNCHES[i], 3, true, &given);

        compare(&LAUNCHES[i], &want, &got, 3);
        if (!strcmp(LAUNCHES[i].kernel, "chain"))
            assert_true(given >= LAUNCHES[i].sizes[0] / 2);
        if (!strcmp(LAUNCHES[i].kernel, "busy"))
            assert_int_equal(given, 0);
        done(&want);
        done(&got);
    }
}

/* In order the last block wins, and every block sees what the one before it left. */
static void the_order_is_that_of_block_numbers(void **state)
{
    struct outcome last = run("parallel.opt", &LAUNCHES[2], 7);
    struct outcome chain = run("parallel.opt", &LAUNCHES[3], 7);
    const int32_t *x = (const int32_t *)(const void *)last.data[0];
    const int32_t *c = (const int32_t *)(const void *)chain.data[0];

    (void)state;
    for (int i = 0; i < 256; i++)
        assert_int_equal(x[i], 5999);
    for (int i = 64; i < 640000; i++)
        assert_int_equal(c[i], (int32_t)((uint32_t)c[i % 64] + (uint32_t)(i / 64)));
    done(&last);
    done(&chain);
}

static void stores_through_loaded_pointers_are_followed(void **state)
{
    enum { N = 1 << 14, BLOCK = 64, BLOCKS = N / BLOCK };

    (void)state;
    for (int host_threads = 1; host_threads < 4; host_threads++) {
        struct {
            uint64_t rows, from;
            int n;
        } p = { .n = N };
        uint64_t target, *rows;
        int32_t *from, *to;
        struct rig rig;

        rig_load_sample(&rig, "parallel.opt");
        rows = rig_buffer(&rig, BLOCKS * 8, &p.rows);
        from = rig_buffer(&rig, N * 4, &p.from);
        to = rig_buffer(&rig, N * 4, &target);
        for (int i = 0; i < N; i++)
            from[i] = 5 * i;
        for (uint64_t b = 0; b < BLOCKS; b++) /* blocks 7 and 8 write the same row */
            rows[b] = target + 4 * BLOCK * (b == 7 ? 8 : b);
        rig.launch.host_threads = host_threads;
        rig_run(&rig, "through_pointers", BLOCKS, BLOCK, &p);
        for (int i = 0; i < N; i++)
            assert_int_equal(to[i], i / BLOCK == 7 ? 0 : 5 * ((i * 17) % N) + 1);
        rig_done(&rig);
    }
}

/* Progress counts every block once, also when they had to run again. */
static void progress_ends_at_the_number_of_blocks(void **state)
{
    (void)state;
    for (int host_threads = 1; host_threads < 4; host_threads++) {
        uint64_t parameters[2] = { 0, 38400 };
        atomic_llong progress = 0;
        struct rig rig;

        rig_load_sample(&rig, "parallel.opt");
        rig_buffer(&rig, 4 * 38400, &parameters[0]);
        rig.launch.host_threads = host_threads;
        rig.launch.progress = &progress;
        rig_run(&rig, "chain", 600, 64, parameters);
        assert_int_equal(atomic_load(&progress), 600);
        rig_done(&rig);
    }
}

static void an_estimate_counts_and_leaves_nothing_behind(void **state)
{
    enum { N = 25600 };
    struct {
        uint64_t x;
        int rounds;
    } p = { .rounds = 50 };
    struct ptx_cost cost;
    struct rig rig;
    uint8_t defined[N * 4 / 8] = { 0 };
    uint32_t *x;

    (void)state;
    rig_load_sample(&rig, "parallel.opt");
    x = rig_buffer(&rig, N * 4, &p.x);
    rig.buffers[0].defined = defined;
    rig.launch.kernel = ptx_kernel_find(rig.module, "busy");
    rig.launch.grid.x = N / 64;
    rig.launch.block.x = 64;
    rig.launch.parameters = &p;
    assert_int_equal(ptx_launch_cost(rig.module, &rig.launch, 0, rig.arena, &cost, &rig.err), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], 0);
    for (size_t i = 0; i < sizeof defined; i++)
        assert_int_equal(defined[i], 0);
    rig_run(&rig, "busy", N / 64, 64, &p);
    for (size_t i = 0; i < sizeof defined; i++)
        assert_int_equal(defined[i], 0xff);
    assert_false(cost.is_cut);
    assert_int_equal(cost.sampled_blocks, 3);
    assert_int_equal(cost.thread_instructions, rig.facts.thread_instructions);

    /* Threads that run for longer than the sample may. */
    p.rounds = 1 << 30;
    assert_int_equal(ptx_launch_cost(rig.module, &rig.launch, 1 << 16, rig.arena, &cost, &rig.err),
                     0);
    assert_true(cost.is_cut);
    assert_true(cost.thread_instructions > (int64_t)N * (1 << 15));

    rig.launch.grid.x = 0;
    assert_int_equal(ptx_launch_cost(rig.module, &rig.launch, 0, rig.arena, &cost, &rig.err), -1);
    assert_int_equal(rig.err.name, ERR_LaunchError);
    rig_done(&rig);
}

/* Blocks that met run again in order: bits of values too are as if they had not run before. */
static void what_was_undone_has_no_values(void **state)
{
    enum { N = 6000 * 64, SIZE = 4 * N };
    uint64_t parameters[2] = { 0, N };
    uint8_t *defined = calloc(SIZE / 8, 1);

    (void)state;
    assert_non_null(defined);
    for (int host_threads = 1; host_threads < 4; host_threads++) {
        struct rig rig;

        memset(defined, 0, SIZE / 8);
        memset(defined, 0xff, 64 * 4 / 8); /* the first block's words alone */
        rig_load_sample(&rig, "parallel.opt");
        rig_buffer(&rig, SIZE, &parameters[0]);
        rig.buffers[0].defined = defined;
        rig.launch.host_threads = host_threads;
        /* In order each block finds what the one before it wrote; side by side one is too early. */
        rig_run(&rig, "chain", N / 64, 64, parameters);
        for (size_t i = 0; i < SIZE / 8; i++)
            assert_int_equal(defined[i], 0xff);
        rig_done(&rig);
    }
    free(defined);
}

static void buffers_that_were_written_are_told(void **state)
{
    (void)state;
    for (int host_threads = 1; host_threads < 4; host_threads++) {
        atomic_bool is_written[3];
        uint64_t parameters[3];
        struct rig rig;

        rig_load_sample(&rig, "basics.opt");
        for (int i = 0; i < 3; i++) {
            rig_buffer(&rig, 4 * 38400, &parameters[i]);
            atomic_init(&is_written[i], false);
            rig.buffers[i].is_written = &is_written[i];
        }
        rig.launch.host_threads = host_threads;
        rig_run(&rig, "vector_add", 600, 64,
                (uint64_t[4]){ parameters[0], parameters[1], parameters[2], 38400 });
        for (int i = 0; i < 3; i++)
            assert_int_equal(atomic_load(&is_written[i]), i == 2);
        rig_done(&rig);
    }
}

static int threads_for(const char *sample, const char *kernel)
{
    uint64_t parameters[4] = { 0 };
    struct ptx_cost cost;
    struct rig rig;
    int n;

    rig_load_sample(&rig, sample);
    for (int i = 0; i < 3; i++)
        rig_buffer(&rig, 1 << 16, &parameters[i]);
    rig.launch.kernel = ptx_kernel_find(rig.module, kernel);
    rig.launch.grid.x = 1000;
    rig.launch.block.x = 64;
    rig.launch.parameters = parameters;
    rig.launch.host_threads = 2;
    assert_int_equal(ptx_launch_cost(rig.module, &rig.launch, 0, rig.arena, &cost, &rig.err), 0);
    n = cost.host_threads;
    rig_done(&rig);
    return n;
}

/* The debug build keeps atomicAdd() as a function of the module, called by some kernels only. */
static void a_kernel_is_held_to_what_it_calls_alone(void **state)
{
    (void)state;
    assert_int_equal(threads_for("parallel.opt", "scale"), 2);
    assert_int_equal(threads_for("parallel.opt", "tickets"), 1);
    assert_int_equal(threads_for("parallel.debug", "scale"), 2);
    assert_int_equal(threads_for("parallel.debug", "tickets"), 1);
}

/* A grid of 2^31 - 1 blocks: a sample of it, and its estimate, take no time. */
static void the_largest_grid_can_be_sampled(void **state)
{
    uint64_t p[3];
    struct ptx_cost cost;
    struct rig rig;

    (void)state;
    rig_load_sample(&rig, "parallel.opt");
    rig_buffer(&rig, 256, &p[0]);
    rig_buffer(&rig, 8, &p[1]);
    rig_buffer(&rig, 4, &p[2]);
    rig.launch.sample_blocks = 1000;
    rig.launch.host_threads = 3;
    rig_run(&rig, "count", INT32_MAX, 256, p);
    assert_true(rig.facts.is_sampled);
    assert_int_equal(rig.facts.blocks, INT32_MAX);
    assert_int_equal(rig.facts.threads, (int64_t)INT32_MAX * 256);
    rig.launch.sample_blocks = 0;
    assert_int_equal(ptx_launch_cost(rig.module, &rig.launch, 0, rig.arena, &cost, &rig.err), 0);
    assert_int_equal(cost.blocks, INT32_MAX);
    assert_true(cost.thread_instructions > (int64_t)INT32_MAX * 256);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_blocks_in_order),
        cmocka_unit_test(what_met_is_asked_back),
        cmocka_unit_test(the_order_is_that_of_block_numbers),
        cmocka_unit_test(stores_through_loaded_pointers_are_followed),
        cmocka_unit_test(progress_ends_at_the_number_of_blocks),
        cmocka_unit_test(an_estimate_counts_and_leaves_nothing_behind),
        cmocka_unit_test(what_was_undone_has_no_values),
        cmocka_unit_test(buffers_that_were_written_are_told),
        cmocka_unit_test(a_kernel_is_held_to_what_it_calls_alone),
        cmocka_unit_test(the_largest_grid_can_be_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
