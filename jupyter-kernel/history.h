/*
 * What was typed, for the consoles' arrow keys and history_request. Lines of
 * this session stay in memory; with a file they are also appended to it, one
 * JSON object a line, under a lock, so that several kernels can share it:
 *
 *   {"session": 12, "line": 3, "input": "%occupancy regs=42"}
 *   {"session": 12, "line": 3, "output": "2.5"}
 *
 * Used by the executor thread alone.
 */
#ifndef WB_JUPYTER_HISTORY_H
#define WB_JUPYTER_HISTORY_H

#include "model/base/base.h"
#include "model/base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct history;

/* path: the file, made readable by its owner alone when first needed; NULL: memory only. */
int history_new(const char *path, struct history **out, struct err *err) MUST_CHECK;
void history_free(struct history **history);

/*
 * $WARPBOOK_HISTORY (a path; "off" or empty: none), else warpbook/history.jsonl in
 * $XDG_DATA_HOME or ~/.local/share. malloc'ed; NULL: none.
 */
char *history_default_path(void);

/*
 * Remember an input, and later the text of its result. A file that cannot be written
 * costs the file, said once on stderr, never the cell.
 */
void history_add_input(struct history *history, int64_t line, struct bytes input);
void history_add_output(struct history *history, int64_t line, const char *output);

/*
 * Each gives a list of [session, line, input], or with has_output of
 * [session, line, [input, output or null]]. NULL when out of memory.
 */

/* The last n, oldest first, those of this session last. */
json_t *history_tail(struct history *history, int64_t n, bool has_output);

/* Lines start..stop-1 of a session: 0 this one, -1 the one before. stop <= 0: to the end. */
json_t *history_range(struct history *history, int64_t session, int64_t start, int64_t stop,
                      bool has_output);

/* Inputs that match a glob of * and ?, the last n of them (n <= 0: all). */
json_t *history_search(struct history *history, struct bytes pattern, int64_t n, bool is_unique,
                       bool has_output);

#endif
