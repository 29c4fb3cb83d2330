/*
 * What belongs to a value: fields of a result, elements of a list, a line of a
 * launch. A field of a list of results is the list of their fields, so that a
 * sweep can be asked as one launch is.
 */
#include "cells/buffer_value.h"
#include "cells/expr.h"
#include "cells/internal.h"

#include <stdio.h>

static json_t *object_of(const struct value *v)
{
    return v->type == VALUE_RESULT ? v->result->fields : v->type == VALUE_JSON ? v->json : NULL;
}

static int unknown_field(struct scope *scope, const struct expr *expr, json_t *object,
                         struct err *err)
{
    struct nearest near = { .wanted = expr->text };
    char list[200] = "";
    size_t n = 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        nearest_try(&near, key);
        if (n + strlen(key) + 2 < sizeof(list))
            n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? " " : "", key);
    }
    if (near.best)
        err_set(err, ERR_NameError, "%s has no field %.60s; %s is the nearest",
                expr_show(scope, expr->kids[0]), expr->text, near.best);
    else
        err_set(err, ERR_NameError, "%s has no field %.60s", expr_show(scope, expr->kids[0]),
                expr->text);
    lexer_mark(scope->lexer, expr->end - strlen(expr->text), expr->end, err);
    return err_next(err, "its fields: %s", list);
}

/* sweep.occupancy: a field of every object of a list is a list. */
static int field_of_list(struct scope *scope, const struct expr *expr, const struct value *list,
                         struct value *out, struct err *err)
{
    struct value *items = arena_array(scope->arena, list->list.count, sizeof(*items));

    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < list->list.count; i++) {
        json_t *object = object_of(&list->list.items[i]);
        json_t *field = object ? json_object_get(object, expr->text) : NULL;

        if (!object)
            return expr_fail(scope, expr->kids[0], err, ERR_UsageError,
                             "%s is a list of plain values: they have no field %.60s",
                             expr_show(scope, expr->kids[0]), expr->text);
        if (!field)
            return unknown_field(scope, expr, object, err);
        if (value_from_json(scope->arena, field, &items[i], err) < 0)
            return lexer_mark(scope->lexer, expr->start, expr->end, err);
    }
    *out = (struct value){ .type = VALUE_LIST, .list = { items, list->list.count } };
    return 0;
}

int member_field(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value owner;
    json_t *object, *field;

    if (expr_eval(scope, expr->kids[0], &owner, err) < 0)
        return -1;
    if (owner.type == VALUE_BUFFER)
        return buffer_field_eval(scope, expr, &owner, out, err);
    if (owner.type == VALUE_LIST)
        return field_of_list(scope, expr, &owner, out, err);
    if (owner.type == VALUE_DIM && strlen(expr->text) == 1 && strchr("xyz", expr->text[0])) {
        *out = value_int(expr->text[0] == 'x'   ? owner.dim.x
                         : expr->text[0] == 'y' ? owner.dim.y
                                                : owner.dim.z);
        return 0;
    }
    object = object_of(&owner);
    if (!object) {
        expr_fail(scope, expr->kids[0], err, ERR_UsageError, "%s is %s, which has no fields",
                  expr_show(scope, expr->kids[0]), value_a_type(owner.type));
        return owner.type == VALUE_NULL
                   ? err_next(err, "null is what was not measured, or what a device cannot count: "
                                   "for that use device=model")
                   : -1;
    }
    field = json_object_get(object, expr->text);
    if (!field)
        return unknown_field(scope, expr, object, err);
    if (value_from_json(scope->arena, field, out, err) < 0)
        return lexer_mark(scope->lexer, expr->start, expr->end, err);
    return 0;
}

/* variants["trips 4..8 by lane"]: the object of a list whose name is this. */
static int element_by_name(struct scope *scope, const struct expr *expr, const struct value *list,
                           const char *name, struct value *out, struct err *err)
{
    struct nearest near = { .wanted = name };

    for (size_t i = 0; i < list->list.count; i++) {
        json_t *object = object_of(&list->list.items[i]);
        const char *is = object ? json_string_value(json_object_get(object, "name")) : NULL;

        if (is && strcmp(is, name) == 0) {
            *out = list->list.items[i];
            return 0;
        }
        if (is)
            nearest_try(&near, is);
    }
    expr_fail(scope, expr->kids[1], err, ERR_NameError, "no element of %s is named \"%.80s\"",
              expr_show(scope, expr->kids[0]), name);
    return near.best ? err_next(err, "\"%s\" is the nearest", near.best) : -1;
}

static int element_at(struct scope *scope, const struct expr *expr, const struct value *list,
                      const struct value *index, struct value *out, struct err *err)
{
    int64_t i;

    if (index->type == VALUE_STRING)
        return element_by_name(scope, expr, list, index->text, out, err);
    if (expr_need_int(scope, expr->kids[1], index, &i, err) < 0)
        return -1;
    if (i < 0 || (size_t)i >= list->list.count)
        return expr_fail(scope, expr->kids[1], err, ERR_ValueError,
                         "%s[%lld]: %s has %zu elements, 0 to %lld",
                         expr_show(scope, expr->kids[0]), (long long)i,
                         expr_show(scope, expr->kids[0]), list->list.count,
                         (long long)list->list.count - 1);
    *out = list->list.items[i];
    return 0;
}

int member_index(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value owner, index, *items;
    bool is_buffer;

    if (buffer_index_eval(scope, expr, &is_buffer, out, err) < 0)
        return -1;
    if (is_buffer)
        return 0;
    if (expr_eval(scope, expr->kids[0], &owner, err) < 0 ||
        expr_eval(scope, expr->kids[1], &index, err) < 0)
        return -1;
    if (owner.type != VALUE_LIST)
        return expr_fail(scope, expr->kids[0], err, ERR_UsageError,
                         "%s is %s: only lists have elements", expr_show(scope, expr->kids[0]),
                         value_a_type(owner.type));
    if (index.type != VALUE_LIST)
        return element_at(scope, expr, &owner, &index, out, err);
    items = arena_array(scope->arena, index.list.count, sizeof(*items));
    if (!items)
        return expr_fail(scope, expr, err, ERR_ResourceError, "the list does not fit in memory");
    for (size_t i = 0; i < index.list.count; i++)
        if (element_at(scope, expr, &owner, &index.list.items[i], &items[i], err) < 0)
            return -1;
    *out = (struct value){ .type = VALUE_LIST, .list = { items, index.list.count } };
    return 0;
}

/* t.line(6): the source line 6 of a launch's lines; x.data() as vectors have it. */
int member_method(struct scope *scope, const struct expr *expr, struct value *out, struct err *err)
{
    struct value owner, number;
    json_t *lines, *line;
    int64_t wanted;
    size_t i;

    if (expr_eval(scope, expr->kids[0], &owner, err) < 0)
        return -1;
    if (owner.type == VALUE_BUFFER && expr->count == 1 &&
        (strcmp(expr->text, "data") == 0 || strcmp(expr->text, "get") == 0)) {
        *out = owner; /* x.data() of a vector is x */
        return 0;
    }
    lines = object_of(&owner) ? json_object_get(object_of(&owner), "lines") : NULL;
    if (strcmp(expr->text, "line") != 0 || expr->count != 2 || !json_is_array(lines))
        return expr_fail(scope, expr, err, ERR_NameError, "%s has no function %.40s",
                         expr_show(scope, expr->kids[0]), expr->text);
    if (expr_eval(scope, expr->kids[1], &number, err) < 0 ||
        expr_need_int(scope, expr->kids[1], &number, &wanted, err) < 0)
        return -1;
    json_array_foreach(lines, i, line) if (json_integer_value(json_object_get(line, "line")) ==
                                           wanted) return value_from_json(scope->arena, line, out,
                                                                          err);
    return expr_fail(scope, expr->kids[1], err, ERR_ValueError,
                     "no instruction of %s is on line %lld", expr_show(scope, expr->kids[0]),
                     (long long)wanted);
}
