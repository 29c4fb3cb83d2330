/*
 * The wire format: what stands in the frames of a message. Bytes in, bytes
 * out; no socket is known here.
 *
 * A message is [identity ...] <IDS|MSG> signature header parent metadata
 * content [buffer ...]. The signature is an HMAC-SHA256 over the four JSON
 * frames, in lower-case hex. It is checked before a byte of JSON is parsed,
 * so that the parser only ever meets the owner of the key.
 *
 * Source: "Messaging in Jupyter" 5.5, "The Wire Protocol".
 */
#ifndef WB_JUPYTER_WIRE_H
#define WB_JUPYTER_WIRE_H

#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>

#define WIRE_VERSION   "5.5"
#define WIRE_DELIMITER "<IDS|MSG>"

enum {
    WIRE_PARTS = 4,      /* header, parent, metadata, content */
    WIRE_MAX_FRAMES = 64 /* of one message, buffers included */
};

/* A key, and which signatures were seen with it. Decoding: one thread. Encoding: any. */
struct wire_key;

/*
 * key: the raw bytes of the connection file's key; empty turns signing off. scheme: NULL or
 * "" stand for hmac-sha256, the only one accepted (ValueError).
 */
int wire_key_new(struct bytes key, const char *scheme, struct wire_key **out,
                 struct err *err) MUST_CHECK;
void wire_key_free(struct wire_key **key);

/* A received message; owns everything in it. Start from { 0 }. */
struct message {
    struct bytes *identities; /* frames before the delimiter, to be sent back unchanged */
    size_t identity_count;
    struct bytes header_bytes;  /* as received: the parent_header of every answer */
    json_t *header;             /* an object with the strings msg_id and msg_type */
    json_t *parent;             /* an object; empty when the sender's could not be read */
    json_t *metadata, *content; /* objects, or NULL when fault is set */
    const char *msg_type;       /* inside header */
    const char *msg_id;         /* inside header */
    struct err fault;           /* why metadata or content could not be read: to be answered */
    char *storage;              /* what identities and header_bytes point into */
};

/*
 * Takes a message apart. Fails with BadMessage (to be logged: nobody can be answered) when
 * frames are missing, the signature is wrong or was seen before, or the header is no header.
 * Content that is signed but unreadable succeeds with fault set.
 */
int wire_decode(struct wire_key *key, const struct bytes *frames, size_t n, struct message *out,
                struct err *err) MUST_CHECK;
void message_done(struct message *message);

/* HMAC-SHA256 of content alone, 64 hex digits and a zero: for the registration handshake. */
void wire_sign(const struct wire_key *key, const struct bytes *parts, size_t n, char hex[65]);

/* Frames on their way out: one block of memory, free() ends it. */
struct packet {
    struct packet *next;   /* for the queue that holds it */
    int channel;           /* enum channel */
    int drain;             /* channel to empty before this leaves, or -1: see channels.h */
    size_t count;          /* frames */
    struct bytes frames[]; /* point behind this array */
};

/*
 * Puts a message together and signs it. prefix: identities or the topic. parts: header,
 * parent, metadata, content, each JSON. NULL when out of memory.
 */
struct packet *wire_encode(const struct wire_key *key, const struct bytes *prefix,
                           size_t prefix_count, const struct bytes parts[WIRE_PARTS]);

#endif
