/*
 * The connection file: where the five sockets are and with which key they are
 * signed. A client writes it, or leaves the ports to the kernel (0, missing, or
 * a registration file, which carries an address to report them to).
 *
 * Sources: "Connection files" of the Jupyter messaging document; JEP 66 for
 * registration files.
 */
#ifndef WB_JUPYTER_CONNECTION_H
#define WB_JUPYTER_CONNECTION_H

#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

enum channel {
    CHANNEL_SHELL,
    CHANNEL_CONTROL,
    CHANNEL_STDIN,
    CHANNEL_IOPUB,
    CHANNEL_HB,
    CHANNEL_COUNT
};

/* "shell", ... as connection files spell it before "_port". Static. */
const char *channel_name(enum channel channel);

struct connection {
    char *path;
    json_t *fields;           /* the file, fields that we do not know included */
    const char *transport;    /* "tcp" or "ipc" */
    const char *ip;           /* address, or the path that ipc sockets start with */
    int ports[CHANNEL_COUNT]; /* 0: to be chosen */
    struct bytes key;
    const char *signature_scheme;        /* may be NULL */
    const char *public_key, *secret_key; /* CurveZMQ, 40 characters of Z85; or NULL */
    bool is_registration;                /* JEP 66 */
};

/* Fails with FileError or ValueError naming the field. Everything inside lives until done. */
int connection_read(const char *path, struct connection *out, struct err *err) MUST_CHECK;
void connection_done(struct connection *connection);

/* Writes the file again, with the ports that were chosen, readable by the owner alone. */
int connection_write(const struct connection *connection, struct err *err) MUST_CHECK;

/* "tcp://127.0.0.1:5555", "ipc:///run/k-1"; a port of 0 becomes tcp's '*'. */
void connection_endpoint(const struct connection *connection, int port, char *out, size_t size);

#endif
