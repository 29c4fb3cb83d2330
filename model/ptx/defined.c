/*
 * Bytes that have a value: a bit each, set by whoever writes.
 *
 * Blocks run on several host threads and share the bitmaps of global memory. Bits are only ever
 * set, so a whole byte may be stored as it is, and a part of one is or'ed in atomically.
 */
#include "model/ptx/shadow.h"

enum { WORD_BITS = 64 };

static unsigned low_bits(uint64_t n)
{
    return n >= 8 ? 0xffU : (1U << n) - 1;
}

/* Host threads meet here: every bit is looked at and set as an atomic. */
typedef uint64_t __attribute__((may_alias)) word64;

static bool is_word_at(const uint8_t *bits)
{
    return (uintptr_t)bits % sizeof(word64) == 0;
}

static uint64_t load_word(const uint8_t *bits)
{
    return __atomic_load_n((const word64 *)(const void *)bits, __ATOMIC_RELAXED);
}

static bool has_bits(const uint8_t *byte, unsigned mask)
{
    return (__atomic_load_n(byte, __ATOMIC_RELAXED) & mask) == mask;
}

bool defined_all(const uint8_t *bits, uint64_t at, uint64_t n)
{
    unsigned skip = (unsigned)(at % 8), first;

    bits += at / 8;
    if (skip + n <= 8)
        return has_bits(bits, low_bits(n) << skip);
    first = skip ? 8 - skip : 0;
    if (first && !has_bits(bits++, low_bits(first) << skip))
        return false;
    for (n -= first; n >= 8 && !(n >= WORD_BITS && is_word_at(bits)); n -= 8)
        if (!has_bits(bits++, 0xff))
            return false;
    for (; n >= WORD_BITS; n -= WORD_BITS, bits += WORD_BITS / 8)
        if (load_word(bits) != UINT64_MAX)
            return false;
    for (; n >= 8; n -= 8)
        if (!has_bits(bits++, 0xff))
            return false;
    return !n || has_bits(bits, low_bits(n));
}

static void set_bits(uint8_t *byte, unsigned mask)
{
    if (has_bits(byte, mask))
        return;
    if (mask == 0xff)
        __atomic_store_n(byte, 0xff, __ATOMIC_RELAXED);
    else
        __atomic_fetch_or(byte, (uint8_t)mask, __ATOMIC_RELAXED);
}

void defined_set(uint8_t *bits, uint64_t at, uint64_t n)
{
    unsigned skip = (unsigned)(at % 8), first;

    bits += at / 8;
    if (skip + n <= 8) {
        set_bits(bits, low_bits(n) << skip);
        return;
    }
    first = skip ? 8 - skip : 0;
    if (first)
        set_bits(bits++, low_bits(first) << skip);
    for (n -= first; n >= 8 && !(n >= WORD_BITS && is_word_at(bits)); n -= 8)
        set_bits(bits++, 0xff);
    for (; n >= WORD_BITS; n -= WORD_BITS, bits += WORD_BITS / 8)
        if (load_word(bits) != UINT64_MAX)
            __atomic_store_n((word64 *)(void *)bits, UINT64_MAX, __ATOMIC_RELAXED);
    for (; n >= 8; n -= 8)
        set_bits(bits++, 0xff);
    if (n)
        set_bits(bits, low_bits(n));
}

/* Nearly always all or none. */
static uint64_t count_word(uint64_t v)
{
    return v == UINT64_MAX ? WORD_BITS : v ? (uint64_t)__builtin_popcountll(v) : 0;
}

uint64_t defined_count(const uint8_t *bits, uint64_t at, uint64_t n)
{
    uint64_t sum = 0, end = at + n;

    for (; at < end && (at % 8 || !is_word_at(bits + at / 8)); at++)
        sum += has_bits(bits + at / 8, 1U << at % 8);
    for (; end - at >= WORD_BITS && at < end; at += WORD_BITS)
        sum += count_word(load_word(bits + at / 8));
    for (; at < end; at++)
        sum += has_bits(bits + at / 8, 1U << at % 8);
    return sum;
}
