/*
 * The parent is copied byte for byte from the request's header: fields that we
 * do not know reach the client again.
 */
#include "jupyter-kernel/post.h"

#include "jupyter-kernel/log.h"

#include "model/base/buf.h"

#include <stdio.h>
#include <stdlib.h>

/* Packs and hands over; text is the content's JSON. */
static bool post(struct kernel *kernel, const struct bytes *prefix, size_t prefix_count,
                 const struct message *parent, enum channel channel, const char *msg_type,
                 struct bytes text, int drain)
{
    struct buf header = { 0 };
    struct bytes parts[WIRE_PARTS] = { { 0 }, bytes_of("{}"), bytes_of("{}"), text };
    struct packet *packet = NULL;

    identity_header(&kernel->identity, msg_type, &header);
    parts[0] = (struct bytes){ buf_text(&header), header.size };
    if (parent)
        parts[1] = parent->header_bytes;
    if (!header.is_failed)
        packet = wire_encode(kernel->key, prefix, prefix_count, parts);
    buf_done(&header);
    if (!packet) {
        log_line("out of memory: a message %s is lost", msg_type);
        return false;
    }
    packet->channel = channel;
    packet->drain = drain;
    channels_take(kernel->channels, packet);
    return true;
}

/* Dumps the content, taking it. */
static size_t post_json(struct kernel *kernel, const struct bytes *prefix, size_t prefix_count,
                        const struct message *parent, enum channel channel, const char *msg_type,
                        json_t *content, int drain)
{
    char *text = content ? json_dumps(content, JSON_COMPACT) : NULL;
    size_t size = text ? strlen(text) : 0;

    if (!text)
        log_line("a message %s could not be written as JSON", msg_type);
    else if (!post(kernel, prefix, prefix_count, parent, channel, msg_type,
                   (struct bytes){ text, size }, drain))
        size = 0;
    free(text);
    json_decref(content);
    return size;
}

size_t post_iopub(struct kernel *kernel, const struct message *parent, const char *msg_type,
                  json_t *content)
{
    struct bytes topic = bytes_of(msg_type);

    return post_json(kernel, &topic, 1, parent, CHANNEL_IOPUB, msg_type, content, -1);
}

void post_topic(struct kernel *kernel, struct bytes topic, const char *msg_type, json_t *content)
{
    post_json(kernel, &topic, 1, NULL, CHANNEL_IOPUB, msg_type, content, -1);
}

size_t post_to(struct kernel *kernel, const struct message *request, enum channel channel,
               const char *msg_type, json_t *content, int drain)
{
    return post_json(kernel, request->identities, request->identity_count, request, channel,
                     msg_type, content, drain);
}

void post_status(struct kernel *kernel, const struct message *parent, const char *state)
{
    struct bytes topic = bytes_of("status");
    char text[64];

    snprintf(text, sizeof(text), "{\"execution_state\":\"%s\"}", state);
    post(kernel, &topic, 1, parent, CHANNEL_IOPUB, "status", bytes_of(text), -1);
}

void post_starting(struct kernel *kernel)
{
    if (!atomic_exchange(&kernel->has_started, true))
        post_status(kernel, NULL, "starting");
}
