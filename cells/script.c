/*
 * Each format is one row: what to do before the first cell, with each cell's
 * outputs, and after the last. Text alone is written while the cell runs.
 */
#include "cells/script.h"

#include "cells/cell_outputs.h"
#include "cells/file.h"
#include "cells/json_text.h"
#include "cells/page.h"
#include "cells/session.h"
#include "cells/text_sink.h"
#include "cells/watch.h"

#include <getopt.h>
#include <stdio.h>

const char SCRIPT_HELP[] =
    "usage: warpbook cell FILE|- [--format text|json|html] [--device D]\n"
    "\n"
    "Runs the cells of a file; lines that hold just %% separate them. A failing cell does\n"
    "not stop the next one.\n"
    "  --format text   what a reader without a browser sees (default)\n"
    "  --format json   one line a cell: {\"status\": \"ok\" or \"error\", \"outputs\": [...]}\n"
    "  --format html   one page that needs nothing else\n"
    "  --device D      the device to start on: L40S, cc=9.0, gpu, ...\n"
    "Exit status: 0, 1 when a cell failed, 2 for a wrong command line.\n";

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML };

struct script {
    enum format format;
    struct session *session;
    struct watch *watch;
    struct cell_outputs outputs;
};

/* ---- cells ---- */

/* True for `%%`, with blanks or a carriage return behind it. */
static bool is_separator(struct bytes line)
{
    if (line.size < 2 || memcmp(line.data, "%%", 2) != 0)
        return false;
    for (size_t i = 2; i < line.size; i++)
        if (!strchr(" \t\r", line.data[i]))
            return false;
    return true;
}

bool script_next_cell(struct bytes *rest, struct bytes *cell)
{
    size_t at = 0;

    if (!rest->data)
        return false;
    while (at < rest->size) {
        const char *start = rest->data + at;
        const char *newline = memchr(start, '\n', rest->size - at);
        size_t n = newline ? (size_t)(newline - start) : rest->size - at;

        if (is_separator((struct bytes){ start, n })) {
            *cell = (struct bytes){ rest->data, at };
            at += n + (newline != NULL);
            *rest = (struct bytes){ rest->data + at, rest->size - at };
            return true;
        }
        at += n + (newline != NULL);
    }
    *cell = *rest;
    *rest = (struct bytes){ NULL, 0 };
    return true;
}

/* ---- formats ---- */

static int put(struct buf *text, struct err *err)
{
    int rc = text->is_failed ? err_set(err, ERR_ResourceError, "out of memory") : 0;

    if (rc == 0 && (fwrite(text->data, 1, text->size, stdout) != text->size || fflush(stdout) != 0))
        rc = err_set(err, ERR_FileError, "standard output cannot be written");
    buf_done(text);
    return rc;
}

static int show(enum format format, struct bytes code, int status, json_t *outputs, struct err *err)
{
    struct buf text = { 0 };
    json_t *line;

    if (format == FORMAT_HTML) {
        page_cell(code, outputs, &text);
    } else {
        line = json_pack("{s:s, s:O}", "status", status == 0 ? "ok" : "error", "outputs", outputs);
        if (!line)
            return err_set(err, ERR_ResourceError, "out of memory");
        json_text(line, JSON_TEXT_LINE, &text);
        buf_putc(&text, '\n');
        json_decref(line);
    }
    return put(&text, err);
}

static int page_edge(enum format format, void (*edge)(struct buf *), struct err *err)
{
    struct buf text = { 0 };

    if (format != FORMAT_HTML)
        return 0;
    edge(&text);
    return put(&text, err);
}

/* ---- running ---- */

/* Returns 0, 1 when the cell failed, or -1 when nothing more should run. */
static int run_cell(struct script *s, struct bytes code, struct err *err)
{
    struct text_sink plain;
    json_t *outputs;
    int status, rc = 0;

    text_sink_init(&plain, stdout, stderr);
    cell_outputs_begin(&s->outputs, session_run_count(s->session) + 1);
    watch_begin(s->watch, 0);
    status = session_run_cell(s->session, code, &(struct cell_options){ 0 },
                              s->format == FORMAT_TEXT ? &plain.sink : &s->outputs.sink, NULL);
    if (watch_end(s->watch) == WATCH_SIGNAL)
        rc = err_set(err, ERR_Interrupted, "interrupted");
    if (text_sink_end(&plain, err) < 0)
        rc = -1;
    if (s->format == FORMAT_TEXT)
        return rc < 0 ? rc : status < 0;
    if (cell_outputs_end(&s->outputs, &outputs, err) < 0)
        return -1;
    if (show(s->format, code, status, outputs, err) < 0)
        rc = -1;
    json_decref(outputs);
    return rc < 0 ? rc : status < 0;
}

static int run_all(struct script *s, struct bytes rest, struct err *err)
{
    struct bytes code;
    int failed = 0;

    if (page_edge(s->format, page_begin, err) < 0)
        return -1;
    while (script_next_cell(&rest, &code)) {
        int rc = run_cell(s, code, err);

        if (rc < 0)
            return -1;
        failed |= rc;
    }
    return page_edge(s->format, page_end, err) < 0 ? -1 : failed;
}

static int run_script(const char *path, enum format format, const char *device)
{
    struct script s = { .format = format };
    struct session_options options = { .device = device };
    struct buf text = { 0 };
    struct err err = { 0 };
    int status = 2;

    if (file_read(path, &text, &err) < 0 || session_new(&options, &s.session, &err) < 0)
        goto out;
    if (watch_new(s.session, &s.watch, &err) < 0 || cell_outputs_init(&s.outputs, &err) < 0)
        goto out;
    status = run_all(&s, (struct bytes){ buf_text(&text), text.size }, &err);
    if (status < 0)
        status = 1;
out:
    if (err.name)
        fprintf(stderr, "warpbook cell: %s%s%s\n", err.text, *err.next ? "; " : "", err.next);
    err_done(&err);
    cell_outputs_done(&s.outputs);
    watch_free(&s.watch);
    session_free(&s.session);
    buf_done(&text);
    return status;
}

/* ---- the command line ---- */

static int format_of(const char *name, enum format *out)
{
    static const char *const names[] = { "text", "json", "html" };

    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *out = (enum format)i;
        return 0;
    }
    fprintf(stderr, "warpbook cell: --format %s: text, json or html\n", name);
    return -1;
}

int script_main(int argc, char **argv)
{
    static const struct option options[] = {
        { "format", required_argument, NULL, 'f' },
        { "device", required_argument, NULL, 'd' },
        { 0 },
    };
    enum format format = FORMAT_TEXT;
    const char *device = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option != 'f' || format_of(optarg, &format) < 0)
            return 2;
    }
    if (optind + 1 != argc) {
        fputs(SCRIPT_HELP, stderr);
        return 2;
    }
    return run_script(argv[optind], format, device);
}
