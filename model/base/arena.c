/*
 * A chain of chunks, each filled from the front. Small requests share a chunk;
 * a large one gets its own, so that no request wastes the rest of a chunk.
 */
#include "model/base/arena.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 16 * 1024, ALIGN = 16 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGN) char data[];
};

struct arena {
    struct chunk *chunks;
    size_t used, limit;
};

struct arena *arena_new(size_t limit)
{
    struct arena *arena = calloc(1, sizeof(*arena));

    if (arena)
        arena->limit = limit;
    return arena;
}

void arena_free(struct arena **arena)
{
    struct chunk *chunk, *next;

    if (!*arena)
        return;
    for (chunk = (*arena)->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(*arena);
    *arena = NULL;
}

static struct chunk *add_chunk(struct arena *arena, size_t need)
{
    int is_large = need > CHUNK / 2;
    size_t size = is_large ? need : CHUNK;
    struct chunk *chunk = calloc(1, sizeof(*chunk) + size);

    if (!chunk)
        return NULL;
    chunk->size = size;
    if (is_large && arena->chunks) {
        /* Behind the chunk in use, whose free room stays in reach. */
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct chunk *chunk = arena->chunks;
    void *data;

    if (size > SIZE_MAX / 2 - ALIGN)
        return NULL;
    size = (size_t)round_up((int64_t)size, ALIGN);
    if (arena->limit && size > arena->limit - arena->used)
        return NULL;
    if (!chunk || size > chunk->size - chunk->used)
        chunk = add_chunk(arena, size);
    if (!chunk)
        return NULL;
    data = chunk->data + chunk->used;
    chunk->used += size;
    arena->used += size;
    return data;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *data, size_t n)
{
    char *copy = n < SIZE_MAX ? arena_alloc(arena, n + 1) : NULL;

    if (copy && n)
        memcpy(copy, data, n);
    return copy;
}

char *arena_string(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *fmt, va_list args)
{
    va_list again;
    int n;
    char *text;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, args);
    return text;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = arena_vprintf(arena, fmt, args);
    va_end(args);
    return text;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
