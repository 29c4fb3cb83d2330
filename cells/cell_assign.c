/*
 * NAME = VALUE. Notebooks are given parameters by programs, so the value is read
 * as papermill and shells write it, too.
 */
#include "cells/cell.h"
#include "cells/characters.h"
#include "cells/expr.h"

/* name=word, as a shell writes it: a word that means nothing else is a text. */
static bool is_shell_word(struct bytes text)
{
    if (!text.size || !(is_name_start(text.data[0]) || strchr("/.~", text.data[0])))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_name_char(text.data[i]) && !strchr("/.:@%+-,~", text.data[i]))
            return false;
    return true;
}

static int assign_value(struct cell *cell, const char *name, struct source right,
                        bool is_shell_style, struct err *err)
{
    struct err inner = { 0 };
    struct value v;
    size_t n = line_strip(right.text);
    int rc = expr_eval_source(cell->session, right, cell->arena, &v, &inner);

    if (rc < 0 && is_shell_style &&
        (inner.name == ERR_NameError || inner.name == ERR_SyntaxError) &&
        is_shell_word((struct bytes){ right.text.data, n })) {
        v = (struct value){ .type = VALUE_STRING,
                            .text = arena_copy(cell->arena, right.text.data, n) };
        rc = v.text ? 0 : -1;
    }
    if (rc < 0) {
        if (err->name == ERR_none) {
            *err = inner;
            inner.detail = NULL;
        }
        err_done(&inner);
        return -1;
    }
    err_done(&inner);
    return session_set(cell->session, name, &v, err);
}

static int read_assigned_name(struct lexer *lexer, char **name, struct token *equals,
                              struct err *err)
{
    struct token t;

    if (lexer_next(lexer, &t, err) < 0 || lexer_peek(lexer, equals, err) < 0)
        return -1;
    if (equals->kind == TOKEN_WORD && t.kind == TOKEN_WORD &&
        (bytes_equal(t.text, "var") || bytes_equal(t.text, "val")) &&
        (lexer_next(lexer, &t, err) < 0 || lexer_peek(lexer, equals, err) < 0))
        return -1;
    if (t.kind != TOKEN_WORD || equals->kind != TOKEN_OP || equals->op != '=') {
        lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                      "an assignment is NAME = VALUE; %s does not start one",
                      token_show(lexer, &t));
        return err_next(err, "such as n = 1000");
    }
    if (t.text.size > 60)
        return lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                             "a name of %zu characters: 60 are allowed", t.text.size);
    *name = arena_copy(lexer->arena, t.text.data, t.text.size);
    if (!*name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_is_reserved(*name))
        return lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s has its own meaning and cannot be set", *name);
    return 0;
}

int cell_assign(struct cell *cell, struct source source, struct err *err)
{
    struct lexer lexer;
    struct token equals;
    struct source right;
    struct bytes text = source.text;
    size_t at;
    char *name = NULL;
    bool is_shell_style;

    lexer_init(&lexer, source, cell->arena);
    if (read_assigned_name(&lexer, &name, &equals, err) < 0)
        return -1;
    at = equals.end;
    is_shell_style = !equals.blank_before && at < text.size && !is_blank(text.data[at]);
    while (at < text.size && is_blank(text.data[at]))
        at++;
    right.text = (struct bytes){ text.data + at, text.size - at };
    source_place(&source, at, &right.line, &right.column);
    if (right.text.size > 1 && right.text.data[0] == '%' && is_name_start(right.text.data[1]))
        return cell_run_magic(cell, right, NULL, name, err);
    if (memmem(right.text.data, right.text.size, "<<<", 3))
        return cell_run_launch(cell, right, name, err);
    if (right.text.size && right.text.data[0] == '{' &&
        memchr(right.text.data, ':', right.text.size)) {
        lexer_fail_at(&lexer, at, text.size, err, ERR_UsageError, "a variable holds no dictionary");
        return err_next(err, "give each of its values a name of its own");
    }
    if (line_strip(right.text) == 0) {
        /* papermill's bash spelling of a parameter that is None. */
        struct value none = { .type = VALUE_NULL };

        if (equals.blank_before)
            return lexer_fail_at(&lexer, equals.start, equals.end, err, ERR_SyntaxError,
                                 "%s = has no value", name);
        return session_set(cell->session, name, &none, err);
    }
    return assign_value(cell, name, right, is_shell_style, err);
}
