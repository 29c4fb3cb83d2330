/*
 * A message is a fixed head and a body. The head carries a magic number and the
 * body's size, both checked before anything is allocated; descriptors ride on
 * the first byte.
 */
#include "kernels/child.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MESSAGE_MAGIC 0x31624257u /* "WBb1" */

struct head {
    uint32_t magic, op, number, fd_count, size;
};

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * CHILD_MAX_FDS)];
};

atomic_bool child_stop;
bool child_must_end;

static const char *const NAMES[CHILD_KINDS] = {
    [CHILD_COMPILER] = "compiler",
    [CHILD_MODEL] = "model",
    [CHILD_GPU] = "gpu",
};

const char *child_kind_name(enum child_kind kind)
{
    return (unsigned)kind < CHILD_KINDS ? NAMES[kind] : "child";
}

void child_message_done(struct child_message *m)
{
    for (size_t i = 0; i < m->fd_count; i++)
        close(m->fds[i]);
    buf_done(&m->body);
    *m = (struct child_message){ 0 };
}

struct bytes child_message_body(const struct child_message *m)
{
    return (struct bytes){ buf_text(&m->body), m->body.size };
}

static int send_all(int socket, const char *data, size_t n, struct err *err)
{
    while (n > 0) {
        ssize_t sent = send(socket, data, n, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return err_set(err, ERR_InternalError, "writing to a child process: %s",
                           strerror(errno));
        data += sent;
        n -= (size_t)sent;
    }
    return 0;
}

/* Sends the head with the descriptors; a stream may take part of it, never none of it. */
static int send_head(int socket, const struct head *head, const int *fds, struct err *err)
{
    union control control = { .bytes = { 0 } };
    struct iovec io = { (void *)(uintptr_t)head, sizeof(*head) };
    struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };
    ssize_t sent;

    if (head->fd_count > 0) {
        size_t size = sizeof(int) * head->fd_count;
        struct cmsghdr *c;

        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(size);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(c), fds, size);
    }
    do {
        sent = sendmsg(socket, &msg, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return err_set(err, ERR_InternalError, "writing to a child process: %s", strerror(errno));
    return send_all(socket, (const char *)head + sent, sizeof(*head) - (size_t)sent, err);
}

int child_send(int socket, const struct child_message *m, struct err *err)
{
    struct head head = { MESSAGE_MAGIC, m->op, m->number, (uint32_t)m->fd_count,
                         (uint32_t)m->body.size };

    if (m->body.is_failed)
        return err_set(err, ERR_ResourceError, "out of memory for a message to a child process");
    if (m->body.size > CHILD_MAX_BODY)
        return err_set(err, ERR_ResourceError, "%zu bytes for a child process: at most %d",
                       m->body.size, CHILD_MAX_BODY);
    if (m->fd_count > CHILD_MAX_FDS)
        return err_set(err, ERR_InternalError, "%zu descriptors in a message: at most %d",
                       m->fd_count, CHILD_MAX_FDS);
    if (send_head(socket, &head, m->fds, err) < 0)
        return -1;
    return send_all(socket, buf_text(&m->body), m->body.size, err);
}

/* Reads exactly n bytes: 1, 0 at the end of the stream, -1 with err. */
static int read_all(int socket, char *data, size_t n, struct err *err)
{
    while (n > 0) {
        ssize_t got = recv(socket, data, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_InternalError, "reading from a child process: %s",
                           strerror(errno));
        if (got == 0)
            return 0;
        data += got;
        n -= (size_t)got;
    }
    return 1;
}

static void take_descriptors(struct msghdr *msg, struct child_message *out)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        size_t n;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (out->fd_count < CHILD_MAX_FDS)
                out->fds[out->fd_count++] = fd;
            else
                close(fd);
        }
    }
}

static int receive_head(int socket, struct head *head, struct child_message *out, struct err *err)
{
    union control control;
    struct iovec io = { head, sizeof(*head) };
    struct msghdr msg = { .msg_iov = &io,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof(control.bytes) };
    ssize_t got;

    do {
        got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return 0;
    if (got < 0)
        return err_set(err, ERR_InternalError, "reading from a child process: %s", strerror(errno));
    take_descriptors(&msg, out);
    return read_all(socket, (char *)head + got, sizeof(*head) - (size_t)got, err);
}

/* The body grows as bytes arrive: a head that lies about the size costs nothing. */
static int receive_body(int socket, size_t size, struct buf *body, struct err *err)
{
    char chunk[16384];

    while (size > 0) {
        size_t n = size < sizeof(chunk) ? size : sizeof(chunk);
        int got = read_all(socket, chunk, n, err);

        if (got <= 0)
            return got;
        buf_put(body, chunk, n);
        if (body->is_failed)
            return err_set(err, ERR_ResourceError, "out of memory for a child's message");
        size -= n;
    }
    return 1;
}

int child_receive(int socket, struct child_message *out, struct err *err)
{
    struct child_message m = { 0 };
    struct head head;
    int rc = receive_head(socket, &head, &m, err);

    if (rc > 0 &&
        (head.magic != MESSAGE_MAGIC || head.size > CHILD_MAX_BODY || head.fd_count != m.fd_count))
        rc = err_set(err, ERR_InternalError, "a child process sent bytes that are no message");
    if (rc > 0)
        rc = receive_body(socket, head.size, &m.body, err);
    if (rc > 0 && !fields_are_sound(child_message_body(&m)))
        rc = err_set(err, ERR_InternalError, "a child process sent a damaged message");
    if (rc <= 0) {
        child_message_done(&m);
        return rc;
    }
    m.op = head.op;
    m.number = head.number;
    *out = m;
    return 1;
}
