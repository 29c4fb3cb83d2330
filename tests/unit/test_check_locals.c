/* Variables of a debug build that are read before they have a value, and those that only look so.
 */
#include "tests/unit/ptx_rig.h"

enum { OUT_BYTES = 4096 };

struct call {
    uint64_t out;
    int n;
};

static void prepare(struct rig *rig, struct call *p)
{
    rig_load_sample(rig, "locals.debug");
    p->n = 6;
    rig_buffer(rig, OUT_BYTES, &p->out);
    rig->buffers[0].name = "out";
}

static void a_variable_without_a_value_is_named_where_it_is_read(void **state)
{
    static const struct {
        const char *kernel, *text, *detail;
    } cases[] = {
        { "one_arm", "reads total, which has no value yet", "nothing was assigned to total" },
        { "stored", "reads a local variable that has no value", "= 0 where it is declared" },
        { "some_lanes", "reads t, which has no value yet", "lanes 6..31" },
        { "condition", "has no value yet", "every branch" },
        { "an_index", "has no value yet", "every branch" },
        { "a_pointer", "reads p, which has no value yet", "a variable of the thread itself" },
        { "no_case", "reads v, which has no value yet", "nothing was assigned to v" },
        { "wide", "has no value yet", "every branch" },
        { "small", "has no value yet", "every branch" },
        { "result", "has no value yet", "threads 0..31" },
        { "argument", "has no value yet", "inside  twice() called in" },
        { "passed_on", "has no value yet", "threads 0..31" },
        { "shuffled", "has no value yet", "16 threads" },
        { "in_sinf", "has no value yet", "threads 0..31" },
        { "an_array", "reads a local variable that has no value", "= 0 where it is declared" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct call p;
        struct rig rig;

        prepare(&rig, &p);
        if (rig_try(&rig, cases[i].kernel, 1, 32, &p) != -1)
            fail_msg("%s: no fault", cases[i].kernel);
        if (rig.err.name != ERR_MemoryFault || !strstr(rig.err.text, cases[i].text) ||
            !rig.err.detail || !strstr(rig.err.detail, cases[i].detail))
            fail_msg("%s: %s\n%s", cases[i].kernel, rig.err.text,
                     rig.err.detail ? rig.err.detail : "");
        rig_done(&rig);
    }
}

static void right_programs_pass(void **state)
{
    struct rig rig;
    struct call p;
    int passed = 0;

    (void)state;
    prepare(&rig, &p);
    for (size_t i = 0; i < ptx_kernel_count(rig.module); i++) {
        const char *name = ptx_kernel_at(rig.module, i)->name;

        if (strlen(name) < 3 || strcmp(name + strlen(name) - 3, "_ok") != 0)
            continue;
        rig_run(&rig, name, 1, 64, &p);
        passed++;
    }
    assert_int_equal(passed, 20);
    rig_done(&rig);
}

/* `checks=` without it, and the same variables in code that is not for a debugger. */
static void it_can_be_left_out(void **state)
{
    struct call p;
    struct rig rig;

    (void)state;
    prepare(&rig, &p);
    rig.launch.checks &= ~PTX_CHECK_LOCALS;
    rig_run(&rig, "one_arm", 1, 32, &p);
    rig_run(&rig, "argument", 1, 32, &p);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_without_a_value_is_named_where_it_is_read),
        cmocka_unit_test(right_programs_pass),
        cmocka_unit_test(it_can_be_left_out),
    };

    return rig_run_builds(tests, COUNT(tests));
}
