/*
 * What every file of every room may rely on: attributes, counts, and the pair
 * of pointer and length in which bytes from outside travel.
 */
#ifndef WB_MODEL_BASE_BASE_H
#define WB_MODEL_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array)          (sizeof(array) / sizeof((array)[0]))
#define MUST_CHECK            __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, arg) __attribute__((format(printf, fmt, arg)))

/* Threads of a warp, on every NVIDIA GPU so far. Source: CUDA Programming Guide, "warpSize". */
#define WARP 32

/* Bytes that came from outside: no terminating zero is promised. Borrowed. */
struct bytes {
    const char *data;
    size_t size;
};

static inline struct bytes bytes_of(const char *text)
{
    return (struct bytes){ text, strlen(text) };
}

static inline int bytes_equal(struct bytes a, const char *text)
{
    size_t n = strlen(text);

    return a.size == n && (n == 0 || memcmp(a.data, text, n) == 0);
}

/*
 * Round v up to a multiple of unit. unit > 0; v + unit must not overflow. Units are powers of two
 * nearly always, and a division takes as long as many additions.
 */
static inline int64_t round_up(int64_t v, int64_t unit)
{
    return unit & (unit - 1) ? (v + unit - 1) / unit * unit : (v + unit - 1) & -unit;
}

static inline int64_t ceil_div(int64_t v, int64_t unit)
{
    return (v + unit - 1) / unit;
}

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
