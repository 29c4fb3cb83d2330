/*
 * What the interpreter counts, against what Nsight Compute counted on an H200 (tests/data/facts)
 * for the kernels of tests/facts: facts.cu without optimization, asm.cu with it and in inline PTX,
 * so that both run the same accesses and branches. The hardware's own instructions differ in number
 * around them; sectors, passes and splits must not, nor what a longer row of PTX adds.
 */
#include "tests/classics/classics.h"

struct launch_row {
    const char *kernel;
    unsigned blocks, threads;
    int n, k;
};

#define COUNT_OF(kernel, blocks, threads, n, k) { #kernel, blocks, threads, n, k },
static const struct launch_row AS_WRITTEN[] = {
#include "tests/facts/facts.def"
};
static const struct launch_row ASSEMBLER[] = {
#include "tests/facts/asm.def"
};
#undef COUNT_OF

struct launch_list {
    const char *source, *counters;
    const struct build *build;
    const struct launch_row *rows;
    size_t count;
};

static const struct launch_list LISTS[] = {
    { "../facts/facts.cu", "tests/data/facts/h200.csv", &CLASSIC_BUILDS[2], AS_WRITTEN,
      COUNT(AS_WRITTEN) },
    { "../facts/asm.cu", "tests/data/facts/h200-asm.csv", &CLASSIC_BUILDS[0], ASSEMBLER,
      COUNT(ASSEMBLER) },
};

enum column {
    BRANCHES,
    DIVERGENT_BRANCHES,
    LOAD_REQUESTS,
    LOAD_SECTORS,
    STORE_REQUESTS,
    STORE_SECTORS,
    SHARED_LOAD_PASSES,
    SHARED_STORE_PASSES,
    SHARED_LOAD_CONFLICTS,
    SHARED_STORE_CONFLICTS,
    WARP_INSTRUCTIONS,
    COLUMNS
};

struct counted {
    int64_t of[COLUMNS];
};

/* The counters of the row's launch in the file; a launch that is not there fails. */
static struct counted counted_of(const char *text, const struct launch_row *row)
{
    struct counted c = { { 0 } };
    char key[100];
    const char *at;
    char *end;

    snprintf(key, sizeof key, "\n%s,%u,%u,%d,%d,", row->kernel, row->blocks, row->threads, row->n,
             row->k);
    at = strstr(text, key);
    if (!at)
        fail_msg("no counters of%s", key + 1);
    at += strlen(key);
    for (int i = 0; i < COLUMNS; i++, at = end + 1)
        c.of[i] = strtoll(at, &end, 10);
    return c;
}

static void count(struct rig *rig, const struct launch_list *list, const struct launch_row *row)
{
    enum { BYTES = 1 << 20 };
    struct arguments a = { .size = 0 };
    uint64_t x, y;

    classic_open(rig, list->source, list->build);
    classic_buffer(rig, NULL, BYTES, &x);
    classic_buffer(rig, NULL, BYTES, &y);
    give_pointer(&a, x);
    give_pointer(&a, y);
    give_int(&a, row->n);
    give_int(&a, row->k);
    classic_run(rig, row->kernel, dim(row->blocks, 1), dim(row->threads, 1), &a);
}

/* How many of the row's facts differ from the card's; each is named. */
static int differences(const struct launch_list *list, const struct launch_row *row,
                       const struct counted *want)
{
    struct rig rig;
    int wrong = 0;

    count(&rig, list, row);
    const struct ptx_facts *f = &rig.facts;
    const struct {
        const char *name;
        int64_t got, want;
    } PAIRS[] = {
        { "divergent branches", f->divergent_branches, want->of[DIVERGENT_BRANCHES] },
        { "load requests", f->global_load.requests, want->of[LOAD_REQUESTS] },
        { "load sectors", f->global_load.sectors, want->of[LOAD_SECTORS] },
        { "store requests", f->global_store.requests, want->of[STORE_REQUESTS] },
        { "store sectors", f->global_store.sectors, want->of[STORE_SECTORS] },
        { "shared passes", f->shared.passes,
          want->of[SHARED_LOAD_PASSES] + want->of[SHARED_STORE_PASSES] },
        { "shared conflicts", f->shared_conflicts,
          want->of[SHARED_LOAD_CONFLICTS] + want->of[SHARED_STORE_CONFLICTS] },
    };

    for (size_t p = 0; p < COUNT(PAIRS); p++)
        if (PAIRS[p].got != PAIRS[p].want) {
            print_message("%s<<<%u, %u>>> k=%d: %s %lld, the card %lld\n", row->kernel, row->blocks,
                          row->threads, row->k, PAIRS[p].name, (long long)PAIRS[p].got,
                          (long long)PAIRS[p].want);
            wrong++;
        }
    rig_done(&rig);
    return wrong;
}

static void facts_are_what_a_profiler_counts_on_the_card(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t l = 0; l < COUNT(LISTS); l++) {
        size_t size;
        char *text = rig_read(LISTS[l].counters, &size);

        for (size_t i = 0; i < LISTS[l].count; i++) {
            struct counted want = counted_of(text, &LISTS[l].rows[i]);

            wrong += differences(&LISTS[l], &LISTS[l].rows[i], &want);
        }
        free(text);
    }
    assert_int_equal(wrong, 0);
}

static int64_t instructions_of(const struct launch_row *row)
{
    struct rig rig;
    int64_t n;

    count(&rig, &LISTS[1], row);
    n = rig.facts.warp_instructions;
    rig_done(&rig);
    return n;
}

static const struct launch_row *find(const char *kernel)
{
    for (size_t i = 0; i < COUNT(ASSEMBLER); i++)
        if (strcmp(ASSEMBLER[i].kernel, kernel) == 0)
            return &ASSEMBLER[i];
    fail_msg("%s is not in asm.def", kernel);
    return NULL;
}

static void longer_assembler_costs_as_many_warp_instructions_as_on_the_card(void **state)
{
    static const char *const LONGER[] = { "asm_fma_64", "asm_fma_128", "asm_fma_256" };
    size_t size;
    char *text = rig_read(LISTS[1].counters, &size);
    int64_t here[3], card[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        here[i] = instructions_of(find(LONGER[i]));
        card[i] = counted_of(text, find(LONGER[i])).of[WARP_INSTRUCTIONS];
    }
    assert_int_equal(here[1] - here[0], 64 * 4 * 8);
    assert_int_equal(here[1] - here[0], card[1] - card[0]);
    assert_int_equal(here[2] - here[1], card[2] - card[1]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_what_a_profiler_counts_on_the_card),
        cmocka_unit_test(longer_assembler_costs_as_many_warp_instructions_as_on_the_card),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
