/*
 * A session as one CUDA C++ program: what cells defined, and in main() the buffers and the
 * launches in the order in which they happened. nvcc compiles it; it needs no Warpbook.
 */
#ifndef WB_CELLS_EXPORT_H
#define WB_CELLS_EXPORT_H

#include "cells/buffer_fill.h"
#include "model/base/buf.h"

struct export_log;

struct export_log *export_log_new(void); /* NULL: out of memory */
void export_log_free(struct export_log **log);

/* What is remembered of a session; the oldest go first. Out of memory: it is forgotten. */
enum { EXPORT_EVENTS_MAX = 2048 };

/* A launch that succeeded: text is a statement of CUDA C++ without its semicolon. */
void export_note_launch(struct session *session, const char *text);
/* A buffer that was made; initial NULL: uninitialised. Before it is committed. */
void export_note_buffer(struct session *session, const struct buffer *buffer,
                        struct initial *initial, struct arena *arena);
void export_forget(struct session *session);

struct export_count {
    size_t definitions, buffers, launches, forgotten;
};

/* Appends the program. Fails with ResourceError. */
int export_program(struct session *session, struct buf *out, struct export_count *count,
                   struct err *err) MUST_CHECK;

/* ---- export_code.c ---- */

/* "unsigned char", "float4", "particle": the element's type in C++. */
void export_type(const struct element_type *type, struct buf *out);

/*
 * Statements that fill `host`, an array of the buffer's elements, and what they need of other
 * buffers. *is_device: they copy on the device instead, to the buffer itself. False when the value
 * cannot be said in C++; nothing is appended then.
 */
bool export_initial(struct session *session, const struct buffer *buffer, struct initial *initial,
                    struct arena *arena, bool *is_device, struct buf *out);

#endif
