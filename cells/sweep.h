/*
 * The points of a call whose keys are ranges or lists: every combination of
 * their values, the last key of the line changing fastest. Without such a key
 * there is one point.
 */
#ifndef WB_CELLS_SWEEP_H
#define WB_CELLS_SWEEP_H

#include "cells/magic.h"

enum { SWEEP_MAX_KEYS = 4 };

struct sweep_key {
    const struct param *param;
    const struct arg *arg;
    bool is_number; /* every value is one: it can be an axis */
};

struct sweep {
    const struct call *call;
    struct sweep_key keys[SWEEP_MAX_KEYS]; /* in the order of the magic's table */
    size_t key_count, points;
};

/*
 * Fails with UsageError for more than SWEEP_MAX_KEYS keys. There are at most SWEEP_MAX_POINTS
 * points: a call that gives more was refused when its line was read.
 */
int sweep_init(struct sweep *sweep, const struct call *call, struct err *err) MUST_CHECK;

/*
 * One element of `size` bytes for each point, all zero; the call's arena owns them. NULL with
 * ResourceError. sweep_start fills the sweep first: NULL with what sweep_init fails with, too.
 */
void *sweep_array(const struct sweep *sweep, size_t size, struct err *err);
void *sweep_start(struct sweep *sweep, const struct call *call, size_t size, struct err *err);

/* The number of the value that key k has at a point. */
size_t sweep_index(const struct sweep *sweep, size_t point, size_t k);

/* The value of any key of the magic, swept or not; NULL: absent and without default. */
const struct value *sweep_value(const struct sweep *sweep, size_t point, const char *name);
int64_t sweep_int(const struct sweep *sweep, size_t point, const char *name);
const char *sweep_text(const struct sweep *sweep, size_t point, const char *name); /* or NULL */

/* The value of key k at a point as a user would write it, and as a number. */
const char *sweep_label(const struct sweep *sweep, struct arena *arena, size_t point, size_t k);
double sweep_number(const struct sweep *sweep, size_t point, size_t k);

/* {"regs": 32}: the swept keys of a point, a new object or NULL. */
json_t *sweep_to_json(const struct sweep *sweep, size_t point);

/* The key of a name, or -1 when it is not swept. */
int sweep_find(const struct sweep *sweep, const char *name);

#endif
