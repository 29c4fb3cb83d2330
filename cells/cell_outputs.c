/*
 * The shapes are nbformat 4.5's, and the behaviour is nbclient's, so that a
 * notebook run here and one run by Jupyter hold the same bytes.
 */
#include "cells/cell_outputs.h"

#include "cells/characters.h"

static struct cell_outputs *outputs_of(struct sink *sink)
{
    return (struct cell_outputs *)sink; /* its first member */
}

static void clear_now(struct cell_outputs *o)
{
    buf_cut(&o->text, 0);
    o->clear_waits = false;
    json_array_clear(o->list);
}

/* Appends an output; takes it. NULL: it could not be made. */
static void append(struct cell_outputs *o, json_t *output)
{
    if (!output || json_array_append_new(o->list, output) < 0)
        o->is_failed = true;
}

/* The text so far becomes an output: something else follows it. */
static void end_text(struct cell_outputs *o)
{
    struct buf text = { 0 };

    if (o->text.is_failed)
        o->is_failed = true;
    if (!o->text.size)
        return;
    characters_repair_all((struct bytes){ o->text.data, o->text.size }, &text);
    if (text.is_failed)
        o->is_failed = true;
    else
        append(o, json_pack("{s:s, s:s, s:s%}", "name",
                            o->text_name == STREAM_STDOUT ? "stdout" : "stderr", "output_type",
                            "stream", "text", buf_text(&text), text.size));
    buf_done(&text);
    buf_cut(&o->text, 0);
}

/* Every output but text passes here first. */
static void before_output(struct cell_outputs *o)
{
    if (o->clear_waits)
        clear_now(o);
    end_text(o);
}

static void on_stream(struct sink *sink, enum stream_name name, const char *text, size_t n)
{
    struct cell_outputs *o = outputs_of(sink);
    size_t room = CELL_OUTPUTS_MAX_TEXT - o->printed;

    if (o->clear_waits)
        clear_now(o);
    if (name != o->text_name)
        end_text(o);
    o->text_name = name;
    buf_put(&o->text, text, n < room ? n : room);
    o->printed += n < room ? n : room;
    if (n <= room || o->is_cut)
        return;
    o->is_cut = true;
    buf_printf(&o->text, "\n[output cut: a cell may print %d MB]\n", CELL_OUTPUTS_MAX_TEXT >> 20);
}

/* Every output that shows this id shows data from now on. */
static void update_displays(struct cell_outputs *o, const char *id, json_t *data, json_t *metadata)
{
    json_t *shown = json_object_get(o->displays, id);
    json_t *output;
    size_t i;

    json_array_foreach(shown, i, output)
    {
        if (json_object_set(output, "data", data) < 0 ||
            json_object_set(output, "metadata", metadata) < 0)
            o->is_failed = true;
    }
}

static void remember_display(struct cell_outputs *o, const char *id, json_t *output)
{
    json_t *shown = json_object_get(o->displays, id);

    if (!shown) {
        shown = json_array();
        if (json_object_set_new(o->displays, id, shown) < 0) {
            o->is_failed = true;
            return;
        }
    }
    if (json_array_append(shown, output) < 0)
        o->is_failed = true;
}

static void on_display(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                       bool is_update)
{
    struct cell_outputs *o = outputs_of(sink);
    json_t *meta = metadata ? json_incref(metadata) : json_object();
    json_t *output;

    if (display_id)
        update_displays(o, display_id, data, meta);
    if (!is_update) {
        before_output(o);
        output = json_pack("{s:s, s:O, s:O}", "output_type", "display_data", "metadata", meta,
                           "data", data);
        if (output && display_id)
            remember_display(o, display_id, output);
        append(o, output);
    }
    json_decref(meta);
}

static void on_result(struct sink *sink, json_t *data, json_t *metadata)
{
    struct cell_outputs *o = outputs_of(sink);
    json_t *meta = metadata ? json_incref(metadata) : json_object();

    before_output(o);
    append(o, json_pack("{s:s, s:i, s:o, s:O}", "output_type", "execute_result", "execution_count",
                        o->execution_count, "metadata", meta, "data", data));
}

static json_t *repaired(const char *text)
{
    struct buf b = { 0 };
    json_t *string;

    characters_repair_all(bytes_of(text ? text : ""), &b);
    string = b.is_failed ? NULL : json_stringn(buf_text(&b), b.size);
    buf_done(&b);
    return string;
}

static void on_error(struct sink *sink, const struct error_report *report)
{
    struct cell_outputs *o = outputs_of(sink);
    json_t *lines = json_array();

    for (size_t i = 0; i < report->traceback_lines; i++) {
        if (json_array_append_new(lines, repaired(report->traceback[i])) < 0)
            o->is_failed = true;
    }
    before_output(o);
    append(o, json_pack("{s:s, s:o, s:o, s:o}", "output_type", "error", "ename",
                        repaired(report->ename), "evalue", repaired(report->evalue), "traceback",
                        lines));
}

static void on_clear(struct sink *sink, bool wait)
{
    struct cell_outputs *o = outputs_of(sink);

    if (wait)
        o->clear_waits = true;
    else
        clear_now(o);
}

int cell_outputs_init(struct cell_outputs *o, struct err *err)
{
    *o = (struct cell_outputs){
        .sink = { .stream = on_stream,
                  .display = on_display,
                  .result = on_result,
                  .error = on_error,
                  .clear = on_clear },
        .list = json_array(),
        .displays = json_object(),
    };
    if (o->list && o->displays)
        return 0;
    cell_outputs_done(o);
    return err_set(err, ERR_ResourceError, "out of memory");
}

void cell_outputs_done(struct cell_outputs *o)
{
    json_decref(o->list);
    json_decref(o->displays);
    buf_done(&o->text);
    o->list = o->displays = NULL;
}

void cell_outputs_begin(struct cell_outputs *o, int execution_count)
{
    json_array_clear(o->list);
    buf_cut(&o->text, 0);
    o->text.is_failed = false;
    o->text_name = STREAM_STDOUT;
    o->execution_count = execution_count;
    o->printed = 0;
    o->is_cut = false;
    o->clear_waits = false;
    o->is_failed = false;
}

int cell_outputs_end(struct cell_outputs *o, json_t **list, struct err *err)
{
    end_text(o);
    *list = o->is_failed ? NULL : json_copy(o->list); /* shallow: displays stay shared */
    if (!*list)
        return err_set(err, ERR_ResourceError, "out of memory for the outputs of a cell");
    return 0;
}
