/*
 * Who the kernel is on the wire: one session id for the life of the process
 * (JupyterLab drops messages of any other), and a header with a fresh msg_id
 * and date for every message.
 */
#ifndef WB_JUPYTER_IDENTITY_H
#define WB_JUPYTER_IDENTITY_H

#include "model/base/base.h"
#include "model/base/buf.h"
#include "model/base/err.h"

#include <stdatomic.h>

/* "2026-01-02T03:04:05.000123Z" and a zero. */
#define IDENTITY_DATE 28

struct identity {
    char session[33]; /* 32 hex digits */
    char *username;   /* a JSON string, quotes included */
    atomic_ullong sent;
};

int identity_init(struct identity *identity, struct err *err) MUST_CHECK;
void identity_done(struct identity *identity);

/*
 * Writes the header of a new message as JSON. msg_type is one of ours: letters and '_'.
 * Any thread. Two messages of one process never have the same msg_id: a client treats a
 * repeated signature as an attack.
 */
void identity_header(struct identity *identity, const char *msg_type, struct buf *out);

/* seconds and nanoseconds since 1970 as UTC with exactly six digits of fraction. */
void identity_date(long long seconds, long nanoseconds, char out[IDENTITY_DATE]);

#endif
