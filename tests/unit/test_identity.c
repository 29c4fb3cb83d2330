/* Headers: dates, and ids that are never used twice. */
#include "jupyter-kernel/identity.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void dates_are_utc_with_six_digits(void **state)
{
    static const struct {
        long long seconds;
        long nanoseconds;
        const char *date;
    } cases[] = {
        { 0, 0, "1970-01-01T00:00:00.000000Z" },
        { 1767323045, 123999, "2026-01-02T03:04:05.000123Z" },
        { 951827696, 999999999, "2000-02-29T12:34:56.999999Z" },
    };
    char date[IDENTITY_DATE];

    (void)state;
    setenv("TZ", "Asia/Tokyo", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        identity_date(cases[i].seconds, cases[i].nanoseconds, date);
        assert_string_equal(date, cases[i].date);
    }
}

static json_t *header_of(struct identity *identity, const char *msg_type)
{
    struct buf text = { 0 };
    json_t *json;

    identity_header(identity, msg_type, &text);
    json = json_loads(buf_text(&text), 0, NULL);
    assert_non_null(json);
    buf_done(&text);
    return json;
}

static void a_header_has_the_strings_that_clients_need(void **state)
{
    static const char *const names[] = { "msg_id", "session",  "username",
                                         "date",   "msg_type", "version" };
    struct identity identity;
    struct err err = { 0 };
    json_t *header;

    (void)state;
    setenv("USER", "zo\xC3\xAB \"quoted\"\n", 1);
    assert_int_equal(identity_init(&identity, &err), 0);
    header = header_of(&identity, "status");
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(json_is_string(json_object_get(header, names[i])));
    assert_string_equal(json_string_value(json_object_get(header, "version")), "5.5");
    assert_string_equal(json_string_value(json_object_get(header, "username")),
                        "zo\xC3\xAB \"quoted\"\n");
    json_decref(header);
    identity_done(&identity);
}

static void a_username_that_is_not_utf8_does_not_matter(void **state)
{
    struct identity identity;
    struct err err = { 0 };

    (void)state;
    setenv("USER", "\xFF\xFE", 1);
    assert_int_equal(identity_init(&identity, &err), 0);
    json_decref(header_of(&identity, "status"));
    identity_done(&identity);
}

enum { THREADS = 4, EACH = 500 };

struct maker {
    struct identity *identity;
    json_t *headers[EACH];
};

static void *make_headers(void *argument)
{
    struct maker *maker = argument;

    for (int i = 0; i < EACH; i++)
        maker->headers[i] = header_of(maker->identity, "status");
    return NULL;
}

static void ids_are_unique_among_threads_and_the_session_stays(void **state)
{
    static struct maker makers[THREADS];
    pthread_t threads[THREADS];
    struct identity identity;
    struct err err = { 0 };
    json_t *ids = json_object();

    (void)state;
    assert_int_equal(identity_init(&identity, &err), 0);
    for (int t = 0; t < THREADS; t++) {
        makers[t].identity = &identity;
        assert_int_equal(pthread_create(&threads[t], NULL, make_headers, &makers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        for (int i = 0; i < EACH; i++) {
            json_t *header = makers[t].headers[i];

            json_object_set(ids, json_string_value(json_object_get(header, "msg_id")), header);
            assert_string_equal(json_string_value(json_object_get(header, "session")),
                                identity.session);
            json_decref(header);
        }
    }
    assert_int_equal(json_object_size(ids), THREADS * EACH);
    json_decref(ids);
    identity_done(&identity);
}

static void two_kernels_have_two_sessions(void **state)
{
    struct identity a, b;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(identity_init(&a, &err), 0);
    assert_int_equal(identity_init(&b, &err), 0);
    assert_string_not_equal(a.session, b.session);
    identity_done(&a);
    identity_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_utc_with_six_digits),
        cmocka_unit_test(a_header_has_the_strings_that_clients_need),
        cmocka_unit_test(a_username_that_is_not_utf8_does_not_matter),
        cmocka_unit_test(ids_are_unique_among_threads_and_the_session_stays),
        cmocka_unit_test(two_kernels_have_two_sessions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
