/*
 * %source: the code behind a lesson, one of its kernels, or a definition of the
 * session, with line numbers; or put into the next cell, to be changed and run.
 */
#include "cells/cuda_source.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "kernels/experiment.h"
#include "kernels/lessons.h"

#include <stdio.h>
#include <stdlib.h>

/* What a name means: a text, the number of its first line, and where it comes from. */
struct found {
    struct bytes text;
    int line;
    const struct lesson *lesson; /* when it is one of its kernels */
    bool is_experiment;
    char origin[80];
};

static bool find_lesson(const char *name, struct found *out)
{
    const struct lesson *lesson = lesson_find(name);
    struct lesson_lines lines;

    if (lesson) {
        *out = (struct found){ .text = lesson->source(), .line = 1 };
        snprintf(out->origin, sizeof(out->origin), "kernels/%.40s.cu", lesson->name);
        return true;
    }
    for (size_t i = 0; i < LESSON_COUNT; i++) {
        if (!lesson_rung(&LESSONS[i], name) || !lesson_lines_of(&LESSONS[i], name, &lines))
            continue;
        *out = (struct found){ .text = lesson_text(&LESSONS[i], lines.first, lines.last),
                               .line = lines.first,
                               .lesson = &LESSONS[i] };
        snprintf(out->origin, sizeof(out->origin), "kernels/%.40s.cu", LESSONS[i].name);
        return true;
    }
    return false;
}

/* An experiment's kernel file, or what stands in front of all of them. */
static bool find_experiment(const char *name, struct found *out)
{
    const struct experiment *e = experiment_find(name);

    if (!e && strcmp(name, "stamp") != 0)
        return false;
    *out = (struct found){ .text = e ? e->source() : experiment_prelude(),
                           .line = 1,
                           .is_experiment = e != NULL };
    snprintf(out->origin, sizeof(out->origin), "kernels/experiments/%.40s.cu", name);
    return true;
}

static bool find_definition(const struct call *call, const char *name, struct found *out)
{
    int cell;

    if (!cuda_definition(session_cuda(call->session), name, &out->text, &cell, &out->line))
        return false;
    snprintf(out->origin, sizeof(out->origin), "In[%d]", cell);
    return true;
}

static int no_source(const struct call *call, const char *name, struct err *err)
{
    const struct cuda *cuda = session_cuda(call->session);
    struct nearest nearest = { .wanted = name };

    for (size_t i = 0; i < LESSON_COUNT; i++) {
        nearest_try(&nearest, LESSONS[i].name);
        for (size_t k = 0; k < LESSONS[i].rung_count; k++)
            nearest_try(&nearest, LESSONS[i].rungs[k].kernel);
    }
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        nearest_try(&nearest, EXPERIMENTS[i]->name);
    for (size_t i = 0; i < cuda_name_count(cuda); i++)
        nearest_try(&nearest, cuda_name_at(cuda, i).name);
    err_next(err, "%%run lists the lessons, %%who what the session defines");
    if (nearest.best)
        return call_fail(call, "name", err, ERR_NameError,
                         "no lesson or definition is called %.60s; %s is the nearest", name,
                         nearest.best);
    return call_fail(call, "name", err, ERR_NameError, "no lesson or definition is called %.60s",
                     name);
}

static void print_numbered(const struct call *call, const struct found *f)
{
    const char *at = f->text.data, *end = at + f->text.size;

    sink_printf(call->sink, STREAM_STDOUT, "%s\n", f->origin);
    for (int n = f->line; at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = newline ? (size_t)(newline - at) : (size_t)(end - at);

        sink_printf(call->sink, STREAM_STDOUT, size ? "%3d  %.*s\n" : "%3d\n", n, (int)size, at);
        at += size + (newline != NULL);
    }
}

/* A lesson's kernel with what it uses, and its launch as a comment: a cell that compiles. */
static int extract(const struct call *call, const struct lesson *lesson, const char *kernel,
                   struct buf *out, struct err *err)
{
    struct cuda_items items = { .count = 0 };
    bool *is_root = NULL;
    int rc = cuda_split(call->arena, lesson->source(), 1, 0, &items, err);

    if (rc == 0)
        is_root = arena_array(call->arena, items.count, sizeof(*is_root));
    if (rc == 0 && !is_root)
        rc = err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; rc == 0 && i < items.count; i++)
        is_root[i] =
            items.list[i].name_count > 0 && strcmp(items.list[i].names[0].name, kernel) == 0;
    if (rc == 0)
        rc = cuda_extract(&items, is_root, out, err);
    buf_printf(out, "\n// %s<<<(n + 255) / 256, 256>>>(x, y, n);\n", kernel);
    free(items.list);
    return rc;
}

static int put_next_input(const struct call *call, struct bytes text, struct err *err)
{
    json_t *payload = json_pack("{s:s, s:s%, s:b}", "source", "set_next_input", "text", text.data,
                                text.size, "replace", 0);

    if (!payload)
        return err_set(err, ERR_ResourceError, "out of memory");
    call->sink->payload(call->sink, payload);
    json_decref(payload);
    return 0;
}

/* Into the next cell, where the front end has one to fill; else it is printed. */
static int edit(const struct call *call, const char *name, const struct found *f, struct err *err)
{
    struct buf text = { 0 };
    int rc = 0;

    if (!call->sink->payload) {
        print_numbered(call, f);
        return 0;
    }
    if (f->lesson)
        rc = extract(call, f->lesson, name, &text, err);
    else if (f->is_experiment)
        buf_printf(&text, "%.*s\n", (int)experiment_prelude().size, experiment_prelude().data);
    if (!f->lesson)
        buf_put(&text, f->text.data, f->text.size);
    if (rc == 0 && text.is_failed)
        rc = err_set(err, ERR_ResourceError, "out of memory");
    if (rc == 0)
        rc = put_next_input(call, (struct bytes){ buf_text(&text), text.size }, err);
    buf_done(&text);
    return rc;
}

static int run(struct call *call, struct err *err)
{
    const char *name = call_text(call, "name");
    struct found found = { .line = 1 };

    if (!find_definition(call, name, &found) && !find_lesson(name, &found) &&
        !find_experiment(name, &found))
        return no_source(call, name, err);
    if (call_bool(call, "edit"))
        return edit(call, name, &found, err);
    print_numbered(call, &found);
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "a lesson or experiment, a lesson's kernel, or a definition of this session" },
    { .name = "edit",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: put it into the next cell instead of printing it" },
};

const struct magic MAGIC_SOURCE = {
    .name = "source",
    .flags = MAGIC_SILENT,
    .summary = "prints the code of a lesson or a definition, or puts it in the next cell",
    .about = "The kernels of %run are ordinary CUDA C inside the program: read them, put them into "
             "the next cell with edit=yes, change them, run the cell.",
    .example = "%source policy\n"
               "%source long_by_lane",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
