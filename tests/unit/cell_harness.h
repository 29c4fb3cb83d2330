/*
 * A session and a sink that remembers, for tests that run cells.
 */
#ifndef WB_TESTS_CELL_HARNESS_H
#define WB_TESTS_CELL_HARNESS_H

#include "cells/render/text.h"
#include "cells/session.h"
#include "kernels/child.h"
#include "model/base/buf.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A session's children are its own program, started again as `NAME child KIND`. A test that ran its
 * tests then would start children of its own, and these theirs, without end.
 */
__attribute__((constructor)) static void harness_be_child(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        exit(child_main(argc - 1, argv + 1));
}

struct harness {
    struct sink sink; /* first: the functions cast back */
    struct session *session;
    struct buf out, errs, display, payload, result;
    struct buf drawn; /* every SVG, and every HTML */
    struct error_report report;
    int clears;
    const char *answer; /* what %input gets; NULL: nobody answers */
};

static inline struct harness *harness_of(struct sink *sink)
{
    return (struct harness *)(void *)sink;
}

static inline void harness_stream(struct sink *sink, enum stream_name name, const char *text,
                                  size_t n)
{
    buf_put(name == STREAM_STDERR ? &harness_of(sink)->errs : &harness_of(sink)->out, text, n);
}

static inline void harness_put(struct buf *b, json_t *data)
{
    const char *text = json_string_value(json_object_get(data, "text/plain"));

    buf_puts(b, text ? text : "?");
    buf_putc(b, '\n');
}

static inline void harness_display(struct sink *sink, json_t *data, json_t *metadata,
                                   const char *display_id, bool is_update)
{
    static const char *const types[] = { "image/svg+xml", "text/html" };

    (void)metadata;
    (void)display_id;
    (void)is_update;
    harness_put(&harness_of(sink)->display, data);
    for (size_t i = 0; i < COUNT(types); i++) {
        const char *text = json_string_value(json_object_get(data, types[i]));

        buf_puts(&harness_of(sink)->drawn, text ? text : "");
    }
}

static inline void harness_result(struct sink *sink, json_t *data, json_t *metadata)
{
    (void)metadata;
    harness_put(&harness_of(sink)->result, data);
}

static inline void harness_clear(struct sink *sink, bool wait)
{
    (void)wait;
    harness_of(sink)->clears++;
}

static inline void harness_payload(struct sink *sink, json_t *payload)
{
    harness_put(&harness_of(sink)->payload, json_object_get(payload, "data"));
}

static inline int harness_input(struct sink *sink, const char *prompt, bool is_password,
                                char **reply, struct err *err)
{
    (void)is_password;
    buf_puts(&harness_of(sink)->out, prompt);
    if (!harness_of(sink)->answer)
        return err_set(err, ERR_UsageError, "nobody can answer here");
    *reply = strdup(harness_of(sink)->answer);
    return *reply ? 0 : -1;
}

static inline void harness_clean(struct harness *h)
{
    report_done(&h->report);
    buf_cut(&h->out, 0);
    buf_cut(&h->errs, 0);
    buf_cut(&h->display, 0);
    buf_cut(&h->drawn, 0);
    buf_cut(&h->payload, 0);
    buf_cut(&h->result, 0);
}

/* Runs bytes as a cell; outputs and report are in h afterwards. */
static inline int harness_run_bytes(struct harness *h, const char *data, size_t n)
{
    struct cell_options options = { .allow_stdin = true };

    harness_clean(h);
    return session_run_cell(h->session, (struct bytes){ data, n }, &options, &h->sink, &h->report);
}

static inline int harness_run(struct harness *h, const char *code)
{
    return harness_run_bytes(h, code, strlen(code));
}

static inline void harness_print_report(const struct harness *h)
{
    for (size_t i = 0; i < h->report.traceback_lines; i++)
        print_message("    %s\n", h->report.traceback[i]);
}

/* The part of the cell that the report's carets underline; "" without any. */
static inline const char *harness_caret(const struct harness *h, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 1; i < h->report.traceback_lines; i++) {
        const char *code = h->report.traceback[i - 1], *line = h->report.traceback[i];
        size_t at = strspn(line, " "), n = strspn(line + at, "^");

        if (n && strlen(code) >= at)
            snprintf(out, size, "%.*s", (int)n, code + at);
        if (n)
            break;
    }
    return out;
}

static inline int harness_set_up(void **state)
{
    struct harness *h = calloc(1, sizeof(*h));
    struct session_options options = { .device = "L40S" };
    struct err err = { 0 };

    if (!h)
        return -1;
    h->sink = (struct sink){ harness_stream, harness_display, harness_result, NULL,
                             harness_clear,  harness_payload, harness_input };
    if (session_new(&options, &h->session, &err) < 0) {
        print_error("%s\n", err.text);
        free(h);
        return -1;
    }
    *state = h;
    return 0;
}

static inline int harness_tear_down(void **state)
{
    struct harness *h = *state;

    session_free(&h->session);
    report_done(&h->report);
    buf_done(&h->out);
    buf_done(&h->errs);
    buf_done(&h->display);
    buf_done(&h->drawn);
    buf_done(&h->payload);
    buf_done(&h->result);
    free(h);
    return 0;
}

/* Fails with the traceback when the cell does not run; compares stdout. */
#define assert_prints(h, code, expected)                                                           \
    do {                                                                                           \
        int rc_ = harness_run(h, code);                                                            \
        if (rc_ < 0)                                                                               \
            harness_print_report(h);                                                               \
        assert_int_equal(rc_, 0);                                                                  \
        assert_string_equal(buf_text(&(h)->out), expected);                                        \
    } while (0)

#define assert_fails(h, code, name, part)                                                          \
    do {                                                                                           \
        assert_int_equal(harness_run(h, code), -1);                                                \
        assert_string_equal((h)->report.ename, name);                                              \
        if (!strstr((h)->report.evalue, part))                                                     \
            assert_string_equal((h)->report.evalue, part);                                         \
    } while (0)

/* A cell and what it prints; a cell and how it fails, with a part of the sentence. */
struct harness_row {
    const char *code, *expected;
};

struct harness_failure {
    const char *code, *name, *part;
};

/* A cell and what its tables hold: `first` begins them, where it is given. */
struct harness_table {
    const char *code, *first, *texts[6];
};

static inline void harness_prints(struct harness *h, const struct harness_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (harness_run(h, rows[i].code) < 0 || strcmp(buf_text(&h->out), rows[i].expected) != 0) {
            print_message("  %s\n", rows[i].code);
            harness_print_report(h);
        }
        assert_string_equal(buf_text(&h->out), rows[i].expected);
    }
}

static inline void harness_fails(struct harness *h, const struct harness_failure *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int rc = harness_run(h, rows[i].code);

        if (rc != -1 || strcmp(h->report.ename, rows[i].name) ||
            !strstr(h->report.evalue, rows[i].part))
            print_message("  %s\n  %s: %s\n", rows[i].code, h->report.ename ? h->report.ename : "",
                          h->report.evalue ? h->report.evalue : "");
        assert_int_equal(rc, -1);
        assert_string_equal(h->report.ename, rows[i].name);
        assert_non_null(strstr(h->report.evalue, rows[i].part));
    }
}

/* A failure and the part of the cell that its carets mark. */
struct harness_mark {
    const char *code, *name, *part, *under;
};

static inline void harness_marks(struct harness *h, const struct harness_mark *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char marked[200];

        harness_fails(h, &(struct harness_failure){ rows[i].code, rows[i].name, rows[i].part }, 1);
        if (strcmp(harness_caret(h, marked, sizeof(marked)), rows[i].under) != 0)
            fail_msg("%s: carets under \"%s\"", rows[i].code, marked);
    }
}

static inline void harness_must_run(struct harness *h, const char *code)
{
    if (harness_run(h, code) < 0) {
        harness_print_report(h);
        fail_msg("%s", code);
    }
}

/* Cells that hold, checks and all, and whose tables are no wider than a notebook. */
static inline void harness_passes(struct harness *h, const char *const *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        harness_must_run(h, cells[i]);
        for (const char *line = buf_text(&h->display); *line;) {
            size_t size = strcspn(line, "\n");

            if (text_columns(line, size) > TEXT_COLUMNS)
                fail_msg("%s: %zu columns: %.*s", cells[i], text_columns(line, size), (int)size,
                         line);
            line += size + (line[size] == '\n');
        }
    }
}

static inline void harness_shows(struct harness *h, const struct harness_table *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *shown;

        harness_passes(h, &rows[i].code, 1);
        shown = buf_text(&h->display);
        if (rows[i].first && strncmp(shown, rows[i].first, strlen(rows[i].first)) != 0)
            fail_msg("%s begins with no \"%s\":\n%s", rows[i].code, rows[i].first, shown);
        for (size_t k = 0; k < COUNT(rows[i].texts) && rows[i].texts[k]; k++)
            if (!strstr(shown, rows[i].texts[k]))
                fail_msg("%s lacks \"%s\":\n%s", rows[i].code, rows[i].texts[k], shown);
    }
}

#endif
