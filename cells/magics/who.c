/*
 * %who lists what the session holds: variables first, then what cells defined
 * in CUDA C.
 */
#include "cells/buffer.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"

#include <stdio.h>

static const char *KINDS[] = {
    "kernel", "function", "type", "device variable", "constant", "macro"
};

static const char *value_of(struct call *call, const struct variable *v)
{
    const char *text;

    if (v->unset)
        return v->unset;
    if (v->value.type == VALUE_RESULT) {
        const char *answer = v->value.result->view.answer;

        text = answer ? answer : "";
    } else {
        text = value_text(call->arena, &v->value);
    }
    return text_show(call->arena, bytes_of(text ? text : ""), 50);
}

static json_t *shape_json(const struct buffer *b)
{
    json_t *shape = json_array();
    int failed = 0;

    for (int d = 0; d < b->rank; d++)
        failed |= json_array_append_new(shape, json_integer(b->shape[d]));
    return json_whole(shape, failed);
}

static json_t *buffers_json(struct session *session)
{
    json_t *all = json_array();
    int failed = 0;

    for (size_t i = 0; i < buffer_count(session); i++) {
        const struct buffer *b = buffer_at(session, i);
        char address[24];

        snprintf(address, sizeof(address), "0x%llx", (unsigned long long)b->address);
        failed |=
            json_array_append_new(all,
                                  json_pack("{s:s, s:s, s:o, s:I, s:s, s:s, s:b}", "name", b->name,
                                            "type", b->type.name, "shape", shape_json(b), "bytes",
                                            (json_int_t)b->size, "address", address, "origin",
                                            b->origin, "is_symbol", b->is_symbol));
    }
    return json_whole(all, failed);
}

static int set_fields(struct result *result, struct session *session)
{
    json_t *variables = json_object(), *names = json_array();
    int rc = variables && names ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < session->variable_count; i++) {
        const struct variable *v = &session->variables[i];

        rc = json_object_set_new(variables, v->name,
                                 json_string(v->unset ? "unset" : value_type_name(v->value.type)));
    }
    for (size_t i = 0; rc == 0 && i < cuda_name_count(session_cuda(session)); i++)
        rc = json_array_append_new(names, json_string(cuda_name_at(session_cuda(session), i).name));
    if (rc == 0)
        rc = json_object_set(result->fields, "variables", variables);
    if (rc == 0)
        rc = json_object_set(result->fields, "definitions", names);
    if (rc == 0)
        rc = json_object_set_new(result->fields, "buffers", buffers_json(session));
    json_decref(variables);
    json_decref(names);
    return rc;
}

/* "made in In[3] line 1; 24 of 4,096 bytes never written" */
static const char *state_of(struct result *result, const struct buffer *b)
{
    size_t unwritten = buffer_count_undefined(b, 0, b->size);
    char left[TEXT_NUMBER], all[TEXT_NUMBER];

    if (unwritten == b->size)
        return result_text(result, "%s; never written", b->origin);
    if (unwritten)
        return result_text(result, "%s; %s of %s bytes never written", b->origin,
                           text_number(left, (double)unwritten), text_number(all, (double)b->size));
    return result_text(result, "%s", b->origin);
}

static void fill_buffers(struct call *call, struct result *result)
{
    static const struct view_column COLUMNS[] = { { "buffer", VIEW_LEFT },
                                                  { "type", VIEW_LEFT },
                                                  { "bytes", VIEW_RIGHT },
                                                  { "origin", VIEW_LEFT } };
    size_t n = buffer_count(call->session);
    struct view_table *table = n ? view_add_table(result, COLUMNS, COUNT(COLUMNS), n) : NULL;

    for (size_t i = 0; table && i < n; i++) {
        const struct buffer *b = buffer_at(call->session, i);
        char type[120], bytes[TEXT_NUMBER];

        buffer_type_text(b, type, sizeof(type));
        view_cell(table, i, 0, result_text(result, "%s", b->name));
        view_cell(table, i, 1,
                  result_text(result, "%s", text_show(call->arena, bytes_of(type), 30)));
        view_cell(table, i, 2, result_text(result, "%s", text_number(bytes, (double)b->size)));
        view_cell(table, i, 3, state_of(result, b));
    }
}

static void fill(struct call *call, struct result *result)
{
    static const struct view_column COLUMNS[] = { { "name", VIEW_LEFT },
                                                  { "kind", VIEW_LEFT },
                                                  { "value", VIEW_LEFT } };
    struct session *session = call->session;
    size_t n = session->variable_count, m = cuda_name_count(session_cuda(session));
    size_t buffers = buffer_count(session);
    struct view_table *table;

    result->view.answer =
        result_text(result, "%zu variable%s, %zu buffer%s, %zu definition%s of CUDA C.", n,
                    n == 1 ? "" : "s", buffers, buffers == 1 ? "" : "s", m, m == 1 ? "" : "s");
    fill_buffers(call, result);
    table = n + m ? view_add_table(result, COLUMNS, 3, n + m) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct variable *v = &session->variables[i];

        view_cell(table, i, 0, result_text(result, "%s", v->name));
        view_cell(table, i, 1, v->unset ? "unset" : value_type_name(v->value.type));
        view_cell(table, i, 2, result_text(result, "%s", value_of(call, v)));
    }
    for (size_t i = 0; i < m; i++) {
        struct cuda_name name = cuda_name_at(session_cuda(session), i);

        view_cell(table, n + i, 0, result_text(result, "%s", name.name));
        view_cell(table, n + i, 1, (size_t)name.kind < COUNT(KINDS) ? KINDS[name.kind] : "name");
        view_cell(table, n + i, 2,
                  result_text(result, "In[%d]: %s", name.cell,
                              text_show(call->arena, bytes_of(name.head), 45)));
    }
}

static int run(struct call *call, struct err *err)
{
    struct result *result = result_new("who", 1);

    if (!result || set_fields(result, call->session) < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    fill(call, result);
    return call_take_result(call, result, err);
}

const struct magic MAGIC_WHO = {
    .name = "who",
    .flags = MAGIC_SILENT,
    .summary = "lists the variables, buffers and definitions of the session",
    .about = "%print NAME shows a value whole; %NAME? explains a name; %reset forgets.",
    .example = "n = 1000\n%buffer float x[1K]\n%who",
    .run = run,
};
