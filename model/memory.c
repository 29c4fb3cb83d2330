/*
 * Coalescing and bank conflicts by counting. Neighbouring lanes mostly ask for
 * neighbouring addresses, so the ordered case has a path of its own: there, a
 * sector is new when it differs from that of the lane before.
 */
#include "model/memory.h"

#include <stdbool.h>

enum { TABLE = 64 }; /* twice the lanes: a free place is always found */

static int count_distinct(const uint64_t *v, int n)
{
    uint64_t table[TABLE];
    uint64_t used = 0;
    int distinct = 0;

    for (int i = 0; i < n; i++) {
        unsigned at = (unsigned)((v[i] * 0x9e3779b97f4a7c15ULL) >> 58);

        while (used >> at & 1 && table[at] != v[i])
            at = (at + 1) % TABLE;
        if (used >> at & 1)
            continue;
        used |= (uint64_t)1 << at;
        table[at] = v[i];
        distinct++;
    }
    return distinct;
}

int memory_sectors(const uint64_t address[WARP], uint32_t mask, int bytes)
{
    uint64_t sectors[WARP];
    int n = 0, changes = 0, falls = 0;

    (void)bytes; /* an aligned access of up to 16 bytes lies within one sector */
    if (mask == UINT32_MAX)
        for (; n < WARP; n++)
            sectors[n] = address[n] / SECTOR_BYTES;
    else
        for (uint32_t m = mask; m; m &= m - 1)
            sectors[n++] = address[__builtin_ctz(m)] / SECTOR_BYTES;
    for (int i = 1; i < n; i++) {
        changes += sectors[i] != sectors[i - 1];
        falls += sectors[i] < sectors[i - 1];
    }
    if (!falls)
        return n ? changes + 1 : 0;
    return count_distinct(sectors, n);
}

int memory_sectors_linear(uint64_t first, uint64_t step, int bytes)
{
    uint64_t size = (int64_t)step < 0 ? 0 - step : step;
    uint64_t low = (int64_t)step < 0 ? first - size * (WARP - 1) : first;

    (void)bytes;
    if (size >= SECTOR_BYTES)
        return WARP;
    return (int)((low + size * (WARP - 1)) / SECTOR_BYTES - low / SECTOR_BYTES) + 1;
}

/* Words that lanes of one phase ask for, sorted by bank. */
struct banks {
    uint64_t words[BANKS][WARP];
    int count[BANKS];
    int most; /* of the fullest bank, which decides */
};

static void sort_words(struct banks *b, const uint64_t address[WARP], uint32_t mask, int words)
{
    memset(b->count, 0, sizeof(b->count));
    b->most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t word = address[__builtin_ctz(m)] / BANK_BYTES;

        for (int w = 0; w < words; w++, word++) {
            int bank = (int)(word % BANKS), i = 0;

            while (i < b->count[bank] && b->words[bank][i] != word)
                i++;
            if (i == b->count[bank])
                b->words[bank][b->count[bank]++] = word;
            b->most = b->count[bank] > b->most ? b->count[bank] : b->most;
        }
    }
}

static int phase_passes(const uint64_t address[WARP], uint32_t mask, int words)
{
    struct banks b;

    sort_words(&b, address, mask, words);
    return b.most;
}

/* The usual case: no bank is asked for two different words. */
static bool is_conflict_free(const uint64_t address[WARP], uint32_t mask)
{
    uint64_t word_of[BANKS];
    uint32_t used = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t word = address[__builtin_ctz(m)] / BANK_BYTES;
        unsigned bank = (unsigned)(word % BANKS);

        if (used >> bank & 1 && word_of[bank] != word)
            return false;
        used |= (uint32_t)1 << bank;
        word_of[bank] = word;
    }
    return true;
}

/* Lanes that are served together: all, a half or a quarter of the warp. */
static int phase_lanes(int bytes)
{
    return bytes <= 4 ? WARP : WARP * 4 / bytes;
}

static uint32_t phase_mask(uint32_t mask, int first, int lanes)
{
    return mask & (uint32_t)((((uint64_t)1 << lanes) - 1) << first);
}

int memory_passes(const uint64_t address[WARP], uint32_t mask, int bytes)
{
    int lanes = phase_lanes(bytes), words = bytes <= 4 ? 1 : bytes / 4, passes = 0;

    if (words == 1 && is_conflict_free(address, mask))
        return mask != 0;
    for (int first = 0; first < WARP; first += lanes)
        passes += phase_passes(address, phase_mask(mask, first, lanes), words);
    return passes;
}

/* The lanes that ask one bank for something: it serves them one by one. */
static int phase_atomics(const uint64_t address[WARP], uint32_t mask, int words)
{
    int lanes[BANKS] = { 0 }, most = 0;

    for (uint32_t m = mask; m; m &= m - 1)
        for (int w = 0; w < words; w++) {
            uint64_t bank = (address[__builtin_ctz(m)] / BANK_BYTES + (uint64_t)w) % BANKS;

            most = ++lanes[bank] > most ? lanes[bank] : most;
        }
    return most;
}

int memory_atomic_passes(const uint64_t address[WARP], uint32_t mask, int bytes)
{
    int lanes = phase_lanes(bytes), words = bytes <= 4 ? 1 : bytes / 4, passes = 0;

    for (int first = 0; first < WARP; first += lanes)
        passes += phase_atomics(address, phase_mask(mask, first, lanes), words);
    return passes;
}

/* Which slice of L2: a hash, as neighbours are mostly asked for together (finalizer of splitmix64).
 */
static int slice_of(uint64_t address, int slices)
{
    uint64_t v = address / SLICE_BYTES + 0x9e3779b97f4a7c15ULL;

    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ULL;
    v = (v ^ v >> 27) * 0x94d049bb133111ebULL;
    return (int)((v ^ v >> 31) % (uint64_t)slices);
}

/* Most lanes at one word of a sector; they are taken out of the mask. */
static int take_sector(const uint64_t address[WARP], uint32_t *mask, uint64_t sector)
{
    int lanes[SECTOR_BYTES] = { 0 }, most = 0;

    for (uint32_t m = *mask; m; m &= m - 1) {
        int l = __builtin_ctz(m), n;

        if (address[l] / SECTOR_BYTES != sector)
            continue;
        n = ++lanes[address[l] % SECTOR_BYTES];
        most = n > most ? n : most;
        *mask &= ~((uint32_t)1 << l);
    }
    return most;
}

int memory_atomic_operations(const uint64_t address[WARP], uint32_t mask, int slices,
                             int64_t *by_slice)
{
    int sum = 0;

    while (mask) {
        uint64_t first = address[__builtin_ctz(mask)];
        int n = take_sector(address, &mask, first / SECTOR_BYTES);

        if (by_slice)
            by_slice[slice_of(first, slices)] += n;
        sum += n;
    }
    return sum;
}

int memory_best_passes(uint32_t mask, int bytes)
{
    int lanes = phase_lanes(bytes), passes = 0;

    for (int first = 0; first < WARP; first += lanes)
        passes += phase_mask(mask, first, lanes) != 0;
    return passes;
}

/* ---- one instruction for reading ---- */

static int gather(const uint64_t address[WARP], uint32_t mask, uint64_t unit, uint64_t out[WARP])
{
    int n = 0;

    for (uint32_t m = mask; m; m &= m - 1)
        out[n++] = address[__builtin_ctz(m)] / unit;
    return n;
}

int memory_granules(const uint64_t address[WARP], uint32_t mask)
{
    uint64_t granules[WARP];
    int n = gather(address, mask, GRANULE_BYTES, granules);

    return count_distinct(granules, n);
}

int memory_lines(const uint64_t address[WARP], uint32_t mask)
{
    uint64_t lines[WARP];
    int n = gather(address, mask, LINE_BYTES, lines);

    return count_distinct(lines, n);
}

int memory_distinct_bytes(const uint64_t address[WARP], uint32_t mask, int bytes)
{
    uint64_t all[WARP];
    int n = gather(address, mask, 1, all);

    /* Addresses are multiples of the size: two accesses are the same bytes or none. */
    return count_distinct(all, n) * bytes;
}

static int lowest_asking(const uint64_t address[WARP], uint32_t mask, int words, uint64_t word)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t first = address[__builtin_ctz(m)] / BANK_BYTES;

        if (word >= first && word < first + (uint64_t)words)
            return __builtin_ctz(m);
    }
    return -1;
}

int memory_schedule(const uint64_t address[WARP], uint32_t mask, int bytes,
                    int8_t lane[WARP][BANKS], int *degree)
{
    int lanes = phase_lanes(bytes), words = bytes <= 4 ? 1 : bytes / 4, passes = 0;
    struct banks b;

    *degree = 0;
    memset(lane, -1, sizeof(int8_t) * WARP * BANKS);
    for (int first = 0; first < WARP; first += lanes) {
        uint32_t phase = phase_mask(mask, first, lanes);

        sort_words(&b, address, phase, words);
        for (int bank = 0; bank < BANKS; bank++)
            for (int i = 0; i < b.count[bank]; i++)
                lane[passes + i][bank] =
                    (int8_t)lowest_asking(address, phase, words, b.words[bank][i]);
        passes += b.most;
        *degree = b.most > *degree ? b.most : *degree;
    }
    return passes;
}
