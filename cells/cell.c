/*
 * A cell runs like a list of statements: CUDA C is compiled when the next line
 * of ours is reached, so that a magic below a kernel can use it. The first
 * error ends the cell, and unsets what the lines behind it would have set.
 */
#include "cells/cell.h"

#include "cells/characters.h"
#include "cells/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_NESTED = 8 };

/*
 * A segment has memory of its own, so that a cell of a million lines needs no more than its longest
 * one. What outlives it is in the session or in err.
 */
static int run_apart(struct cell *cell, const struct segment *segment, struct err *err)
{
    struct cell inner = *cell;
    int rc;

    inner.arena = arena_new(CELL_MEMORY_LIMIT);
    if (!inner.arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    cell->session->cell = &inner;
    rc = cell_run_segment(&inner, segment, err);
    cell->session->cell = cell;
    arena_free(&inner.arena);
    return rc;
}

/* Runs lines that belong to the running cell (the body of %%for) up to the first error. */
static int cell_run_lines(struct cell *cell, struct source source, struct err *err)
{
    struct segmenter segmenter;
    struct segment segment;
    bool found;
    int rc = 0;

    if (segmenter_init(&segmenter, source, cell->arena, err) < 0)
        return -1;
    while (rc == 0) {
        if (session_check_stop(cell->session, err) < 0 ||
            segmenter_next(&segmenter, &segment, &found, err) < 0)
            return -1;
        if (!found)
            return 0;
        rc = run_apart(cell, &segment, err);
    }
    while (segmenter_next(&segmenter, &segment, &found, NULL) == 0 && found)
        cell_forget_segment(cell, &segment);
    return rc;
}

int cell_run_body(struct cell *cell, struct source source, struct err *err)
{
    struct cell inner = *cell;
    int rc;

    if (++inner.depth > MAX_NESTED)
        return err_set(err, ERR_UsageError, "cell magics nest at most %d deep", MAX_NESTED);
    inner.arena = arena_new(CELL_MEMORY_LIMIT);
    if (!inner.arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    cell->session->cell = &inner;
    rc = cell_run_lines(&inner, source, err);
    cell->session->cell = cell;
    arena_free(&inner.arena);
    return rc;
}

/* What failed but is no check: later checks show what it cost. */
static int note_failed_line(struct cell *cell, const struct segment *segment, struct err *err)
{
    struct bytes line = segment->text.text;
    struct err add = { 0 };
    const char *label, *remark;

    if (err->name == ERR_Interrupted || err->name == ERR_ResourceError)
        return -1;
    label = text_show(cell->arena, line, 40);
    remark = arena_printf(cell->arena, "%s: %s", err_spelling(err->name), err->text);
    err_done(err);
    if (grading_add(cell->grading, label, 0, 0, remark ? remark : "", &add) == 0)
        return 0;
    *err = add;
    return -1;
}

int cell_run_graded(struct cell *cell, struct source source, struct err *err)
{
    struct segmenter segmenter;
    struct segment segment;
    bool found;

    if (segmenter_init(&segmenter, source, cell->arena, err) < 0)
        return -1;
    for (;;) {
        if (session_check_stop(cell->session, err) < 0 ||
            segmenter_next(&segmenter, &segment, &found, err) < 0)
            return -1;
        if (!found)
            return 0;
        if (run_apart(cell, &segment, err) < 0 && note_failed_line(cell, &segment, err) < 0)
            return -1;
    }
}

/* ---- one whole cell ---- */

/* Everything behind this may rely on UTF-8 without NUL, and so may every front end's JSON. */
static int check_text(struct bytes code, struct err *err)
{
    int line = 1;
    size_t start = 0, n;

    for (size_t at = 0; at < code.size; at += n) {
        n = character_size((struct bytes){ code.data + at, code.size - at }, NULL);
        if (n == 0 || code.data[at] == '\0') {
            err_set(err, ERR_SyntaxError,
                    n ? "a NUL byte (0x%02X) is in the cell" : "byte 0x%02X is not UTF-8",
                    (unsigned char)code.data[at]);
            return err_at(err, line, (int)(at - start) + 1, 1);
        }
        if (code.data[at] == '\n') {
            line++;
            start = at + 1;
        }
    }
    return 0;
}

static void begin_run(struct session *session)
{
    uint64_t drained;
    ssize_t n;

    atomic_store(&session->stop, false);
    n = read(session->stop_fd, &drained, sizeof(drained));
    (void)n; /* nothing to read is the usual case */
    atomic_store(&session->is_running, true);
}

static void end_run(struct session *session)
{
    atomic_store(&session->is_running, false);
    session->cell = NULL;
    workers_reap(session->workers);
}

static void report_error(struct session *session, struct err *err, struct bytes code,
                         struct sink *sink, struct error_report *report)
{
    struct error_report made;

    if (report_make(err, code, session->run_count, &made) < 0)
        return;
    if (sink && sink->error)
        sink->error(sink, &made);
    if (report)
        *report = made;
    else
        report_done(&made);
}

int session_run_cell(struct session *session, struct bytes code, const struct cell_options *options,
                     struct sink *sink, struct error_report *report)
{
    static struct sink silent;
    struct err err = { 0 };
    struct cell cell = { .session = session,
                         .sink = options && options->is_silent ? &silent : sink,
                         .code = code,
                         .allow_stdin = options && options->allow_stdin,
                         .arena = arena_new(CELL_MEMORY_LIMIT) };
    int rc = -1;

    /* A byte order mark, as editors on Windows leave it, is no text. */
    if (code.size >= 3 && memcmp(code.data, "\xEF\xBB\xBF", 3) == 0)
        cell.code = code = (struct bytes){ code.data + 3, code.size - 3 };
    if (report)
        *report = (struct error_report){ 0 };
    begin_run(session);
    session->run_count++;
    session->cell = &cell;
    if (!cell.arena)
        err_set(&err, ERR_ResourceError, "out of memory");
    else if (check_text(code, &err) == 0)
        rc = cell_run_lines(&cell, (struct source){ code, 1, 1 }, &err);
    if (rc < 0)
        report_error(session, &err, code, cell.sink, report);
    end_run(session);
    err_done(&err);
    arena_free(&cell.arena);
    return rc;
}
