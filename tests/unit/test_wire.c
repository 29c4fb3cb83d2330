/*
 * The wire format: what is let in, what is kept out, and that what goes out
 * would be let in again.
 */
#include "jupyter-kernel/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char HEADER[] = "{\"msg_id\":\"1\",\"msg_type\":\"execute_request\",\"x\":[1,2]}";

static struct wire_key *key_of(const char *text)
{
    struct wire_key *key = NULL;
    struct err err = { 0 };

    assert_int_equal(wire_key_new(bytes_of(text), "hmac-sha256", &key, &err), 0);
    return key;
}

/* Frames of a message with two identities; signature NULL: the right one. */
struct sample {
    struct bytes frames[9];
    char hex[65];
};

static void make(struct sample *s, const struct wire_key *key, const char *signature,
                 const char *header, const char *metadata, const char *content)
{
    s->frames[0] = (struct bytes){ "a\0b", 3 };
    s->frames[1] = bytes_of("");
    s->frames[2] = bytes_of(WIRE_DELIMITER);
    s->frames[4] = bytes_of(header);
    s->frames[5] = bytes_of("{}");
    s->frames[6] = bytes_of(metadata);
    s->frames[7] = bytes_of(content);
    s->frames[8] = bytes_of("a buffer");
    wire_sign(key, &s->frames[4], WIRE_PARTS, s->hex);
    s->frames[3] = bytes_of(signature ? signature : s->hex);
}

static int decode(struct wire_key *key, const struct bytes *frames, size_t n,
                  struct message *message, char *text)
{
    struct err err = { 0 };
    int rc = wire_decode(key, frames, n, message, &err);

    if (text)
        memcpy(text, err.text, sizeof(err.text));
    if (rc < 0)
        assert_int_equal(err.name, ERR_BadMessage);
    err_done(&err);
    return rc;
}

static void a_signed_message_comes_apart(void **state)
{
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;

    (void)state;
    make(&s, key, NULL, HEADER, "{}", "{\"code\":\"1\"}");
    assert_int_equal(decode(key, s.frames, 9, &message, NULL), 0);
    assert_int_equal(message.identity_count, 2);
    assert_int_equal(message.identities[0].size, 3);
    assert_memory_equal(message.identities[0].data, "a\0b", 3);
    assert_int_equal(message.identities[1].size, 0);
    assert_string_equal(message.msg_type, "execute_request");
    assert_int_equal(message.header_bytes.size, strlen(HEADER));
    assert_memory_equal(message.header_bytes.data, HEADER, strlen(HEADER));
    assert_string_equal(json_string_value(json_object_get(message.content, "code")), "1");
    message_done(&message);
    wire_key_free(&key);
    assert_null(key);
}

static void a_message_is_let_in_once(void **state)
{
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;
    char text[sizeof(((struct err *)0)->text)];

    (void)state;
    make(&s, key, NULL, HEADER, "{}", "{}");
    assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
    message_done(&message);
    assert_int_equal(decode(key, s.frames, 8, &message, text), -1);
    assert_string_equal(text, "a message that was received before");
    wire_key_free(&key);
}

static void ten_thousand_different_messages_are_all_let_in(void **state)
{
    struct wire_key *key = key_of("secret");
    struct sample s;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        struct message message = { 0 };
        char content[32];

        snprintf(content, sizeof(content), "{\"i\":%d}", i);
        make(&s, key, NULL, HEADER, "{}", content);
        assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
        message_done(&message);
    }
    wire_key_free(&key);
}

static void what_is_not_signed_is_kept_out(void **state)
{
    static const struct {
        const char *signature, *text;
    } cases[] = {
        { "", "a message without signature" },
        { "abc", "a signature of 3 bytes, not 64" },
        { "0000000000000000000000000000000000000000000000000000000000000000", "a wrong signature" },
    };
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;
    char text[sizeof(((struct err *)0)->text)];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        make(&s, key, cases[i].signature, HEADER, "{}", "{}");
        assert_int_equal(decode(key, s.frames, 8, &message, text), -1);
        assert_string_equal(text, cases[i].text);
    }
    wire_key_free(&key);
}

/* A parser that ran before the check would report the JSON instead of the signature. */
static void the_signature_is_checked_before_json_is_parsed(void **state)
{
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;
    char text[sizeof(((struct err *)0)->text)];

    (void)state;
    make(&s, key, "", "{", "{", "{");
    assert_int_equal(decode(key, s.frames, 8, &message, text), -1);
    assert_string_equal(text, "a message without signature");
    wire_key_free(&key);
}

static void an_empty_key_turns_signing_off_both_ways(void **state)
{
    struct wire_key *key = key_of("");
    struct bytes parts[WIRE_PARTS] = { bytes_of("{}"), bytes_of("{}"), bytes_of("{}"),
                                       bytes_of("{}") };
    struct message message = { 0 };
    struct packet *packet;
    struct sample s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        make(&s, key, "whatever", HEADER, "{}", "{}");
        assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
        message_done(&message);
    }
    packet = wire_encode(key, NULL, 0, parts);
    assert_non_null(packet);
    assert_int_equal(packet->count, 6);
    assert_int_equal(packet->frames[1].size, 0);
    free(packet);
    wire_key_free(&key);
}

static void frames_that_are_no_message_are_kept_out(void **state)
{
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;
    char text[sizeof(((struct err *)0)->text)];

    (void)state;
    make(&s, key, NULL, HEADER, "{}", "{}");
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(decode(key, s.frames, n, &message, text), -1);
    assert_string_equal(text, "4 frames after the delimiter, not 5");
    assert_int_equal(decode(key, s.frames + 3, 6, &message, text), -1);
    assert_string_equal(text, "6 frames without delimiter");
    wire_key_free(&key);
}

static void a_header_that_cannot_be_answered_is_kept_out(void **state)
{
    static const char *const headers[] = {
        "",   "{",    "[]",  "{\"msg_id\":\"1\"}", "{\"msg_type\":\"x\",\"msg_id\":1}",
        "17", "\xFF", "{}x",
    };
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        make(&s, key, NULL, headers[i], "{}", "{}");
        assert_int_equal(decode(key, s.frames, 8, &message, NULL), -1);
    }
    wire_key_free(&key);
}

static void signed_content_that_cannot_be_read_is_a_fault_to_answer(void **state)
{
    static const char *const contents[] = {
        "",
        "{",
        "[]",
        "\"x\"",
        "{\"code\":\"\\ud83d\"}",
        "{\"x\":NaN}",
        "{\"x\":1e999}",
        "{\"code\":\"\xC3\x28\"}",
        "{\"a\\u0000b\":1}",
    };
    struct wire_key *key = key_of("secret");
    struct sample s;

    (void)state;
    for (size_t i = 0; i < COUNT(contents); i++) {
        struct message message = { 0 };

        make(&s, key, NULL, HEADER, "{}", contents[i]);
        assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
        assert_int_equal(message.fault.name, ERR_ValueError);
        assert_null(message.content);
        message_done(&message);
    }
    wire_key_free(&key);
}

static void deep_nesting_is_a_fault_and_not_a_crash(void **state)
{
    enum { DEEP = 100000 };
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    char *content = malloc(2 * DEEP + 16);
    struct sample s;

    (void)state;
    assert_non_null(content);
    strcpy(content, "{\"a\":");
    memset(content + 5, '[', DEEP);
    memset(content + 5 + DEEP, ']', DEEP);
    strcpy(content + 5 + 2 * DEEP, "}");
    make(&s, key, NULL, HEADER, "{}", content);
    assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
    assert_int_equal(message.fault.name, ERR_ValueError);
    message_done(&message);
    free(content);
    wire_key_free(&key);
}

static void zeros_in_strings_and_large_numbers_are_read(void **state)
{
    struct wire_key *key = key_of("secret");
    struct message message = { 0 };
    struct sample s;

    (void)state;
    make(&s, key, NULL, HEADER, "{}", "{\"code\":\"a\\u0000b\",\"n\":9223372036854775808}");
    assert_int_equal(decode(key, s.frames, 8, &message, NULL), 0);
    assert_int_equal(message.fault.name, ERR_none);
    assert_int_equal(json_string_length(json_object_get(message.content, "code")), 3);
    assert_true(json_real_value(json_object_get(message.content, "n")) == 9223372036854775808.0);
    message_done(&message);
    wire_key_free(&key);
}

static void what_is_encoded_can_be_decoded(void **state)
{
    struct wire_key *key = key_of("secret");
    struct bytes topic = bytes_of("stream"), parts[WIRE_PARTS];
    struct message message = { 0 };
    struct packet *packet;

    (void)state;
    parts[0] = bytes_of(HEADER);
    parts[1] = bytes_of("{\"msg_id\":\"p\"}");
    parts[2] = bytes_of("{}");
    parts[3] = bytes_of("{\"text\":\"\xC3\xA4\"}");
    packet = wire_encode(key, &topic, 1, parts);
    assert_non_null(packet);
    assert_int_equal(decode(key, packet->frames, packet->count, &message, NULL), 0);
    assert_string_equal(json_string_value(json_object_get(message.parent, "msg_id")), "p");
    message_done(&message);
    free(packet);
    wire_key_free(&key);
}

/* RFC 4231, test case 2, split as header, parent, metadata and content would be. */
static void the_signature_is_hmac_sha256(void **state)
{
    struct wire_key *key = key_of("Jefe");
    struct bytes parts[WIRE_PARTS] = { bytes_of("what do "), bytes_of("ya want"), bytes_of(""),
                                       bytes_of(" for nothing?") };
    char hex[65];

    (void)state;
    wire_sign(key, parts, WIRE_PARTS, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    wire_key_free(&key);
}

static void only_hmac_sha256_is_accepted(void **state)
{
    struct wire_key *key = NULL;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(wire_key_new(bytes_of("k"), "hmac-md5", &key, &err), -1);
    assert_string_equal(err.text, "signature_scheme=hmac-md5: only hmac-sha256 is supported");
    err_done(&err);
    assert_int_equal(wire_key_new(bytes_of("k"), NULL, &key, &err), 0);
    wire_key_free(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signed_message_comes_apart),
        cmocka_unit_test(a_message_is_let_in_once),
        cmocka_unit_test(ten_thousand_different_messages_are_all_let_in),
        cmocka_unit_test(what_is_not_signed_is_kept_out),
        cmocka_unit_test(the_signature_is_checked_before_json_is_parsed),
        cmocka_unit_test(an_empty_key_turns_signing_off_both_ways),
        cmocka_unit_test(frames_that_are_no_message_are_kept_out),
        cmocka_unit_test(a_header_that_cannot_be_answered_is_kept_out),
        cmocka_unit_test(signed_content_that_cannot_be_read_is_a_fault_to_answer),
        cmocka_unit_test(deep_nesting_is_a_fault_and_not_a_crash),
        cmocka_unit_test(zeros_in_strings_and_large_numbers_are_read),
        cmocka_unit_test(what_is_encoded_can_be_decoded),
        cmocka_unit_test(the_signature_is_hmac_sha256),
        cmocka_unit_test(only_hmac_sha256_is_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
