/*
 * Nothing here trusts a length, a count or a byte until the signature holds.
 * Every signature is accepted once: whoever recorded a message cannot send it
 * again. Keys of the table below are the first 8 bytes of the digest, which
 * only the owner of the key can choose.
 */
#include "jupyter-kernel/wire.h"

#include <sodium.h>
#include <stdlib.h>

enum {
    DIGEST_HEX = 2 * crypto_auth_hmacsha256_BYTES,
    SEEN = 4096,   /* signatures remembered */
    SEEN_WAYS = 8, /* places that one signature may take */
};

struct wire_key {
    unsigned char *bytes;
    size_t size;                          /* 0: signing is off */
    uint64_t seen[SEEN];                  /* 0: free */
    unsigned char next[SEEN / SEEN_WAYS]; /* way to overwrite next, per set */
};

int wire_key_new(struct bytes key, const char *scheme, struct wire_key **out, struct err *err)
{
    struct wire_key *made;

    if (scheme && scheme[0] && strcmp(scheme, "hmac-sha256") != 0)
        return err_set(err, ERR_ValueError, "signature_scheme=%.60s: only hmac-sha256 is supported",
                       scheme);
    if (sodium_init() < 0)
        return err_set(err, ERR_InternalError, "libsodium could not be initialised");
    made = calloc(1, sizeof(*made));
    if (!made)
        return err_set(err, ERR_ResourceError, "out of memory");
    made->bytes = malloc(key.size ? key.size : 1);
    if (!made->bytes) {
        free(made);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    if (key.size)
        memcpy(made->bytes, key.data, key.size);
    made->size = key.size;
    *out = made;
    return 0;
}

void wire_key_free(struct wire_key **key)
{
    if (!*key)
        return;
    sodium_memzero((*key)->bytes, (*key)->size);
    free((*key)->bytes);
    free(*key);
    *key = NULL;
}

void wire_sign(const struct wire_key *key, const struct bytes *parts, size_t n, char hex[65])
{
    /* One state per call: shared by threads it would mix their messages. */
    crypto_auth_hmacsha256_state state;
    unsigned char digest[crypto_auth_hmacsha256_BYTES];

    crypto_auth_hmacsha256_init(&state, key->bytes, key->size);
    for (size_t i = 0; i < n; i++)
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)parts[i].data, parts[i].size);
    crypto_auth_hmacsha256_final(&state, digest);
    sodium_bin2hex(hex, DIGEST_HEX + 1, digest, sizeof(digest));
}

/* Remembers a correct signature; false when it was there already. */
static bool remember(struct wire_key *key, const char *hex)
{
    uint64_t id = 0;
    size_t set;
    uint64_t *ways;

    for (int i = 0; i < 16; i++)
        id = id << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    id |= !id; /* 0 means free */
    set = id % (SEEN / SEEN_WAYS);
    ways = &key->seen[set * SEEN_WAYS];
    for (int i = 0; i < SEEN_WAYS; i++)
        if (ways[i] == id)
            return false;
    ways[key->next[set]] = id;
    key->next[set] = (unsigned char)((key->next[set] + 1) % SEEN_WAYS);
    return true;
}

static int check_signature(struct wire_key *key, struct bytes signature, const struct bytes *parts,
                           struct err *err)
{
    char want[DIGEST_HEX + 1];

    if (!key->size)
        return 0;
    if (signature.size == 0)
        return err_set(err, ERR_BadMessage, "a message without signature");
    if (signature.size != DIGEST_HEX)
        return err_set(err, ERR_BadMessage, "a signature of %zu bytes, not %d", signature.size,
                       DIGEST_HEX);
    wire_sign(key, parts, WIRE_PARTS, want);
    if (sodium_memcmp(want, signature.data, DIGEST_HEX) != 0)
        return err_set(err, ERR_BadMessage, "a wrong signature");
    if (!remember(key, want))
        return err_set(err, ERR_BadMessage, "a message that was received before");
    return 0;
}

/* The frame that holds the delimiter, or n. */
static size_t find_delimiter(const struct bytes *frames, size_t n)
{
    size_t at = 0;

    while (at < n && !bytes_equal(frames[at], WIRE_DELIMITER))
        at++;
    return at;
}

/*
 * A JSON object. Integers beyond 64 bits become real numbers, as in a browser; a string may
 * hold U+0000. Half a surrogate pair, NaN and nesting beyond 2048 are refused by Jansson.
 */
static json_t *parse_object(struct bytes text, const char *what, struct err *err)
{
    json_error_t why;
    json_t *json = json_loadb(text.data, text.size, JSON_ALLOW_NUL, &why);

    if (!json && json_error_code(&why) == json_error_numeric_overflow)
        json = json_loadb(text.data, text.size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
    if (!json) {
        err_set(err, ERR_ValueError, "the %s of the message is not readable JSON: %s (byte %d)",
                what, why.text, why.position);
        return NULL;
    }
    if (!json_is_object(json)) {
        err_set(err, ERR_ValueError, "the %s of the message is not a JSON object", what);
        json_decref(json);
        return NULL;
    }
    return json;
}

static int parse_header(struct bytes text, struct message *m, struct err *err)
{
    struct err why = { 0 };

    m->header = parse_object(text, "header", &why);
    if (!m->header) {
        err_set(err, ERR_BadMessage, "%s", why.text);
        err_done(&why);
        return -1;
    }
    m->msg_type = json_string_value(json_object_get(m->header, "msg_type"));
    m->msg_id = json_string_value(json_object_get(m->header, "msg_id"));
    if (!m->msg_type || !m->msg_id)
        return err_set(err, ERR_BadMessage, "a header without the strings msg_type and msg_id");
    return 0;
}

static int parse_parts(const struct bytes *parts, struct message *m, struct err *err)
{
    if (parse_header(parts[0], m, err) < 0)
        return -1;
    m->parent = parse_object(parts[1], "parent_header", NULL);
    if (!m->parent)
        m->parent = json_object();
    m->metadata = parse_object(parts[2], "metadata", &m->fault);
    m->content = parse_object(parts[3], "content", &m->fault);
    if (!m->parent)
        return err_set(err, ERR_BadMessage, "out of memory");
    return 0;
}

/* Copies what is sent back later: identities and the header's own bytes. */
static int keep_bytes(const struct bytes *identities, size_t n, struct bytes header,
                      struct message *m, struct err *err)
{
    size_t size = header.size;
    char *to;

    for (size_t i = 0; i < n; i++)
        size += identities[i].size;
    m->identities = calloc(n ? n : 1, sizeof(*m->identities));
    m->storage = malloc(size ? size : 1);
    if (!m->identities || !m->storage)
        return err_set(err, ERR_BadMessage, "out of memory for %zu bytes", size);
    to = m->storage;
    for (size_t i = 0; i < n; i++) {
        if (identities[i].size)
            memcpy(to, identities[i].data, identities[i].size);
        m->identities[i] = (struct bytes){ to, identities[i].size };
        to += identities[i].size;
    }
    m->identity_count = n;
    if (header.size)
        memcpy(to, header.data, header.size);
    m->header_bytes = (struct bytes){ to, header.size };
    return 0;
}

int wire_decode(struct wire_key *key, const struct bytes *frames, size_t n, struct message *out,
                struct err *err)
{
    struct message m = { 0 };
    size_t at = find_delimiter(frames, n);
    int rc = -1;

    if (at == n) {
        err_set(err, ERR_BadMessage, "%zu frames without delimiter", n);
        goto out;
    }
    if (n - at < 2 + WIRE_PARTS) { /* at < n, so this cannot wrap */
        err_set(err, ERR_BadMessage, "%zu frames after the delimiter, not %d", n - at - 1,
                1 + WIRE_PARTS);
        goto out;
    }
    /* Checked before a byte of JSON is parsed: the parser meets friends only. */
    if (check_signature(key, frames[at + 1], &frames[at + 2], err) < 0)
        goto out;
    if (parse_parts(&frames[at + 2], &m, err) < 0)
        goto out;
    if (keep_bytes(frames, at, frames[at + 2], &m, err) < 0)
        goto out;
    *out = m;
    m = (struct message){ 0 }; /* handed over: nothing left to release */
    rc = 0;
out:
    message_done(&m);
    return rc;
}

void message_done(struct message *m)
{
    json_decref(m->header);
    json_decref(m->parent);
    json_decref(m->metadata);
    json_decref(m->content);
    err_done(&m->fault);
    free(m->identities);
    free(m->storage);
    *m = (struct message){ 0 };
}

static char *put_frame(struct packet *packet, char *to, struct bytes frame)
{
    if (frame.size)
        memcpy(to, frame.data, frame.size);
    packet->frames[packet->count++] = (struct bytes){ to, frame.size };
    return to + frame.size;
}

struct packet *wire_encode(const struct wire_key *key, const struct bytes *prefix,
                           size_t prefix_count, const struct bytes parts[WIRE_PARTS])
{
    char hex[DIGEST_HEX + 1] = "";
    size_t count = prefix_count + 2 + WIRE_PARTS;
    size_t size = strlen(WIRE_DELIMITER) + DIGEST_HEX;
    struct packet *packet;
    char *to;

    for (size_t i = 0; i < prefix_count; i++)
        size += prefix[i].size;
    for (size_t i = 0; i < WIRE_PARTS; i++)
        size += parts[i].size;
    packet = malloc(sizeof(*packet) + count * sizeof(packet->frames[0]) + size);
    if (!packet)
        return NULL;
    *packet = (struct packet){ .drain = -1 };
    if (key->size)
        wire_sign(key, parts, WIRE_PARTS, hex);

    to = (char *)&packet->frames[count];
    for (size_t i = 0; i < prefix_count; i++)
        to = put_frame(packet, to, prefix[i]);
    to = put_frame(packet, to, bytes_of(WIRE_DELIMITER));
    to = put_frame(packet, to, bytes_of(hex));
    for (size_t i = 0; i < WIRE_PARTS; i++)
        to = put_frame(packet, to, parts[i]);
    return packet;
}
