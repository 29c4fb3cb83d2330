/*
 * The file is kept as JSON beside the fields read from it, so that writing it
 * again loses nothing that other programs put there.
 */
#include "jupyter-kernel/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CURVE_KEY = 40 };

static const char *const NAMES[CHANNEL_COUNT] = { "shell", "control", "stdin", "iopub", "hb" };

const char *channel_name(enum channel channel)
{
    return NAMES[channel];
}

static void port_field(enum channel channel, char out[16])
{
    snprintf(out, 16, "%s_port", NAMES[channel]);
}

/* A field that must be a string when it is there. */
static int read_text(const json_t *fields, const char *name, const char **out, struct err *err)
{
    json_t *field = json_object_get(fields, name);

    *out = NULL;
    if (!field || json_is_null(field))
        return 0;
    if (!json_is_string(field))
        return err_set(err, ERR_ValueError, "%s in the connection file is not a string", name);
    *out = json_string_value(field);
    return 0;
}

static int read_ports(struct connection *c, struct err *err)
{
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        char name[16];
        json_t *field;
        json_int_t port;

        port_field((enum channel)i, name);
        field = json_object_get(c->fields, name);
        if (!field)
            continue;
        if (!json_is_integer(field))
            return err_set(err, ERR_ValueError, "%s in the connection file is not an integer",
                           name);
        port = json_integer_value(field);
        if (port < 0 || port > 65535)
            return err_set(err, ERR_ValueError, "%s=%" JSON_INTEGER_FORMAT ": a port is 0 to 65535",
                           name, port);
        c->ports[i] = (int)port;
    }
    return 0;
}

static int read_curve(struct connection *c, struct err *err)
{
    if (read_text(c->fields, "curve_publickey", &c->public_key, err) < 0 ||
        read_text(c->fields, "curve_secretkey", &c->secret_key, err) < 0)
        return -1;
    /* Never serve in the clear what somebody meant to encrypt. */
    if (c->public_key && !c->secret_key)
        return err_set(err, ERR_ValueError, "curve_publickey without curve_secretkey");
    if (c->secret_key && strlen(c->secret_key) != CURVE_KEY)
        return err_set(err, ERR_ValueError, "curve_secretkey has %zu characters, not %d",
                       strlen(c->secret_key), CURVE_KEY);
    if (c->public_key && strlen(c->public_key) != CURVE_KEY)
        return err_set(err, ERR_ValueError, "curve_publickey has %zu characters, not %d",
                       strlen(c->public_key), CURVE_KEY);
    return 0;
}

static int read_fields(struct connection *c, struct err *err)
{
    json_t *key = json_object_get(c->fields, "key");

    if (key && !json_is_string(key))
        return err_set(err, ERR_ValueError, "key in the connection file is not a string");
    if (key)
        c->key = (struct bytes){ json_string_value(key), json_string_length(key) };
    if (read_text(c->fields, "transport", &c->transport, err) < 0 ||
        read_text(c->fields, "ip", &c->ip, err) < 0 ||
        read_text(c->fields, "signature_scheme", &c->signature_scheme, err) < 0)
        return -1;
    if (!c->transport)
        c->transport = "tcp";
    if (strcmp(c->transport, "tcp") != 0 && strcmp(c->transport, "ipc") != 0)
        return err_set(err, ERR_ValueError, "transport=%.40s: only tcp and ipc are supported",
                       c->transport);
    if (!c->ip)
        c->ip = strcmp(c->transport, "tcp") == 0 ? "127.0.0.1" : "kernel-ipc";
    c->is_registration = json_object_get(c->fields, "registration_port") != NULL;
    if (read_ports(c, err) < 0)
        return -1;
    return read_curve(c, err);
}

int connection_read(const char *path, struct connection *out, struct err *err)
{
    struct connection c = { 0 };
    json_error_t why;
    int rc = -1;

    c.path = strdup(path);
    if (!c.path) {
        err_set(err, ERR_ResourceError, "out of memory");
        goto out;
    }
    if (access(path, R_OK) < 0) {
        err_set(err, ERR_FileError, "connection file %.300s: %s", path, strerror(errno));
        goto out;
    }
    c.fields = json_load_file(path, 0, &why);
    if (!json_is_object(c.fields)) {
        err_set(err, ERR_FileError, "connection file %.300s: not a JSON object: %s", path,
                c.fields ? "another value" : why.text);
        goto out;
    }
    if (read_fields(&c, err) < 0)
        goto out;
    *out = c;
    c = (struct connection){ 0 };
    rc = 0;
out:
    connection_done(&c);
    return rc;
}

void connection_done(struct connection *c)
{
    json_decref(c->fields);
    free(c->path);
    *c = (struct connection){ 0 };
}

/* A registration file becomes a normal one: the fields that other clients look for. */
static int set_fields(const struct connection *c)
{
    int rc = 0;

    for (int i = 0; i < CHANNEL_COUNT; i++) {
        char name[16];

        port_field((enum channel)i, name);
        rc |= json_object_set_new(c->fields, name, json_integer(c->ports[i]));
    }
    rc |= json_object_set_new(c->fields, "transport", json_string(c->transport));
    rc |= json_object_set_new(c->fields, "ip", json_string(c->ip));
    rc |= json_object_set_new(c->fields, "key",
                              json_stringn(c->key.size ? c->key.data : "", c->key.size));
    rc |= json_object_set_new(c->fields, "signature_scheme", json_string("hmac-sha256"));
    return rc;
}

static int write_new(const char *path, const json_t *fields)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc;

    if (fd < 0)
        return -1;
    rc = fchmod(fd, 0600); /* an older file of the name may be open to all */
    if (rc == 0)
        rc = json_dumpfd(fields, fd, JSON_INDENT(2));
    if (close(fd) < 0)
        rc = -1;
    return rc;
}

int connection_write(const struct connection *c, struct err *err)
{
    size_t size = strlen(c->path) + 32;
    char *path = malloc(size);
    int rc = -1;

    if (!path || set_fields(c) < 0) {
        err_set(err, ERR_ResourceError, "out of memory");
        goto out;
    }
    /* Renamed into place: a client that polls the file never reads half of it. */
    snprintf(path, size, "%s.%ld", c->path, (long)getpid());
    if (write_new(path, c->fields) < 0 || rename(path, c->path) < 0) {
        err_set(err, ERR_FileError, "connection file %.300s: %s", c->path, strerror(errno));
        unlink(path);
        goto out;
    }
    rc = 0;
out:
    free(path);
    return rc;
}

void connection_endpoint(const struct connection *c, int port, char *out, size_t size)
{
    if (strcmp(c->transport, "ipc") == 0)
        snprintf(out, size, "ipc://%s-%d", c->ip, port);
    else if (port == 0)
        snprintf(out, size, "tcp://%s:*", c->ip);
    else
        snprintf(out, size, "tcp://%s:%d", c->ip, port);
}
