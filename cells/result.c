/*
 * A result owns one arena: its strings, blocks and figure end together when
 * the last holder (`_`, a variable, the cell that is drawing it) lets go.
 */
#include "cells/result.h"

#include <math.h>
#include <stdlib.h>

/* Far above any honest result (a million points of a sweep), far below a full machine. */
enum { RESULT_LIMIT = 512 * 1024 * 1024 };

struct result *result_new(const char *kind, int schema)
{
    struct result *result = calloc(1, sizeof(*result));

    if (!result)
        return NULL;
    result->references = 1;
    result->arena = arena_new(RESULT_LIMIT);
    result->fields = json_object();
    if (!result->arena || !result->fields ||
        json_object_set_new(result->fields, "kind", json_string(kind)) < 0 ||
        json_object_set_new(result->fields, "schema", json_integer(schema)) < 0)
        result_release(&result);
    return result;
}

struct result *result_keep(struct result *result)
{
    if (result)
        result->references++;
    return result;
}

void result_release(struct result **result)
{
    struct result *r = *result;

    *result = NULL;
    if (!r || --r->references > 0)
        return;
    json_decref(r->fields);
    arena_free(&r->arena);
    free(r);
}

const char *result_text(struct result *result, const char *fmt, ...)
{
    va_list args;
    const char *text;

    va_start(args, fmt);
    text = arena_vprintf(result->arena, fmt, args);
    va_end(args);
    return text;
}

const char *result_points_text(struct result *result, size_t points)
{
    return points == 2 ? "both points" : result_text(result, "all %zu points", points);
}

const char *result_first_text(struct result *result, size_t shown, size_t points)
{
    return result_text(result, "The first %zu of %zu points; the sweep field has all.", shown,
                       points);
}

static struct view_block *add_block(struct result *result, enum view_kind kind)
{
    struct view_block *block = arena_alloc(result->arena, sizeof(*block));

    if (!block)
        return NULL;
    block->kind = kind;
    if (result->view.last)
        result->view.last->next = block;
    else
        result->view.first = block;
    result->view.last = block;
    return block;
}

/* Everything is allocated before the block is linked: a view never has half a table. */
struct view_table *view_add_table(struct result *result, const struct view_column *columns,
                                  size_t column_count, size_t row_count)
{
    struct view_column *copy = arena_array(result->arena, column_count, sizeof(*copy));
    const char **cells = NULL;
    bool *marked = arena_array(result->arena, row_count, sizeof(*marked));
    struct view_block *block;
    size_t i, n;

    if (!__builtin_mul_overflow(column_count, row_count, &n))
        cells = arena_array(result->arena, n, sizeof(*cells));
    if (!copy || !cells || !marked)
        return NULL;
    for (i = 0; i < column_count; i++) {
        copy[i].align = columns[i].align;
        copy[i].title = arena_string(result->arena, columns[i].title ? columns[i].title : "");
        if (!copy[i].title)
            return NULL;
    }
    block = add_block(result, VIEW_TABLE);
    if (!block)
        return NULL;
    block->table = (struct view_table){
        .columns = copy,
        .column_count = column_count,
        .cells = cells,
        .marked = marked,
        .row_count = row_count,
    };
    return &block->table;
}

void view_cell(struct view_table *table, size_t row, size_t column, const char *text)
{
    if (table && row < table->row_count && column < table->column_count)
        table->cells[row * table->column_count + column] = text;
}

void view_mark(struct view_table *table, size_t row)
{
    if (table && table->marked && row < table->row_count)
        ((bool *)table->marked)[row] = true;
}

static struct view_block *add_texts(struct result *result, enum view_kind kind, size_t count)
{
    const char **names = arena_array(result->arena, count, sizeof(*names));
    const char **texts = arena_array(result->arena, count, sizeof(*texts));
    struct view_block *block = names && texts ? add_block(result, kind) : NULL;

    if (!block)
        return NULL;
    block->names = names;
    block->texts = texts;
    block->count = count;
    return block;
}

struct view_block *view_add_lines(struct result *result, size_t count)
{
    return add_texts(result, VIEW_LINES, count);
}

struct view_block *view_add_facts(struct result *result, size_t count)
{
    return add_texts(result, VIEW_FACTS, count);
}

/* A copy with room for one more; facts are few. */
static const char **with_one_more(struct result *result, const char **texts, size_t n,
                                  const char *text)
{
    const char **grown = arena_array(result->arena, n + 1, sizeof(*grown));

    if (!grown)
        return NULL;
    if (n)
        memcpy(grown, texts, n * sizeof(*grown));
    grown[n] = text;
    return grown;
}

void view_fact(struct result *result, const char *name, const char *text)
{
    struct view_block *block = result->view.last;
    const char **names, **texts;

    if (!text)
        return;
    if (!block || block->kind != VIEW_FACTS)
        block = view_add_facts(result, 0);
    if (!block)
        return;
    names = with_one_more(result, block->names, block->count, name);
    texts = with_one_more(result, block->texts, block->count, text);
    if (!names || !texts)
        return;
    block->names = names;
    block->texts = texts;
    block->count++;
}

json_t *json_number(double v)
{
    if (isnan(v))
        return json_string("nan");
    if (isinf(v))
        return json_string(v > 0 ? "inf" : "-inf");
    return json_real(v);
}

json_t *json_whole(json_t *json, int is_failed)
{
    if (!is_failed)
        return json;
    json_decref(json);
    return NULL;
}
