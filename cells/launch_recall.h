/*
 * The launches of a session, as they were evaluated: %lines and %bench of a kernel's name
 * repeat its last one.
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

/* The text of a kernel's last launch; NULL: there was none. */
const char *launch_last(const struct session *session, const char *kernel);

#endif
