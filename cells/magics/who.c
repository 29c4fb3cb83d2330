/*
 * %who lists what the session holds: variables first, then what cells defined
 * in CUDA C.
 */
#include "cells/internal.h"
#include "cells/magics.h"

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
    json_decref(variables);
    json_decref(names);
    return rc;
}

static void fill(struct call *call, struct result *result)
{
    static const struct view_column COLUMNS[] = { { "name", VIEW_LEFT },
                                                  { "kind", VIEW_LEFT },
                                                  { "value", VIEW_LEFT } };
    struct session *session = call->session;
    size_t n = session->variable_count, m = cuda_name_count(session_cuda(session));
    struct view_table *table = n + m ? view_add_table(result, COLUMNS, 3, n + m) : NULL;

    result->view.answer = result_text(result, "%zu variable%s, %zu definition%s of CUDA C.", n,
                                      n == 1 ? "" : "s", m, m == 1 ? "" : "s");
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
    .summary = "lists the variables and the definitions of the session",
    .about = "%print NAME shows a value whole; %NAME? explains a name; %reset forgets.",
    .example = "n = 1000\n%who",
    .run = run,
};
