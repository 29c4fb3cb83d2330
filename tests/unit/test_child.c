/*
 * Children and their protocol: messages there and back, hostile bytes, a child
 * that crashes, hangs, is idle for long or is interrupted.
 */
#include "cells/workers.h"
#include "kernels/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TAG_WORD = 900, TAG_COUNT = 901, TAG_PART = 902 };

static struct bytes body_of(const struct buf *b)
{
    return (struct bytes){ buf_text(b), b->size };
}

static void fields_come_back_as_written(void **state)
{
    struct bytes record, word;
    struct buf b = { 0 };
    size_t begin;

    (void)state;
    fields_put_text(&b, TAG_WORD, "warp");
    fields_put_int(&b, TAG_COUNT, -32);
    begin = fields_begin(&b, TAG_PART);
    fields_put_text(&b, TAG_WORD, "inner");
    fields_end(&b, begin);
    fields_put(&b, TAG_WORD, (struct bytes){ "", 0 });

    assert_true(fields_are_sound(body_of(&b)));
    assert_true(fields_find(body_of(&b), TAG_WORD, 0, &word));
    assert_true(bytes_equal(word, "warp"));
    assert_true(fields_find(body_of(&b), TAG_WORD, 1, &word));
    assert_int_equal(word.size, 0);
    assert_false(fields_find(body_of(&b), TAG_WORD, 2, &word));
    assert_int_equal(fields_int(body_of(&b), TAG_COUNT, 7), -32);
    assert_true(fields_find(body_of(&b), TAG_PART, 0, &record));
    assert_true(fields_find(record, TAG_WORD, 0, &word));
    assert_true(bytes_equal(word, "inner"));
    buf_done(&b);
}

static void a_field_that_does_not_fit_ends_the_reading(void **state)
{
    struct buf b = { 0 };
    struct bytes word;

    (void)state;
    fields_put_int(&b, TAG_COUNT, 1);
    fields_put_text(&b, TAG_WORD, "warp");
    for (size_t n = 0; n < b.size; n++) {
        struct bytes cut = { b.data, n };

        assert_int_equal(fields_are_sound(cut), n == 0 || n == 16);
        assert_false(fields_find(cut, TAG_WORD, 0, &word));
    }
    b.data[4] = (char)0xff; /* a size far beyond the end */
    b.data[7] = (char)0xff;
    assert_false(fields_are_sound(body_of(&b)));
    assert_int_equal(fields_int(body_of(&b), TAG_COUNT, 7), 7);
    buf_done(&b);
}

static void an_int_of_another_size_is_not_believed(void **state)
{
    struct buf b = { 0 };

    (void)state;
    fields_put_text(&b, TAG_COUNT, "abc");
    assert_int_equal(fields_int(body_of(&b), TAG_COUNT, 7), 7);
    buf_done(&b);
}

static void an_error_crosses_with_place_and_detail(void **state)
{
    struct err e = { 0 }, got = { 0 };
    struct buf b = { 0 };
    struct bytes record;

    (void)state;
    err_set(&e, ERR_CompileError, "identifier \"zz\" is undefined");
    err_next(&e, "declare it");
    err_at(&e, 7, 3, 2);
    snprintf(e.place, sizeof(e.place), "In[3]");
    err_take_detail(&e, strdup("line 1\nline 2"));
    fields_put_err(&b, TAG_ERROR, &e);
    assert_true(fields_find(body_of(&b), TAG_ERROR, 0, &record));
    assert_int_equal(fields_err(record, &got), -1);
    assert_int_equal(got.name, ERR_CompileError);
    assert_string_equal(got.text, e.text);
    assert_string_equal(got.next, "declare it");
    assert_string_equal(got.place, "In[3]");
    assert_string_equal(got.detail, "line 1\nline 2");
    assert_int_equal(got.line, 7);
    assert_int_equal(got.column, 3);
    assert_int_equal(got.length, 2);
    err_done(&e);
    err_done(&got);
    buf_done(&b);
}

static void an_error_of_unknown_name_is_internal(void **state)
{
    struct err got = { 0 };

    (void)state;
    assert_int_equal(fields_err((struct bytes){ "garbage", 7 }, &got), -1);
    assert_int_equal(got.name, ERR_InternalError);
    err_done(&got);
}

static void a_message_crosses_with_its_descriptors(void **state)
{
    struct child_message m = { .op = OP_RUN, .number = 41 }, got;
    int pair[2], memory = memfd_create("test", MFD_CLOEXEC);
    char text[5] = "";
    struct err e = { 0 };

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(write(memory, "warp", 4), 4);
    m.fds[m.fd_count++] = memory;
    fields_put_text(&m.body, TAG_WORD, "hello");
    assert_int_equal(child_send(pair[0], &m, &e), 0);
    assert_int_equal(child_receive(pair[1], &got, &e), 1);
    assert_int_equal(got.op, OP_RUN);
    assert_int_equal(got.number, 41);
    assert_int_equal(got.fd_count, 1);
    assert_int_not_equal(got.fds[0], memory);
    assert_int_equal(pread(got.fds[0], text, 4, 0), 4);
    assert_string_equal(text, "warp");
    assert_true(fcntl(got.fds[0], F_GETFD) & FD_CLOEXEC);
    child_message_done(&got);
    child_message_done(&m);
    close(pair[0]);
    assert_int_equal(child_receive(pair[1], &got, &e), 0);
    close(pair[1]);
}

/* What a hostile or broken peer may write, and how far the reader follows. */
static void bytes_that_are_no_message_are_refused(void **state)
{
    static const struct {
        const char *what;
        uint32_t words[5];
        size_t size;
        int result;
    } cases[] = {
        { "wrong magic", { 1, 1, 1, 0, 0 }, 20, -1 },
        { "descriptors that did not come", { 0x31624257, 1, 1, 2, 0 }, 20, -1 },
        { "a body beyond the limit", { 0x31624257, 1, 1, 0, 0xffffffff }, 20, -1 },
        { "a body that never comes", { 0x31624257, 1, 1, 0, 1000000 }, 20, 0 },
        { "half a head", { 0x31624257, 1, 1, 0, 0 }, 9, 0 },
        { "nothing", { 0 }, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct child_message got;
        struct err e = { 0 };
        int pair[2], rc;

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        assert_int_equal(write(pair[0], cases[i].words, cases[i].size), cases[i].size);
        close(pair[0]);
        rc = child_receive(pair[1], &got, &e);
        if (rc != cases[i].result)
            fail_msg("%s: %d, not %d", cases[i].what, rc, cases[i].result);
        err_done(&e);
        close(pair[1]);
    }
}

/* Every test below uses real children: this program again, with `child KIND`. */
struct fixture {
    struct workers *workers;
    int stop_fd;
};

static int set_up(void **state)
{
    static struct fixture f;

    f.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    f.workers = workers_new(NULL, f.stop_fd);
    *state = &f;
    return f.stop_fd < 0 || !f.workers;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    workers_free(&f->workers);
    close(f->stop_fd);
    return 0;
}

static int compile(struct fixture *f, const char *source, struct err *e)
{
    struct child_message request = { .op = OP_COMPILE }, answer;
    int rc;

    fields_put_text(&request.body, TAG_SOURCE, source);
    fields_put_text(&request.body, TAG_ARCH, "sm_89");
    rc = workers_ask(f->workers, CHILD_COMPILER, &request, &answer, e);
    child_message_done(&request);
    if (rc == 0)
        child_message_done(&answer);
    return rc;
}

static void a_request_that_no_child_knows_is_its_error(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct fixture *f = *state;
    struct err e = { 0 };

    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    assert_int_equal(e.name, ERR_InternalError);
    assert_non_null(strstr(e.text, "77"));
    err_done(&e);
}

/* The pid of our only child, from /proc: the interface does not tell, and a test has to hurt it. */
static pid_t only_child(void)
{
    char path[64], line[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)gettid());
    file = fopen(path, "r");
    assert_non_null(file);
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    fclose(file);
    return (pid_t)strtol(line, NULL, 10);
}

static void *kill_soon(void *arg)
{
    usleep(50000);
    kill(*(pid_t *)arg, SIGKILL);
    return NULL;
}

static void a_child_that_crashes_costs_one_cell(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct fixture *f = *state;
    struct err e = { 0 };
    pthread_t thread;
    pid_t pid;

    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    err_done(&e);
    pid = only_child();
    assert_true(pid > 0);
    kill(pid, SIGSTOP); /* so that it dies with our request in its hands */
    assert_int_equal(pthread_create(&thread, NULL, kill_soon, &pid), 0);
    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    pthread_join(thread, NULL);
    assert_int_equal(e.name, ERR_InternalError);
    assert_non_null(strstr(e.text, "KILL"));
    err_done(&e);
    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    assert_non_null(strstr(e.text, "77"));
    err_done(&e);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *interrupt_soon(void *arg)
{
    struct fixture *f = arg;
    uint64_t one = 1;

    usleep(50000);
    return write(f->stop_fd, &one, sizeof(one)) < 0 ? f : NULL;
}

static void an_interrupt_returns_at_once_and_the_next_request_is_served(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct fixture *f = *state;
    struct err e = { 0 };
    pthread_t thread;
    uint64_t count;
    double began;

    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    err_done(&e);
    kill(only_child(), SIGSTOP); /* it will not answer */
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, f), 0);
    began = seconds();
    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    assert_int_equal(e.name, ERR_Interrupted);
    assert_true(seconds() - began < 1); /* ten times the 100 ms that are promised */
    err_done(&e);
    pthread_join(thread, NULL);
    assert_int_equal(read(f->stop_fd, &count, sizeof(count)), sizeof(count));
    kill(only_child(), SIGCONT);
    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    assert_non_null(strstr(e.text, "77"));
    err_done(&e);
}

static void a_child_ends_with_its_front(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct fixture *f = *state;
    struct err e = { 0 };
    pid_t pid;

    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    err_done(&e);
    pid = only_child();
    assert_int_equal(kill(pid, 0), 0);
    workers_free(&f->workers);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    f->workers = workers_new(NULL, f->stop_fd);
    assert_non_null(f->workers);
}

static void a_child_inherits_no_descriptor(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct fixture *f = *state;
    struct err e = { 0 };
    char path[64];
    int leak = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */

    assert_int_equal(workers_ask(f->workers, CHILD_COMPILER, &request, &answer, &e), -1);
    err_done(&e);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)only_child(), leak);
    assert_int_equal(access(path, F_OK), -1);
    close(leak);
}

static void a_missing_binary_is_a_resource_error(void **state)
{
    struct child_message request = { .op = 77 }, answer;
    struct workers *w = workers_new("/nowhere/warpbook", -1);
    struct err e = { 0 };

    (void)state;
    assert_int_equal(workers_ask(w, CHILD_COMPILER, &request, &answer, &e), -1);
    assert_int_equal(e.name, ERR_ResourceError);
    err_done(&e);
    workers_free(&w);
}

static void a_compilation_that_is_interrupted_leaves_a_working_compiler(void **state)
{
    struct fixture *f = *state;
    struct err e = { 0 };
    pthread_t thread;
    uint64_t count;

    if (compile(f, "__global__ void k() {}", &e) < 0 && e.name == ERR_DeviceError)
        skip();
    assert_int_equal(e.name, ERR_none);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, f), 0);
    assert_int_equal(compile(f,
                             "template <int N> struct F { static const long v = F<N-1>::v + "
                             "F<N-2>::v; }; template <> struct F<0> { static const long v = 0; };"
                             "template <> struct F<1> { static const long v = 1; };\n"
                             "#include <cooperative_groups.h>\n"
                             "__global__ void k(long *y) { y[0] = F<190>::v; }",
                             &e),
                     -1);
    assert_int_equal(e.name, ERR_Interrupted);
    err_done(&e);
    pthread_join(thread, NULL);
    assert_int_equal(read(f->stop_fd, &count, sizeof(count)), sizeof(count));
    assert_int_equal(compile(f, "__global__ void k() {}", &e), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_written),
        cmocka_unit_test(a_field_that_does_not_fit_ends_the_reading),
        cmocka_unit_test(an_int_of_another_size_is_not_believed),
        cmocka_unit_test(an_error_crosses_with_place_and_detail),
        cmocka_unit_test(an_error_of_unknown_name_is_internal),
        cmocka_unit_test(a_message_crosses_with_its_descriptors),
        cmocka_unit_test(bytes_that_are_no_message_are_refused),
        cmocka_unit_test_setup_teardown(a_request_that_no_child_knows_is_its_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_that_crashes_costs_one_cell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupt_returns_at_once_and_the_next_request_is_served,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_ends_with_its_front, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_inherits_no_descriptor, set_up, tear_down),
        cmocka_unit_test(a_missing_binary_is_a_resource_error),
        cmocka_unit_test_setup_teardown(a_compilation_that_is_interrupted_leaves_a_working_compiler,
                                        set_up, tear_down),
    };

    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
