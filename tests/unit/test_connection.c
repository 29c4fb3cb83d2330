/* Connection files: what is read, what is refused, what is written again. */
#include "jupyter-kernel/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/warpbook-connection-XXXXXX";

static int set_up(void **state)
{
    int fd;

    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_text(const char *text, struct connection *out, struct err *err)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return connection_read(path, out, err);
}

static void a_usual_file_is_read(void **state)
{
    struct connection c = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(read_text("{\"shell_port\":1,\"iopub_port\":2,\"stdin_port\":3,"
                               "\"control_port\":4,\"hb_port\":65535,\"ip\":\"10.0.0.1\","
                               "\"key\":\"k-1\",\"transport\":\"tcp\","
                               "\"signature_scheme\":\"hmac-sha256\",\"kernel_name\":\"w\"}",
                               &c, &err),
                     0);
    assert_int_equal(c.ports[CHANNEL_SHELL], 1);
    assert_int_equal(c.ports[CHANNEL_HB], 65535);
    assert_string_equal(c.ip, "10.0.0.1");
    assert_true(bytes_equal(c.key, "k-1"));
    assert_null(c.secret_key);
    assert_false(c.is_registration);
    connection_done(&c);
}

static void missing_fields_have_their_usual_values(void **state)
{
    struct connection c = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(read_text("{}", &c, &err), 0);
    assert_string_equal(c.transport, "tcp");
    assert_string_equal(c.ip, "127.0.0.1");
    assert_int_equal(c.key.size, 0);
    assert_int_equal(c.ports[CHANNEL_IOPUB], 0);
    connection_done(&c);
}

static void what_cannot_be_meant_is_refused_by_name(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "{\"shell_port\":70000}", "shell_port=70000: a port is 0 to 65535" },
        { "{\"hb_port\":-1}", "hb_port=-1: a port is 0 to 65535" },
        { "{\"iopub_port\":\"5\"}", "iopub_port in the connection file is not an integer" },
        { "{\"transport\":\"udp\"}", "transport=udp: only tcp and ipc are supported" },
        { "{\"key\":7}", "key in the connection file is not a string" },
        { "{\"ip\":[]}", "ip in the connection file is not a string" },
        { "{\"curve_publickey\":\"x\"}", "curve_publickey without curve_secretkey" },
        { "{\"curve_secretkey\":\"x\"}", "curve_secretkey has 1 characters, not 40" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct connection c = { 0 };
        struct err err = { 0 };

        assert_int_equal(read_text(cases[i].text, &c, &err), -1);
        assert_string_equal(err.text, cases[i].error);
        err_done(&err);
    }
}

static void what_is_no_json_object_is_refused(void **state)
{
    static const char *const texts[] = { "", "{", "[1]", "\"x\"", "{\"a\":1}}", "\xFF" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct connection c = { 0 };
        struct err err = { 0 };

        assert_int_equal(read_text(texts[i], &c, &err), -1);
        assert_int_equal(err.name, ERR_FileError);
        assert_non_null(strstr(err.text, path));
        err_done(&err);
    }
}

static void a_missing_file_is_named(void **state)
{
    struct connection c = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(connection_read("/nowhere/k.json", &c, &err), -1);
    assert_string_equal(err.text, "connection file /nowhere/k.json: No such file or directory");
    err_done(&err);
}

static void writing_keeps_foreign_fields_and_adds_ports(void **state)
{
    struct connection c = { 0 };
    struct err err = { 0 };
    struct stat info;
    json_t *json;

    (void)state;
    assert_int_equal(read_text("{\"key\":\"k\",\"jupyter_session\":\"nb\",\"shell_port\":0}", &c,
                               &err),
                     0);
    for (int i = 0; i < CHANNEL_COUNT; i++)
        c.ports[i] = 100 + i;
    assert_int_equal(connection_write(&c, &err), 0);
    connection_done(&c);
    json = json_load_file(path, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "jupyter_session")), "nb");
    assert_string_equal(json_string_value(json_object_get(json, "transport")), "tcp");
    assert_int_equal(json_integer_value(json_object_get(json, "shell_port")), 100);
    assert_int_equal(json_integer_value(json_object_get(json, "hb_port")), 104);
    json_decref(json);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void endpoints_follow_the_transport(void **state)
{
    struct connection c = { .transport = "tcp", .ip = "127.0.0.1" };
    char text[64];

    (void)state;
    connection_endpoint(&c, 5, text, sizeof(text));
    assert_string_equal(text, "tcp://127.0.0.1:5");
    connection_endpoint(&c, 0, text, sizeof(text));
    assert_string_equal(text, "tcp://127.0.0.1:*");
    c = (struct connection){ .transport = "ipc", .ip = "/run/k" };
    connection_endpoint(&c, 3, text, sizeof(text));
    assert_string_equal(text, "ipc:///run/k-3");
}

int main(void)
{
#define ON_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_FILE(a_usual_file_is_read),
        ON_FILE(missing_fields_have_their_usual_values),
        ON_FILE(what_cannot_be_meant_is_refused_by_name),
        ON_FILE(what_is_no_json_object_is_refused),
        cmocka_unit_test(a_missing_file_is_named),
        ON_FILE(writing_keeps_foreign_fields_and_adds_ports),
        cmocka_unit_test(endpoints_follow_the_transport),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
