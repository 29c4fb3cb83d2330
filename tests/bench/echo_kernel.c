/*
 * The least that a client takes for a kernel: one thread, no session, the same
 * five sockets and signatures. bench_kernel.py measures Warpbook against it: what
 * is slower than this is ours, not ZeroMQ's or the client's.
 *
 *   echo_kernel CONNECTION.json
 */
#include "jupyter-kernel/connection.h"
#include "jupyter-kernel/identity.h"
#include "jupyter-kernel/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

struct echo {
    struct connection connection;
    struct wire_key *key;
    struct identity identity;
    void *sockets[CHANNEL_COUNT];
    int count;
};

static void send_message(struct echo *e, enum channel channel, const struct bytes *prefix,
                         size_t prefix_count, const struct message *parent, const char *msg_type,
                         const char *content)
{
    struct buf header = { 0 };
    struct bytes parts[WIRE_PARTS] = {
        { 0 }, parent->header_bytes, bytes_of("{}"), bytes_of(content)
    };
    struct packet *packet;

    identity_header(&e->identity, msg_type, &header);
    parts[0] = (struct bytes){ buf_text(&header), header.size };
    packet = wire_encode(e->key, prefix, prefix_count, parts);
    for (size_t i = 0; packet && i < packet->count; i++)
        if (zmq_send(e->sockets[channel], packet->frames[i].data, packet->frames[i].size,
                     i + 1 < packet->count ? ZMQ_SNDMORE : 0) < 0)
            perror("echo_kernel");
    free(packet);
    buf_done(&header);
}

static void publish(struct echo *e, const struct message *parent, const char *msg_type,
                    const char *content)
{
    struct bytes topic = bytes_of(msg_type);

    send_message(e, CHANNEL_IOPUB, &topic, 1, parent, msg_type, content);
}

static void reply(struct echo *e, enum channel channel, const struct message *request,
                  const char *msg_type, const char *content)
{
    send_message(e, channel, request->identities, request->identity_count, request, msg_type,
                 content);
}

static void answer(struct echo *e, enum channel channel, const struct message *request)
{
    char text[300];

    publish(e, request, "status", "{\"execution_state\":\"busy\"}");
    if (strcmp(request->msg_type, "execute_request") == 0) {
        snprintf(text, sizeof(text), "{\"code\":\"n = 1\",\"execution_count\":%d}", ++e->count);
        publish(e, request, "execute_input", text);
        snprintf(text, sizeof(text),
                 "{\"status\":\"ok\",\"execution_count\":%d,\"payload\":[],"
                 "\"user_expressions\":{}}",
                 e->count);
        reply(e, channel, request, "execute_reply", text);
    } else if (strcmp(request->msg_type, "kernel_info_request") == 0) {
        reply(e, channel, request, "kernel_info_reply",
              "{\"status\":\"ok\",\"protocol_version\":\"5.5\",\"implementation\":\"echo\","
              "\"implementation_version\":\"1\",\"banner\":\"\",\"language_info\":{\"name\":"
              "\"none\",\"version\":\"1\",\"mimetype\":\"text/plain\",\"file_extension\":\".x\"}}");
    }
    publish(e, request, "status", "{\"execution_state\":\"idle\"}");
}

enum { MAX_FRAMES = 32 };

static void serve(struct echo *e, enum channel channel)
{
    zmq_msg_t parts[MAX_FRAMES];
    struct bytes frames[MAX_FRAMES];
    struct message message = { 0 };
    struct err err = { 0 };
    size_t n = 0;
    int has_more = 1;

    for (; has_more && n < MAX_FRAMES; n++) {
        zmq_msg_init(&parts[n]);
        if (zmq_msg_recv(&parts[n], e->sockets[channel], 0) < 0)
            exit(1);
        frames[n] = (struct bytes){ zmq_msg_data(&parts[n]), zmq_msg_size(&parts[n]) };
        has_more = zmq_msg_more(&parts[n]);
    }
    if (channel == CHANNEL_SHELL || channel == CHANNEL_CONTROL) {
        if (wire_decode(e->key, frames, n, &message, &err) == 0)
            answer(e, channel, &message);
        message_done(&message);
    }
    while (n > 0)
        zmq_msg_close(&parts[--n]);
}

int main(int argc, char **argv)
{
    struct echo e = { 0 };
    struct err err = { 0 };
    zmq_pollitem_t poll[CHANNEL_COUNT];
    void *context = zmq_ctx_new();

    if (argc != 2 || !context || connection_read(argv[1], &e.connection, &err) < 0 ||
        wire_key_new(e.connection.key, NULL, &e.key, &err) < 0 ||
        identity_init(&e.identity, &err) < 0) {
        fprintf(stderr, "echo_kernel: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        char endpoint[300];

        e.sockets[i] = zmq_socket(context, i == CHANNEL_IOPUB ? ZMQ_XPUB : ZMQ_ROUTER);
        connection_endpoint(&e.connection, e.connection.ports[i], endpoint, sizeof(endpoint));
        if (!e.sockets[i] || zmq_bind(e.sockets[i], endpoint) < 0) {
            perror(endpoint);
            return 1;
        }
        poll[i] = (zmq_pollitem_t){ .socket = e.sockets[i], .events = ZMQ_POLLIN };
    }
    while (zmq_poll(poll, CHANNEL_COUNT, -1) >= 0)
        for (int i = 0; i < CHANNEL_COUNT; i++)
            if (poll[i].revents)
                serve(&e, (enum channel)i);
    return 0;
}
