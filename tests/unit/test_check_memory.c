/* Reads and writes that go wrong: what each is called, where, and what the report makes of it. */
#include "tests/unit/ptx_rig.h"

struct call {
    int n;
    uint64_t x, y;
};

/* Buffers x and y of floats with other allocations around; x has a value in its first bytes only.
 */
static void prepare(struct rig *rig, struct call *p, size_t x_count, size_t x_defined)
{
    static const char *const names[] = { "before", "x", "between", "y" };
    static const char *const parameters[] = { "n", "x", "y" };
    uint64_t unused;

    rig_load_sample(rig, "faults.opt");
    rig_buffer(rig, 4096, &unused);
    rig_buffer(rig, 4 * x_count, &p->x);
    rig_buffer(rig, 1 << 16, &unused);
    rig_buffer(rig, 4096, &p->y);
    for (size_t i = 0; i < COUNT(names); i++) {
        rig->buffers[i].name = names[i];
        rig->buffers[i].element_type = "float";
        rig->buffers[i].element_bytes = 4;
        rig->buffers[i].origin = "made in In[4] line 1";
    }
    if (x_defined < 4 * x_count) {
        rig->buffers[1].defined = arena_alloc(rig->arena, 4 * x_count / 8 + 1);
        assert_non_null(rig->buffers[1].defined);
        for (size_t i = 0; i < x_defined; i++)
            rig->buffers[1].defined[i / 8] |= (uint8_t)(1 << i % 8);
    }
    rig->launch.parameter_names = parameters;
}

static void each_mistake_is_named_with_its_place_and_cause(void **state)
{
    static const struct {
        const char *kernel;
        unsigned grid, block;
        int n;
        size_t x_count, x_defined;
        const char *text, *detail;
    } cases[] = {
        { "le", 4, 256, 1000, 1000, 4000, "reads x[1000], but x has 1000 floats", "not <=" },
        { "halo", 4, 256, 1000, 1000, 4000, "reads x[-1]", "if (i >= 1)" },
        { "halo2", 4, 256, 1000, 1000, 4000, "reads x[1000]", "if (i + 1 < n)" },
        { "stride", 1, 256, 1000, 1000, 4000, "reads x[1000]", "4 * i" },
        /* Far enough to land in another buffer, which no red zone tells. */
        { "wild", 1, 32, 1 << 26, 100, 400, "reads x[67108864], but x has 100",
          "lands   in between" },
        { "inl", 1, 32, 1, 100, 400, "reads x[5000]", "pick() called in faults.cu line 47" },
        { "loop", 1, 32, 64, 64, 256, "reads x[64]", "goes to n = 64" },
        { "twice", 1, 64, 64, 64, 64, "reads x[16], which was never written",
          "64 is its number of elements" },
        { "twice", 1, 64, 64, 64, 0, "reads x[0], which was never written", "nothing has written" },
        { "sh", 1, 32, 1, 64, 256, "reads tile[32], but tile has 128 bytes",
          "past the end of tile" },
        { "dyn", 1, 32, 31, 64, 256, "gives no dynamic shared memory", "third value" },
        { "unsh", 1, 32, 31, 64, 256, "reads tile[32], which no thread of the block wrote",
          "tile" },
        { "loc", 1, 4, 3, 64, 256, "reads a local variable that has no value", "thread" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct call p = { .n = cases[i].n };
        struct rig rig;

        prepare(&rig, &p, cases[i].x_count, cases[i].x_defined);
        if (!strcmp(cases[i].kernel, "loc"))
            ((float *)rig.buffers[1].data)[3] = 5;
        assert_int_equal(rig_try(&rig, cases[i].kernel, cases[i].grid, cases[i].block, &p), -1);
        if (rig.err.name != ERR_MemoryFault || !strstr(rig.err.text, cases[i].text) ||
            !rig.err.detail || !strstr(rig.err.detail, cases[i].detail))
            fail_msg("row %zu, %s: %s\n%s", i, cases[i].kernel, rig.err.text,
                     rig.err.detail ? rig.err.detail : "");
        assert_non_null(rig.fault.kernel);
        rig_done(&rig);
    }
}

static void a_buffer_that_was_freed_says_where(void **state)
{
    struct call p = { .n = 32 };
    struct rig rig;

    (void)state;
    prepare(&rig, &p, 64, 256);
    rig.buffers[1].freed = "freed by %reset in In[7]";
    assert_int_equal(rig_try(&rig, "twice", 1, 32, &p), -1);
    assert_int_equal(rig.err.name, ERR_MemoryFault);
    assert_non_null(strstr(rig.err.text, "x was freed"));
    assert_non_null(strstr(rig.err.detail, "by %reset in In[7]"));
    rig_done(&rig);
}

static void what_a_kernel_writes_has_a_value_from_then_on(void **state)
{
    struct call p = { .n = 32 };
    struct rig rig;
    uint8_t bits[64] = { 0 };

    (void)state;
    prepare(&rig, &p, 64, 256);
    rig.buffers[3].size = 512;
    rig.buffers[3].defined = bits;
    rig_run(&rig, "twice", 1, 64, &p);
    for (size_t i = 0; i < sizeof bits; i++)
        assert_int_equal(bits[i], i < 32 ? 0xff : 0);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_is_named_with_its_place_and_cause),
        cmocka_unit_test(a_buffer_that_was_freed_says_where),
        cmocka_unit_test(what_a_kernel_writes_has_a_value_from_then_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
