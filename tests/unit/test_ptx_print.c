/* printf, assert and the device heap: the functions of a kernel that no PTX has. */
#include "tests/unit/ptx_rig.h"

static const char *const BUILDS[] = { "system.opt", "system.debug" };

static void collect(void *context, const char *text, size_t size)
{
    buf_put(context, text, size);
}

static void load(struct rig *rig, const char *sample, struct buf *out)
{
    rig_load_sample(rig, sample);
    rig->launch.print = collect;
    rig->launch.print_context = out;
}

/* What C itself prints for the same formats and values; p is the address that the kernel got. */
static void print_expected(struct buf *b, int t, uint64_t p, float f, long long l)
{
    int i = t == 0 ? -42 : 7;
    char local[4] = { 'l', (char)('0' + t), 'x', 0 };

    buf_printf(b, "plain\n%d|%5d|%-5d|%05d|%+d|% d|%.4d|%i\n", i, i, i, i, i, i, i, i);
    buf_printf(b, "%u %x %X %#x %o %#o\n", (unsigned)i, (unsigned)i, (unsigned)i, 255U, 8U, 8U);
    buf_printf(b, "%lld %llu %ld %lx\n", l, (unsigned long long)l, (long)l, (unsigned long)l);
    buf_printf(b, "%f %5.2f %-8.3f| %e %g %G %a\n", f, f, f, f, f, f, f);
    buf_printf(b, "%c%c%%%5c|%-3c|\n", 'a' + i, 'b', 'c', 'd');
    buf_printf(b, "global constant %s %.3s|%10s|%-10s|\n", local, "abcdef", "right", "left");
    buf_printf(b, "%*d|%-*d|%.*f\n", 6, i, 6, i, 1, f);
    buf_printf(b, "0x%llx (nil)\n", (unsigned long long)p);
    buf_puts(b, "9029 -1 9029\n1 2.000000 3 four 5\n");
}

static void formats_print_what_c_prints(void **state)
{
    static const int counts[] = { 0, 8, 6, 4, 7, 4, 6, 6, 2, 3, 5 };

    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        struct {
            uint64_t counts;
            float f;
            long long l;
            uint64_t text;
        } p = { .f = -3.14159f, .l = -9000000000LL };
        struct buf out = { 0 }, want = { 0 };
        struct rig rig;
        int *got;

        load(&rig, BUILDS[build], &out);
        got = rig_buffer(&rig, 64, &p.counts);
        memcpy(rig_buffer(&rig, 8, &p.text), "abcdef", 7);
        rig_run(&rig, "formats", 1, 2, &p);
        /* The lanes of a warp call each printf together. */
        for (int t = 0; t < 2; t++) {
            struct buf lane = { 0 };
            const char *from, *at;

            print_expected(&lane, t, p.counts, p.f, p.l);
            for (from = buf_text(&lane); *from; from = at + 1) {
                char line[256];

                at = strchr(from, '\n');
                snprintf(line, sizeof line, "%.*s\n", (int)(at - from), from);
                if (!strstr(buf_text(&out), line))
                    fail_msg("%s: thread %d does not print %s in %s", BUILDS[build], t, line,
                             buf_text(&out));
            }
            buf_put(&want, buf_text(&lane), lane.size);
            buf_done(&lane);
        }
        assert_int_equal(out.size, want.size);
        for (size_t i = 0; i < COUNT(counts); i++)
            assert_int_equal(got[i], counts[i]);
        buf_done(&out);
        buf_done(&want);
        rig_done(&rig);
    }
}

static void text_leaves_in_the_order_of_blocks_with_any_number_of_host_threads(void **state)
{
    struct buf want = { 0 };

    (void)state;
    for (int i = 0; i < 200; i++)
        buf_printf(&want, "block %d warp 0\nblock %d warp 1\n", i, i);
    for (int threads = 1; threads <= 4; threads++) {
        struct buf out = { 0 };
        struct rig rig;

        load(&rig, BUILDS[threads % 2], &out);
        rig.launch.host_threads = threads;
        rig_run(&rig, "by_block", 200, 64, "");
        assert_string_equal(buf_text(&out), buf_text(&want));
        buf_done(&out);
        rig_done(&rig);
    }
    buf_done(&want);
}

static void beyond_a_mebibyte_whole_lines_are_dropped_and_counted(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        int lines = 9000; /* of a block; 58 bytes or so each */
        struct buf out = { 0 };
        struct rig rig;
        int64_t bytes = 0;

        load(&rig, BUILDS[0], &out);
        rig.launch.host_threads = threads;
        rig_run(&rig, "floods", 4, 1, &lines);
        for (int block = 0; block < 4; block++)
            for (int i = 0; i < lines; i++)
                bytes += snprintf(NULL, 0, "%d %d %50d\n", block, i, i);
        assert_true(out.size <= PTX_PRINT_LIMIT && out.size > PTX_PRINT_LIMIT - 64);
        assert_int_equal(out.data[out.size - 1], '\n');
        assert_int_equal(rig.facts.warning_count, 1);
        assert_int_equal(rig.facts.warnings[0].kind, PTX_WARNING_PRINTF_LOST);
        assert_int_equal(rig.facts.warnings[0].count, bytes - (int64_t)out.size);
        buf_done(&out);
        rig_done(&rig);
    }
}

static void a_string_that_is_none_is_a_fault_with_what_was_printed_before(void **state)
{
    static const struct {
        uint64_t text;
        const char *why;
    } cases[] = {
        { 0x7fff12345678, "not in device memory" },
        { 0x10000000, "not in device memory" }, /* has no end: 3 of 3 bytes are text */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf out = { 0 };
        struct rig rig;
        uint64_t text = cases[i].text, unused;

        load(&rig, BUILDS[0], &out);
        memcpy(rig_buffer(&rig, 3, &unused), "abc", 3);
        assert_int_equal(rig_try(&rig, "bad_string", 1, 1, &text), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        assert_non_null(strstr(rig.err.text, cases[i].why));
        assert_int_equal(rig.err.line, 39);
        buf_done(&out);
        rig_done(&rig);
    }
}

static void an_assertion_names_what_failed_where_and_who(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        struct {
            uint64_t x;
            int n;
        } p = { .n = 100 };
        struct buf out = { 0 };
        struct rig rig;
        int *x;

        load(&rig, BUILDS[build], &out);
        x = rig_buffer(&rig, 400, &p.x);
        rig_run(&rig, "asserts", 4, 32, &p);
        x[70] = x[71] = -1;
        assert_int_equal(rig_try(&rig, "asserts", 4, 32, &p), -1);
        assert_int_equal(rig.err.name, ERR_AssertFault);
        assert_non_null(strstr(rig.err.text, "x[i] >= 0"));
        assert_int_equal(rig.fault.block.x, 2);
        assert_int_equal(rig.fault.thread.x, 6);
        assert_int_equal(rig.fault.lanes, 0xc0);
        assert_int_equal(rig.err.line, 46);
        rig_done(&rig);
    }
}

static void malloc_gives_memory_that_keeps_and_free_takes_it_back(void **state)
{
    (void)state;
    for (size_t build = 0; build < COUNT(BUILDS); build++) {
        struct {
            uint64_t out;
            int n;
        } p = { .n = 20 };
        struct buf out = { 0 };
        struct rig rig;
        int *got;

        load(&rig, BUILDS[build], &out);
        got = rig_buffer(&rig, 4 * 64, &p.out);
        rig.launch.host_threads = 3;
        rig_run(&rig, "lists", 2, 64, &p);
        for (int t = 0; t < 64; t++)
            assert_int_equal(got[t], 190 * t);
        assert_int_equal(rig.facts.warning_count, 0);
        rig_run(&rig, "arrays", 1, 64, &p);
        for (int t = 0; t < 64; t++)
            assert_int_equal(got[t], 19 + t);
        rig_done(&rig);
    }
}

static void a_full_heap_gives_null_and_what_stays_is_a_leak(void **state)
{
    struct {
        uint64_t out;
        int bytes;
    } p = { .bytes = 1 << 20 };
    struct rig rig;
    int *got;

    (void)state;
    rig_load_sample(&rig, BUILDS[0]);
    got = rig_buffer(&rig, 4 * 32, &p.out);
    rig_run(&rig, "fills", 1, 32, &p);
    for (int t = 0; t < 32; t++)
        assert_int_equal(got[t], t < 8);
    assert_int_equal(rig.facts.warning_count, 1);
    assert_int_equal(rig.facts.warnings[0].kind, PTX_WARNING_LEAK);
    assert_int_equal(rig.facts.warnings[0].count, 8);
    assert_int_equal(rig.facts.warnings[0].line, 90);
    rig.launch.heap_bytes = 3 << 20;
    rig_run(&rig, "fills", 1, 32, &p);
    assert_int_equal(rig.facts.warnings[0].count, 3);
    p.bytes = -1;
    rig_run(&rig, "fills", 1, 32, &p);
    assert_int_equal(got[0], 0);
    rig_done(&rig);
}

static void wrong_uses_of_the_heap_are_told_apart(void **state)
{
    static const struct {
        int how, line;
        const char *text;
    } cases[] = {
        { 0, 99, "" },        { 1, 102, "" },         { 2, 106, "before" },
        { 3, 109, "inside" }, { 4, 111, "not give" }, { 5, 113, "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases) * COUNT(BUILDS); i++) {
        struct {
            uint64_t out;
            int how;
        } p = { .how = cases[i / 2].how };
        struct rig rig;

        rig_load_sample(&rig, BUILDS[i % 2]);
        rig_buffer(&rig, 4, &p.out);
        assert_int_equal(rig_try(&rig, "heap_faults", 1, 1, &p), -1);
        assert_int_equal(rig.err.name, ERR_MemoryFault);
        if (!strstr(rig.err.text, cases[i / 2].text) || rig.err.line != cases[i / 2].line)
            fail_msg("%s %d: line %d %s", BUILDS[i % 2], p.how, rig.err.line, rig.err.text);
        rig_done(&rig);
    }
}

static void a_call_of_what_is_not_there_is_refused_by_name(void **state)
{
    static const char *const names[] = { "cudaGetParameterBufferV2", "foo" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct ptx_module *module;
        struct err err = { 0 };
        char text[512];

        snprintf(text, sizeof text,
                 ".version 9.0\n.target sm_80\n.address_size 64\n.extern .func %s();\n"
                 ".visible .entry k()\n{\ncall.uni %s;\nret;\n}\n",
                 names[i], names[i]);
        assert_int_equal(ptx_module_load(bytes_of(text), &module, &err), -1);
        assert_int_equal(err.name, ERR_UnsupportedError);
        assert_non_null(strstr(err.text, names[i]));
        err_done(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_print_what_c_prints),
        cmocka_unit_test(text_leaves_in_the_order_of_blocks_with_any_number_of_host_threads),
        cmocka_unit_test(beyond_a_mebibyte_whole_lines_are_dropped_and_counted),
        cmocka_unit_test(a_string_that_is_none_is_a_fault_with_what_was_printed_before),
        cmocka_unit_test(an_assertion_names_what_failed_where_and_who),
        cmocka_unit_test(malloc_gives_memory_that_keeps_and_free_takes_it_back),
        cmocka_unit_test(a_full_heap_gives_null_and_what_stays_is_a_leak),
        cmocka_unit_test(wrong_uses_of_the_heap_are_told_apart),
        cmocka_unit_test(a_call_of_what_is_not_there_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
