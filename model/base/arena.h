/*
 * Memory that dies together: a cell has an arena, a launch has an arena. There
 * is no free of one piece; arena_free ends them all.
 */
#ifndef WB_MODEL_BASE_ARENA_H
#define WB_MODEL_BASE_ARENA_H

#include "model/base/base.h"

#include <stdarg.h>

struct arena;

/* limit: most bytes it will hand out, 0 for no limit. NULL when out of memory. */
struct arena *arena_new(size_t limit);

/* Ends the arena and everything from it; sets *arena to NULL. *arena may be NULL. */
void arena_free(struct arena **arena);

/* size zeroed bytes, aligned to 16. NULL when out of memory or over the limit. size 0 is fine. */
void *arena_alloc(struct arena *arena, size_t size);

/* count * size zeroed bytes; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A terminated copy of n bytes. NULL when out of memory. */
char *arena_copy(struct arena *arena, const char *data, size_t n);
char *arena_string(struct arena *arena, const char *text);

char *arena_printf(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *arena, const char *fmt, va_list args);

/* Bytes handed out so far. */
size_t arena_used(const struct arena *arena);

#endif
