/*
 * Results and streams go to out in their order; errors and stderr to err, flushed in between. A
 * figure is left out: its text is for the eyes that cannot see it where it stands, in a notebook,
 * and says no number that the table above has not.
 */
#include "cells/text_sink.h"

static struct text_sink *text_of(struct sink *sink)
{
    return (struct text_sink *)sink; /* its first member */
}

static void end_line(struct text_sink *t)
{
    if (t->is_inside)
        putc('\n', t->out);
    t->is_inside = false;
}

static void write_out(struct text_sink *t, const char *text, size_t n)
{
    if (!n)
        return;
    fwrite(text, 1, n, t->out);
    t->is_inside = text[n - 1] != '\n';
}

static void on_stream(struct sink *sink, enum stream_name name, const char *text, size_t n)
{
    struct text_sink *t = text_of(sink);

    if (name == STREAM_STDOUT) {
        write_out(t, text, n);
        return;
    }
    fflush(t->out);
    fwrite(text, 1, n, t->err);
    fflush(t->err);
}

static void write_bundle(struct text_sink *t, json_t *data)
{
    json_t *text = json_object_get(data, "text/plain");

    end_line(t);
    write_out(t, json_is_string(text) ? json_string_value(text) : "", json_string_length(text));
    end_line(t);
}

static void on_display(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                       bool is_update)
{
    (void)metadata, (void)display_id, (void)is_update;
    if (json_object_get(data, "image/svg+xml"))
        return;
    write_bundle(text_of(sink), data);
    putc('\n', text_of(sink)->out);
}

static void on_result(struct sink *sink, json_t *data, json_t *metadata)
{
    (void)metadata;
    write_bundle(text_of(sink), data);
}

static void on_error(struct sink *sink, const struct error_report *report)
{
    struct text_sink *t = text_of(sink);

    end_line(t);
    fflush(t->out);
    for (size_t i = 0; i < report->traceback_lines; i++)
        fprintf(t->err, "%s\n", report->traceback[i]);
    fflush(t->err);
}

void text_sink_init(struct text_sink *t, FILE *out, FILE *err)
{
    *t = (struct text_sink){
        .sink = { .stream = on_stream,
                  .display = on_display,
                  .result = on_result,
                  .error = on_error },
        .out = out,
        .err = err,
    };
}

int text_sink_end(struct text_sink *t, struct err *err)
{
    end_line(t);
    if (fflush(t->out) != 0 || ferror(t->out))
        return err_set(err, ERR_FileError, "standard output cannot be written");
    return 0;
}
