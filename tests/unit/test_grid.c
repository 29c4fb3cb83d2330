/*
 * The grid layer: golden efficiencies hold, blocks go where the documented rule
 * says, and a naive scheduler that steps through every cycle agrees with it.
 */
#include "model/grid.h"

#include "model/base/philox.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 4096 };

/* What a visitor saw. */
struct seen {
    struct grid_block blocks[MOST];
    int64_t count;
};

static void remember(void *data, const struct grid_block *block)
{
    struct seen *seen = data;

    assert_int_equal(block->block, seen->count);
    if (seen->count < MOST)
        seen->blocks[seen->count] = *block;
    seen->count++;
}

static struct grid_run run_grid(struct grid grid, struct seen *seen)
{
    struct arena *arena = arena_new(0);
    struct grid_run out = { 0 };
    struct err err = { 0 };

    assert_non_null(arena);
    if (seen)
        seen->count = 0;
    if (grid_run(&grid, seen ? remember : NULL, seen, arena, NULL, &out, &err) < 0)
        fail_msg("%s", err.text);
    arena_free(&arena);
    return out;
}

static struct grid h200(int64_t blocks)
{
    return (struct grid){ .blocks = blocks, .sms = 132, .per_sm = 1, .cost = 1000 };
}

/* facts/model.md 4.6 */
static void waves_give_the_golden_efficiencies(void **state)
{
    static const struct {
        int blocks;
        double percent;
        int rounds;
    } cases[] = { { 132, 100, 1 },  { 133, 50.4, 2 }, { 264, 100, 2 },
                  { 265, 66.9, 3 }, { 529, 80.2, 5 }, { 1024, 97.0, 8 } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct grid grid = h200(cases[i].blocks);
        struct grid_waves waves = grid_waves_of(&grid);
        struct grid_run out = run_grid(grid, NULL);

        assert_true(fabs(100 * waves.efficiency - cases[i].percent) < 0.05);
        /* With equal blocks and free starts the simulation is the closed form. */
        assert_true(out.efficiency == waves.efficiency);
        assert_int_equal(out.cycles, 1000 * cases[i].rounds);
    }
    assert_true(
        fabs(grid_waves_of(&(struct grid){ .blocks = 1024, .sms = 132, .per_sm = 1 }).waves -
             7.7576) < 0.0001);
}

static void nsight_warns_of_a_tail_of_a_fifth(void **state)
{
    static const struct {
        int blocks;
        double share;
        bool has_tail;
    } cases[] = {
        { 100, 1, false }, /* no whole wave */
        { 132, 0, false }, { 133, 0.5, true }, { 529, 0.2, true }, { 661, 1.0 / 6, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct grid grid = h200(cases[i].blocks);
        struct grid_waves waves = grid_waves_of(&grid);

        assert_true(waves.tail_share == cases[i].share);
        assert_int_equal(waves.has_tail, cases[i].has_tail);
    }
}

static void a_block_starts_in_the_cycle_in_which_another_ends(void **state)
{
    /* Blocks 0 and 1 end at 100 and 300: block 2 does not wait for the end of the wave. */
    const int64_t costs[] = { 100, 300, 50, 50, 50 };
    struct grid grid = { .blocks = 5, .sms = 2, .per_sm = 1, .costs = costs };
    struct seen seen;
    struct grid_run out = run_grid(grid, &seen);

    (void)state;
    for (int i = 2; i < 5; i++) {
        assert_int_equal(seen.blocks[i].sm, 0);
        assert_int_equal(seen.blocks[i].placed, 100 + 50 * (i - 2));
    }
    assert_int_equal(out.cycles, 300);
    assert_int_equal(out.tail, 50); /* SM 0 is empty from 250 on */
    assert_int_equal(out.work, 550);
    assert_int_equal(out.sm_cycles, 550);
}

static void a_block_goes_where_most_room_is(void **state)
{
    /* Three places an SM. At 10 SM 1 has two free places and SM 0 one: round robin would take 0. */
    const int64_t costs[] = { 10, 10, 100, 10, 100, 100, 7, 7, 7 };
    struct grid grid = { .blocks = 9, .sms = 2, .per_sm = 3, .costs = costs };
    struct seen seen;

    (void)state;
    run_grid(grid, &seen);
    for (int i = 0; i < 6; i++)
        assert_int_equal(seen.blocks[i].sm, i % 2);
    assert_int_equal(seen.blocks[6].sm, 1);
    assert_int_equal(seen.blocks[7].sm, 0); /* one place each again: the lowest id */
    assert_int_equal(seen.blocks[8].sm, 1);
}

static void starting_costs_what_it_is_given(void **state)
{
    struct grid grid = { .blocks = 8,
                         .sms = 4,
                         .per_sm = 1,
                         .cost = 1000,
                         .launch = 500,
                         .start = 200,
                         .start_interval = 250 };
    struct seen seen;
    struct grid_run out = run_grid(grid, &seen);

    (void)state;
    /* 2.5 cycles a start: done at 502.5, 505, 507.5 and 510. */
    assert_int_equal(seen.blocks[0].placed, 503);
    assert_int_equal(seen.blocks[1].placed, 505);
    assert_int_equal(seen.blocks[2].placed, 508);
    assert_int_equal(seen.blocks[3].placed, 510);
    assert_int_equal(seen.blocks[0].end, 503 + 200 + 1000);
    assert_int_equal(seen.blocks[4].placed, 1703 + 3);
    assert_int_equal(out.work, 8000);
    assert_true(out.efficiency < 8000.0 / (4 * 2 * 1200));
}

/* F60: the same launch on ever more SMs. */
static void more_sms_take_fewer_rounds(void **state)
{
    (void)state;
    for (int sms = 1; sms <= 200; sms++) {
        struct grid grid = { .blocks = 264, .sms = sms, .per_sm = 2, .cost = 7 };

        assert_int_equal(run_grid(grid, NULL).cycles, 7 * ceil_div(264, 2 * sms));
    }
}

/* ---- a second scheduler, cycle by cycle ---- */

struct naive {
    int64_t end[8][4]; /* 0: free */
};

static int room_of(const struct naive *n, const struct grid *g, int sm)
{
    int room = 0;

    for (int slot = 0; slot < g->per_sm; slot++)
        room += n->end[sm][slot] == 0;
    return room;
}

static void check_against_naive(const struct grid *g, const struct seen *seen)
{
    struct naive n = { 0 };
    int64_t block = 0;

    for (int64_t cycle = 0; block < g->blocks; cycle++) {
        for (int sm = 0; sm < g->sms; sm++)
            for (int slot = 0; slot < g->per_sm; slot++)
                if (n.end[sm][slot] == cycle)
                    n.end[sm][slot] = 0;
        for (int best = 0; block < g->blocks; block++, best = 0) {
            int slot = 0;

            for (int sm = 1; sm < g->sms; sm++)
                if (room_of(&n, g, sm) > room_of(&n, g, best))
                    best = sm;
            if (!room_of(&n, g, best))
                break;
            while (n.end[best][slot])
                slot++;
            n.end[best][slot] = cycle + g->costs[block];
            assert_int_equal(seen->blocks[block].sm, best);
            assert_int_equal(seen->blocks[block].slot, slot);
            assert_int_equal(seen->blocks[block].placed, cycle);
            assert_int_equal(seen->blocks[block].end, n.end[best][slot]);
        }
    }
}

static void a_naive_scheduler_agrees_on_random_grids(void **state)
{
    static struct seen seen;
    int64_t costs[200];

    (void)state;
    for (uint32_t t = 0; t < 300; t++) {
        struct philox r = philox_at(11, t, 0);
        struct grid grid = { .blocks = 1 + philox_below(r.word[0], 199),
                             .sms = 1 + (int)philox_below(r.word[1], 7),
                             .per_sm = 1 + (int)philox_below(r.word[2], 3),
                             .costs = costs };

        for (uint32_t i = 0; i < 200; i++)
            costs[i] = 1 + philox_below(philox_at(12, i, t).word[0], t % 40);
        run_grid(grid, &seen);
        check_against_naive(&grid, &seen);
    }
}

static void work_is_conserved(void **state)
{
    struct grid grid = {
        .blocks = 3000, .sms = 17, .per_sm = 5, .cost = 50, .jitter = 100, .seed = 3, .start = 7
    };
    struct grid_run out = run_grid(grid, NULL), again = run_grid(grid, NULL);

    (void)state;
    assert_memory_equal(&out, &again, sizeof(out));
    assert_in_range(out.work, 3000 * 50, 3000 * 150);
    assert_int_equal(out.resident_most, 85);
    assert_true(out.efficiency > 0 && out.efficiency <= out.sm_busy && out.sm_busy <= 1);
    assert_true(out.cycles * 85 >= out.work + 3000 * 7);
    grid.seed = 4;
    assert_int_not_equal(run_grid(grid, NULL).work, out.work);
}

static void impossible_grids_are_refused_by_name(void **state)
{
    static const int64_t zero[] = { 5, 0 };
    static const struct {
        struct grid grid;
        const char *text;
    } cases[] = {
        { { .blocks = 0, .sms = 1, .per_sm = 1, .cost = 1 },
          "blocks=0: a grid here has 1 to 4194304" },
        { { .blocks = 1, .sms = 1025, .per_sm = 1, .cost = 1 },
          "sms=1025: a device has 1 to 1024" },
        { { .blocks = 1, .sms = 1, .per_sm = 65, .cost = 1 }, "per_sm=65: an SM has 1 to 64" },
        { { .blocks = 1, .sms = 1, .per_sm = 1, .cost = 0 }, "cost=0: a block has 1 to" },
        { { .blocks = 1, .sms = 1, .per_sm = 1, .cost = 1, .jitter = -1 }, "jitter=-1" },
        { { .blocks = 2, .sms = 1, .per_sm = 1, .costs = zero }, "block 1 costs 0 cycles" },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct grid_run out;
        struct err err = { 0 };

        assert_int_equal(grid_run(&cases[i].grid, NULL, NULL, arena, NULL, &out, &err), -1);
        assert_int_equal(err.name, ERR_ValueError);
        assert_ptr_equal(strstr(err.text, cases[i].text), err.text);
    }
    arena_free(&arena);
}

static void a_set_flag_stops_it(void **state)
{
    struct arena *arena = arena_new(0);
    struct grid grid = h200(1000000);
    atomic_bool stop = true;
    struct grid_run out;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(grid_run(&grid, NULL, NULL, arena, &stop, &out, &err), -1);
    assert_int_equal(err.name, ERR_Interrupted);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_give_the_golden_efficiencies),
        cmocka_unit_test(nsight_warns_of_a_tail_of_a_fifth),
        cmocka_unit_test(a_block_starts_in_the_cycle_in_which_another_ends),
        cmocka_unit_test(a_block_goes_where_most_room_is),
        cmocka_unit_test(starting_costs_what_it_is_given),
        cmocka_unit_test(more_sms_take_fewer_rounds),
        cmocka_unit_test(a_naive_scheduler_agrees_on_random_grids),
        cmocka_unit_test(work_is_conserved),
        cmocka_unit_test(impossible_grids_are_refused_by_name),
        cmocka_unit_test(a_set_flag_stops_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
