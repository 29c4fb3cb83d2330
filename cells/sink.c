/*
 * The callers' side of a sink: a missing function drops its output, so that
 * nobody who writes has to ask first.
 */
#include "cells/sink.h"

#include "model/base/buf.h"

#include <stdlib.h>

void sink_write(struct sink *sink, enum stream_name name, const char *text, size_t n)
{
    if (sink && sink->stream && n)
        sink->stream(sink, name, text, n);
}

void sink_printf(struct sink *sink, enum stream_name name, const char *fmt, ...)
{
    struct buf text = { 0 };
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    if (!text.is_failed)
        sink_write(sink, name, buf_text(&text), text.size);
    buf_done(&text);
}

void sink_display(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                  bool is_update)
{
    if (sink && sink->display)
        sink->display(sink, data, metadata, display_id, is_update);
}

int sink_result_text(struct sink *sink, const char *text, struct err *err)
{
    json_t *data = json_pack("{s:s}", "text/plain", text);

    if (!data)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (sink && sink->result)
        sink->result(sink, data, NULL);
    json_decref(data);
    return 0;
}

void report_done(struct error_report *report)
{
    for (size_t i = 0; i < report->traceback_lines; i++)
        free(report->traceback[i]);
    free(report->traceback);
    free(report->ename);
    free(report->evalue);
    *report = (struct error_report){ 0 };
}
