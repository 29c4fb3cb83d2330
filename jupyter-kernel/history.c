/*
 * The file is read only when somebody asks, and only its last part: a kernel
 * starts without touching it and holds none of it in memory. A line that is
 * torn (a machine that lost power) is skipped when read, and closed by a
 * newline before the next is appended.
 */
#include "jupyter-kernel/history.h"

#include "jupyter-kernel/files.h"
#include "jupyter-kernel/log.h"
#include "model/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_LIMIT = 4 << 20,  /* bytes of the file's end that queries see */
    LOCK_TRIES = 50,       /* 5 ms apart */
    INPUT_LIMIT = 1 << 20, /* a longer cell is not worth recalling */
};

struct entry {
    int64_t session, line;
    json_t *input;  /* string */
    json_t *output; /* string, or NULL */
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

struct history {
    char *path;      /* NULL: memory only */
    int64_t session; /* 0: no number was claimed yet */
    struct entries own;
};

/* ---- entries ---- */

/* Takes the references, also on failure. */
static int take_entry(struct entries *list, int64_t session, int64_t line, json_t *input,
                      json_t *output)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        struct entry *items = realloc(list->items, capacity * sizeof(*items));

        if (!items) {
            json_decref(input);
            json_decref(output);
            return -1;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (struct entry){ session, line, input, output };
    return 0;
}

static void entries_done(struct entries *list)
{
    for (size_t i = 0; i < list->count; i++) {
        json_decref(list->items[i].input);
        json_decref(list->items[i].output);
    }
    free(list->items);
    *list = (struct entries){ 0 };
}

/* An output belongs to the latest input with the same session and line. */
static void set_output(struct entries *list, int64_t session, int64_t line, json_t *output)
{
    for (size_t i = list->count; i > 0; i--) {
        struct entry *entry = &list->items[i - 1];

        if (entry->session == session && entry->line == line) {
            json_decref(entry->output);
            entry->output = json_incref(output);
            return;
        }
    }
}

/* ---- the file ---- */

/* The end of the file, whole lines. malloc'ed; *size 0 when there is nothing. */
static char *read_end(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t from = end > READ_LIMIT ? end - READ_LIMIT : 0;
    char *text = NULL;
    ssize_t got = 0;

    *size = 0;
    if (end > 0)
        text = malloc((size_t)(end - from));
    if (text)
        got = pread(fd, text, (size_t)(end - from), from);
    if (fd >= 0)
        close(fd);
    if (got > 0)
        *size = (size_t)got;
    if (from > 0 && *size) {
        /* The first line is cut. */
        char *newline = memchr(text, '\n', *size);
        size_t cut = newline ? (size_t)(newline + 1 - text) : *size;

        memmove(text, text + cut, *size - cut);
        *size -= cut;
    }
    return text;
}

static void parse_line(const char *line, size_t n, struct entries *list)
{
    json_t *json = json_loadb(line, n, JSON_ALLOW_NUL, NULL);
    json_t *input = json_object_get(json, "input");
    json_t *output = json_object_get(json, "output");
    int64_t session = json_integer_value(json_object_get(json, "session"));
    int64_t number = json_integer_value(json_object_get(json, "line"));

    if (json_is_string(input))
        (void)!take_entry(list, session, number, json_incref(input), NULL);
    else if (json_is_string(output))
        set_output(list, session, number, output);
    json_decref(json);
}

/* Every entry of the file that is not of this session. */
static void load_others(const struct history *history, struct entries *list)
{
    size_t size, at = 0, kept = 0;
    char *text = history->path ? read_end(history->path, &size) : NULL;

    if (!text)
        return;
    while (at < size) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t n = newline ? (size_t)(newline - (text + at)) : size - at;

        parse_line(text + at, n, list);
        at += n + 1;
    }
    free(text);
    for (size_t i = 0; i < list->count; i++) {
        if (history->session && list->items[i].session == history->session) {
            json_decref(list->items[i].input);
            json_decref(list->items[i].output);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

static int64_t last_session(const struct entries *list)
{
    int64_t last = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].session > last)
            last = list->items[i].session;
    return last;
}

/* Never waits long: a hung process must not hang the cells of others. */
static int lock_file(int fd)
{
    struct timespec pause = { 0, 5000000 };

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1;
        nanosleep(&pause, NULL);
    }
    return -1;
}

static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 && errno == ENOENT && files_make_parents(path, 0700) == 0)
        fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && (fchmod(fd, 0600) < 0 || lock_file(fd) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* One write a record, so that a reader without lock never sees half of one. */
static int append(int fd, json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT);
    off_t end = lseek(fd, 0, SEEK_END);
    char last = '\n';
    struct buf line = { 0 };
    int rc = -1;

    if (!text)
        return -1;
    if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
        buf_putc(&line, '\n');
    buf_puts(&line, text);
    buf_putc(&line, '\n');
    if (!line.is_failed && write(fd, line.data, line.size) == (ssize_t)line.size)
        rc = 0;
    buf_done(&line);
    free(text);
    return rc;
}

static void drop_file(struct history *history)
{
    log_line("history %s: %s; history is kept in memory only", history->path, strerror(errno));
    free(history->path);
    history->path = NULL;
}

/* The session's number is claimed by its first record, under the lock. */
static void claim_session(struct history *history)
{
    struct entries others = { 0 };

    if (history->session)
        return;
    load_others(history, &others);
    history->session = last_session(&others) + 1;
    entries_done(&others);
    for (size_t i = 0; i < history->own.count; i++)
        history->own.items[i].session = history->session;
}

static void store(struct history *history, int64_t line, const char *name, json_t *text)
{
    int fd = history->path ? open_locked(history->path) : -1;
    json_t *record;

    if (history->path && fd < 0)
        drop_file(history);
    claim_session(history);
    if (fd < 0)
        return;
    record = json_pack("{s:I, s:I, s:O}", "session", (json_int_t)history->session, "line",
                       (json_int_t)line, name, text);
    if (!record || append(fd, record) < 0)
        drop_file(history);
    json_decref(record);
    close(fd);
}

/* ---- public ---- */

int history_new(const char *path, struct history **out, struct err *err)
{
    struct history *history = calloc(1, sizeof(*history));

    if (history && path) {
        history->path = strdup(path);
        if (!history->path)
            history_free(&history);
    }
    if (!history)
        return err_set(err, ERR_ResourceError, "out of memory");
    *out = history;
    return 0;
}

void history_free(struct history **history)
{
    if (!*history)
        return;
    entries_done(&(*history)->own);
    free((*history)->path);
    free(*history);
    *history = NULL;
}

char *history_default_path(void)
{
    const char *asked = getenv("WARPBOOK_HISTORY");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    struct buf path = { 0 };

    if (asked && (asked[0] == '\0' || strcmp(asked, "off") == 0))
        return NULL;
    if (asked)
        buf_puts(&path, asked);
    else if (data && data[0] == '/')
        buf_printf(&path, "%s/warpbook/history.jsonl", data);
    else if (home && home[0] == '/')
        buf_printf(&path, "%s/.local/share/warpbook/history.jsonl", home);
    else
        return NULL;
    return buf_take(&path);
}

void history_add_input(struct history *history, int64_t line, struct bytes input)
{
    json_t *text;

    if (input.size > INPUT_LIMIT)
        return;
    text = json_stringn(input.data, input.size);
    if (!text)
        return;
    store(history, line, "input", text);
    (void)!take_entry(&history->own, history->session, line, text, NULL);
}

void history_add_output(struct history *history, int64_t line, const char *output)
{
    json_t *text = json_string(output);

    if (!text)
        return;
    store(history, line, "output", text);
    set_output(&history->own, history->session, line, text);
    json_decref(text);
}

/* ---- queries ---- */

static json_t *entry_json(const struct entry *entry, bool has_output)
{
    json_int_t session = (json_int_t)entry->session, line = (json_int_t)entry->line;

    if (!has_output)
        return json_pack("[I, I, O]", session, line, entry->input);
    return json_pack("[I, I, [O, O?]]", session, line, entry->input, entry->output);
}

/* Those from index first on for which keep is set (NULL: all). */
static json_t *entries_json(const struct entries *list, size_t first, const bool *keep,
                            bool has_output)
{
    json_t *json = json_array();

    for (size_t i = first; json && i < list->count; i++) {
        if (keep && !keep[i])
            continue;
        if (json_array_append_new(json, entry_json(&list->items[i], has_output)) < 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

/* The file's entries, then this session's. */
static void load_all(const struct history *history, struct entries *list)
{
    load_others(history, list);
    for (size_t i = 0; i < history->own.count; i++) {
        const struct entry *own = &history->own.items[i];

        (void)!take_entry(list, own->session, own->line, json_incref(own->input),
                          json_incref(own->output));
    }
}

json_t *history_tail(struct history *history, int64_t n, bool has_output)
{
    struct entries all = { 0 };
    size_t first;
    json_t *json;

    load_all(history, &all);
    first = n < 0 ? 0 : (uint64_t)n < all.count ? all.count - (size_t)n : 0;
    json = entries_json(&all, first, NULL, has_output);
    entries_done(&all);
    return json;
}

json_t *history_range(struct history *history, int64_t session, int64_t start, int64_t stop,
                      bool has_output)
{
    struct entries all = { 0 };
    bool *keep;
    json_t *json = NULL;

    load_all(history, &all);
    if (session <= 0)
        session += history->session ? history->session : last_session(&all) + 1;
    keep = calloc(all.count + 1, sizeof(*keep));
    for (size_t i = 0; keep && i < all.count; i++)
        keep[i] = all.items[i].session == session && all.items[i].line >= start &&
                  (stop <= 0 || all.items[i].line < stop);
    if (keep)
        json = entries_json(&all, 0, keep, has_output);
    free(keep);
    entries_done(&all);
    return json;
}

static size_t step(struct bytes text, size_t at)
{
    for (at++; at < text.size && ((unsigned char)text.data[at] & 0xC0) == 0x80;)
        at++;
    return at;
}

/* On a mismatch only the last '*' needs to take one more character: linear memory, no recursion. */
static bool matches(struct bytes glob, struct bytes text)
{
    size_t g = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.size) {
        if (g < glob.size && glob.data[g] == '*') {
            star = g++;
            mark = t;
        } else if (g < glob.size && glob.data[g] == '?') {
            g++;
            t = step(text, t);
        } else if (g < glob.size && glob.data[g] == text.data[t]) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = mark = step(text, mark);
        } else {
            return false;
        }
    }
    while (g < glob.size && glob.data[g] == '*')
        g++;
    return g == glob.size;
}

/* Of equal inputs the latest stays. seen: a set of the inputs met so far, from the end. */
static bool is_repeated(json_t *seen, const struct entry *entry)
{
    const char *text = json_string_value(entry->input);

    if (json_object_get(seen, text))
        return true;
    json_object_set_new(seen, text, json_true());
    return false;
}

json_t *history_search(struct history *history, struct bytes pattern, int64_t n, bool is_unique,
                       bool has_output)
{
    struct entries all = { 0 };
    json_t *seen = json_object();
    json_t *json = NULL;
    bool *keep;
    int64_t left = n > 0 ? n : INT64_MAX;

    load_all(history, &all);
    keep = calloc(all.count + 1, sizeof(*keep));
    for (size_t i = all.count; keep && i > 0 && left > 0; i--) {
        const struct entry *entry = &all.items[i - 1];
        struct bytes text = { json_string_value(entry->input), json_string_length(entry->input) };

        if (!matches(pattern, text) || (is_unique && is_repeated(seen, entry)))
            continue;
        keep[i - 1] = true;
        left--;
    }
    if (keep)
        json = entries_json(&all, 0, keep, has_output);
    free(keep);
    json_decref(seen);
    entries_done(&all);
    return json;
}
