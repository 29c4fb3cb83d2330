/*
 * %input asks the person at the front end for a line and keeps it in a
 * variable: a number when it reads as one, else a text.
 */
#include "cells/cell.h"
#include "cells/expr.h"
#include "cells/magics.h"

#include <stdlib.h>

/* A whole number literal, sign allowed; nothing that computes. */
static bool read_number(struct call *call, const char *reply, struct value *out)
{
    struct lexer lexer;
    struct token t, end;
    bool is_negative;

    lexer_init(&lexer, (struct source){ bytes_of(reply), 1, 1 }, call->arena);
    if (lexer_take_op(&lexer, '-', &is_negative, NULL) < 0 || lexer_next(&lexer, &t, NULL) < 0 ||
        lexer_next(&lexer, &end, NULL) < 0 || end.kind != TOKEN_END)
        return false;
    if (t.kind == TOKEN_INT)
        *out = (struct value){ .type = VALUE_INT, .i = is_negative ? -t.i : t.i };
    else if (t.kind == TOKEN_FLOAT)
        *out = (struct value){ .type = VALUE_FLOAT, .f = is_negative ? -t.f : t.f };
    else
        return false;
    return true;
}

static int ask(struct call *call, const char *prompt, char **reply, struct err *err)
{
    if (!call->allow_stdin || !call->sink || !call->sink->input) {
        call_fail(call, NULL, err, ERR_UsageError, "nobody can answer %%input here");
        return err_next(err, "run the cell in a front end that asks, or set the variable");
    }
    return call->sink->input(call->sink, prompt, call_bool(call, "password"), reply, err);
}

static int run(struct call *call, struct err *err)
{
    const char *name = call_text(call, "name"), *prompt = call_text(call, "prompt");
    char *reply = NULL;
    struct value v;
    int rc;

    if (!is_name_start(*name) ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                          "VWXYZ0123456789_")] ||
        strlen(name) > 60 || expr_is_reserved(name))
        return call_fail(call, "name", err, ERR_UsageError, "%.60s is no name for a variable",
                         name);
    if (ask(call, prompt ? prompt : "", &reply, err) < 0)
        return call_mark(call, err);
    if (call_bool(call, "password") || !read_number(call, reply, &v))
        v = (struct value){ .type = VALUE_STRING, .text = reply };
    rc = session_set(call->session, name, &v, err);
    free(reply);
    return rc;
}

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "the variable that gets the answer" },
    { .name = "prompt",
      .type = PARAM_TEXT,
      .flags = PARAM_POSITIONAL,
      .help = "\"text\" shown before" },
    { .name = "password",
      .type = PARAM_BOOL,
      .preset = "no",
      .help = "yes: what is typed is not shown, and stays a text" },
};

const struct magic MAGIC_INPUT = {
    .name = "input",
    .flags = MAGIC_SILENT,
    .summary = "asks for a line and keeps it: %input n \"how many? \"",
    .about = "An answer that is one number becomes a number, everything else a text. Where nobody "
             "can answer (nbconvert, graders), it is a UsageError.",
    .example = "%input n \"how many warps? \"",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
