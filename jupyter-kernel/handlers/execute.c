/*
 * execute_request: one cell. The counter In [n] counts cells that are stored
 * in the history; a silent one leaves no trace but its reply.
 */
#include "cells/result.h"
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/outputs.h"
#include "jupyter-kernel/post.h"
#include "jupyter-kernel/utf8.h"

struct cell {
    struct bytes code;
    bool is_silent, is_stored, is_blank, stops_on_error;
    struct cell_options options;
};

static bool is_blank(struct bytes code)
{
    for (size_t i = 0; i < code.size; i++)
        if (!strchr(" \t\r\n", code.data[i]) || code.data[i] == '\0')
            return false;
    return true;
}

static struct cell read_cell(const struct message *message)
{
    const json_t *content = message->content;
    struct cell cell = { .code = content_text(content, "code") };

    cell.is_silent = content_bool(content, "silent", false);
    cell.is_blank = is_blank(cell.code);
    cell.is_stored =
        !cell.is_silent && !cell.is_blank && content_bool(content, "store_history", true);
    cell.stops_on_error = !cell.is_silent && content_bool(content, "stop_on_error", true);
    cell.options = (struct cell_options){
        .is_silent = cell.is_silent,
        .allow_stdin = content_bool(content, "allow_stdin", false),
        .cell_id = json_string_value(json_object_get(message->metadata, "cellId")),
    };
    return cell;
}

static void announce(struct kernel *kernel, const struct request *request, const struct cell *cell)
{
    if (cell->is_stored) {
        kernel->execution_count++;
        history_add_input(kernel->history, kernel->execution_count, cell->code);
    }
    if (!cell->is_silent)
        post_iopub(kernel, &request->message, "execute_input",
                   json_pack("{s:s%, s:I}", "code", cell->code.data, cell->code.size,
                             "execution_count", (json_int_t)kernel->execution_count));
}

/* One of user_expressions: its value, or its own error, which is not the cell's. */
static json_t *evaluate(struct kernel *kernel, const json_t *expression)
{
    struct bytes text = { json_string_value(expression), json_string_length(expression) };
    struct err err = { 0 };
    json_t *data = NULL, *json;

    if (!text.data)
        err_set(&err, ERR_UsageError, "an expression is a string");
    else if (session_evaluate(kernel->session, text, &data, &err) == 0)
        return json_pack("{s:s, s:o, s:{}}", "status", "ok", "data", data, "metadata");
    json = json_pack("{s:s, s:s, s:o, s:[]}", "status", "error", "ename", err_spelling(err.name),
                     "evalue", utf8_json(err.text), "traceback");
    err_done(&err);
    return json;
}

static json_t *evaluate_all(struct kernel *kernel, json_t *expressions)
{
    json_t *values = json_object(), *expression;
    const char *key;
    size_t length;
    int failed = 0;

    json_object_keylen_foreach(expressions, key, length, expression)
    {
        failed |= json_object_setn_new(values, key, length, evaluate(kernel, expression));
    }
    return json_whole(values, failed);
}

static json_t *error_content(const struct error_report *report)
{
    json_t *lines = utf8_json_lines(report->traceback, report->traceback_lines);

    return json_pack("{s:s, s:o, s:o, s:o}", "status", "error", "ename",
                     utf8_json(report->ename ? report->ename : "InternalError"), "evalue",
                     utf8_json(report->evalue), "traceback", lines);
}

int execute_request(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    struct cell cell = read_cell(&request->message);
    json_t *expressions = json_object_get(request->message.content, "user_expressions");
    struct error_report report = { 0 };
    struct leftovers left;
    struct sink *sink;
    int rc = 0, failed;

    (void)err;
    announce(kernel, request, &cell);
    sink = outputs_begin(kernel->outputs, request, cell.is_silent);
    if (!cell.is_blank)
        rc = session_run_cell(kernel->session, cell.code, &cell.options, sink, &report);
    outputs_end(kernel->outputs, &left);

    if (cell.is_stored && left.result)
        history_add_output(kernel->history, kernel->execution_count, left.result);
    *reply = rc == 0 ? json_pack("{s:s}", "status", "ok") : error_content(&report);
    failed = json_object_set_new(*reply, "execution_count", json_integer(kernel->execution_count));
    failed |= json_object_set(*reply, "payload", left.payload);
    failed |= json_object_set_new(*reply, "user_expressions",
                                  rc == 0 ? evaluate_all(kernel, expressions) : json_object());
    *reply = json_whole(*reply, failed);
    request->ends_queue = rc < 0 && cell.stops_on_error;
    report_done(&report);
    leftovers_done(&left);
    return 0;
}
