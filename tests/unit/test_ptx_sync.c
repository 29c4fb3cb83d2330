/* Exchange between lanes, barriers of the block, and lanes that meet at different places. */
#include "tests/unit/ptx_rig.h"

static const char *const BUILDS[] = { "sync.opt", "sync.debug" };
#define EACH_BUILD(b) for (size_t b = 0; b < COUNT(BUILDS); b++)

/* Numbers with repeats, of both signs. */
static int number(int t)
{
    return (t * 37 % 11) - 4;
}

static void redux_combines_the_lanes_of_the_mask(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p[3];
        int *x, *s, low = 99, high = -99, sum = 0;
        uint32_t *u, and = ~0U, or = 0, xor = 0, least = ~0U, most = 0, some = 0;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        s = rig_buffer(&rig, 16 * 32, &p[1]);
        u = rig_buffer(&rig, 32 * 32, &p[2]);
        for (int t = 0; t < 32; t++) {
            uint32_t v = (uint32_t)(x[t] = number(t) * 1000003);

            sum = (int)((uint32_t)sum + v);
            low = x[t] < low ? x[t] : low;
            high = x[t] > high ? x[t] : high;
            least = v < least ? v : least;
            most = v > most ? v : most;
            and &= v;
            or |= v;
            xor ^= v;
            some += t < 20 && t % 3 ? v : 0;
        }
        rig_run(&rig, "reds", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            assert_int_equal(s[4 * t], sum);
            assert_int_equal(s[4 * t + 1], low);
            assert_int_equal(s[4 * t + 2], high);
            assert_int_equal(u[8 * t], sum);
            assert_int_equal(u[8 * t + 1], least);
            assert_int_equal(u[8 * t + 2], most);
            assert_int_equal(u[8 * t + 3], and);
            assert_int_equal(u[8 * t + 4], or);
            assert_int_equal(u[8 * t + 5], xor);
            assert_int_equal(u[8 * t + 6], t < 20 && t % 3 ? some : 0);
        }
        rig_done(&rig);
    }
}

static void match_finds_equal_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(BUILDS) * 2; i++) {
        bool is_equal = i / 2; /* all lanes bring the same */
        struct rig rig;
        uint64_t p[3];
        int64_t *y;
        uint32_t *u;
        int *x;

        rig_load_sample(&rig, BUILDS[i % 2]);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        y = rig_buffer(&rig, 8 * 32, &p[1]);
        u = rig_buffer(&rig, 24 * 32, &p[2]);
        for (int t = 0; t < 32; t++) {
            x[t] = is_equal ? 5 : number(t);
            y[t] = is_equal ? -1 : (int64_t)(t % 3) << 32 | 7; /* the low halves are equal */
        }
        rig_run(&rig, "matches", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            uint32_t narrow = 0, wide = 0;

            for (int k = 0; k < 32; k++) {
                narrow |= (uint32_t)(x[k] == x[t]) << k;
                wide |= (uint32_t)(y[k] == y[t]) << k;
            }
            assert_int_equal(u[6 * t], narrow);
            assert_int_equal(u[6 * t + 1], wide);
            assert_int_equal(u[6 * t + 2], is_equal ? ~0U : 0);
            assert_int_equal(u[6 * t + 3], is_equal);
            assert_int_equal(u[6 * t + 4], is_equal ? ~0U : 0);
            assert_int_equal(u[6 * t + 5], is_equal);
        }
        rig_done(&rig);
    }
}

/* The CUDA guide's words: a lane without a source in its section keeps its own value. */
static int shuffled(const int *x, int t, int mode, int by, int width)
{
    int section = t / width * width, from;

    if (mode == 0)
        return x[section + (by + t / 8) % width];
    from = mode == 1 ? t - by : mode == 2 ? t + by : t ^ by;
    if (mode == 1)
        return x[from < section ? t : from];
    if (mode == 2)
        return x[from >= section + width ? t : from];
    return x[from >= section + width ? t : from]; /* xor may read an earlier section */
}

static void shuffles_of_every_mode_and_width_read_the_right_lane(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p[2];
        int *x, *out, n = 0;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        out = rig_buffer(&rig, 4 * 32 * 4 * 5 * 7, &p[1]);
        for (int t = 0; t < 32; t++)
            x[t] = 100 + t;
        rig_run(&rig, "shuffles", 1, 32, p);
        for (int width = 2; width <= 32; width *= 2)
            for (int by = 0; by < 32; by += 5)
                for (int mode = 0; mode < 4; mode++, n++)
                    for (int t = 0; t < 32; t++)
                        assert_int_equal(out[t + 32 * n], shuffled(x, t, mode, by, width));
        rig_done(&rig);
    }
}

static void lanes_that_name_different_masks_at_one_place_meet_their_own(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p[2];
        int *x, *out;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        out = rig_buffer(&rig, 4 * 32, &p[1]);
        for (int t = 0; t < 32; t++)
            x[t] = number(t);
        rig_run(&rig, "by_halves", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            int sum = 0, count = 0;

            for (int k = 0; k < 32; k++) {
                sum += k / 16 == t / 16 ? x[k] : 0;
                count += k / 8 == t / 8 && x[k] > 0;
            }
            assert_int_equal(out[t], sum + 1000 * count + 100000 * x[t < 16 ? 3 : 19]);
        }
        rig_done(&rig);
    }
}

static void a_sync_is_met_from_both_arms_of_an_if(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p[2];
        int *x, *out;
        uint32_t odd = 0, even = 0;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 32, &p[0]);
        out = rig_buffer(&rig, 4 * 32, &p[1]);
        for (int t = 0; t < 32; t++)
            x[t] = 10 + t * t;
        rig_run(&rig, "arms", 1, 32, p);
        for (int t = 0; t < 32; t++)
            assert_int_equal(out[t], x[31 - t] * (31 - t < 8 ? 1 : 2));
        for (int t = 0; t < 32; t++) {
            odd |= (uint32_t)(x[t] & 1) << t;
            even |= (uint32_t) !(x[t] & 1) << t;
        }
        rig_run(&rig, "arms_exchange", 1, 32, p);
        for (int t = 0; t < 32; t++) {
            /* A ballot collects what each arm asks: t % 4 == 0 brings oddness, the rest evenness.
             */
            uint32_t ballot = (odd & 0x11111111) | (even & ~0x11111111U);
            int want = t & 1 ? (x[t ^ 1] - 1) * 2 : (x[t ^ 1] + 1) * 3;

            want = t % 4 == 0 ? (int)((uint32_t)want + 100 * ballot) : want - (int)(ballot & 7);
            assert_int_equal(out[t], want);
        }
        rig_done(&rig);
    }
}

static void lanes_of_a_warp_hand_over_by_flags(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * 32, &p);
        rig_run(&rig, "hand_over", 1, 32, &p);
        assert_int_equal(out[1], 385);
        rig.launch.groups = PTX_GROUPS_STACK; /* one side waits for ever */
        rig.launch.max_thread_instructions = 1000000;
        assert_int_equal(rig_try(&rig, "hand_over", 1, 32, &p), -1);
        assert_true(rig.err.name == ERR_Timeout || rig.err.name == ERR_Deadlock);
        rig_done(&rig);
    }
}

static void barriers_count_and_join_predicates_of_threads_that_live(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p[2];
        int *x, *out, above = 0, has_seven = 0;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 128, &p[0]);
        out = rig_buffer(&rig, 4 * 128, &p[1]);
        for (int t = 0; t < 128; t++) {
            x[t] = number(t) + 2;
            above += t < 90 && x[t] > 3;
            has_seven |= t < 90 && x[t] == 7;
        }
        x[100] = 777;
        rig_run(&rig, "block_counts", 1, 128, p);
        for (int t = 0; t < 128; t++)
            assert_int_equal(out[t], t < 90 ? above + 1000 + 10000 * has_seven : 0);
        rig_done(&rig);
    }
}

static void named_barriers_make_a_pipe_of_two_warps(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct {
            uint64_t x, out;
            int rounds;
        } p = { .rounds = 9 };
        struct rig rig;
        int *x, *out;

        rig_load_sample(&rig, BUILDS[b]);
        x = rig_buffer(&rig, 4 * 32 * 9, &p.x);
        out = rig_buffer(&rig, 4 * 32, &p.out);
        for (int i = 0; i < 32 * 9; i++)
            x[i] = number(i) * i;
        rig_run(&rig, "pipe", 1, 96, &p);
        for (int t = 0; t < 32; t++) {
            int sum = 0;

            for (int i = 0; i < 9; i++)
                sum += x[32 * i + t];
            assert_int_equal(out[t], sum);
        }
        rig_done(&rig);
    }
}

static void an_unaligned_barrier_may_be_met_in_both_arms(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * 64, &p);
        rig_run(&rig, "unaligned", 1, 64, &p);
        for (int t = 0; t < 64; t++)
            assert_int_equal(out[t], 63 - t);
        rig_done(&rig);
    }
}

static void lanes_that_ended_are_not_awaited(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p;
        int *out;

        rig_load_sample(&rig, BUILDS[b]);
        out = rig_buffer(&rig, 4 * 32, &p);
        rig_run(&rig, "leaves_early", 1, 32, &p);
        for (int t = 0; t < 32; t++)
            assert_int_equal(out[t], t < 10 ? 190 : t < 20 ? 191 : 0);
        memset(out, 0, 4 * 32);
        rig_run(&rig, "ends_late", 1, 32, &p);
        for (int t = 0; t < 32; t++)
            assert_int_equal(out[t], t < 31 ? 0x7fffffff : 0);
        rig_done(&rig);
    }
}

static void instructions_that_differ_never_meet(void **state)
{
    (void)state;
    EACH_BUILD(b)
    {
        struct rig rig;
        uint64_t p;

        rig_load_sample(&rig, BUILDS[b]);
        rig_buffer(&rig, 4 * 32, &p);
        assert_int_equal(rig_try(&rig, "never_meets", 1, 32, &p), -1);
        assert_int_equal(rig.err.name, ERR_BarrierFault);
        assert_non_null(strstr(rig.err.detail, "lanes 0..15) at shfl.sync.down"));
        assert_non_null(strstr(rig.err.detail, "lanes 16..31) at shfl.sync.up"));
        rig_done(&rig);
    }
}

/* Hand-written PTX: guards on instructions that wait, and forms that no compiler writes here. */
#define HEAD                                                                                       \
    ".version 9.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 k_param_0)\n{\n"                                                \
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n"                                    \
    "ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"          \
    "add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r2, 0;\n"
#define TAIL "st.global.u32 [%rd1], %r2;\nret;\n}\n"

static void forms_by_hand_do_what_the_isa_says(void **state)
{
    static const struct {
        const char *body;
        unsigned threads;
        uint32_t first, middle, last; /* of threads 0, 9 and the last */
    } cases[] = {
        /* A guard on a .sync: the lanes that it holds go on. */
        { "setp.lt.u32 %p1, %r1, 8;\n@%p1 redux.sync.add.u32 %r2, %r1, 0xff;\n", 32, 28, 0, 0 },
        { "setp.ge.u32 %p1, %r1, 8;\n@!%p1 vote.sync.ballot.b32 %r2, !%p1, 0xff;\n", 32, 255, 0,
          0 },
        /* The same on a barrier: 40 threads come to it, 24 pass it by. */
        { "setp.lt.u32 %p1, %r1, 40;\n@%p1 bar.sync 3, 40;\nadd.u32 %r2, %r2, 5;\n", 64, 5, 5, 5 },
        { "setp.ge.u32 %p1, %r1, 3;\nbar.red.popc.u32 %r2, 0, !%p1;\n", 64, 3, 3, 3 },
        { "setp.ge.u32 %p1, %r1, 3;\nbarrier.cta.red.popc.aligned.u32 %r2, 1, 64, %p1;\n", 64, 61,
          61, 61 },
        { "elect.sync %r3|%p1, -1;\nselp.u32 %r2, 7, %r3, %p1;\n", 32, 7, 0, 0 },
        { "mov.u32 %r2, 1;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 elect.sync _|%p1, 0xffffff00;\n"
          "selp.u32 %r2, 7, 1, %p1;\n",
          32, 1, 1, 1 },
        { "barrier.cluster.arrive;\nbarrier.cluster.wait;\nadd.u32 %r2, %r2, 3;\n", 96, 3, 3, 3 },
        { "barrier.cluster.arrive.release.aligned;\nadd.u32 %r2, %r1, 1;\n"
          "barrier.cluster.wait.acquire.aligned;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
          96, 1, 10, 96 },
        /* The number and the count of a barrier may be registers. */
        { "shr.u32 %r3, %r1, 5;\nmov.u32 %r4, 32;\nbarrier.sync %r3, %r4;\nmov.u32 %r2, %r3;\n", 96,
          0, 0, 2 },
        { "setp.lt.u32 %p1, %r1, 9;\n@%p1 ret;\nmov.u32 %r2, 4;\n", 32, 0, 4, 4 },
        { "setp.lt.u32 %p1, %r1, 9;\n@!%p1 exit;\nmov.u32 %r2, 4;\n", 32, 4, 0, 0 },
        { "setp.lt.u32 %p1, %r1, 100;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 2, %p2;\n",
          32, 1, 1, 1 },
        { "activemask.b32 %r2;\n", 32, 0xffffffff, 0xffffffff, 0xffffffff },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048];
        struct rig rig;
        uint64_t p;
        uint32_t *out;

        snprintf(text, sizeof text, "%s%s%s", HEAD, cases[i].body, TAIL);
        rig_load(&rig, bytes_of(text));
        out = rig_buffer(&rig, 4 * 96, &p);
        rig_run(&rig, "k", 1, cases[i].threads, &p);
        if (out[0] != cases[i].first || out[9] != cases[i].middle ||
            out[cases[i].threads - 1] != cases[i].last)
            fail_msg("%s gives %u %u %u", cases[i].body, out[0], out[9], out[cases[i].threads - 1]);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redux_combines_the_lanes_of_the_mask),
        cmocka_unit_test(match_finds_equal_values),
        cmocka_unit_test(shuffles_of_every_mode_and_width_read_the_right_lane),
        cmocka_unit_test(lanes_that_name_different_masks_at_one_place_meet_their_own),
        cmocka_unit_test(a_sync_is_met_from_both_arms_of_an_if),
        cmocka_unit_test(lanes_of_a_warp_hand_over_by_flags),
        cmocka_unit_test(barriers_count_and_join_predicates_of_threads_that_live),
        cmocka_unit_test(named_barriers_make_a_pipe_of_two_warps),
        cmocka_unit_test(an_unaligned_barrier_may_be_met_in_both_arms),
        cmocka_unit_test(lanes_that_ended_are_not_awaited),
        cmocka_unit_test(instructions_that_differ_never_meet),
        cmocka_unit_test(forms_by_hand_do_what_the_isa_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
