/*
 * The five sockets and the loop that serves them. One thread, the I/O thread,
 * owns them; every other thread hands it finished packets through one ordered
 * queue, so that messages leave in the order in which they were made. The loop
 * never blocks: nothing it calls may wait for a cell.
 *
 * No message names here; what frames mean is the business of the events' owner.
 */
#ifndef WB_JUPYTER_CHANNELS_H
#define WB_JUPYTER_CHANNELS_H

#include "jupyter-kernel/connection.h"
#include "jupyter-kernel/wire.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdbool.h>

struct channels;

enum channel_timer {
    TIMER_FLUSH,     /* a stream has waited long enough */
    TIMER_INTERRUPT, /* an interrupt has not yet been followed */
    TIMER_PARENT,    /* look whether the parent lives */
    TIMER_COUNT
};

/* Called on the I/O thread. Frames are borrowed for the call. */
struct channel_events {
    void *owner;
    void (*received)(void *owner, enum channel channel, const struct bytes *frames, size_t n);
    void (*subscribed)(void *owner, struct bytes topic);
    void (*signalled)(void *owner, int signal_number);
    void (*elapsed)(void *owner, enum channel_timer timer);
    void (*drained)(void *owner, const struct packet *packet);
};

/*
 * Makes the sockets and binds them; chosen ports are filled into connection. Fails with
 * ResourceError when an address is taken, ValueError when it is none.
 */
int channels_open(struct connection *connection, const struct channel_events *events,
                  struct channels **out, struct err *err) MUST_CHECK;

/* Closes the sockets; messages on their way get half a second. Other calls stay harmless. */
void channels_shut(struct channels *channels);

/* Shuts, and frees; no other thread may know it any more. *channels becomes NULL. */
void channels_close(struct channels **channels);

/* Makes SIGINT and SIGTERM events of the loop. One struct channels a process. */
int channels_catch_signals(struct channels *channels, struct err *err) MUST_CHECK;

/*
 * Hands over a packet (NULL is ignored); any thread. With packet->drain set, everything that
 * waits at that channel is received, and drained() called, just before the packet leaves:
 * so a reply can close a door behind exactly those who already stood there.
 */
void channels_take(struct channels *channels, struct packet *packet);

/* Starts (delay_ms > 0) or stops (0) a timer; it repeats when is_repeating. Any thread. */
void channels_timer(struct channels *channels, enum channel_timer timer, int delay_ms,
                    bool is_repeating);

/* Serves the sockets until channels_stop, then sends what the queue still holds. */
void channels_run(struct channels *channels);

/* Any thread, and from inside the events. */
void channels_stop(struct channels *channels);

#endif
