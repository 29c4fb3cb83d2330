/*
 * Operations by their spelling. Each build of the lane loops has an index, filled on first use:
 * open addressing over its own table and rare.def.
 */
#include "model/ptx/internal.h"

#include <pthread.h>
#include <string.h>

enum { SLOTS = 4096, BUILDS = 4 };

static struct {
    const struct op_table *table;
    const struct op *slots[SLOTS];
} indices[BUILDS];
static int index_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned hash(const char *s)
{
    unsigned h = 2166136261U;

    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619U;
    return h % SLOTS;
}

/* What a build has for itself is found before what rare.def has for all. */
static void add(const struct op **slots, const struct op_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        unsigned at = hash(table->ops[i].spelling);

        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = &table->ops[i];
    }
}

static void fill(void)
{
    static const enum ptx_lanes builds[] = { PTX_LANES_BASELINE, PTX_LANES_AVX2, PTX_LANES_AVX512 };

    for (size_t i = 0; i < COUNT(builds); i++) {
        const struct op_table *table = ops_of(builds[i]);

        if (!table)
            continue;
        indices[index_count].table = table;
        add(indices[index_count].slots, table);
        add(indices[index_count].slots, &OPS_RARE);
        index_count++;
    }
}

const struct op *ops_find(const struct op_table *table, const char *spelling)
{
    const struct op **slots;
    unsigned at = hash(spelling);
    int i = 0;

    pthread_once(&once, fill);
    while (i < index_count - 1 && indices[i].table != table)
        i++;
    slots = indices[i].slots;
    while (slots[at] && strcmp(slots[at]->spelling, spelling) != 0)
        at = (at + 1) % SLOTS;
    return slots[at];
}

compare_fn *ops_find_comparison(const struct op_table *table, const char *spelling)
{
    const struct op_table *tables[] = { table, &OPS_RARE };

    for (size_t t = 0; t < COUNT(tables); t++)
        for (size_t i = 0; i < tables[t]->comparison_count; i++)
            if (!strcmp(spelling, tables[t]->comparisons[i].spelling))
                return tables[t]->comparisons[i].compare;
    return NULL;
}
