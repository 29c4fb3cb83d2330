/*
 * A small coverage-guided fuzzer: take an input that reached something new, change it a little,
 * and keep the result when it reaches something newer. No more than gcc is needed.
 *
 *   fuzz_NAME [SECONDS [SEED]]    fuzz
 *   fuzz_NAME FILE                run one input again
 *
 * The input in hand lies in a mapped file, so it is still there after any kind of death.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_BYTES = 1 << 16,
    CORPUS_INPUTS = 4096,
    HANG_S = 10, /* an input that takes longer is a finding */
};

struct input {
    uint8_t *data;
    size_t size;
};

/* The bytes of an input in hand, as they lie in the file that survives. */
struct last_input {
    uint32_t size;
    uint8_t data[INPUT_BYTES];
};

static struct input corpus[CORPUS_INPUTS];
static size_t corpus_count;
static uint8_t seen[COVERAGE_SLOTS]; /* highest bucket of counts that a place had */
static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % n;
}

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void corpus_add(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (corpus_count == CORPUS_INPUTS)
        return;
    copy = malloc(size ? size : 1);
    if (!copy)
        die("malloc");
    if (size)
        memcpy(copy, data, size);
    corpus[corpus_count++] = (struct input){ copy, size };
}

static void corpus_read(const char *path)
{
    static uint8_t data[INPUT_BYTES];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        die(path);
    n = fread(data, 1, sizeof(data), f);
    fclose(f);
    corpus_add(data, n);
}

static void corpus_load(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    char path[1024];

    while (d && (entry = readdir(d))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        corpus_read(path);
    }
    if (d)
        closedir(d);
    if (!corpus_count)
        corpus_add((const uint8_t *)"", 0);
}

/* How often a place was reached, coarsely: once, twice, a few times, many times. */
static uint8_t bucket(uint8_t count)
{
    return count <= 2 ? count : count < 8 ? 3 : count < 32 ? 4 : count < 128 ? 5 : 6;
}

/* Runs one input; true when it reached a place, or a count, that none before it did. */
static bool is_news(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1); /* so that a read past the end is noticed */
    bool news = false;

    if (!exact)
        die("malloc");
    memcpy(exact, data, size);
    memset(coverage_map, 0, sizeof(coverage_map));
    alarm(HANG_S);
    coverage_is_on = 1;
    LLVMFuzzerTestOneInput(exact, size);
    coverage_is_on = 0;
    free(exact);
    for (size_t i = 0; i < COVERAGE_SLOTS; i++) {
        if (coverage_map[i] && bucket(coverage_map[i]) > seen[i]) {
            seen[i] = bucket(coverage_map[i]);
            news = true;
        }
    }
    return news;
}

static size_t insert(uint8_t *data, size_t size, size_t at, const uint8_t *piece, size_t n)
{
    if (size + n > INPUT_BYTES)
        return size;
    memmove(data + at + n, data + at, size - at);
    memcpy(data + at, piece, n);
    return size + n;
}

static size_t change_once(uint8_t *data, size_t size)
{
    static const char *const tokens[] = { "0",          "-1",
                                          "4294967296", "9223372036854775808",
                                          "1e9",        "\"",
                                          "{",          "}",
                                          "[",          "]",
                                          "(",          ")",
                                          ",",          "\n",
                                          "\xff\xfe",   "\\u0000",
                                          "%",          "\xF0\x9F\x98\x80" };
    static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '0', '9', '"', '\\' };
    size_t at = size ? random_below((uint32_t)size) : 0;
    size_t n = size ? random_below((uint32_t)(size - at > 64 ? 64 : size - at)) + 1 : 0;

    switch (random_below(6)) {
    case 0:
        if (size)
            data[at] ^= (uint8_t)(1u << random_below(8));
        return size;
    case 1:
        if (size)
            data[at] = bytes[random_below(sizeof(bytes))];
        return size;
    case 2: /* leave a piece out */
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    case 3: { /* say a piece twice */
        uint8_t piece[64];

        memcpy(piece, data + at, n);
        return insert(data, size, at, piece, n);
    }
    case 4: {
        const char *token = tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))];

        return insert(data, size, at, (const uint8_t *)token, strlen(token));
    }
    default: { /* a piece of another input */
        const struct input *other = &corpus[random_below((uint32_t)corpus_count)];
        size_t from = other->size ? random_below((uint32_t)other->size) : 0;
        size_t most = other->size - from > 256 ? 256 : other->size - from;

        return insert(data, size, at, other->data + from,
                      most ? random_below((uint32_t)most) + 1 : 0);
    }
    }
}

static struct last_input *map_last(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *p;

    if (fd < 0 || ftruncate(fd, sizeof(struct last_input)) < 0)
        die(path);
    p = mmap(NULL, sizeof(struct last_input), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        die(path);
    close(fd);
    return p;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned long fuzz(const char *self, const char *name, double seconds)
{
    char path[1024];
    struct last_input *last;
    unsigned long runs = 0;
    double end = now_s() + seconds;

    snprintf(path, sizeof(path), "%s.last", self);
    last = map_last(path);
    snprintf(path, sizeof(path), "tests/data/fuzz/%s", name);
    corpus_load(path);
    for (size_t i = 0, n = corpus_count; i < n; i++) {
        last->size = (uint32_t)corpus[i].size;
        memcpy(last->data, corpus[i].data, corpus[i].size);
        is_news(corpus[i].data, corpus[i].size);
    }
    while (now_s() < end) {
        const struct input *from = &corpus[random_below((uint32_t)corpus_count)];
        size_t size = from->size;

        memcpy(last->data, from->data, size);
        for (uint32_t i = random_below(8) + 1; i; i--)
            size = change_once(last->data, size);
        last->size = (uint32_t)size;
        if (is_news(last->data, size))
            corpus_add(last->data, size);
        runs++;
    }
    return runs;
}

/* A file that a death left behind starts with the size; any other file is the input itself. */
static int run_again(const char *path)
{
    static struct last_input last;
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        die(path);
    n = fread(&last, 1, sizeof(last), f);
    fclose(f);
    if (n == sizeof(last) && last.size <= INPUT_BYTES)
        is_news(last.data, last.size);
    else
        is_news((const uint8_t *)&last, n);
    printf("%s: no fault\n", path);
    return 0;
}

int main(int argc, char **argv)
{
    const char *base = strrchr(argv[0], '/');
    const char *name = (base ? base + 1 : argv[0]) + strlen("fuzz_");
    char *end = NULL;
    double seconds = argc > 1 ? strtod(argv[1], &end) : 5;
    unsigned long runs, seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)time(NULL);

    if (end && *end)
        return run_again(argv[1]);
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    printf("fuzz_%s: seed %lu, dies with the input in %s.last\n", name, seed, argv[0]);
    fflush(stdout);
    runs = fuzz(argv[0], name, seconds);
    printf("fuzz_%s: %lu inputs in %.0f s, %zu kept, no fault\n", name, runs, seconds,
           corpus_count);
    return 0;
}
