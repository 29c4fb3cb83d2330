/*
 * The launches of a session, as they were evaluated: %lines and %bench of a kernel's name
 * repeat its last one, and an export of the session has them all.
 */
#ifndef WB_CELLS_LAUNCH_RECALL_H
#define WB_CELLS_LAUNCH_RECALL_H

#include "cells/session.h"

struct launch_history;

struct launch_history *launch_history_new(void); /* NULL: out of memory */
void launch_history_free(struct launch_history **history);

/* Remembers a launch that succeeded; of the last LAUNCHES_MAX. Out of memory: it is forgotten. */
enum { LAUNCHES_MAX = 1024 };
void launch_note(struct session *session, const char *kernel, const char *text);

void launch_forget_all(struct session *session);

/* One launch: kernel "k<float,32>", text "k<float,32><<<4, 256>>>(1000, x)", the n of In[n]. */
struct launch_noted {
    char *kernel, *text;
    int cell;
};

/* In order. Borrowed until the next launch. */
size_t launch_noted_count(const struct session *session);
const struct launch_noted *launch_noted_at(const struct session *session, size_t i);

/* The text of a kernel's last launch; NULL: there was none. */
const char *launch_last(const struct session *session, const char *kernel);

#endif
