/*
 * Lessons: their rows and sources agree, the references are right by another
 * route, a wrong result is seen, and %run shows what it promises on the model.
 */
#include "kernels/lessons.h"

#include "cells/lesson_run.h"
#include "kernels/child.h"
#include "kernels/launch.h"
#include "tests/unit/cell_harness.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N = 1024, BLOCK = 256 };

static const struct lesson *divergence(void)
{
    const struct lesson *lesson = lesson_find("divergence");

    assert_non_null(lesson);
    return lesson;
}

static void every_row_has_its_kernel_and_its_twin(void **state)
{
    (void)state;
    for (size_t l = 0; l < LESSON_COUNT; l++)
        for (size_t i = 0; i < LESSONS[l].rung_count; i++) {
            const struct lesson_rung *rung = &LESSONS[l].rungs[i];
            struct lesson_lines lines;
            struct bytes text;

            assert_true(lesson_lines_of(&LESSONS[l], rung->kernel, &lines));
            assert_true(lines.first < lines.body && lines.body < lines.last);
            text = lesson_text(&LESSONS[l], lines.first, lines.last);
            assert_non_null(memmem(text.data, text.size, rung->kernel, strlen(rung->kernel)));
            assert_int_equal(text.data[text.size - 1], '}');
            assert_true(strlen(rung->teaches) > 0 && strlen(rung->name) <= 22);
            if (rung->twin)
                assert_non_null(lesson_rung(&LESSONS[l], rung->twin));
        }
    assert_null(lesson_find("nothing"));
}

static void the_input_is_the_same_everywhere(void **state)
{
    float x[N], again[N], other[N];

    (void)state;
    lesson_fill(x, 0, N, 1);
    lesson_fill(again, 0, N, 1);
    lesson_fill(other, 0, N, 2);
    assert_memory_equal(x, again, sizeof(x));
    assert_memory_not_equal(x, other, sizeof(x));
    lesson_fill(again, 37, 5, 1);
    assert_memory_equal(x + 37, again, 5 * sizeof(*x)); /* an element does not depend on others */
    for (int i = 0; i < N; i++)
        assert_true(x[i] >= 0 && x[i] < 1);
}

/* One step after the other with the library's fmaf: slow and plain. */
static float walk_plainly(float v, float r, int rounds)
{
    for (int k = 0; k < rounds; k++)
        v = r * fmaf(-v, v, v);
    return v;
}

static float expected(const char *kernel, float x, int i)
{
    int lane = i % BLOCK % 32;

    if (strcmp(kernel, "short_by_lane") == 0)
        return i % 2 == 0 ? 100 : 200;
    if (strcmp(kernel, "short_by_warp") == 0)
        return i / 32 % 2 == 0 ? 100 : 200;
    if (strcmp(kernel, "long_by_lane") == 0)
        return walk_plainly(x, i % 2 == 0 ? 3.7f : 3.9f, 288);
    if (strcmp(kernel, "long_by_warp") == 0)
        return walk_plainly(x, i / 32 % 2 == 0 ? 3.7f : 3.9f, 288);
    if (strcmp(kernel, "split_24_8") == 0)
        return walk_plainly(walk_plainly(x, lane < 24 ? 3.7f : 3.9f, 144), 3.8f, 144);
    if (strcmp(kernel, "paths_32") == 0)
        return walk_plainly(x, 3.6f + 0.01f * (float)lane, 288);
    assert_string_equal(kernel, "trips_4_to_8");
    return walk_plainly(x, 3.7f, (4 + lane % 5) * 48);
}

static void references_agree_with_plain_c_to_the_bit(void **state)
{
    static const int firsts[] = { 0, 1, 37, 500 }; /* chunks that begin anywhere */
    const struct lesson *lesson = divergence();
    float x[N], y[N];

    (void)state;
    lesson_fill(x, 0, N, 7);
    for (size_t r = 0; r < lesson->rung_count; r++)
        for (size_t f = 0; f < COUNT(firsts); f++) {
            int first = firsts[f], count = 333;

            lesson->rungs[r].reference(x + first, y, first, count, BLOCK);
            for (int k = 0; k < count; k++) {
                float want = expected(lesson->rungs[r].kernel, x[first + k], first + k);

                if (memcmp(&y[k], &want, sizeof(want)) != 0)
                    fail_msg("%s: y[%d] is %.9g, not %.9g", lesson->rungs[r].kernel, first + k,
                             (double)y[k], (double)want);
            }
        }
}

static void a_wrong_unwritten_or_nan_element_is_seen(void **state)
{
    const struct lesson_rung *rung = lesson_rung(divergence(), "long_by_lane");
    struct lesson_verdict v;
    struct err e = { 0 };
    float x[N], y[N], kept;

    (void)state;
    lesson_fill(x, 0, N, 1);
    rung->reference(x, y, 0, N, BLOCK);
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, false, NULL, &v, &e), 0);
    assert_true(v.is_correct);
    assert_int_equal(v.checked, N);

    kept = y[100];
    y[100] = nextafterf(kept, 2); /* the last bit */
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, false, NULL, &v, &e), 0);
    assert_false(v.is_correct);
    assert_int_equal(v.first, 100);
    assert_int_equal(v.wrong, 1);

    y[100] = NAN;
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, true, NULL, &v, &e), 0);
    assert_false(v.is_correct);

    y[100] = kept;
    lesson_poison(y + 200, 24); /* never written */
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, false, NULL, &v, &e), 0);
    assert_false(v.is_correct);
    assert_int_equal(v.wrong, 24);
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, true, NULL, &v, &e), 0);
    assert_true(v.is_correct); /* not run is not wrong, where blocks are sampled */
    assert_int_equal(v.checked, N - 24);

    lesson_poison(y, N);
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, true, NULL, &v, &e), 0);
    assert_false(v.is_correct); /* but something must have run */
}

static void a_check_stops_when_told(void **state)
{
    const struct lesson_rung *rung = lesson_rung(divergence(), "long_by_lane");
    atomic_bool stop = true;
    struct lesson_verdict v;
    struct err e = { 0 };
    float x[N] = { 0 }, y[N] = { 0 };

    (void)state;
    assert_int_equal(lesson_check(rung, x, y, N, BLOCK, false, &stop, &v, &e), -1);
    assert_int_equal(e.name, ERR_Interrupted);
    err_done(&e);
}

static void the_short_pair_holds_the_same_values(void **state)
{
    const struct lesson *lesson = divergence();
    float by_lane[N], by_warp[N];

    (void)state;
    lesson_rung(lesson, "short_by_lane")->reference(by_lane, by_lane, 0, N, BLOCK);
    lesson_rung(lesson, "short_by_warp")->reference(by_warp, by_warp, 0, N, BLOCK);
    assert_memory_not_equal(by_lane, by_warp, sizeof(by_lane));
    assert_true(lesson_same_values(by_lane, by_warp, N));
    by_lane[3] = 100;
    assert_false(lesson_same_values(by_lane, by_warp, N));
}

/* ---- launch requests ---- */

static void put_request(struct child_message *m, uint64_t size, uint32_t fd)
{
    struct launch_buffer row = { .address = 0x100000, .size = size, .fd = fd, .element_bytes = 4 };
    struct launch_config config = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    struct launch_options options = { .repeat = 3 };
    struct launch_buffer_texts texts = { .name = "x" };
    int32_t n = 41;
    size_t begin;

    launch_put_module(&m->body, bytes_of("code"), 7);
    launch_put_buffer(&m->body, &row, &texts);
    launch_put_options(&m->body, &options);
    begin = launch_begin(&m->body, &config, "k");
    launch_put_value(&m->body, &n, sizeof(n), sizeof(n));
    launch_put_pointer(&m->body, 0x100010);
    launch_end(&m->body, begin);
}

static void a_launch_request_comes_back_with_its_buffer_as_a_copy(void **state)
{
    struct child_message m = { .op = OP_RUN };
    struct launch_request r;
    struct err e = { 0 };
    uint64_t addresses[] = { 0x7000 }, pointer;
    char text[5] = "";
    size_t size;
    char *blob;

    (void)state;
    m.fds[m.fd_count++] = memfd_create("x", MFD_CLOEXEC);
    assert_int_equal(ftruncate(m.fds[0], 4096), 0);
    assert_int_equal(pwrite(m.fds[0], "warp", 4, 0), 4);
    put_request(&m, 64, 0);
    assert_int_equal(launch_request_read(&m, &r, &e), 0);
    assert_int_equal(r.module_count, 1);
    assert_true(bytes_equal(r.modules[0].image, "code"));
    assert_int_equal(r.modules[0].id, 7);
    assert_int_equal(r.options.repeat, 3);
    assert_int_equal(r.launch_count, 1);
    assert_string_equal(r.launches[0].symbol, "k");
    assert_int_equal(r.launches[0].argument_count, 2);

    blob = launch_parameters(&r, &r.launches[0], addresses, &size, &e);
    assert_int_equal(size, 16); /* the pointer stands at its alignment */
    memcpy(&pointer, blob + 8, sizeof(pointer));
    assert_int_equal(pointer, 0x7010);

    memcpy(r.buffers[0].data, "lane", 4);
    assert_int_equal(pread(m.fds[0], text, 4, 0), 4);
    assert_string_equal(text, "warp"); /* until it is written back */
    assert_int_equal(launch_request_write_back(&r, &e), 0);
    assert_int_equal(pread(m.fds[0], text, 4, 0), 4);
    assert_string_equal(text, "lane");
    launch_request_done(&r);
    child_message_done(&m);
}

static void a_damaged_launch_request_is_refused(void **state)
{
    static const struct {
        uint64_t size;
        uint32_t fd;
    } cases[] = { { 8192, 0 }, { 0, 0 }, { UINT64_MAX, 0 }, { 64, 1 }, { 64, UINT32_MAX } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct child_message m = { .op = OP_RUN };
        struct launch_request r;
        struct err e = { 0 };

        m.fds[m.fd_count++] = memfd_create("x", MFD_CLOEXEC);
        assert_int_equal(ftruncate(m.fds[0], 4096), 0);
        put_request(&m, cases[i].size, cases[i].fd);
        assert_int_equal(launch_request_read(&m, &r, &e), -1);
        assert_int_equal(e.name, ERR_InternalError);
        err_done(&e);
        child_message_done(&m);
    }
}

/* ---- %run ---- */

static void run_lists_lessons_and_names_the_nearest(void **state)
{
    struct harness *h = *state;

    assert_int_equal(harness_run(h, "%run"), 0);
    assert_non_null(strstr(buf_text(&h->out), "divergence"));
    assert_fails(h, "%run divergense", "NameError", "divergence is the nearest");
}

static void source_prints_a_kernel_with_its_lines(void **state)
{
    struct harness *h = *state;

    assert_int_equal(harness_run(h, "%source short_by_lane"), 0);
    assert_non_null(strstr(buf_text(&h->out), "if (i % 2 == 0)"));
    assert_null(strstr(buf_text(&h->out), "long_by_lane"));
    assert_int_equal(harness_run(h, "%source divergence edit=yes"), 0);
    assert_fails(h, "%source divergenze", "NameError", "divergence");
}

static void source_is_no_wider_than_a_page(void **state)
{
    struct harness *h = *state;
    const char *line;

    assert_int_equal(harness_run(h, "%source divergence"), 0);
    for (line = buf_text(&h->out); *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") > 83)
            fail_msg("%.*s", (int)strcspn(line, "\n"), line);
}

static char *next_input;

static void keep_next_input(struct sink *sink, json_t *payload)
{
    (void)sink;
    free(next_input);
    next_input = strdup(json_string_value(json_object_get(payload, "text")));
}

static void a_kernel_put_into_the_next_cell_compiles(void **state)
{
    struct harness *h = *state;

    h->sink.payload = keep_next_input;
    for (size_t i = 0; i < divergence()->rung_count; i++) {
        const char *kernel = divergence()->rungs[i].kernel;
        char line[80];
        int rc;

        snprintf(line, sizeof(line), "%%source %s edit=yes", kernel);
        assert_int_equal(harness_run(h, line), 0);
        assert_non_null(next_input);
        rc = harness_run(h, next_input);
        if (rc < 0 && strcmp(h->report.ename, "DeviceError") == 0)
            break;
        if (rc < 0)
            harness_print_report(h);
        assert_int_equal(rc, 0);
        assert_non_null(strstr(buf_text(&h->display), kernel));
    }
    free(next_input);
    next_input = NULL;
}

static void divergence_on_the_model_shows_what_a_branch_costs(void **state)
{
    struct harness *h = *state;
    int rc = harness_run(h, "%run divergence n=32K -> d");

    if (rc < 0 && strcmp(h->report.ename, "DeviceError") == 0)
        skip();
    if (rc < 0)
        harness_print_report(h);
    assert_int_equal(rc, 0);
    assert_prints(h,
                  "%print d.variants[0].branch, d.variants[2].branch, d.variants[6].branch\n"
                  "%print d.variants[0].as_written.divergent_branches > 0\n"
                  "%print d.variants[0].divergent_branches, d.variants[2].divergent_branches\n",
                  "selp bra loop\ntrue\n0 1024\n");
    for (int i = 0; i < 7; i++) {
        char line[60];

        snprintf(line, sizeof(line), "%%check d.variants[%d].correct", i);
        assert_int_equal(harness_run(h, line), 0);
    }
    assert_int_equal(harness_run(h, "%check d.variants[3].lane_efficiency == 1\n"
                                    "%check d.variants[2].lane_efficiency == 0.5 +- 0.02\n"
                                    "%check d.variants[4].lane_efficiency == 0.67 +- 0.02\n"
                                    "%check d.variants[5].lane_efficiency == 0.031 +- 0.003\n"
                                    "%check d.variants[6].lane_efficiency == 0.738 +- 0.02\n"
                                    "%check d.variants[0].as_written.body_lane_efficiency == 0.5"),
                     0);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct interruption {
    struct session *session;
    unsigned delay_us;
    double at;
};

static void *interrupt_later(void *arg)
{
    struct interruption *i = arg;

    usleep(i->delay_us);
    i->at = seconds();
    session_interrupt(i->session);
    return NULL;
}

static void an_interrupt_is_heard_at_every_stage(void **state)
{
    static const unsigned delays_us[] = { 1000, 50000, 150000, 400000, 900000 };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(delays_us); i++) {
        struct interruption interruption = { h->session, delays_us[i], 0 };
        pthread_t thread;
        double end;
        int rc;

        assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &interruption), 0);
        rc = harness_run(h, "%run divergence n=16M seed=2");
        end = seconds();
        pthread_join(thread, NULL);
        if (rc < 0 && strcmp(h->report.ename, "DeviceError") == 0)
            skip();
        if (rc == 0) /* a fast machine was done before */
            continue;
        assert_string_equal(h->report.ename, "Interrupted");
        assert_true(end - interruption.at < 1); /* ten times what is promised */
    }
    assert_int_equal(harness_run(h, "%run divergence n=1K"), 0);
}

static void any_size_and_block_is_right_on_the_model(void **state)
{
    static const char *const lines[] = { "%run divergence n=1 block=32 -> d",
                                         "%run divergence n=1000 block=100 -> d",
                                         "%run divergence n=33 block=1 -> d" };
    struct harness *h = *state;

    for (size_t i = 0; i < COUNT(lines); i++) {
        int rc = harness_run(h, lines[i]);

        if (rc < 0 && strcmp(h->report.ename, "DeviceError") == 0)
            skip();
        if (rc < 0)
            harness_print_report(h);
        assert_int_equal(rc, 0);
        assert_null(strstr(buf_text(&h->display), "Wrong"));
    }
}

int main(int argc, char **argv)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_kernel_and_its_twin),
        cmocka_unit_test(the_input_is_the_same_everywhere),
        cmocka_unit_test(references_agree_with_plain_c_to_the_bit),
        cmocka_unit_test(a_wrong_unwritten_or_nan_element_is_seen),
        cmocka_unit_test(a_check_stops_when_told),
        cmocka_unit_test(the_short_pair_holds_the_same_values),
        cmocka_unit_test(a_launch_request_comes_back_with_its_buffer_as_a_copy),
        cmocka_unit_test(a_damaged_launch_request_is_refused),
        SESSION_TEST(run_lists_lessons_and_names_the_nearest),
        SESSION_TEST(source_prints_a_kernel_with_its_lines),
        SESSION_TEST(source_is_no_wider_than_a_page),
        SESSION_TEST(a_kernel_put_into_the_next_cell_compiles),
        SESSION_TEST(divergence_on_the_model_shows_what_a_branch_costs),
        SESSION_TEST(an_interrupt_is_heard_at_every_stage),
        SESSION_TEST(any_size_and_block_is_right_on_the_model),
    };

    /* Children are this program again. */
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
