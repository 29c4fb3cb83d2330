/*
 * The battery of tests/battery on the interpreter, against what a card answered
 * (tests/data/battery): every form to the bit, or within its stated bound. Forms
 * that the card's own compiler refuses are left out. A form that the interpreter
 * does not execute must be refused by name, and be in the list below.
 */
#include "tests/unit/ptx_rig.h"

#include "tests/battery/battery.h"

enum { MOST_REPORTED = 25 };

/* Parts of forms that may be refused with UnsupportedError: no compiler writes them. */
static const char *const REFUSED[] = { "fma.rn.oob", "brx.idx", NULL };

struct answer {
    const char *types, *body, *digests, *values;
    uint64_t hash;
    bool is_refused;
};

struct answers {
    char *text;
    struct answer *of;
    size_t count;
};

static int by_body(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    int order = strcmp(x->body, y->body);

    return order ? order : strcmp(x->types, y->types);
}

static void take_line(struct answers *all, char *line)
{
    struct answer *a = &all->of[all->count];
    char *left = line, *hash;

    if (!*line || *line == '#')
        return;
    a->types = strsep(&left, "\t");
    a->body = left ? strsep(&left, "\t") : "";
    hash = left ? strsep(&left, "\t") : NULL;
    a->is_refused = hash && !strcmp(hash, "refused");
    a->hash = hash ? strtoull(hash, NULL, 16) : 0;
    a->digests = left ? strsep(&left, "\t") : "";
    a->values = left ? left : "";
    all->count++;
}

static int load_answers(void **state)
{
    struct answers *all = calloc(1, sizeof *all);
    size_t size, lines = 0;
    char *left;

    assert_non_null(all);
    all->text = rig_read("tests/data/battery/h200.txt", &size);
    for (size_t i = 0; i < size; i++)
        lines += all->text[i] == '\n';
    all->of = calloc(lines + 1, sizeof *all->of);
    assert_non_null(all->of);
    left = all->text;
    for (char *line; (line = strsep(&left, "\n"));)
        take_line(all, line);
    qsort(all->of, all->count, sizeof *all->of, by_body);
    *state = all;
    return 0;
}

static int free_answers(void **state)
{
    struct answers *all = *state;

    free(all->of);
    free(all->text);
    free(all);
    return 0;
}

/* ---- Comparison ----------------------------------------------------------------------------- */

/* A float format's bits as a number; is_nan is set for a NaN. */
static double number_of(const struct battery_format *t, uint64_t bits, bool *is_nan)
{
    uint64_t mantissa = bits & ((1ULL << t->mantissa) - 1);
    int64_t exponent = (int64_t)(bits >> t->mantissa & ((1ULL << t->exponent) - 1));
    int64_t bias = (1LL << (t->exponent - 1)) - 1;
    double v;

    *is_nan = exponent == (1LL << t->exponent) - 1 && mantissa;
    if (exponent == (1LL << t->exponent) - 1)
        v = (double)INFINITY;
    else
        v = ldexp((double)(mantissa | (exponent ? 1ULL << t->mantissa : 0)),
                  (int)((exponent ? exponent : 1) - bias - t->mantissa));
    return bits >> (t->width - 1) & 1 ? -v : v;
}

/* One ulp of v in a format. */
static double ulp_of(const struct battery_format *t, double v)
{
    int lowest = 2 - (1 << (t->exponent - 1)), e = lowest;

    if (v != 0)
        frexp(v, &e);
    return ldexp(1, (e - 1 > lowest ? e - 1 : lowest) - t->mantissa);
}

static bool is_near(const struct battery_format *t, const char *tolerance, uint64_t got,
                    uint64_t want)
{
    bool got_nan, want_nan;
    double a = number_of(t, got, &got_nan), b = number_of(t, want, &want_nan);
    double bound = 0;

    if (got_nan || want_nan)
        return got_nan && want_nan;
    if (a == b)
        return true;
    if (isinf(a) || isinf(b))
        return false;
    for (const char *part = tolerance; part; part = strchr(part, ',')) {
        const char *number = part + strcspn(part, "0123456789");
        char *unit;
        double one = strtod(number, &unit);

        if (!strncmp(unit, " ulp", 4))
            one *= ulp_of(t, b);
        else if (!strncmp(number - 4, "rel", 3))
            one *= fabs(b);
        bound = fmax(bound, one);
        part = unit;
    }
    return fabs(a - b) <= bound;
}

static bool is_result_near(const struct battery_form *f, int i, uint64_t got, uint64_t want)
{
    const struct battery_format *t = battery_format(f->results[i]);
    uint64_t mask = t->width == 64 ? ~0ULL : (1ULL << t->width) - 1;

    for (int lane = 0; lane < t->lanes; lane++)
        if (!is_near(t, f->row->tolerance, got >> lane * t->width & mask,
                     want >> lane * t->width & mask))
            return false;
    return true;
}

/* The first case that differs from the answer, or -1. `want` is a value that was kept, or NULL. */
static int first_difference(const struct battery_form *f, const struct answer *a,
                            const uint64_t *out, char *want, size_t size)
{
    bool is_exact = battery_is_exact(f);
    const char *next = a->values;
    int kept = is_exact ? BATTERY_SHOWN : f->cases;

    want[0] = '\0';
    if (is_exact && battery_hash(f, out) == a->hash)
        return -1;
    for (int k = 0; k < f->cases; k++) {
        bool is_same = !is_exact || battery_digest(f, out, k) == a->digests[k];
        char *end;

        snprintf(want, size, "%s", k < kept ? "" : " (the digest differs)");
        for (int i = 0; i < f->result_count && k < kept; i++, next = end) {
            uint64_t value = strtoull(next, &end, 16), got = battery_result(f, out, k, i);

            snprintf(want + strlen(want), size - strlen(want), " %llx", (unsigned long long)value);
            is_same = is_same && (is_exact ? got == value : is_result_near(f, i, got, value));
        }
        if (!is_same)
            return k;
    }
    return is_exact ? f->cases : -1; /* the hash alone */
}

/* ---- Runs ----------------------------------------------------------------------------------- */

enum outcome { SAME, DIFFERENT, UNSUPPORTED };

static int run(struct rig *rig, const struct battery_form *f, uint64_t **out)
{
    uint64_t parameters[3];
    uint64_t *in = rig_buffer(rig, BATTERY_CASES * BATTERY_SOURCES * sizeof *in, &parameters[0]);

    *out = rig_buffer(rig, BATTERY_CASES * BATTERY_RESULTS * sizeof **out, &parameters[1]);
    rig_buffer(rig, BATTERY_CASES * BATTERY_SLOT, &parameters[2]);
    battery_operands(f, in);
    return rig_try(rig, "form", (unsigned)(f->cases / BATTERY_BLOCK), BATTERY_BLOCK, parameters);
}

static void describe(const struct battery_form *f, const uint64_t *out, int k, const char *want)
{
    printf("    case %d:", k);
    for (int i = 0; i < f->source_count && k < f->cases; i++)
        printf(" %s %llx", f->sources[i],
               (unsigned long long)battery_operand(f->sources[i], f->source_count, i, k));
    printf("\n    got");
    for (int i = 0; i < f->result_count && k < f->cases; i++)
        printf(" %llx", (unsigned long long)battery_result(f, out, k, i));
    printf(", the card has%s\n", want);
}

static enum outcome try_form(const struct battery_form *f, const struct answer *a, bool is_quiet)
{
    static char ptx[16384];
    struct rig rig = { 0 };
    char want[200];
    uint64_t *out;
    size_t size = battery_kernel(f, ptx, sizeof ptx);
    enum outcome outcome = SAME;
    int k;

    if (ptx_module_load((struct bytes){ ptx, size }, &rig.module, &rig.err) < 0) {
        outcome = rig.err.name == ERR_UnsupportedError ? UNSUPPORTED : DIFFERENT;
        if (!is_quiet)
            printf("  %s\n    %s: %s\n", f->body, err_spelling(rig.err.name), rig.err.text);
        err_done(&rig.err);
        return outcome;
    }
    ptx_module_free(&rig.module);
    rig_load(&rig, (struct bytes){ ptx, size });
    if (run(&rig, f, &out) < 0) {
        outcome = DIFFERENT;
        if (!is_quiet)
            printf("  %s\n    %s: %s\n%s\n", f->body, err_spelling(rig.err.name), rig.err.text,
                   rig.err.detail ? rig.err.detail : "");
    } else if ((k = first_difference(f, a, out, want, sizeof want)) >= 0) {
        outcome = DIFFERENT;
        if (!is_quiet) {
            printf("  %s\n", f->body);
            describe(f, out, k, want);
        }
    }
    rig_done(&rig);
    return outcome;
}

static bool is_listed(const char *body)
{
    for (size_t i = 0; REFUSED[i]; i++)
        if (strstr(body, REFUSED[i]))
            return true;
    return false;
}

static void check_family(const struct answers *all, const char *family)
{
    int forms = 0, wrong = 0, most = getenv("BATTERY_ALL") ? INT32_MAX : MOST_REPORTED;

    for (size_t row = 0; row < COUNT(BATTERY_ROWS); row++) {
        if (strcmp(BATTERY_ROWS[row].family, family))
            continue;
        for (int c = 0; c < battery_combinations(BATTERY_ROWS[row].body); c++) {
            struct battery_form f;
            struct answer key, *answer;
            enum outcome outcome;

            battery_form(&BATTERY_ROWS[row], c, &f);
            key.body = f.body;
            key.types = f.types;
            answer = bsearch(&key, all->of, all->count, sizeof key, by_body);
            if (!answer)
                fail_msg("no card has answered %s: run tests/battery/record.c", f.body);
            if (answer->is_refused)
                continue;
            outcome = try_form(&f, answer, wrong >= most || is_listed(f.body));
            wrong += outcome != SAME && !(outcome == UNSUPPORTED && is_listed(f.body));
            forms++;
        }
    }
    if (wrong)
        fail_msg("%d of %d forms", wrong, forms);
    assert_true(forms > 0);
}

static void arithmetic_and_conversions_give_what_the_card_gives(void **state)
{
    check_family(*state, "number");
}

static void lanes_and_memory_give_what_the_card_gives(void **state)
{
    check_family(*state, "warp");
}

static void matrices_give_what_the_card_gives(void **state)
{
    check_family(*state, "matrix");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_and_conversions_give_what_the_card_gives),
        cmocka_unit_test(lanes_and_memory_give_what_the_card_gives),
        cmocka_unit_test(matrices_give_what_the_card_gives),
    };

    return cmocka_run_group_tests(tests, load_answers, free_answers);
}
