/*
 * Races in global memory (races=all): each that is one is found, with the thread that came second,
 * and programs that order their accesses are right, whatever the number of host threads.
 */
#include "tests/unit/ptx_rig.h"

struct program {
    const char *kernel;
    unsigned grid, block;
    int number; /* behind the pointers */
    int pointers;
    unsigned race_block, race_thread; /* who comes second */
    bool is_race;
};

static const struct program PROGRAMS[] = {
    { "both_write", 4, 32, 0, 1, 1, 0, true },
    { "both_write", 1, 32, 0, 1, 0, 0, false },
    { "same_value", 4, 64, 0, 1, 0, 0, false },
    { "one_instruction", 1, 32, 0, 1, 0, 1, true },
    { "neighbour", 2, 32, 64, 1, 1, 0, true },
    { "neighbour", 1, 32, 32, 1, 0, 0, false }, /* one warp, in lockstep */
    { "reads_ahead", 2, 32, 64, 1, 1, 0, true },
    { "warps", 1, 64, 0, 1, 0, 32, true },
    { "warps", 1, 64, 1, 1, 0, 0, false },
    { "reset", 3, 32, 0, 1, 1, 0, true },
    { "counted", 8, 64, 0, 1, 0, 0, false },
    { "last_block", 8, 64, 0, 3, 0, 0, false },
    { "locked", 8, 32, 0, 2, 0, 0, false },
    { "bytes", 8, 33, 0, 1, 0, 0, false },
    { "own", 4, 128, 0, 2, 0, 0, false },
};

static void check(const char *sample, const struct program *p, int host_threads)
{
    uint64_t parameters[5] = { 0 };
    struct rig rig;
    int rc;

    rig_load_sample(&rig, sample);
    for (int i = 0; i < p->pointers; i++)
        rig_buffer(&rig, 16384, &parameters[i]);
    parameters[p->pointers] = (uint64_t)p->number;
    rig.launch.checks |= PTX_CHECK_GLOBAL_RACES;
    rig.launch.host_threads = host_threads;
    rc = rig_try(&rig, p->kernel, p->grid, p->block, parameters);
    if (!p->is_race && rc < 0)
        fail_msg("%s of %s: %s\n%s", p->kernel, sample, rig.err.text,
                 rig.err.detail ? rig.err.detail : "");
    if (p->is_race && (rc == 0 || rig.err.name != ERR_RaceFault))
        fail_msg("%s of %s: no race was found (%s)", p->kernel, sample, rig.err.text);
    if (p->is_race && (rig.fault.block.x != p->race_block || rig.fault.thread.x != p->race_thread))
        fail_msg("%s of %s: block %u thread %u", p->kernel, sample, rig.fault.block.x,
                 rig.fault.thread.x);
    rig_done(&rig);
}

static void races_are_found_and_right_programs_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(PROGRAMS); i++)
        for (int host_threads = 1; host_threads < 4; host_threads++) {
            check("crossing.opt", &PROGRAMS[i], host_threads);
            check("crossing.debug", &PROGRAMS[i], host_threads);
        }
}

/* Without races=all they run as the GPU would: some order, here that of the blocks. */
static void races_are_looked_for_only_when_asked(void **state)
{
    uint64_t parameters[2] = { 0 };
    struct rig rig;
    int32_t *x;

    (void)state;
    rig_load_sample(&rig, "crossing.opt");
    x = rig_buffer(&rig, 16, &parameters[0]);
    rig_run(&rig, "both_write", 4, 32, parameters);
    assert_int_equal(x[0], 3);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_are_found_and_right_programs_pass),
        cmocka_unit_test(races_are_looked_for_only_when_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
