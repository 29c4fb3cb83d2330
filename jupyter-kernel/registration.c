/*
 * One message each way, on a socket of its own:
 *   kernel -> client  <IDS|MSG>, HMAC(content), content
 *   client -> kernel  <IDS|MSG>, HMAC("ACK"), "ACK"
 *
 * Source: JEP 66, "Jupyter kernel handshaking pattern"; the messaging document
 * writes ports as strings, and the ACK as any signed frame.
 */
#include "jupyter-kernel/registration.h"

#include "cells/result.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

enum { WAIT_MS = 5000 };

static json_t *report(const struct connection *c)
{
    json_t *json = json_object();
    json_t *id = json_object_get(c->fields, "kernel_id");
    int failed = id ? json_object_set(json, "kernel_id", id) : 0;

    for (int i = 0; i < CHANNEL_COUNT; i++) {
        char name[16], port[8];

        snprintf(name, sizeof(name), "%s_port", channel_name((enum channel)i));
        snprintf(port, sizeof(port), "%d", c->ports[i]);
        failed |= json_object_set_new(json, name, json_string(port));
    }
    return json_whole(json, failed);
}

static int endpoint(const struct connection *c, char *out, size_t size, struct err *err)
{
    json_t *port = json_object_get(c->fields, "registration_port");
    const char *ip = json_string_value(json_object_get(c->fields, "registration_ip"));
    long long number =
        json_is_string(port) ? atoll(json_string_value(port)) : json_integer_value(port);

    if (number < 1 || number > 65535)
        return err_set(err, ERR_ValueError, "registration_port=%lld: a port is 1 to 65535", number);
    snprintf(out, size, "tcp://%s:%lld", ip ? ip : "127.0.0.1", number);
    return 0;
}

static int send_report(void *socket, const struct wire_key *key, const char *text)
{
    struct bytes content = bytes_of(text);
    char hex[65];

    wire_sign(key, &content, 1, hex);
    if (zmq_send(socket, WIRE_DELIMITER, strlen(WIRE_DELIMITER), ZMQ_SNDMORE) < 0 ||
        zmq_send(socket, hex, strlen(hex), ZMQ_SNDMORE) < 0 ||
        zmq_send(socket, content.data, content.size, 0) < 0)
        return -1;
    return 0;
}

/* The last frame is the acknowledgement, the one before it its signature. */
static int receive_ack(void *socket, const struct wire_key *key, struct err *err)
{
    char frames[2][256], hex[65];
    size_t sizes[2] = { 0 };
    struct bytes content;
    int has_more = 1, n;
    size_t option = sizeof(has_more);

    while (has_more) {
        memcpy(frames[0], frames[1], sizes[1]);
        sizes[0] = sizes[1];
        n = zmq_recv(socket, frames[1], sizeof(frames[1]), 0);
        if (n < 0)
            return err_set(err, ERR_Timeout, "registration: no acknowledgement in %d s",
                           WAIT_MS / 1000);
        if (n > (int)sizeof(frames[1]))
            return err_set(err, ERR_BadMessage, "registration: an acknowledgement of %d bytes", n);
        sizes[1] = (size_t)n;
        if (zmq_getsockopt(socket, ZMQ_RCVMORE, &has_more, &option) < 0)
            has_more = 0;
    }
    content = (struct bytes){ frames[1], sizes[1] };
    wire_sign(key, &content, 1, hex);
    if (sizes[0] != 64 || sodium_memcmp(hex, frames[0], 64) != 0)
        return err_set(err, ERR_BadMessage, "registration: the acknowledgement is not signed");
    return 0;
}

int registration_report(const struct connection *connection, struct wire_key *key, struct err *err)
{
    char address[300];
    int wait = WAIT_MS, linger = 0, rc = -1;
    json_t *json = report(connection);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    void *context = zmq_ctx_new();
    void *socket = context ? zmq_socket(context, ZMQ_DEALER) : NULL;

    if (!text || !socket) {
        err_set(err, ERR_ResourceError, "registration: out of memory");
        goto out;
    }
    if (endpoint(connection, address, sizeof(address), err) < 0)
        goto out;
    if (zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
        zmq_setsockopt(socket, ZMQ_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
        zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger)) < 0 ||
        zmq_connect(socket, address) < 0 || send_report(socket, key, text) < 0) {
        err_set(err, ERR_DeviceError, "registration at %s: %s", address, zmq_strerror(errno));
        goto out;
    }
    rc = receive_ack(socket, key, err);
out:
    if (socket)
        zmq_close(socket);
    if (context)
        zmq_ctx_term(context);
    free(text);
    json_decref(json);
    return rc;
}
