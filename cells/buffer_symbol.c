/*
 * Device variables. The declaration gives type and dimensions; the value lives in a
 * buffer from the first time on that anybody asks, so that it is kept from launch to
 * launch as a GPU's memory keeps it.
 */
#include "cells/buffer_symbol.h"

#include "cells/buffer_declare.h"
#include "cells/buffer_number.h"
#include "cells/buffer_value.h"
#include "cells/expr.h"
#include "cells/internal.h"

static bool is_device_variable(struct session *session, const char *name)
{
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = 0; i < cuda_name_count(cuda); i++)
        if (cuda_name_at(cuda, i).kind == CUDA_VARIABLE &&
            strcmp(cuda_name_at(cuda, i).name, name) == 0)
            return true;
    return false;
}

/* Items between the outer braces: what `float F[] = {1, 2, 1}` has. */
static int64_t count_items(struct bytes text)
{
    struct scanner scanner = { text.data, text.data + text.size, true };
    int64_t n = 0;
    int depth = 0;
    bool is_empty = true;

    for (;;) {
        struct scan_token t = scan_next(&scanner);

        if (t.kind == SCAN_END)
            return n + !is_empty;
        if (scan_is_sign(t, '{') || scan_is_sign(t, '('))
            depth++;
        else if (scan_is_sign(t, '}') || scan_is_sign(t, ')'))
            depth--;
        else if (depth == 1 && scan_is_sign(t, ',')) {
            n++;
            is_empty = true;
            continue;
        }
        if (depth >= 1 && !(depth == 1 && scan_is_sign(t, '{')))
            is_empty = false;
    }
}

static int read_declaration(struct session *session, struct arena *arena, const char *name,
                            struct element_type *type, struct declarator *out, struct err *err)
{
    struct declare d;
    struct bytes text;
    int cell, line;

    if (!cuda_definition(session_cuda(session), name, &text, &cell, &line))
        return err_set(err, ERR_NameError, "no device variable is called %.60s", name);
    declare_init(&d, session, arena, text, name, 0, err);
    if (declare_type(&d, type) < 0)
        return -1;
    for (;;) {
        if (declare_declarator(&d, out) < 0)
            return -1;
        if (strcmp(out->name, name) == 0)
            break;
        if (!declare_at(&d, ','))
            return declare_refuse(&d, "a declaration of this form");
        declare_next(&d);
    }
    if (out->is_pointer && !element_type_builtin("ulong", type))
        return -1;
    if (!type->bytes)
        return declare_refuse(&d, "void");
    if (out->is_open) {
        memmove(out->shape + 1, out->shape, (size_t)out->rank * sizeof(out->shape[0]));
        out->shape[0] = count_items(out->initial);
        out->rank++;
        if (out->shape[0] < 1)
            return declare_refuse(&d, "an array without a length");
    }
    return 0;
}

int symbol_type(struct session *session, const char *name, bool *is_found,
                struct element_type *type, int *rank, int64_t *shape, struct err *err)
{
    struct declarator as;

    *is_found = session->cell && is_device_variable(session, name);
    if (!*is_found)
        return 0;
    if (read_declaration(session, session->cell->arena, name, type, &as, err) < 0)
        return -1;
    *rank = as.rank;
    shape[0] = 1;
    for (int i = 0; i < as.rank; i++)
        shape[i] = as.shape[i];
    return 0;
}

/* ---- the value of the declaration ---- */

struct filling {
    struct session *session;
    struct arena *arena;
    struct buffer *buffer;
    const struct leaf *leaves;
    size_t leaf_count;
    int64_t next; /* number */
    struct err *err;
};

static int not_plain(const struct filling *f)
{
    err_done(f->err);
    err_set(f->err, ERR_UnsupportedError,
            "the first value of %.60s is no plain number: the device's compiler works it out",
            f->buffer->name);
    return err_next(f->err, "launch a kernel that uses %.60s, or fill it: %%buffer %.60s = ...",
                    f->buffer->name, f->buffer->name);
}

static int store_item(struct filling *f, struct source item)
{
    const struct leaf *leaf = &f->leaves[(size_t)f->next % f->leaf_count];
    size_t at = (size_t)(f->next / (int64_t)f->leaf_count) * f->buffer->type.bytes + leaf->offset,
           one;
    struct value v;
    enum store_result rc;

    if (f->next >= f->buffer->count * (int64_t)f->leaf_count)
        return -1;
    if (expr_eval_source(f->session, item, f->arena, &v, f->err) < 0)
        return -1;
    if (v.type == VALUE_BOOL)
        v = (struct value){ .type = VALUE_INT, .i = v.b };
    if (v.type == VALUE_INT)
        rc = scalar_store_ints(leaf->kind, (char *)f->buffer->data + at, 0, &v.i, 1, &one);
    else if (v.type == VALUE_FLOAT)
        rc = scalar_store_floats(leaf->kind, (char *)f->buffer->data + at, 0, &v.f, 1, &one);
    else
        return -1;
    f->next++;
    return rc == STORE_OK ? 0 : -1;
}

/* Numbers in braces fill in memory order; inner braces are taken when they are whole rows. */
static int store_items(struct filling *f, struct bytes text)
{
    struct scanner scanner = { text.data, text.data + text.size, true };
    struct scan_token t = scan_next(&scanner);
    const char *start = NULL, *end = NULL;
    int parens = 0;

    for (; t.kind != SCAN_END; t = scan_next(&scanner)) {
        bool is_edge =
            !parens && (scan_is_sign(t, '{') || scan_is_sign(t, '}') || scan_is_sign(t, ','));

        parens += scan_is_sign(t, '(') - scan_is_sign(t, ')');
        if (!is_edge) {
            start = start ? start : t.text.data;
            end = t.text.data + t.text.size;
            continue;
        }
        if (start && store_item(f, (struct source){ { start, (size_t)(end - start) }, 1, 1 }) < 0)
            return -1;
        start = NULL;
    }
    return start ? store_item(f, (struct source){ { start, (size_t)(end - start) }, 1, 1 }) : 0;
}

/* Inner braces that leave numbers out would shift what follows: such a value is not plain. */
static bool has_gaps(struct bytes text, int64_t numbers)
{
    struct scanner scanner = { text.data, text.data + text.size, true };
    int depth = 0, deepest = 0;
    int64_t n = 0;

    for (struct scan_token t = scan_next(&scanner); t.kind != SCAN_END; t = scan_next(&scanner)) {
        depth += scan_is_sign(t, '{') - scan_is_sign(t, '}');
        deepest = depth > deepest ? depth : deepest;
        n += scan_is_sign(t, ',');
    }
    return deepest > 1 && n + 1 < numbers;
}

static int make_symbol(struct session *session, const char *name, struct buffer **out,
                       struct err *err)
{
    struct filling f = { .session = session, .err = err };
    struct element_type type;
    struct declarator as;
    int64_t shape[BUFFER_RANK_MAX] = { 1, 1, 1 };

    f.arena = session->cell->arena;
    if (read_declaration(session, f.arena, name, &type, &as, err) < 0)
        return -1;
    for (int i = 0; i < as.rank; i++)
        shape[i] = as.shape[i];
    if (buffer_prepare(session, name, &type, as.rank, shape, true, &f.buffer, err) < 0)
        return -1;
    if (element_leaves(f.arena, &f.buffer->type, &f.leaves, &f.leaf_count, err) < 0) {
        buffer_discard(&f.buffer);
        return -1;
    }
    if (has_gaps(as.initial, f.buffer->count * (int64_t)f.leaf_count) ||
        store_items(&f, as.initial) < 0) {
        not_plain(&f);
        buffer_discard(&f.buffer);
        return -1;
    }
    /* What is left out is zero, as in C; without a value device variables are zero as a whole. */
    buffer_define(f.buffer, 0, f.buffer->size);
    *out = f.buffer;
    if (buffer_commit(session, f.buffer, err) == 0)
        return 0;
    *out = NULL;
    return -1;
}

int symbol_find(struct session *session, const char *name, struct buffer **out, struct err *err)
{
    struct err own = { 0 };
    int rc;

    *out = buffer_find_symbol(session, name);
    if (*out || !session->cell || !is_device_variable(session, name))
        return 0;
    rc = make_symbol(session, name, out, err ? err : &own);
    err_done(&own);
    return rc;
}
