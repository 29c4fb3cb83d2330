/*
 * %print writes values to stdout: expressions with commas between, as plain as
 * a program would print them, so that a test can compare the text.
 */
#include "cells/cell.h"
#include "cells/expr.h"
#include "cells/magics.h"
#include "model/base/buf.h"

static int print_one(struct scope *scope, struct buf *out, struct err *err)
{
    struct expr *expr;
    struct value v;
    const char *text;

    if (expr_parse(scope->lexer, &expr, err) < 0 || expr_eval(scope, expr, &v, err) < 0)
        return -1;
    text = value_text(scope->arena, &v);
    if (!text)
        return err_set(err, ERR_ResourceError, "out of memory");
    buf_puts(out, out->size ? " " : "");
    buf_puts(out, text);
    return 0;
}

static int print_all(struct scope *scope, struct buf *out, struct err *err)
{
    struct token t;
    bool is_comma = true;

    for (;;) {
        if (lexer_peek(scope->lexer, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_END && (!is_comma || out->size == 0))
            return 0;
        if (!is_comma) {
            lexer_fail_at(scope->lexer, t.start, t.end, err, ERR_SyntaxError,
                          "%s stands where a comma should", token_show(scope->lexer, &t));
            return err_next(err, "put commas between values and text in \"quotes\"; %%echo prints "
                                 "a line as it is");
        }
        if (print_one(scope, out, err) < 0 || lexer_take_op(scope->lexer, ',', &is_comma, err) < 0)
            return -1;
    }
}

static int run(struct call *call, struct err *err)
{
    struct lexer lexer;
    struct scope scope = { .session = call->session, .lexer = &lexer, .arena = call->arena };
    struct buf out = { 0 };
    int rc;

    lexer_init(&lexer, call_source(call, "values"), call->arena);
    rc = print_all(&scope, &out, err);
    buf_putc(&out, '\n');
    if (rc == 0 && out.is_failed)
        rc = err_set(err, ERR_ResourceError, "out of memory");
    if (rc == 0)
        sink_write(call->sink, STREAM_STDOUT, out.data, out.size);
    buf_done(&out);
    return rc;
}

static const struct param PARAMS[] = {
    { .name = "values",
      .type = PARAM_REST,
      .flags = PARAM_POSITIONAL,
      .help = "expressions and \"texts\", commas between" },
};

const struct magic MAGIC_PRINT = {
    .name = "print",
    .flags = MAGIC_SILENT,
    .summary = "writes values to stdout: %print \"n =\", n",
    .about = "Values are separated by one blank and end with a new line. Decimals print with the "
             "fewest digits that read back as the same number. A result prints its fields as "
             "JSON.",
    .example = "%print 2 + 3\n%print \"warps:\", 1000 / 32, [1, 2, 3]",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
