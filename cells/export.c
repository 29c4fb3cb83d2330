/*
 * What happened in a session is kept as C++ statements, at the time when it happened:
 * later the names may mean something else.
 */
#include "cells/export.h"

#include "cells/cuda_state.h"
#include "cells/internal.h"
#include "model/base/version.h"

#include <stdio.h>
#include <stdlib.h>

enum event_kind { EVENT_BUFFER, EVENT_LAUNCH };

struct event {
    enum event_kind kind;
    int cell;
    char *name, *type; /* BUFFER: the variable and its element's type in C++ */
    int64_t count;
    bool is_symbol, is_device;
    char *code; /* BUFFER: fills `host`, or NULL; LAUNCH: the statement */
    char *note; /* what could not be said */
};

struct export_log {
    struct event *events;
    size_t count, capacity, forgotten;
};

struct export_log *export_log_new(void)
{
    return calloc(1, sizeof(struct export_log));
}

static void event_done(struct event *e)
{
    free(e->name);
    free(e->type);
    free(e->code);
    free(e->note);
}

static void clear(struct export_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        event_done(&log->events[i]);
    log->count = 0;
    log->forgotten = 0;
}

void export_log_free(struct export_log **log)
{
    if (!*log)
        return;
    clear(*log);
    free((*log)->events);
    free(*log);
    *log = NULL;
}

void export_forget(struct session *session)
{
    clear(session->exports);
}

/* ---- noting ---- */

/* Takes the event. A repeated launch in a loop is an event each time. */
static void add(struct export_log *log, struct event take)
{
    size_t more = log->capacity ? 2 * log->capacity : 32;
    struct event *grown;

    if (log->count == EXPORT_EVENTS_MAX) {
        event_done(&log->events[0]);
        memmove(log->events, log->events + 1, --log->count * sizeof(*log->events));
        log->forgotten++;
    }
    if (log->count == log->capacity) {
        grown = realloc(log->events, more * sizeof(*grown));
        if (!grown) {
            event_done(&take);
            log->forgotten++;
            return;
        }
        log->events = grown;
        log->capacity = more;
    }
    log->events[log->count++] = take;
}

/* An argument (1, 2, 3) is a float3 here and a comma operator there: {1, 2, 3} is both. */
static char *statement(const char *text)
{
    struct buf out = { 0 };
    const char *args = strstr(text, ">>>");
    int depth = 0;
    bool was_comma = true, is_braced[32] = { false };

    if (!args)
        return strdup(text);
    buf_put(&out, text, (size_t)(args + 3 - text));
    for (const char *p = args + 3; *p; p++) {
        char c = *p;

        if (c == '(' && depth < 31) {
            is_braced[depth] = depth == 1 && was_comma;
            c = is_braced[depth] ? '{' : c;
            depth++;
        } else if (c == ')' && depth > 0) {
            depth--;
            c = is_braced[depth] ? '}' : c;
        }
        was_comma = depth == 1 && (*p == '(' || *p == ',' || (was_comma && *p == ' '));
        buf_putc(&out, c);
    }
    return buf_take(&out);
}

void export_note_launch(struct session *session, const char *text)
{
    struct event e = { .kind = EVENT_LAUNCH, .cell = session->run_count, .code = statement(text) };

    if (e.code)
        add(session->exports, e);
}

void export_note_buffer(struct session *session, const struct buffer *buffer,
                        struct initial *initial, struct arena *arena)
{
    struct buf type = { 0 }, code = { 0 };
    struct event e = { .kind = EVENT_BUFFER,
                       .cell = session->run_count,
                       .name = strdup(buffer->name),
                       .count = buffer->count,
                       .is_symbol = buffer->is_symbol };

    export_type(&buffer->type, &type);
    e.type = buf_take(&type);
    if (initial && export_initial(session, buffer, initial, arena, &e.is_device, &code))
        e.code = buf_take(&code);
    else if (initial)
        e.note = strndup(initial->source.text.data, line_strip(initial->source.text));
    buf_done(&code);
    if (e.name && e.type)
        add(session->exports, e);
    else
        event_done(&e);
}

/* ---- the program ---- */

static const char PRELUDE[] = "#include <algorithm>\n"
                              "#include <cassert>\n"
                              "#include <cmath>\n"
                              "#include <cstdint>\n"
                              "#include <cstdio>\n"
                              "#include <cstdlib>\n"
                              "#include <memory>\n"
                              "#include <type_traits>\n"
                              "#include <cuda_bf16.h>\n"
                              "#include <cuda_fp16.h>\n";

static const char SUPPORT[] =
    "#define WB_CHECK(call)                                                          \\\n"
    "    do {                                                                        \\\n"
    "        cudaError_t status_ = (call);                                           \\\n"
    "        if (status_ != cudaSuccess) {                                           \\\n"
    "            std::fprintf(stderr, \"line %d: %s\\n\", __LINE__,                     \\\n"
    "                         cudaGetErrorString(status_));                          \\\n"
    "            std::exit(1);                                                       \\\n"
    "        }                                                                       \\\n"
    "    } while (0)\n"
    "\n"
    "// Device memory that becomes a pointer of whatever type a kernel takes.\n"
    "template <typename E> struct wb_buffer {\n"
    "    E *p;\n"
    "    size_t count;\n"
    "    explicit wb_buffer(size_t n) : p(nullptr), count(n)\n"
    "    {\n"
    "        WB_CHECK(cudaMalloc(&p, n * sizeof(E)));\n"
    "    }\n"
    "    wb_buffer(E *at, size_t n) : p(at), count(n) {}\n"
    "    size_t bytes() const { return count * sizeof(E); }\n"
    "    wb_buffer operator+(long long n) const { return wb_buffer(p + n, count - n); }\n"
    "    template <typename T> operator T *() const { return (T *)p; }\n"
    "    void put(const E *from) { WB_CHECK(cudaMemcpy(p, from, bytes(), cudaMemcpyHostToDevice)); }\n"
    "    std::unique_ptr<E[]> host() const\n"
    "    {\n"
    "        std::unique_ptr<E[]> to(new E[count]);\n"
    "        WB_CHECK(cudaMemcpy(to.get(), p, bytes(), cudaMemcpyDeviceToHost));\n"
    "        return to;\n"
    "    }\n"
    "    void show(const char *name) const\n"
    "    {\n"
    "        std::unique_ptr<E[]> values = host();\n"
    "        std::printf(\"%s:\", name);\n"
    "        for (size_t i = 0; i < count && i < 8; i++) {\n"
    "            if constexpr (std::is_arithmetic_v<E>)\n"
    "                std::printf(\" %.9g\", (double)values[i]);\n"
    "            else if constexpr (std::is_same_v<E, __half> || std::is_same_v<E, __nv_bfloat16>)\n"
    "                std::printf(\" %.9g\", (double)(float)values[i]);\n"
    "        }\n"
    "        std::printf(count > 8 ? \" ...\\n\" : \"\\n\");\n"
    "    }\n"
    "};\n";

/* Philox4x32-10 as %buffer draws it. Source: Salmon, Moraes, Dror, Shaw (SC'11). */
static const char RANDOM[] =
    "\n"
    "// Philox4x32-10: element e of a seed is the same number everywhere.\n"
    "struct wb_words {\n"
    "    uint32_t w[4];\n"
    "};\n"
    "static inline wb_words wb_philox(uint64_t seed, uint64_t e, uint32_t lane)\n"
    "{\n"
    "    uint32_t c[4] = { (uint32_t)e, (uint32_t)(e >> 32), lane, 0 };\n"
    "    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);\n"
    "    for (int round = 0; round < 10; round++) {\n"
    "        uint64_t a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];\n"
    "        uint32_t n[4] = { (uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,\n"
    "                          (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a };\n"
    "        for (int i = 0; i < 4; i++)\n"
    "            c[i] = n[i];\n"
    "        k0 += 0x9E3779B9u;\n"
    "        k1 += 0xBB67AE85u;\n"
    "    }\n"
    "    return { { c[0], c[1], c[2], c[3] } };\n"
    "}\n"
    "static inline double wb_uniform(uint64_t seed, uint64_t e, uint32_t lane, bool wide)\n"
    "{\n"
    "    wb_words r = wb_philox(seed, e, lane);\n"
    "    return wide ? (double)(((uint64_t)r.w[0] << 32 | r.w[1]) >> 11) * 0x1p-53\n"
    "                : (double)(r.w[0] >> 8) * 0x1p-24;\n"
    "}\n"
    "static inline double wb_normal(uint64_t seed, uint64_t e, uint32_t lane)\n"
    "{\n"
    "    wb_words r = wb_philox(seed, e, lane);\n"
    "    return std::sqrt(-2 * std::log((r.w[0] + 0.5) * 0x1p-32)) *\n"
    "           std::cos(6.283185307179586 * (r.w[1] * 0x1p-32));\n"
    "}\n"
    "static inline uint64_t wb_bits(uint64_t seed, uint64_t e, uint32_t lane)\n"
    "{\n"
    "    wb_words r = wb_philox(seed, e, lane);\n"
    "    return (uint64_t)r.w[1] << 32 | r.w[0];\n"
    "}\n"
    "static inline int64_t wb_between(uint64_t seed, uint64_t e, uint32_t lane, int64_t lo, int64_t hi)\n"
    "{\n"
    "    uint64_t width = (uint64_t)hi - (uint64_t)lo + 1, bits = wb_bits(seed, e, lane);\n"
    "    return width ? (int64_t)((uint64_t)lo + (uint64_t)(((unsigned __int128)bits * width) >> 64))\n"
    "                 : (int64_t)bits;\n"
    "}\n";

static const char READ[] =
    "\n"
    "static inline void wb_read(const char *path, long skip, void *to, size_t bytes)\n"
    "{\n"
    "    FILE *file = std::fopen(path, \"rb\");\n"
    "    if (!file || std::fseek(file, skip, SEEK_SET) || std::fread(to, 1, bytes, file) != bytes) {\n"
    "        std::fprintf(stderr, \"%s cannot be read\\n\", path);\n"
    "        std::exit(1);\n"
    "    }\n"
    "    std::fclose(file);\n"
    "}\n";

static bool mentions(const struct export_log *log, const char *word)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->events[i].code && strstr(log->events[i].code, word))
            return true;
    return false;
}

static int put_definitions(struct session *session, struct buf *out, size_t *count, struct err *err)
{
    const struct cuda_items *items = &session->cuda->items;
    bool *is_root = calloc(items->count + 1, sizeof(*is_root));
    int rc;

    if (!is_root)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < items->count; i++) {
        is_root[i] = items->list[i].kind != ITEM_HOST;
        *count += is_root[i] && items->list[i].name_count > 0;
    }
    rc = cuda_extract(items, is_root, out, err);
    free(is_root);
    return rc;
}

/* A variable of that name and type stands already: memory of the same length is used again. */
static const struct event *declared(const struct export_log *log, size_t before, const char *name)
{
    for (size_t i = before; i > 0; i--)
        if (log->events[i - 1].kind == EVENT_BUFFER && !log->events[i - 1].is_symbol &&
            strcmp(log->events[i - 1].name, name) == 0)
            return &log->events[i - 1];
    return NULL;
}

static void put_fill(const struct event *e, struct buf *out)
{
    if (e->note)
        buf_printf(out, "    // Not exported: its first values, = %.200s; they are zeros here.\n",
                   e->note);
    if (e->is_device) {
        buf_puts(out, e->code);
        return;
    }
    if (!e->code && !e->note)
        return;
    buf_printf(out, "    {\n        std::unique_ptr<%s[]> host(new %s[%lld]());\n", e->type,
               e->type, (long long)e->count);
    buf_puts(out, e->code ? e->code : "");
    if (e->is_symbol)
        buf_printf(out,
                   "        WB_CHECK(cudaMemcpyToSymbol(%s, host.get(), %lld * sizeof(%s)));\n",
                   e->name, (long long)e->count, e->type);
    else
        buf_printf(out, "        %s.put(host.get());\n", e->name);
    buf_puts(out, "    }\n");
}

/* A buffer of another type or length shadows the old one in a block of its own. */
static void put_buffer(const struct export_log *log, size_t i, int *blocks, struct buf *out)
{
    const struct event *e = &log->events[i], *old = declared(log, i, e->name);
    bool is_same = old && strcmp(old->type, e->type) == 0 && old->count == e->count;

    if (e->is_symbol) {
        put_fill(e, out);
        return;
    }
    if (is_same && !e->is_device && (!e->code || !strstr(e->code, "_host"))) {
        put_fill(e, out);
        return;
    }
    if (old) {
        buf_puts(out, "    {\n");
        ++*blocks;
        /* Its first values may be those of the one that it replaces. */
        buf_printf(out, "    auto &wb_old_%s = %s;\n    (void)wb_old_%s;\n", e->name, e->name,
                   e->name);
    }
    buf_printf(out, "    wb_buffer<%s> %s(%lld);\n", e->type, e->name, (long long)e->count);
    put_fill(e, out);
}

/* x_host = x.host() in the first values of a new x means the old x. */
static char *with_old_name(const char *code, const char *name)
{
    struct buf out = { 0 };
    char fetch[160], copy[160];
    const char *at = code, *hit;

    snprintf(fetch, sizeof(fetch), "= %.60s.host()", name);
    snprintf(copy, sizeof(copy), ", %.60s.p + ", name);
    while (*at) {
        const char *a = strstr(at, fetch), *b = strstr(at, copy);

        hit = a && (!b || a < b) ? a : b;
        if (!hit)
            break;
        buf_put(&out, at, (size_t)(hit - at) + 2);
        buf_puts(&out, "wb_old_");
        at = hit + 2;
    }
    buf_puts(&out, at);
    return buf_take(&out);
}

static void put_events(const struct export_log *log, struct export_count *count, struct buf *out)
{
    int blocks = 0, cell = -1;

    for (size_t i = 0; i < log->count; i++) {
        struct event *e = &log->events[i];

        if (e->cell != cell)
            buf_printf(out, "%s    // In[%d]\n", i ? "\n" : "", e->cell);
        cell = e->cell;
        if (e->kind == EVENT_LAUNCH) {
            buf_printf(out,
                       "    %s;\n    WB_CHECK(cudaGetLastError());\n"
                       "    WB_CHECK(cudaDeviceSynchronize());\n",
                       e->code);
            count->launches++;
            continue;
        }
        if (e->code && declared(log, i, e->name)) {
            char *again = with_old_name(e->code, e->name);

            if (again) {
                free(e->code);
                e->code = again;
            }
        }
        put_buffer(log, i, &blocks, out);
        count->buffers++;
    }
    buf_puts(out, log->count ? "\n" : "");
    for (size_t i = 0; i < log->count; i++) {
        const struct event *e = &log->events[i];

        if (e->kind == EVENT_BUFFER && !e->is_symbol && declared(log, log->count, e->name) == e)
            buf_printf(out, "    %s.show(\"%s\");\n", e->name, e->name);
    }
    for (; blocks > 0; blocks--)
        buf_puts(out, "    }\n");
}

int export_program(struct session *session, struct buf *out, struct export_count *count,
                   struct err *err)
{
    const struct export_log *log = session->exports;

    *count = (struct export_count){ .forgotten = log->forgotten };
    buf_printf(out,
               "// A session of Warpbook %s: its definitions, buffers and launches.\n"
               "// nvcc -arch=native -o program FILE.cu\n",
               WARPBOOK_VERSION);
    if (log->forgotten)
        buf_printf(out, "// The first %zu buffers and launches are not in it.\n", log->forgotten);
    buf_puts(out, PRELUDE);
    buf_puts(out, "\n");
    if (put_definitions(session, out, &count->definitions, err) < 0)
        return -1;
    buf_puts(out, "\n");
    buf_puts(out, SUPPORT);
    if (mentions(log, "wb_uniform(") || mentions(log, "wb_normal(") || mentions(log, "wb_bits(") ||
        mentions(log, "wb_between("))
        buf_puts(out, RANDOM);
    if (mentions(log, "wb_read("))
        buf_puts(out, READ);
    buf_puts(out, "\nint main()\n{\n");
    put_events(log, count, out);
    buf_puts(out, "    return 0;\n}\n");
    return out->is_failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}
