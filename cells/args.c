/*
 * The words and keys of a magic line. A row of the magic's table says what each
 * key takes, so that run() only ever sees arguments that are right, and so that
 * every refusal can name the key, the value and the limit.
 */
#include "cells/arg_value.h"
#include "cells/expr.h"
#include "cells/internal.h"
#include "model/base/buf.h"

struct reader {
    struct session *session;
    const struct magic *magic;
    struct lexer *lexer;
    struct arg *args;
    size_t positional; /* the next row to look at for a word without a key */
    bool is_any;       /* something was read: a comma may follow */
};

static const struct param *find_param(const struct magic *magic, struct bytes name)
{
    for (size_t i = 0; i < magic->param_count; i++)
        if (bytes_equal(name, magic->params[i].name))
            return &magic->params[i];
    return NULL;
}

/* "device= block= regs=" for the line that says what is accepted. */
static int next_keys(const struct magic *magic, struct err *err)
{
    struct buf keys = { 0 };

    for (size_t i = 0; i < magic->param_count; i++)
        if (magic->params[i].type != PARAM_REST)
            buf_printf(&keys, keys.size ? " %s=" : "%s=", magic->params[i].name);
    if (keys.size)
        err_next(err, "keys of %s%s: %s", magic_signs(magic), magic->name, buf_text(&keys));
    else
        err_next(err, "%s%s takes no keys; %%%s? explains it", magic_signs(magic), magic->name,
                 magic->name);
    buf_done(&keys);
    return -1;
}

static int unknown_key(struct reader *r, size_t start, size_t end, struct err *err)
{
    const char *word =
        text_show(r->lexer->arena,
                  (struct bytes){ r->lexer->source.text.data + start, end - start }, 40);
    struct nearest near = { .wanted = word };

    for (size_t i = 0; i < r->magic->param_count; i++)
        if (r->magic->params[i].type != PARAM_REST)
            nearest_try(&near, r->magic->params[i].name);
    if (near.best)
        lexer_fail_at(r->lexer, start, end, err, ERR_UsageError,
                      "%s%s has no key %s; %s= is the nearest", magic_signs(r->magic),
                      r->magic->name, word, near.best);
    else
        lexer_fail_at(r->lexer, start, end, err, ERR_UsageError, "%s%s has no key %s",
                      magic_signs(r->magic), r->magic->name, word);
    return next_keys(r->magic, err);
}

/* What call_parameters_text shows: as written, or the value where {braces} hide it. */
static int note_text(struct reader *r, const struct param *p, size_t start, struct arg *arg,
                     struct err *err)
{
    struct bytes written = { r->lexer->source.text.data + start, r->lexer->last_end - start };
    bool is_plain = true;

    for (size_t i = 0; i < written.size; i++)
        is_plain &= !strchr("{(\n\"'", written.data[i]) || written.data[i] == '\0';
    is_plain |= p->type == PARAM_EXPR;
    if (is_plain && !(arg->values[0].type == VALUE_INT && is_name_start(written.data[0])))
        arg->text = arena_copy(r->lexer->arena, written.data, written.size);
    else if (arg->is_sweep)
        arg->text = arena_printf(r->lexer->arena, "%zu values", arg->count);
    else
        arg->text = value_text(r->lexer->arena, &arg->values[0]);
    return arg->text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}

void arg_put(struct buf *out, const struct arg *arg)
{
    bool is_quoted = arg->values[0].type == VALUE_STRING && !arg->sources && strchr(arg->text, ' ');

    buf_printf(out, is_quoted ? "\"%s\"" : "%s", arg->text);
}

static void mark_arg(struct reader *r, size_t start, size_t end, struct arg *arg)
{
    source_place(&r->lexer->source, start, &arg->line, &arg->column);
    arg->length = (int)(end - start);
}

static int read_arg(struct reader *r, const struct param *p, struct err *err)
{
    struct arg *arg = &r->args[p - r->magic->params];
    size_t value_start;

    lexer_skip(r->lexer);
    value_start = r->lexer->at;
    if (arg_value_read(r->session, r->lexer, p, arg, err) < 0) {
        lexer_mark(r->lexer, value_start, value_start + 1, err);
        return -1;
    }
    arg->is_given = true;
    mark_arg(r, value_start, r->lexer->last_end, arg);
    return note_text(r, p, value_start, arg, err);
}

/* ---- keys, words, the rest ---- */

/* name = (but not ==) at `at`: *end is where the name ends, *value where the value starts. */
static bool is_key(const struct lexer *lexer, size_t at, size_t *end, size_t *value)
{
    struct bytes text = lexer->source.text;
    size_t i = at;

    if (i >= text.size || !is_name_start(text.data[i]))
        return false;
    while (i < text.size && is_name_char(text.data[i]))
        i++;
    *end = i;
    while (i < text.size && is_blank(text.data[i]))
        i++;
    *value = i + 1;
    return i < text.size && text.data[i] == '=' && (i + 1 >= text.size || text.data[i + 1] != '=');
}

static int read_key(struct reader *r, size_t start, size_t end, size_t value, struct err *err)
{
    struct bytes name = { r->lexer->source.text.data + start, end - start };
    const struct param *p = find_param(r->magic, name);

    if (!p || p->type == PARAM_REST)
        return unknown_key(r, start, end, err);
    if (r->args[p - r->magic->params].is_given)
        return lexer_fail_at(r->lexer, start, end, err, ERR_UsageError, "%s= is given twice",
                             p->name);
    lexer_seek(r->lexer, value);
    if (!lexer_skip(r->lexer) || r->lexer->source.text.data[r->lexer->at] == ',')
        return lexer_fail_at(r->lexer, start, value, err, ERR_SyntaxError, "%s= has no value",
                             p->name);
    return read_arg(r, p, err);
}

/* -e: a switch is a bool whose name is one letter. */
static int read_switch(struct reader *r, bool *taken, struct err *err)
{
    struct bytes text = r->lexer->source.text;
    size_t at = r->lexer->at;
    const struct param *p;
    struct value *yes;
    struct arg *arg;

    *taken = false;
    if (at + 1 >= text.size || text.data[at] != '-' || !is_name_start(text.data[at + 1]) ||
        (at + 2 < text.size && !is_blank(text.data[at + 2])))
        return 0;
    p = find_param(r->magic, (struct bytes){ text.data + at + 1, 1 });
    if (!p || p->type != PARAM_BOOL)
        return 0;
    yes = arena_alloc(r->lexer->arena, sizeof(*yes));
    if (!yes)
        return err_set(err, ERR_ResourceError, "out of memory");
    *yes = (struct value){ .type = VALUE_BOOL, .b = true };
    arg = &r->args[p - r->magic->params];
    *arg = (struct arg){ .is_given = true, .count = 1, .values = yes, .text = "yes" };
    mark_arg(r, at, at + 2, arg);
    lexer_seek(r->lexer, at + 2);
    *taken = true;
    return 0;
}

static const struct param *next_positional(struct reader *r)
{
    while (r->positional < r->magic->param_count) {
        const struct param *p = &r->magic->params[r->positional];

        if ((p->flags & PARAM_POSITIONAL) && !r->args[r->positional].is_given)
            return p;
        r->positional++;
    }
    return NULL;
}

/* Where the text of an expression ends: before a key of this magic, before ->, at the end. */
static int rest_end(struct reader *r, size_t *end, struct err *err)
{
    struct lexer probe = *r->lexer;
    size_t name_end, value, last = probe.at; /* end of the last token that is part of it */
    struct token t;
    int depth = 0;

    for (;;) {
        if (lexer_next(&probe, &t, err) < 0)
            return -1;
        if (t.kind == TOKEN_END || (depth == 0 && t.kind == TOKEN_OP && t.op == OP_ARROW)) {
            *end = t.kind == TOKEN_END ? probe.last_end : last;
            return 0;
        }
        if (t.kind == TOKEN_OP && t.op < 256 && strchr("([{", t.op))
            depth++;
        if (t.kind == TOKEN_OP && t.op < 256 && strchr(")]}", t.op))
            depth--;
        if (t.kind == TOKEN_WORD && depth == 0 && is_key(&probe, t.start, &name_end, &value) &&
            find_param(r->magic, t.text)) {
            *end = last;
            return 0;
        }
        last = t.end;
    }
}

static int read_rest(struct reader *r, const struct param *p, struct err *err)
{
    struct bytes text = r->lexer->source.text;
    size_t start = r->lexer->at, end;
    struct arg *arg = &r->args[p - r->magic->params];
    struct value *v = arena_alloc(r->lexer->arena, sizeof(*v));

    if ((r->magic->flags & MAGIC_PLAIN) || r->magic->param_count == 1)
        end = start + line_strip((struct bytes){ text.data + start, text.size - start });
    else if (rest_end(r, &end, err) < 0)
        return -1;
    while (end > start && (is_blank(text.data[end - 1]) || text.data[end - 1] == ','))
        end--;
    if (v)
        v->text = arena_copy(r->lexer->arena, text.data + start, end - start);
    if (!v || !v->text)
        return err_set(err, ERR_ResourceError, "out of memory");
    v->type = VALUE_STRING;
    *arg = (struct arg){ .is_given = true, .count = 1, .values = v, .text = v->text };
    mark_arg(r, start, end, arg);
    lexer_seek(r->lexer, end);
    r->lexer->last_end = end;
    return 0;
}

static int read_positional(struct reader *r, struct err *err)
{
    const struct param *p = next_positional(r);
    struct token t;

    if (p && p->type == PARAM_REST)
        return read_rest(r, p, err);
    if (p)
        return read_arg(r, p, err);
    if (lexer_word(r->lexer, &t, err) < 0)
        return -1;
    if (t.end == t.start)
        t.end++;
    if (find_param(r->magic, t.text))
        lexer_fail_at(r->lexer, t.start, t.end, err, ERR_UsageError, "%s stands without a value",
                      token_show(r->lexer, &t));
    else
        lexer_fail_at(r->lexer, t.start, t.end, err, ERR_UsageError,
                      "%s%s has no use for %s: values stand behind a key", magic_signs(r->magic),
                      r->magic->name, token_show(r->lexer, &t));
    return next_keys(r->magic, err);
}

static int read_target(struct reader *r, const char **target, struct err *err)
{
    struct token arrow, name, end;

    if (lexer_next(r->lexer, &arrow, err) < 0 || lexer_next(r->lexer, &name, err) < 0)
        return -1;
    if (name.kind != TOKEN_WORD)
        return lexer_fail_at(r->lexer, arrow.start, arrow.end, err, ERR_SyntaxError,
                             "-> needs the name of a variable");
    if (lexer_peek(r->lexer, &end, err) < 0)
        return -1;
    if (end.kind != TOKEN_END)
        return lexer_fail_at(r->lexer, end.start, end.end, err, ERR_SyntaxError,
                             "%s stands behind -> %s, which ends the line",
                             token_show(r->lexer, &end), token_show(r->lexer, &name));
    *target = arena_copy(r->lexer->arena, name.text.data, name.text.size);
    if (!*target)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_is_reserved(*target))
        return lexer_fail_at(r->lexer, name.start, name.end, err, ERR_SyntaxError,
                             "%s has its own meaning and cannot be set", *target);
    return 0;
}

static int read_one(struct reader *r, const char **target, struct err *err)
{
    struct bytes text = r->lexer->source.text;
    size_t at = r->lexer->at, end, value;
    const struct param *p = next_positional(r);
    bool is_rest = p && p->type == PARAM_REST;
    bool is_plain = is_rest && ((r->magic->flags & MAGIC_PLAIN) || r->magic->param_count == 1);
    bool taken;

    if (read_switch(r, &taken, err) < 0)
        return -1;
    if (taken)
        return 0;
    if (is_plain)
        return read_rest(r, p, err);
    if (text.data[at] == '-' && at + 1 < text.size && text.data[at + 1] == '>')
        return read_target(r, target, err);
    if (text.data[at] == ',' && r->is_any) {
        lexer_seek(r->lexer, at + 1);
        return 0;
    }
    if (is_key(r->lexer, at, &end, &value)) {
        struct bytes name = { text.data + at, end - at };

        bool is_device = p && p->type == PARAM_DEVICE && bytes_equal(name, "cc");

        /* %device cc=8.9 is a name that looks like a key; %check x = 1 is a slip for ==. */
        if (find_param(r->magic, name) || !(is_device || is_rest))
            return read_key(r, at, end, value, err);
    }
    return read_positional(r, err);
}

/* ---- defaults and what is missing ---- */

static int take_preset(struct reader *r, const struct param *p, struct err *err)
{
    struct arg *arg = &r->args[p - r->magic->params];
    struct lexer lexer;

    lexer_init(&lexer, (struct source){ bytes_of(p->preset), 1, 1 }, r->lexer->arena);
    arg->text = p->preset;
    return arg_value_read(r->session, &lexer, p, arg, err);
}

/* The line of the example that shows the magic: others may lead to it. */
static const char *example_line(const struct magic *magic)
{
    size_t n = strlen(magic->name);

    for (const char *p = magic->example; p && *p; p = strchr(p, '\n'), p += p != NULL)
        if (p[0] == '%' && strncmp(p + 1 + (p[1] == '%'), magic->name, n) == 0)
            return p;
    return magic->example;
}

/* "%plot needs buffers, pieces of them, lists or {expressions}": the first clause of its help. */
static int fail_missing(struct reader *r, const struct param *p, struct err *err)
{
    const char *example = example_line(r->magic);

    lexer_fail_at(r->lexer, 0, r->lexer->source.text.size, err, ERR_UsageError,
                  p->flags & PARAM_POSITIONAL ? "%s%s needs %.*s" : "%s%s needs %.*s=",
                  magic_signs(r->magic), r->magic->name,
                  (int)strcspn(p->flags & PARAM_POSITIONAL ? p->help : p->name, ";"),
                  p->flags & PARAM_POSITIONAL ? p->help : p->name);
    return err_next(err, "such as: %.*s", (int)strcspn(example, "\n"), example);
}

static int finish(struct reader *r, struct err *err)
{
    for (size_t i = 0; i < r->magic->param_count; i++) {
        const struct param *p = &r->magic->params[i];

        if (r->args[i].is_given)
            continue;
        if (p->preset && take_preset(r, p, err) < 0)
            return -1;
        if (!(p->flags & PARAM_REQUIRED))
            continue;
        return fail_missing(r, p, err);
    }
    return 0;
}

static int check_points(struct reader *r, struct err *err)
{
    const struct arg *last = NULL;
    double points = 1;

    for (size_t i = 0; i < r->magic->param_count; i++)
        if (r->args[i].is_sweep) {
            points *= (double)r->args[i].count;
            last = &r->args[i];
        }
    if (points <= SWEEP_MAX_POINTS)
        return 0;
    err_set(err, ERR_ValueError, "a sweep of %.0f points: %d are allowed, all keys together",
            points, SWEEP_MAX_POINTS);
    err_at(err, last->line, last->column, last->length);
    return err_next(err, "a step thins a range out: 0..1000:10 has 101 points");
}

int args_parse(struct session *session, const struct magic *magic, struct lexer *lexer,
               struct arg **args, const char **target, struct err *err)
{
    struct reader r = { .session = session, .magic = magic, .lexer = lexer };

    *target = NULL;
    r.args = arena_array(lexer->arena, magic->param_count, sizeof(*r.args));
    if (!r.args)
        return err_set(err, ERR_ResourceError, "out of memory");
    while (lexer_skip(lexer)) {
        if (read_one(&r, target, err) < 0)
            return -1;
        r.is_any = true;
    }
    *args = r.args;
    if (finish(&r, err) < 0)
        return -1;
    return check_points(&r, err);
}
