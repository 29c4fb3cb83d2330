/*
 * Choices that cost others their messages when made differently:
 *
 * - ROUTER_HANDOVER: a browser that reconnects has the identity of its dead
 *   connection; without it, it gets no answer ever again.
 * - XPUB_VERBOSE: one welcome for each subscriber, not for each topic.
 * - No high-water marks: with the usual 1000, a cell that prints much loses its
 *   last message, and the client waits for ever. Caps on a cell's output bound
 *   the memory instead.
 * - LINGER: without it the end of the process waits for dead clients.
 */
#include "jupyter-kernel/channels.h"

#include "jupyter-kernel/log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <zmq.h>

enum {
    LINGER_MS = 500,
    BURST = 100, /* messages read from one channel before the others get their turn */
    MAX_FRAME = 512 << 20,
    IPC_PORTS = 100000,

    /* What the loop polls, behind the channels' sockets. */
    POLL_WAKE = CHANNEL_COUNT,
    POLL_SIGNAL,
    POLL_TIMER,
    POLL_COUNT = POLL_TIMER + TIMER_COUNT
};

struct channels {
    struct channel_events events;
    void *context;
    void *sockets[CHANNEL_COUNT];
    zmq_pollitem_t poll[POLL_COUNT];
    int wake_fd, signal_fd, timer_fds[TIMER_COUNT];
    atomic_bool is_stopping;

    pthread_mutex_t lock; /* guards the queue */
    struct packet *first, **end;
};

/* ---- signals ---- */

enum { SIGTERM_UNIT = 1 << 16 }; /* SIGINTs are counted below, SIGTERMs above */

static atomic_int signal_target = -1;

static void on_signal(int number)
{
    uint64_t unit = number == SIGTERM ? SIGTERM_UNIT : 1;
    int saved = errno;
    int fd = atomic_load(&signal_target);

    if (fd >= 0 && write(fd, &unit, sizeof(unit)) < 0) {
        /* Full or gone: the loop is awake already, or over. */
    }
    errno = saved;
}

int channels_catch_signals(struct channels *channels, struct err *err)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    atomic_store(&signal_target, channels->signal_fd);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0)
        return err_set(err, ERR_InternalError, "sigaction: %s", strerror(errno));
    return 0;
}

/* ---- opening ---- */

static int set_option(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static int socket_type(enum channel channel)
{
    return channel == CHANNEL_IOPUB ? ZMQ_XPUB : ZMQ_ROUTER;
}

static int set_options(void *socket, enum channel channel, const struct connection *connection)
{
    int64_t limit = MAX_FRAME;
    int rc = set_option(socket, ZMQ_LINGER, LINGER_MS);

    rc |= set_option(socket, ZMQ_SNDHWM, 0);
    rc |= set_option(socket, ZMQ_RCVHWM, 0);
    rc |= zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &limit, sizeof(limit));
    if (channel == CHANNEL_IOPUB)
        rc |= set_option(socket, ZMQ_XPUB_VERBOSE, 1);
    else
        rc |= set_option(socket, ZMQ_ROUTER_HANDOVER, 1);
    if (connection->secret_key) {
        rc |= set_option(socket, ZMQ_CURVE_SERVER, 1);
        rc |= zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, connection->secret_key, 41);
    }
    return rc;
}

/* ipc has no "any port": try them in turn, like ipykernel. */
static int bind_ipc(void *socket, const struct connection *connection, int *port, char *endpoint,
                    size_t size)
{
    for (int i = 1; i < IPC_PORTS; i++) {
        connection_endpoint(connection, i, endpoint, size);
        if (access(endpoint + strlen("ipc://"), F_OK) == 0)
            continue;
        if (zmq_bind(socket, endpoint) == 0) {
            *port = i;
            return 0;
        }
        if (errno != EADDRINUSE)
            return -1;
    }
    return -1;
}

static int bind_tcp(void *socket, const struct connection *connection, int *port, char *endpoint,
                    size_t size)
{
    char bound[512];
    size_t bound_size = sizeof(bound);
    const char *colon;

    connection_endpoint(connection, *port, endpoint, size);
    if (zmq_bind(socket, endpoint) < 0)
        return -1;
    if (*port)
        return 0;
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &bound_size) < 0)
        return -1;
    colon = strrchr(bound, ':');
    *port = colon ? atoi(colon + 1) : 0;
    return 0;
}

static int bind_channel(void *socket, struct connection *connection, enum channel channel,
                        struct err *err)
{
    char endpoint[512];
    int *port = &connection->ports[channel];
    int rc;

    if (strcmp(connection->transport, "ipc") == 0 && *port == 0) {
        rc = bind_ipc(socket, connection, port, endpoint, sizeof(endpoint));
    } else if (strcmp(connection->transport, "ipc") == 0) {
        connection_endpoint(connection, *port, endpoint, sizeof(endpoint));
        rc = zmq_bind(socket, endpoint);
    } else {
        rc = bind_tcp(socket, connection, port, endpoint, sizeof(endpoint));
    }
    if (rc < 0)
        return err_set(err, errno == EADDRINUSE ? ERR_ResourceError : ERR_ValueError,
                       "%s channel: cannot bind %.400s: %s", channel_name(channel), endpoint,
                       zmq_strerror(errno));
    return 0;
}

static int open_sockets(struct channels *c, struct connection *connection, struct err *err)
{
    c->context = zmq_ctx_new();
    if (!c->context)
        return err_set(err, ERR_ResourceError, "ZeroMQ: %s", zmq_strerror(errno));
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        c->sockets[i] = zmq_socket(c->context, socket_type((enum channel)i));
        if (!c->sockets[i])
            return err_set(err, ERR_ResourceError, "ZeroMQ: %s", zmq_strerror(errno));
        if (set_options(c->sockets[i], (enum channel)i, connection) != 0)
            return err_set(err, ERR_ValueError, "%s channel: an option was refused: %s",
                           channel_name((enum channel)i), zmq_strerror(errno));
        if (bind_channel(c->sockets[i], connection, (enum channel)i, err) < 0)
            return -1;
        c->poll[i] = (zmq_pollitem_t){ .socket = c->sockets[i], .events = ZMQ_POLLIN };
    }
    return 0;
}

static int open_descriptors(struct channels *c, struct err *err)
{
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake_fd < 0 || c->signal_fd < 0)
        return err_set(err, ERR_ResourceError, "eventfd: %s", strerror(errno));
    c->poll[POLL_WAKE] = (zmq_pollitem_t){ .fd = c->wake_fd, .events = ZMQ_POLLIN };
    c->poll[POLL_SIGNAL] = (zmq_pollitem_t){ .fd = c->signal_fd, .events = ZMQ_POLLIN };
    for (int i = 0; i < TIMER_COUNT; i++) {
        c->timer_fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (c->timer_fds[i] < 0)
            return err_set(err, ERR_ResourceError, "timerfd: %s", strerror(errno));
        c->poll[POLL_TIMER + i] = (zmq_pollitem_t){ .fd = c->timer_fds[i], .events = ZMQ_POLLIN };
    }
    return 0;
}

int channels_open(struct connection *connection, const struct channel_events *events,
                  struct channels **out, struct err *err)
{
    struct channels *c = calloc(1, sizeof(*c));

    if (!c)
        return err_set(err, ERR_ResourceError, "out of memory");
    c->events = *events;
    c->end = &c->first;
    c->wake_fd = c->signal_fd = -1;
    for (int i = 0; i < TIMER_COUNT; i++)
        c->timer_fds[i] = -1;
    atomic_init(&c->is_stopping, false);
    pthread_mutex_init(&c->lock, NULL);
    if (open_descriptors(c, err) < 0 || open_sockets(c, connection, err) < 0) {
        channels_close(&c);
        return -1;
    }
    *out = c;
    return 0;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void channels_shut(struct channels *c)
{
    for (int i = 0; i < CHANNEL_COUNT; i++) {
        if (c->sockets[i])
            zmq_close(c->sockets[i]);
        c->sockets[i] = NULL;
    }
    if (c->context)
        while (zmq_ctx_term(c->context) < 0 && errno == EINTR)
            continue;
    c->context = NULL;
}

void channels_close(struct channels **channels)
{
    struct channels *c = *channels;
    struct packet *next;

    if (!c)
        return;
    channels_shut(c);
    for (struct packet *p = c->first; p; p = next) {
        next = p->next;
        free(p);
    }
    atomic_store(&signal_target, -1);
    close_fd(c->wake_fd);
    close_fd(c->signal_fd);
    for (int i = 0; i < TIMER_COUNT; i++)
        close_fd(c->timer_fds[i]);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *channels = NULL;
}

/* ---- from other threads ---- */

static void wake(struct channels *c)
{
    uint64_t one = 1;

    if (write(c->wake_fd, &one, sizeof(one)) < 0) {
        /* Full: it is awake. */
    }
}

void channels_take(struct channels *c, struct packet *packet)
{
    bool was_empty;

    if (!packet)
        return;
    packet->next = NULL;
    pthread_mutex_lock(&c->lock);
    was_empty = c->first == NULL;
    *c->end = packet;
    c->end = &packet->next;
    pthread_mutex_unlock(&c->lock);
    if (was_empty)
        wake(c);
}

void channels_timer(struct channels *c, enum channel_timer timer, int delay_ms, bool is_repeating)
{
    struct timespec delay = { delay_ms / 1000, delay_ms % 1000 * 1000000L };
    struct itimerspec when = { .it_value = delay };

    if (is_repeating)
        when.it_interval = delay;
    timerfd_settime(c->timer_fds[timer], 0, &when, NULL);
}

void channels_stop(struct channels *c)
{
    atomic_store(&c->is_stopping, true);
    wake(c);
}

/* ---- the loop ---- */

struct incoming {
    zmq_msg_t parts[WIRE_MAX_FRAMES];
    struct bytes frames[WIRE_MAX_FRAMES];
    size_t count; /* kept */
    size_t total; /* received: more than WIRE_MAX_FRAMES are read and dropped */
};

/* Reads one whole message; false when none waits. */
static bool receive(void *socket, struct incoming *in)
{
    bool has_more = true;

    in->count = in->total = 0;
    while (has_more) {
        zmq_msg_t part;

        zmq_msg_init(&part);
        if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&part);
            if (errno == EINTR)
                continue;
            return false;
        }
        has_more = zmq_msg_more(&part);
        in->total++;
        if (in->count == WIRE_MAX_FRAMES) {
            zmq_msg_close(&part);
            continue;
        }
        zmq_msg_init(&in->parts[in->count]);
        zmq_msg_move(&in->parts[in->count], &part);
        in->frames[in->count] = (struct bytes){ zmq_msg_data(&in->parts[in->count]),
                                                zmq_msg_size(&in->parts[in->count]) };
        in->count++;
        zmq_msg_close(&part);
    }
    return true;
}

static void release(struct incoming *in)
{
    for (size_t i = 0; i < in->count; i++)
        zmq_msg_close(&in->parts[i]);
    in->count = 0;
}

/*
 * Sending never waits (there is no high-water mark); the one refusal, EHOSTUNREACH, is off
 * for ROUTER sockets: what is addressed to somebody gone vanishes.
 */
static void send_frames(void *socket, const struct bytes *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);

        while (zmq_send(socket, frames[i].data, frames[i].size, flags) < 0)
            if (errno != EINTR)
                return;
    }
}

/* The heartbeat is an echo, byte for byte. */
static void handle(struct channels *c, enum channel channel, const struct incoming *in)
{
    if (in->total > WIRE_MAX_FRAMES) {
        log_line("%s: a message of %zu frames was dropped", channel_name(channel), in->total);
        return;
    }
    if (channel == CHANNEL_HB)
        send_frames(c->sockets[channel], in->frames, in->count);
    else if (channel != CHANNEL_IOPUB)
        c->events.received(c->events.owner, channel, in->frames, in->count);
    else if (in->count == 1 && in->frames[0].size && in->frames[0].data[0] == 1)
        c->events.subscribed(c->events.owner,
                             (struct bytes){ in->frames[0].data + 1, in->frames[0].size - 1 });
}

/* Reads up to limit messages; 0: all that wait. */
static void read_channel(struct channels *c, enum channel channel, int limit)
{
    struct incoming in;

    for (int i = 0; limit == 0 || i < limit; i++) {
        bool is_whole = receive(c->sockets[channel], &in);

        if (is_whole)
            handle(c, channel, &in);
        release(&in);
        if (!is_whole)
            return;
    }
}

static struct packet *take_queue(struct channels *c)
{
    struct packet *first;

    pthread_mutex_lock(&c->lock);
    first = c->first;
    c->first = NULL;
    c->end = &c->first;
    pthread_mutex_unlock(&c->lock);
    return first;
}

static void send_queue(struct channels *c)
{
    struct packet *packet, *next;

    while ((packet = take_queue(c)) != NULL) {
        for (; packet; packet = next) {
            next = packet->next;
            if (packet->drain >= 0) {
                read_channel(c, (enum channel)packet->drain, 0);
                c->events.drained(c->events.owner, packet);
            }
            send_frames(c->sockets[packet->channel], packet->frames, packet->count);
            free(packet);
        }
    }
}

static uint64_t read_count(int fd)
{
    uint64_t count = 0;

    return read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count) ? count : 0;
}

static void handle_descriptors(struct channels *c)
{
    uint64_t signals;

    if (c->poll[POLL_WAKE].revents)
        read_count(c->wake_fd);
    if (c->poll[POLL_SIGNAL].revents) {
        signals = read_count(c->signal_fd);
        if (signals % SIGTERM_UNIT)
            c->events.signalled(c->events.owner, SIGINT);
        if (signals / SIGTERM_UNIT)
            c->events.signalled(c->events.owner, SIGTERM);
    }
    for (int i = 0; i < TIMER_COUNT; i++)
        if (c->poll[POLL_TIMER + i].revents && read_count(c->timer_fds[i]))
            c->events.elapsed(c->events.owner, (enum channel_timer)i);
}

void channels_run(struct channels *c)
{
    while (!atomic_load(&c->is_stopping)) {
        if (zmq_poll(c->poll, POLL_COUNT, -1) < 0) {
            if (errno == EINTR)
                continue;
            log_line("poll: %s", zmq_strerror(errno));
            break;
        }
        handle_descriptors(c);
        /* Whoever wants to stop a cell does not queue behind those who want to run one. */
        if (c->poll[CHANNEL_CONTROL].revents)
            read_channel(c, CHANNEL_CONTROL, BURST);
        for (int i = 0; i < CHANNEL_COUNT; i++)
            if (i != CHANNEL_CONTROL && c->poll[i].revents)
                read_channel(c, (enum channel)i, BURST);
        send_queue(c);
    }
    send_queue(c);
}
