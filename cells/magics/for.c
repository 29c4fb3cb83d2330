/*
 * %%for runs its lines once for each value of a list.
 */
#include "cells/cell.h"
#include "cells/expr.h"
#include "cells/magics.h"

static int read_head(struct call *call, const char **name, struct value *list, struct err *err)
{
    struct lexer lexer;
    struct scope scope = { .session = call->session, .lexer = &lexer, .arena = call->arena };
    struct token var, in, end;
    struct expr *expr;

    lexer_init(&lexer, call_source(call, "loop"), call->arena);
    if (lexer_next(&lexer, &var, err) < 0 || lexer_next(&lexer, &in, err) < 0)
        return -1;
    if (var.kind != TOKEN_WORD || in.kind != TOKEN_WORD || !bytes_equal(in.text, "in")) {
        lexer_fail_at(&lexer, var.start, in.end, err, ERR_SyntaxError,
                      "%%%%for is followed by NAME in LIST");
        return err_next(err, "such as %%%%for n in [1,31,32,1000]");
    }
    if (expr_parse(&lexer, &expr, err) < 0 || lexer_peek(&lexer, &end, err) < 0)
        return -1;
    if (end.kind != TOKEN_END)
        return lexer_fail_at(&lexer, end.start, end.end, err, ERR_SyntaxError,
                             "%s stands behind the list", token_show(&lexer, &end));
    if (expr_eval(&scope, expr, list, err) < 0)
        return -1;
    if (list->type != VALUE_LIST)
        return expr_fail(&scope, expr, err, ERR_UsageError, "%%%%for needs a list or range, not %s",
                         value_a_type(list->type));
    *name = arena_copy(call->arena, var.text.data, var.text.size);
    if (!*name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_is_reserved(*name))
        return lexer_fail_at(&lexer, var.start, var.end, err, ERR_SyntaxError,
                             "%s has its own meaning and cannot be set", *name);
    return 0;
}

static int run_passes(struct call *call, const char *name, const struct value *list,
                      struct err *err)
{
    struct source body = { call->body, call->body_line, 1 };
    const char *text;

    for (size_t i = 0; i < list->list.count; i++) {
        if (session_set(call->session, name, &list->list.items[i], err) < 0)
            return -1;
        if (cell_run_body(call->session->cell, body, err) < 0) {
            text = value_text(call->arena, &list->list.items[i]);
            return err_next(err, "it happened in the pass with %s = %.60s", name,
                            text ? text : "?");
        }
    }
    return 0;
}

static int run(struct call *call, struct err *err)
{
    struct value list, borrowed;
    const char *name = NULL;
    int rc;

    if (read_head(call, &name, &borrowed, err) < 0)
        return -1;
    /* Copied: the body may set the very variable that the list came from. */
    if (value_copy(call->arena, &borrowed, &list, err) < 0)
        return -1;
    rc = run_passes(call, name, &list, err);
    value_drop(&list);
    return rc;
}
static const struct param PARAMS[] = {
    { .name = "loop",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "NAME in LIST: a list, a range or a variable that holds one" },
};

const struct magic MAGIC_FOR = {
    .name = "for",
    .flags = MAGIC_CELL | MAGIC_SILENT,
    .summary = "repeats the lines of its cell for each value of a list",
    .about =
        "The name holds the value during a pass and keeps the last one. Any line that may "
        "stand in a cell may stand in the body. To compare settings of one magic in one table, "
        "give its key a range instead: %simulate warps=1..8.",
    .example = "%%for n in [1, 31, 32, 33]\n%print n, \"threads are\", ceil(n / 32.0), \"warps\"",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
