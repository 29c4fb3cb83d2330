/*
 * Dates are always UTC, because nbclient copies them into notebooks with a
 * literal Z, and always carry six digits, because ".123" and ".000123" are
 * different times.
 */
#include "jupyter-kernel/identity.h"

#include "jupyter-kernel/wire.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uuid/uuid.h>

static void new_session(char out[33])
{
    static const char HEX[] = "0123456789abcdef";
    uuid_t id;

    uuid_generate_random(id);
    for (int i = 0; i < 16; i++) {
        out[2 * i] = HEX[id[i] >> 4];
        out[2 * i + 1] = HEX[id[i] & 15];
    }
    out[32] = '\0';
}

/* Quoted as JSON; a name that is not UTF-8 is not worth failing for. */
static char *quoted_username(void)
{
    const char *name = getenv("USER");
    json_t *json = json_string(name && name[0] ? name : "kernel");
    char *text;

    if (!json)
        json = json_string("kernel");
    text = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    return text;
}

int identity_init(struct identity *identity, struct err *err)
{
    new_session(identity->session);
    atomic_init(&identity->sent, 0);
    identity->username = quoted_username();
    if (!identity->username)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

void identity_done(struct identity *identity)
{
    free(identity->username);
    identity->username = NULL;
}

void identity_date(long long seconds, long nanoseconds, char out[IDENTITY_DATE])
{
    time_t at = (time_t)seconds;
    struct tm utc;
    char day[20];

    if (!gmtime_r(&at, &utc) || !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc))
        memcpy(day, "1970-01-01T00:00:00", sizeof(day)); /* a year of five digits */
    snprintf(out, IDENTITY_DATE, "%s.%06uZ", day, (unsigned)(nanoseconds / 1000) % 1000000u);
}

void identity_header(struct identity *identity, const char *msg_type, struct buf *out)
{
    struct timespec now;
    char date[IDENTITY_DATE];

    clock_gettime(CLOCK_REALTIME, &now);
    identity_date(now.tv_sec, now.tv_nsec, date);
    buf_printf(out,
               "{\"msg_id\":\"%s_%llu\",\"session\":\"%s\",\"username\":%s,\"date\":\"%s\","
               "\"msg_type\":\"%s\",\"version\":\"" WIRE_VERSION "\"}",
               identity->session, atomic_fetch_add(&identity->sent, 1) + 1, identity->session,
               identity->username, date, msg_type);
}
