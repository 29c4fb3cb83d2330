/*
 * What the interpreter counts, against what Nsight Compute counted on an H200 (tests/data/facts)
 * for the kernels of tests/facts, built without optimization so that both run the same accesses and
 * branches. The hardware's own instructions differ; sectors, passes and splits must not.
 */
#include "tests/classics/classics.h"

struct launch_row {
    const char *kernel;
    unsigned blocks, threads;
    int n, k;
};

static const struct launch_row ROWS[] = {
#define COUNT_OF(kernel, blocks, threads, n, k) { #kernel, blocks, threads, n, k },
#include "tests/facts/facts.def"
#undef COUNT_OF
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

static void count(struct rig *rig, const struct launch_row *row)
{
    enum { BYTES = 1 << 20 };
    struct arguments a = { .size = 0 };
    uint64_t x, y;

    classic_open(rig, "../facts/facts.cu", &CLASSIC_BUILDS[2]);
    classic_buffer(rig, NULL, BYTES, &x);
    classic_buffer(rig, NULL, BYTES, &y);
    give_pointer(&a, x);
    give_pointer(&a, y);
    give_int(&a, row->n);
    give_int(&a, row->k);
    classic_run(rig, row->kernel, dim(row->blocks, 1), dim(row->threads, 1), &a);
}

static void facts_are_what_a_profiler_counts_on_the_card(void **state)
{
    size_t size;
    char *text = rig_read("tests/data/facts/h200.csv", &size);
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct counted want = counted_of(text, &ROWS[i]);
        struct rig rig;

        count(&rig, &ROWS[i]);
        const struct ptx_facts *f = &rig.facts;
        const struct {
            const char *name;
            int64_t got, want;
        } PAIRS[] = {
            { "divergent branches", f->divergent_branches, want.of[DIVERGENT_BRANCHES] },
            { "load requests", f->global_load.requests, want.of[LOAD_REQUESTS] },
            { "load sectors", f->global_load.sectors, want.of[LOAD_SECTORS] },
            { "store requests", f->global_store.requests, want.of[STORE_REQUESTS] },
            { "store sectors", f->global_store.sectors, want.of[STORE_SECTORS] },
            { "shared passes", f->shared.passes,
              want.of[SHARED_LOAD_PASSES] + want.of[SHARED_STORE_PASSES] },
            { "shared conflicts", f->shared_conflicts,
              want.of[SHARED_LOAD_CONFLICTS] + want.of[SHARED_STORE_CONFLICTS] },
        };

        for (size_t p = 0; p < COUNT(PAIRS); p++)
            if (PAIRS[p].got != PAIRS[p].want) {
                print_message("%s<<<%u, %u>>> k=%d: %s %lld, the card %lld\n", ROWS[i].kernel,
                              ROWS[i].blocks, ROWS[i].threads, ROWS[i].k, PAIRS[p].name,
                              (long long)PAIRS[p].got, (long long)PAIRS[p].want);
                wrong++;
            }
        rig_done(&rig);
    }
    free(text);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_what_a_profiler_counts_on_the_card),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
