/*
 * A server: something that does one piece of work after the other at a rate, such as a level of
 * memory, a copy engine or whatever starts blocks. Work that comes while it is busy queues, so a
 * latency beside a server gives both halves of a memory: alone an access takes its latency, and
 * asked for faster than the rate accesses take longer and longer (Little's law, from both sides).
 *
 * Times inside are in 1/SERVER_FINE cycle, so that a rate of 14.9 bytes a cycle is not rounded to
 * whole cycles at each access; whoever calls counts in whole cycles.
 */
#ifndef WB_MODEL_SERVER_H
#define WB_MODEL_SERVER_H

#include "model/base/base.h"

enum { SERVER_FINE = 256 };

/* { 0 }: free from cycle 0 on. */
struct server {
    int64_t free_at; /* in 1/SERVER_FINE cycle: when it has done what it was given so far */
};

/*
 * Gives the server work in cycle `cycle`; returns the first cycle in which it is done.
 *
 * cycle      0 or later; calls may come in any order, and are served in the order of calls
 * amount     0 or more, below 2^48: bytes, sectors, passes...
 * per_cycle  above 0: how much of it a cycle does. Where that is no whole number, scale both:
 *            14.9 bytes a cycle are amount = 10 * bytes, per_cycle = 149
 *
 * What is left of 1/SERVER_FINE cycle is dropped: a server is never slower than its rate, and at
 * most one part in `cycles of one piece of work * SERVER_FINE` faster.
 */
static inline int64_t server_take(struct server *server, int64_t cycle, int64_t amount,
                                  int64_t per_cycle)
{
    int64_t at = cycle * SERVER_FINE;

    server->free_at = (server->free_at > at ? server->free_at : at);
    server->free_at += amount * SERVER_FINE / per_cycle;
    return ceil_div(server->free_at, SERVER_FINE);
}

#endif
