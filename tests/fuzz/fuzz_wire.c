/*
 * Messages from a client that knows the key (so that the parser is reached),
 * in any number of frames: each is a length byte pair and its bytes. The frame
 * behind the delimiter is replaced by the right signature.
 */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/wire.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

/* Takes the input apart; returns the number of frames. */
static size_t split(const uint8_t *data, size_t size, struct bytes *frames)
{
    size_t at = 0, n = 0;

    while (at + 2 <= size && n < WIRE_MAX_FRAMES) {
        size_t length = (size_t)data[at] | (size_t)data[at + 1] << 8;

        at += 2;
        if (length > size - at)
            length = size - at;
        frames[n++] = (struct bytes){ (const char *)data + at, length };
        at += length;
    }
    return n;
}

/* What handlers do with a content first. */
static void read_content(const struct message *message)
{
    struct bytes code = content_text(message->content, "code");

    if (content_cursor(message->content, code) > code.size)
        abort();
    content_bool(message->content, "silent", false);
    content_int(message->content, "n", 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes frames[WIRE_MAX_FRAMES];
    size_t n = split(data, size, frames), at = 0;
    struct wire_key *key = NULL;
    struct message message = { 0 };
    struct err err = { 0 };
    char hex[65];

    if (wire_key_new(bytes_of("key"), NULL, &key, &err) < 0)
        abort();
    while (at < n && !bytes_equal(frames[at], WIRE_DELIMITER))
        at++;
    if (n - at >= 2 + WIRE_PARTS) {
        wire_sign(key, &frames[at + 2], WIRE_PARTS, hex);
        frames[at + 1] = bytes_of(hex);
    }
    if (wire_decode(key, frames, n, &message, &err) == 0)
        read_content(&message);
    message_done(&message);
    err_done(&err);
    wire_key_free(&key);
    return 0;
}
