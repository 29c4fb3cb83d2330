/*
 * What a launch will take: long ones are told from short ones, and nothing is left of the blocks
 * that were tried.
 */
#include "tests/unit/ptx_rig.h"

#include "kernels/model_estimate.h"

static struct launch_estimate estimate(struct rig *rig, const char *kernel, unsigned grid,
                                       unsigned block, const void *parameters)
{
    rig->launch.kernel = ptx_kernel_find(rig->module, kernel);
    rig->launch.grid.x = grid;
    rig->launch.block.x = block;
    rig->launch.parameters = parameters;
    assert_non_null(rig->launch.kernel);
    return model_estimate(rig->module, &rig->launch, rig->arena);
}

/* Blocks of a microsecond, a million of them: starting the sample takes longer than a block. */
static void many_empty_blocks_are_no_long_launch(void **state)
{
    struct {
        uint64_t x;
        int n;
    } p = { .n = 256 };
    struct rig rig;
    float *x;

    (void)state;
    rig_load_sample(&rig, "parallel.opt");
    x = rig_buffer(&rig, 1024, &p.x);
    assert_int_equal(estimate(&rig, "scale", 1 << 12, 32, &p).ms, 0);
    assert_int_equal(estimate(&rig, "scale", 8, 32, &p).ms, 0);
    for (int i = 0; i < 256; i++)
        assert_true(x[i] == 0.0f);
    rig_done(&rig);
}

static void a_large_grid_is_a_long_launch(void **state)
{
    struct launch_estimate e;
    uint64_t p[3];
    struct rig rig;

    (void)state;
    rig_load_sample(&rig, "parallel.opt");
    rig_buffer(&rig, 256, &p[0]);
    rig_buffer(&rig, 8, &p[1]);
    rig_buffer(&rig, 4, &p[2]);
    e = estimate(&rig, "count", INT32_MAX, 256, p);
    assert_true(e.ms >= ESTIMATE_FROM_MS);
    assert_false(e.is_least);
    rig_done(&rig);
}

static void long_blocks_give_a_lower_bound(void **state)
{
    struct {
        uint64_t x;
        int rounds;
    } p = { .rounds = 1 << 30 };
    struct launch_estimate e;
    struct rig rig;

    (void)state;
    rig_load_sample(&rig, "parallel.opt");
    rig_buffer(&rig, 1024, &p.x);
    e = estimate(&rig, "busy", 1000000, 64, &p);
    assert_true(e.ms >= ESTIMATE_FROM_MS);
    assert_true(e.is_least);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_empty_blocks_are_no_long_launch),
        cmocka_unit_test(a_large_grid_is_a_long_launch),
        cmocka_unit_test(long_blocks_give_a_lower_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
