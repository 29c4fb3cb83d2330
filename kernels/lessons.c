/*
 * The references are plain C over chunks of elements, in the same order of
 * operations as the device code. fmaf rounds once, as the GPU's fma does, so the
 * two agree to the bit; the library's fmaf is slow, hence a second version of the
 * inner loop for processors that have the instruction.
 */
#include "kernels/lessons.h"

#include "model/base/philox.h"

#include <math.h>
#include <stdlib.h>

/* Of kernels/divergence.cu. */
enum { ROUNDS = 288 };

enum { CHUNK = 64, CHECK_CHUNK = 4096 };

#define POISON 0x7fc0dead

/* ---- references ---- */

/* v[j] takes rounds[j] steps of the logistic map with factor r[j]. */
static inline __attribute__((always_inline)) void
walk_steps(float *restrict v, const float *restrict r, const int *restrict rounds, int most)
{
    for (int k = 0; k < most; k++)
        for (int j = 0; j < CHUNK; j++) {
            float next = r[j] * fmaf(-v[j], v[j], v[j]);

            v[j] = k < rounds[j] ? next : v[j];
        }
}

static void walk_portable(float *v, const float *r, const int *rounds, int most)
{
    walk_steps(v, r, rounds, most);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"), optimize("O3"))) static void
walk_fma(float *v, const float *r, const int *rounds, int most)
{
    walk_steps(v, r, rounds, most);
}
#endif

static void walk(float *v, const float *r, const int *rounds)
{
    int most = 0;

    for (int j = 0; j < CHUNK; j++)
        most = rounds[j] > most ? rounds[j] : most;
#ifdef __x86_64__
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        walk_fma(v, r, rounds, most);
        return;
    }
#endif
    walk_portable(v, r, rounds, most);
}

/* What one element does: a walk, and a second one after it (0 rounds: none). */
struct path {
    float r;
    int rounds;
};
typedef void path_fn(int64_t i, int lane, struct path *first, struct path *second);

static void walk_elements(const float *x, float *y, int64_t first, int64_t count, int block,
                          path_fn *path_of)
{
    for (int64_t at = 0; at < count; at += CHUNK) {
        int64_t n = min_i64(CHUNK, count - at);
        float v[CHUNK] = { 0 }, r[2][CHUNK] = { { 0 } };
        int rounds[2][CHUNK] = { { 0 } };

        for (int j = 0; j < n; j++) {
            int64_t i = first + at + j;
            struct path a = { 0, 0 }, b = { 0, 0 };

            path_of(i, (int)(i % block % WARP), &a, &b);
            v[j] = x[at + j];
            r[0][j] = a.r;
            r[1][j] = b.r;
            rounds[0][j] = a.rounds;
            rounds[1][j] = b.rounds;
        }
        walk(v, r[0], rounds[0]);
        walk(v, r[1], rounds[1]);
        memcpy(y + at, v, (size_t)n * sizeof(*v));
    }
}

static void short_by_lane(const float *x, float *y, int64_t first, int64_t count, int block)
{
    (void)x;
    (void)block;
    for (int64_t k = 0; k < count; k++)
        y[k] = (first + k) % 2 == 0 ? 100 : 200;
}

static void short_by_warp(const float *x, float *y, int64_t first, int64_t count, int block)
{
    (void)x;
    (void)block;
    for (int64_t k = 0; k < count; k++)
        y[k] = (first + k) / WARP % 2 == 0 ? 100 : 200;
}

static void by_lane_path(int64_t i, int lane, struct path *first, struct path *second)
{
    (void)lane;
    (void)second;
    *first = (struct path){ i % 2 == 0 ? 3.7f : 3.9f, ROUNDS };
}

static void by_warp_path(int64_t i, int lane, struct path *first, struct path *second)
{
    (void)lane;
    (void)second;
    *first = (struct path){ i / WARP % 2 == 0 ? 3.7f : 3.9f, ROUNDS };
}

static void split_path(int64_t i, int lane, struct path *first, struct path *second)
{
    (void)i;
    *first = (struct path){ lane < 24 ? 3.7f : 3.9f, ROUNDS / 2 };
    *second = (struct path){ 3.8f, ROUNDS / 2 };
}

static void own_path(int64_t i, int lane, struct path *first, struct path *second)
{
    (void)i;
    (void)second;
    *first = (struct path){ 3.6f + 0.01f * (float)lane, ROUNDS };
}

static void trips_path(int64_t i, int lane, struct path *first, struct path *second)
{
    (void)i;
    (void)second;
    *first = (struct path){ 3.7f, (4 + lane % 5) * (ROUNDS / 6) };
}

static void long_by_lane(const float *x, float *y, int64_t first, int64_t count, int block)
{
    walk_elements(x, y, first, count, block, by_lane_path);
}

static void long_by_warp(const float *x, float *y, int64_t first, int64_t count, int block)
{
    walk_elements(x, y, first, count, block, by_warp_path);
}

static void split_24_8(const float *x, float *y, int64_t first, int64_t count, int block)
{
    walk_elements(x, y, first, count, block, split_path);
}

static void paths_32(const float *x, float *y, int64_t first, int64_t count, int block)
{
    walk_elements(x, y, first, count, block, own_path);
}

static void trips_4_to_8(const float *x, float *y, int64_t first, int64_t count, int block)
{
    walk_elements(x, y, first, count, block, trips_path);
}

/* ---- the rows ---- */

static const struct lesson_rung DIVERGENCE[] = {
    { .name = "short, odd/even lanes",
      .kernel = "short_by_lane",
      .twin = "short_by_warp",
      .teaches = "A branch this short is no branch: the compiler computes both and selects.",
      .is_select = true,
      .expected = 1,
      .is_same_values = true,
      .reference = short_by_lane },
    { .name = "short, odd/even warps",
      .kernel = "short_by_warp",
      .teaches = "The twin: the same values, by whole warps.",
      .is_select = true,
      .expected = 1,
      .reference = short_by_warp },
    { .name = "long,  odd/even lanes",
      .kernel = "long_by_lane",
      .twin = "long_by_warp",
      .teaches = "Every warp runs both paths, half of its lanes idle in each: twice the time.",
      .expected = 2,
      .reference = long_by_lane },
    { .name = "long,  odd/even warps",
      .kernel = "long_by_warp",
      .teaches = "Whole warps disagree: each runs one path, and that is free.",
      .expected = 1,
      .reference = long_by_warp },
    { .name = "24/8 split, then join",
      .kernel = "split_24_8",
      .twin = "long_by_warp",
      .teaches = "Both parts of the split and the common part: three halves of the twin's time.",
      .expected = 1.5,
      .reference = split_24_8 },
    { .name = "32 paths",
      .kernel = "paths_32",
      .twin = "long_by_warp",
      .teaches = "The worst case: 32 lanes on 32 paths, one at a time.",
      .expected = 32,
      .reference = paths_32 },
    { .name = "trips 4..8 by lane",
      .kernel = "trips_4_to_8",
      .twin = "long_by_warp",
      .teaches = "A warp stays in a loop for its longest lane: 8 trips where the mean is 6.",
      .is_loop = true,
      .expected = 8.0 / 6,
      .reference = trips_4_to_8 },
};

/* The linker's names for an embedded file (ld -b binary). */
#define EMBEDDED(name)                                                                             \
    extern const char _binary_kernels_##name##_cu_start[];                                         \
    extern const char _binary_kernels_##name##_cu_end[];                                           \
    static struct bytes name##_source(void)                                                        \
    {                                                                                              \
        return (struct bytes){ _binary_kernels_##name##_cu_start,                                  \
                               (size_t)(_binary_kernels_##name##_cu_end -                          \
                                        _binary_kernels_##name##_cu_start) };                      \
    }

EMBEDDED(divergence)
EMBEDDED(clock)
EMBEDDED(timeline)

const struct lesson LESSONS[] = {
    { "divergence", "what does a branch cost when the lanes of a warp disagree?", DIVERGENCE,
      COUNT(DIVERGENCE), divergence_source },
};
const size_t LESSON_COUNT = COUNT(LESSONS);

const struct lesson *lesson_find(const char *name)
{
    for (size_t i = 0; i < LESSON_COUNT; i++)
        if (strcmp(LESSONS[i].name, name) == 0)
            return &LESSONS[i];
    return NULL;
}

const struct lesson_rung *lesson_rung(const struct lesson *lesson, const char *kernel)
{
    for (size_t i = 0; i < lesson->rung_count; i++)
        if (strcmp(lesson->rungs[i].kernel, kernel) == 0)
            return &lesson->rungs[i];
    return NULL;
}

struct bytes lesson_clock_source(void)
{
    return clock_source();
}

struct bytes lesson_timeline_source(void)
{
    return timeline_source();
}

/* ---- the source ---- */

/* The next line of a text, without its newline; false at the end. */
static bool next_line(struct bytes *left, struct bytes *line)
{
    const char *newline;

    if (left->size == 0)
        return false;
    newline = memchr(left->data, '\n', left->size);
    *line = (struct bytes){ left->data, newline ? (size_t)(newline - left->data) : left->size };
    left->data += line->size + (newline != NULL);
    left->size -= line->size + (newline != NULL);
    return true;
}

static bool contains(struct bytes line, const char *text)
{
    return memmem(line.data, line.size, text, strlen(text)) != NULL;
}

bool lesson_lines_of(const struct lesson *lesson, const char *kernel, struct lesson_lines *out)
{
    struct bytes left = lesson->source(), line;
    char head[128] = " ";

    *out = (struct lesson_lines){ 0, 0, 0 };
    if (strlen(kernel) + 3 > sizeof(head))
        return false;
    strcat(strcat(head, kernel), "(");
    for (int n = 1; next_line(&left, &line); n++) {
        if (!out->first && contains(line, "__global__") && contains(line, head))
            out->first = n;
        else if (out->first && !out->body && contains(line, "return;"))
            out->body = n + 1;
        else if (out->first && line.size == 1 && line.data[0] == '}') {
            out->last = n;
            return out->body > 0;
        }
    }
    return false;
}

struct bytes lesson_text(const struct lesson *lesson, int first, int last)
{
    struct bytes left = lesson->source(), line, text = { left.data, 0 };

    for (int n = 1; next_line(&left, &line); n++) {
        if (n == first)
            text.data = line.data;
        if (n >= first && n <= last)
            text.size = (size_t)(line.data + line.size - text.data);
    }
    return text;
}

/* ---- data ---- */

void lesson_fill(float *x, int64_t first, int64_t count, uint64_t seed)
{
    for (int64_t k = 0; k < count; k++)
        x[k] = philox_float(philox_at(seed, (uint64_t)(first + k), 0).word[0]);
}

static uint32_t bits_of(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

void lesson_poison(float *y, int64_t n)
{
    const uint32_t poison = POISON;

    for (int64_t i = 0; i < n; i++)
        memcpy(&y[i], &poison, sizeof(poison));
}

bool lesson_is_poison(uint32_t bits)
{
    return bits == POISON;
}

/* Written so that a NaN on either side is wrong. */
static bool is_right(float got, float want, double tolerance)
{
    return fabs((double)got - (double)want) <= tolerance;
}

static void check_chunk(const struct lesson_rung *rung, const float *y, const float *want,
                        int64_t first, int64_t count, bool is_sampled, struct lesson_verdict *out)
{
    for (int64_t k = 0; k < count; k++) {
        if (is_sampled && lesson_is_poison(bits_of(y[first + k])))
            continue;
        out->checked++;
        if (is_right(y[first + k], want[k], rung->tolerance))
            continue;
        if (out->wrong++ == 0) {
            out->first = first + k;
            out->got = y[first + k];
            out->want = want[k];
        }
    }
}

int lesson_check(const struct lesson_rung *rung, const float *x, const float *y, int64_t n,
                 int block, bool is_sampled, const atomic_bool *stop, struct lesson_verdict *out,
                 struct err *err)
{
    float *want = malloc(CHECK_CHUNK * sizeof(*want));

    *out = (struct lesson_verdict){ .first = -1 };
    if (!want)
        return err_set(err, ERR_ResourceError, "out of memory for the reference of %s", rung->name);
    for (int64_t first = 0; first < n; first += CHECK_CHUNK) {
        int64_t count = min_i64(CHECK_CHUNK, n - first);

        if (stop && atomic_load(stop)) {
            free(want);
            return err_set(err, ERR_Interrupted, "interrupted while results were checked");
        }
        rung->reference(x + first, want, first, count, block);
        check_chunk(rung, y, want, first, count, is_sampled, out);
    }
    free(want);
    out->is_correct = out->wrong == 0 && out->checked > 0;
    return 0;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every bit moves every bit. */
static uint64_t mixed(float v)
{
    uint64_t z = bits_of(v) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

bool lesson_same_values(const float *a, const float *b, int64_t n)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += mixed(a[i]) - mixed(b[i]);
    return sum == 0;
}
