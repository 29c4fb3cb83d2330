/*
 * Tab, Shift-Enter and user_expressions: what may follow at the cursor, whether
 * the cell is finished, and the value of an expression on the side.
 */
#include "cells/buffer_value.h"
#include "cells/complete_launch.h"
#include "cells/context.h"
#include "cells/expr.h"
#include "cells/glossary.h"
#include "cells/help.h"
#include "cells/segment.h"
#include "cells/words.h"
#include "kernels/experiment.h"
#include "kernels/lessons.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ITEMS = 500 };

/* ---- collecting ---- */

struct collector {
    struct completions *out;
    struct bytes prefix;
    bool is_failed;
};

static void add(struct collector *c, const char *text, const char *type, const char *signature)
{
    struct completion *items = c->out->items;
    struct completion item;

    if (c->is_failed || c->out->count >= MAX_ITEMS || strlen(text) < c->prefix.size ||
        strncasecmp(text, c->prefix.data, c->prefix.size) != 0)
        return;
    for (size_t i = 0; i < c->out->count; i++)
        if (strcmp(items[i].text, text) == 0)
            return;
    if ((c->out->count & (c->out->count - 1)) == 0) {
        items = realloc(items, (c->out->count ? c->out->count * 2 : 1) * sizeof(*items));
        if (!items) {
            c->is_failed = true;
            return;
        }
        c->out->items = items;
    }
    item = (struct completion){ strdup(text), strdup(type), signature ? strdup(signature) : NULL };
    if (!item.text || !item.type || (signature && !item.signature)) {
        free(item.text);
        free(item.type);
        free(item.signature);
        c->is_failed = true;
        return;
    }
    items[c->out->count++] = item;
}

void completions_done(struct completions *completions)
{
    for (size_t i = 0; i < completions->count; i++) {
        free(completions->items[i].text);
        free(completions->items[i].type);
        free(completions->items[i].signature);
    }
    free(completions->items);
    *completions = (struct completions){ 0 };
}

/* ---- sources of names ---- */

static void add_magics(struct collector *c, bool only_cell)
{
    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        const struct magic *m = MAGICS[i];
        struct buf usage = { 0 };
        char name[64];

        help_usage(m, &usage);
        for (int cell = only_cell; cell < 2; cell++) {
            if (!magic_find(m->name, cell))
                continue;
            snprintf(name, sizeof(name), "%s%s", cell ? "%%" : "%", m->name);
            add(c, name, "magic", buf_text(&usage));
        }
        buf_done(&usage);
    }
}

static void add_variables(struct collector *c, const struct session *session)
{
    for (size_t i = 0; i < session->variable_count; i++)
        if (!session->variables[i].unset)
            add(c, session->variables[i].name, "instance",
                value_type_name(session->variables[i].value.type));
}

static void add_functions(struct collector *c)
{
    for (size_t i = 0; i < function_count(); i++)
        add(c, function_help_at(i)->name, "function", function_help_at(i)->signature);
}

static const char *icon_of(enum cuda_name_kind kind)
{
    return kind == CUDA_KERNEL || kind == CUDA_FUNCTION ? "function"
           : kind == CUDA_TYPE                          ? "class"
                                                        : "statement";
}

static void add_cuda_names(struct collector *c, struct session *session, bool only_kernels)
{
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = 0; i < cuda_name_count(cuda); i++) {
        struct cuda_name n = cuda_name_at(cuda, i);

        if (!only_kernels || n.kind == CUDA_KERNEL)
            add(c, n.name, icon_of(n.kind), n.head);
    }
}

static void add_cuda_words(struct collector *c)
{
    for (size_t i = 0; i < CUDA_WORD_COUNT; i++)
        add(c, CUDA_WORDS[i].name, "keyword", CUDA_WORDS[i].signature);
}

static void add_devices(struct collector *c, const struct session *session)
{
    char name[64], about[64];

    add(c, "gpu", "keyword", "the card");
    add(c, "model", "keyword", "the session's device, modelled");
    for (size_t i = 0; i < session->made_count; i++)
        add(c, session->made[i].device.name, "keyword", "made by %device");
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        size_t n = 0;

        /* Without blanks, as a key can take it bare. */
        for (const char *p = DEVICES[i].name; *p && n + 1 < sizeof(name); p++)
            if (*p != ' ')
                name[n++] = *p;
        name[n] = '\0';
        snprintf(about, sizeof(about), "compute capability %d.%d", DEVICES[i].cc_major,
                 DEVICES[i].cc_minor);
        if (strncmp(name, "cc", 2) == 0 && name[2] != '=') {
            memmove(name + 3, name + 2, strlen(name + 2) + 1);
            name[2] = '=';
        }
        add(c, name, "keyword", about);
    }
}

static void add_choices(struct collector *c, const char *choices)
{
    char word[64];

    for (const char *p = choices; p && *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");

        if (n >= sizeof(word))
            continue;
        memcpy(word, p, n);
        word[n] = '\0';
        add(c, word, "keyword", NULL);
    }
}

static bool is_given(struct bytes line, const char *key)
{
    size_t n = strlen(key);

    for (size_t i = 1; i + n < line.size; i++)
        if (memcmp(line.data + i, key, n) == 0 && !is_name_char(line.data[i - 1]) &&
            line.data[i + n] == '=')
            return true;
    return false;
}

static void add_keys(struct collector *c, const struct context *context)
{
    const struct magic *m = context->magic;
    char key[64];

    for (size_t i = 0; m && i < m->param_count; i++) {
        const struct param *p = &m->params[i];

        if (p->type == PARAM_REST || is_given(context->line, p->name))
            continue;
        snprintf(key, sizeof(key), "%s=", p->name);
        add(c, key, "keyword", p->help);
    }
}

static void add_value(struct collector *c, struct session *session, const struct param *p)
{
    add_choices(c, p->choices);
    switch (p->type) {
    case PARAM_BOOL:
        add_choices(c, "yes no");
        break;
    case PARAM_DEVICE:
        add_devices(c, session);
        break;
    case PARAM_NAME:
        add_cuda_names(c, session, true);
        break;
    case PARAM_INT:
    case PARAM_FLOAT:
    case PARAM_VALUE:
    case PARAM_EXPR:
    case PARAM_DIM:
        add_variables(c, session);
        break;
    default:
        break;
    }
}

static void add_topics(struct collector *c)
{
    for (size_t i = 0; i < MAGIC_COUNT; i++)
        add(c, MAGICS[i]->name, "magic", MAGICS[i]->summary);
    for (size_t i = 0; i < GLOSSARY_COUNT; i++)
        add(c, GLOSSARY[i].name, "text", "a word of the field");
}

static void add_buffers(struct collector *c, const struct session *session)
{
    for (size_t i = 0; i < buffer_count(session); i++) {
        char type[120];

        buffer_type_text(buffer_at(session, i), type, sizeof(type));
        add(c, buffer_at(session, i)->name, "instance", type);
    }
}

/* What %buffer takes besides expressions: types, structs, first values. */
static void add_declaration_words(struct collector *c, const struct session *session)
{
    static const char *const VALUES[][2] = {
        { "zeros", "every element 0" },
        { "ones", "every element 1" },
        { "iota", "0, 1, 2, ..." },
        { "random", "random(seed): 0 <= x < 1, of integers every value" },
        { "uniform", "uniform(seed, lo, hi)" },
        { "normal", "normal(seed)" },
    };
    const struct cuda *cuda = session->cuda;
    const char *types[32];
    size_t n = element_type_names(types, COUNT(types));

    for (size_t i = 0; i < n; i++)
        add(c, types[i], "class", NULL);
    for (size_t i = 0; i < COUNT(VALUES); i++)
        add(c, VALUES[i][0], "keyword", VALUES[i][1]);
    for (size_t i = 0; i < cuda_name_count(cuda); i++) {
        struct cuda_name name = cuda_name_at(cuda, i);

        if (name.kind == CUDA_TYPE || name.kind == CUDA_VARIABLE || name.kind == CUDA_CONSTANT)
            add(c, name.name, name.kind == CUDA_TYPE ? "class" : "instance", name.head);
    }
}

static void add_lessons(struct collector *c)
{
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
        add(c, EXPERIMENTS[i]->name, "module", EXPERIMENTS[i]->question);
    for (size_t i = 0; i < LESSON_COUNT; i++)
        add(c, LESSONS[i].name, "module", LESSONS[i].question);
}

/* Words without a key: some magics know their own, the others take their positional's values. */
static void add_positionals(struct collector *c, struct session *session, const struct magic *m)
{
    if (strcmp(m->name, "help") == 0)
        add_topics(c);
    if (strcmp(m->name, "run") == 0 || strcmp(m->name, "source") == 0)
        add_lessons(c);
    for (size_t i = 0; i < m->param_count; i++)
        if (m->params[i].flags & PARAM_POSITIONAL)
            add_value(c, session, &m->params[i]);
}

/* ---- launches ---- */

/* Buffers that fit the parameter of one overload. False: it is no pointer, or there is none. */
static bool add_fitting(struct collector *c, struct session *session, const char *kernel,
                        size_t argument, struct arena *arena)
{
    const struct cuda_parameter *list;
    char about[80];
    size_t count;

    if (!complete_launch_parameters(session, kernel, arena, &list, &count) || argument >= count)
        return false;
    for (size_t i = 0; i < buffer_count(session); i++) {
        const struct buffer *buffer = buffer_at(session, i);

        buffer_type_text(buffer, about, sizeof(about));
        if (complete_launch_takes(&list[argument], &buffer->type))
            add(c, buffer->name, "instance", about);
    }
    return list[argument].is_pointer;
}

/* What may stand for an argument: buffers that fit a pointer, numbers for the rest. */
static bool add_arguments(struct collector *c, struct session *session, struct bytes code,
                          size_t cursor, struct arena *arena)
{
    struct launch_cursor at;
    const char *kernel;
    bool is_pointer = true;

    if (!complete_launch_find(code, cursor, arena, &at))
        return false;
    for (size_t i = 0;
         at.in_arguments && (kernel = complete_launch_overload(session, at.kernel, i, arena)); i++)
        is_pointer &= add_fitting(c, session, kernel, at.argument, arena);
    if (at.in_arguments && is_pointer)
        return true;
    add_variables(c, session);
    add_functions(c);
    return true;
}

/* The launches of all kernels that a name may mean, each with its own arguments. */
static void add_launches_of(struct collector *c, struct session *session, const char *name,
                            const char *head, struct arena *arena)
{
    const char *kernel, *text;

    for (size_t i = 0; (kernel = complete_launch_overload(session, name, i, arena)); i++) {
        text = complete_launch_skeleton(session, kernel, arena);
        if (text)
            add(c, text, "function", strcmp(kernel, name) == 0 ? head : kernel);
    }
}

/* At the start of a line a kernel's name may become its launch. */
static void add_launches(struct collector *c, struct session *session, struct bytes code,
                         const struct context *context, struct arena *arena)
{
    const struct cuda *cuda = session_cuda(session);
    size_t at = context->start;

    while (at > 0 && (code.data[at - 1] == ' ' || code.data[at - 1] == '\t'))
        at--;
    if (at > 0 && code.data[at - 1] != '\n')
        return;
    for (size_t i = 0; i < cuda_name_count(cuda); i++) {
        struct cuda_name n = cuda_name_at(cuda, i);

        if (n.kind == CUDA_KERNEL)
            add_launches_of(c, session, n.name, n.head, arena);
    }
}

/* ---- fields ---- */

/* a.b[0]. before the word: where the owner starts, or the word's start when there is none. */
static size_t owner_start(struct bytes code, size_t start)
{
    size_t at = start;
    int depth = 0;

    if (at == 0 || code.data[at - 1] != '.')
        return start;
    for (at--; at > 0; at--) {
        char c = code.data[at - 1];

        if (c == ']')
            depth++;
        else if (c == '[' && depth > 0)
            depth--;
        else if (c == '\n' || (depth == 0 && !is_name_char(c) && c != '.'))
            break;
    }
    return at;
}

static bool add_fields(struct collector *c, struct session *session, struct bytes code,
                       size_t start, struct arena *arena)
{
    size_t owner = owner_start(code, start);
    struct source source = { { code.data + owner, start > owner ? start - 1 - owner : 0 }, 1, 1 };
    struct value v;
    json_t *object, *field;
    const char *key;

    if (owner == start || !is_name_start(code.data[owner]))
        return false;
    if (expr_eval_source(session, source, arena, &v, NULL) < 0)
        return true;
    if (v.type == VALUE_LIST && v.list.count)
        v = v.list.items[0];
    if (v.type == VALUE_BUFFER) {
        const struct element_type *type = buffer_value_type(&v);

        for (size_t i = 0; type->layout && i < type->layout->count; i++)
            add(c, type->layout->members[i].name, "property", type->layout->members[i].type.name);
        for (int i = 0; !type->layout && type->lanes > 1 && i < type->lanes; i++)
            add(c, (const char *[]){ "x", "y", "z", "w" }[i], "property", scalar_name(type->kind));
        return true;
    }
    object = v.type == VALUE_RESULT ? v.result->fields : v.type == VALUE_JSON ? v.json : NULL;
    json_object_foreach(object, key, field) add(c, key, "property", NULL);
    return true;
}

/* ---- session_complete ---- */

static int by_text(const void *a, const void *b)
{
    const struct completion *x = a, *y = b;
    int order = strcasecmp(x->text, y->text);

    return order ? order : strcmp(x->text, y->text);
}

/* Takes a launch: kernel<<<grid, block>>>(arguments). */
static bool launches(const struct magic *m)
{
    return m->param_count && strcmp(m->params[0].name, "what") == 0 &&
           m->params[0].type == PARAM_REST && m->param_count > 1 &&
           strcmp(m->params[1].name, "grid") == 0;
}

static void collect(struct collector *c, struct session *session, struct bytes code,
                    const struct context *context, struct arena *arena)
{
    size_t cursor = context->start + c->prefix.size;

    if (context->kind == CONTEXT_MAGIC) {
        add_magics(c, context->is_cell_name);
        return;
    }
    if (context->kind == CONTEXT_VALUE) {
        add_value(c, session, context->param);
        return;
    }
    if ((context->kind == CONTEXT_CUDA || context->kind == CONTEXT_EXPR) &&
        add_arguments(c, session, code, cursor, arena))
        return;
    if (context->kind != CONTEXT_KEY && add_fields(c, session, code, context->start, arena))
        return;
    if (context->magic)
        add_keys(c, context);
    if (context->kind == CONTEXT_KEY) {
        add_positionals(c, session, context->magic);
        return;
    }
    add_variables(c, session);
    add_buffers(c, session);
    if (context->magic && strcmp(context->magic->name, "buffer") == 0)
        add_declaration_words(c, session);
    if (context->kind == CONTEXT_EXPR) {
        add_functions(c);
        if (context->magic && launches(context->magic))
            add_cuda_names(c, session, true);
        return;
    }
    add_cuda_names(c, session, false);
    if (context->kind == CONTEXT_CUDA)
        add_launches(c, session, code, context, arena);
    /* An empty word in CUDA C would offer everything: that helps nobody. */
    if (c->prefix.size)
        add_cuda_words(c);
}

int session_complete(struct session *session, struct bytes code, size_t cursor,
                     struct completions *out, struct err *err)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct collector c = { .out = out };
    struct context context;

    *out = (struct completions){ 0 };
    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (cursor > code.size)
        cursor = code.size;
    context_find(code, cursor, arena, &context);
    out->start = context.start;
    out->end = context.kind == CONTEXT_VALUE ? cursor : context.end;
    c.prefix = (struct bytes){ code.data + context.start, cursor - context.start };
    collect(&c, session, code, &context, arena);
    if (out->count)
        qsort(out->items, out->count, sizeof(*out->items), by_text);
    arena_free(&arena);
    if (!c.is_failed)
        return 0;
    completions_done(out);
    return err_set(err, ERR_ResourceError, "out of memory");
}

/* ---- session_evaluate ---- */

int session_evaluate(struct session *session, struct bytes expression, json_t **data,
                     struct err *err)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct value v;
    const char *text;
    int rc = -1;

    *data = NULL;
    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_eval_source(session, (struct source){ expression, 1, 1 }, arena, &v, err) < 0)
        goto out;
    text = value_text(arena, &v);
    *data = text ? json_pack("{s:s}", "text/plain", text) : NULL;
    rc = *data ? 0 : err_set(err, ERR_ResourceError, "the value's text does not fit in memory");
out:
    arena_free(&arena);
    return rc;
}

/* ---- session_is_complete ---- */

static bool ends_in_blank_line(struct bytes code)
{
    size_t n = code.size;

    while (n && is_blank(code.data[n - 1]) && code.data[n - 1] != '\n')
        n--;
    return n && code.data[n - 1] == '\n';
}

/* As deep as the last line, one step more where that opens a bracket. */
static void write_indent(struct bytes code, char *indent)
{
    size_t start = code.size, n = 0, last;

    while (start && code.data[start - 1] != '\n')
        start--;
    while (start + n < code.size && code.data[start + n] == ' ' && n < 28)
        n++;
    last = code.size;
    while (last > start && is_blank(code.data[last - 1]))
        last--;
    if (last > start && strchr("([{", code.data[last - 1]))
        n += 4;
    memset(indent, ' ', n);
    indent[n] = '\0';
}

/* Lexical errors of our own lines; an open text is unfinished rather than wrong. */
static enum completeness line_state(struct source line, struct arena *arena)
{
    struct lexer lexer;
    struct token t = { .kind = TOKEN_OP };
    struct err err = { 0 };
    enum completeness state = CELL_COMPLETE;

    lexer_init(&lexer, line, arena);
    while (state == CELL_COMPLETE && t.kind != TOKEN_END)
        if (lexer_next(&lexer, &t, &err) < 0)
            state = strstr(err.text, "no closing") ? CELL_INCOMPLETE : CELL_INVALID;
    err_done(&err);
    return state;
}

static enum completeness worse(enum completeness a, enum completeness b)
{
    return a > b ? a : b;
}

static enum completeness segment_completeness(const struct segmenter *s,
                                              const struct segment *segment, struct bytes code,
                                              struct arena *arena)
{
    bool is_ended = ends_in_blank_line(code);
    size_t name = 1;
    char text[40] = "";
    const struct magic *magic;

    if (segment->kind == SEGMENT_CELL_MAGIC)
        return segment->body.text.size && is_ended ? CELL_COMPLETE : CELL_INCOMPLETE;
    if (s->state.in_comment || s->state.in_raw_text || s->state.is_continued || s->state.depth)
        return CELL_INCOMPLETE;
    if (segment->kind == SEGMENT_CUDA)
        return s->state.is_unbalanced          ? CELL_INVALID
               : s->state.is_open && !is_ended ? CELL_INCOMPLETE
                                               : CELL_COMPLETE;
    if (s->state.is_unbalanced)
        return CELL_INVALID;
    if (s->state.line_is_open)
        return is_ended ? CELL_COMPLETE : CELL_INCOMPLETE;
    if (segment->kind == SEGMENT_ASSIGN)
        return worse(line_state(segment->text, arena), CELL_COMPLETE);
    if (segment->kind != SEGMENT_MAGIC)
        return CELL_COMPLETE;
    while (name < segment->text.text.size && is_name_char(segment->text.text.data[name]) &&
           name < sizeof(text))
        name++;
    memcpy(text, segment->text.text.data + 1, name - 1);
    magic = magic_find(text, false);
    return magic && !(magic->flags & MAGIC_PLAIN) ? line_state(segment->text, arena)
                                                  : CELL_COMPLETE;
}

enum completeness session_is_complete(struct session *session, struct bytes code, char *indent)
{
    struct arena *arena = arena_new(CELL_MEMORY_LIMIT);
    struct segmenter segmenter;
    struct segment segment;
    enum completeness state = CELL_COMPLETE;
    bool found = true;

    (void)session;
    indent[0] = '\0';
    if (!arena || segmenter_init(&segmenter, (struct source){ code, 1, 1 }, arena, NULL) < 0)
        found = false;
    while (found && state != CELL_INVALID) {
        if (segmenter_next(&segmenter, &segment, &found, NULL) < 0)
            state = CELL_INVALID;
        else if (found)
            state = segment_completeness(&segmenter, &segment, code, arena);
        else if (segmenter.state.in_comment)
            state = CELL_INCOMPLETE;
        if (state == CELL_INVALID)
            break;
    }
    if (state == CELL_INCOMPLETE)
        write_indent(code, indent);
    arena_free(&arena);
    return state;
}
