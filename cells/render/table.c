/*
 * Tables for reading: columns as wide as their widest cell, numbers to the
 * right, as much room between columns as the line allows. What does not fit
 * wraps inside its column, and only text wraps: a number is never cut.
 */
#include "cells/render/table.h"

#include "cells/render/text.h"

#include <stdlib.h>

enum mark_place {
    MARK_NONE,
    MARK_MARGIN, /* in the indent: the first column is a number */
    MARK_BEHIND, /* behind the first column, a name */
    MARK_MARGIN_COLUMNS = 2,
    MAX_GAP = 3,
};

struct layout {
    const struct view_table *table;
    size_t *widths;    /* per column: what it gets */
    size_t *words;     /* per column: the least it can get */
    const char **rest; /* per column: what of its cell is still to print */
    enum mark_place mark;
    size_t indent, gap;
};

static size_t longer(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The widest line of a text, and its widest unbreakable piece. */
static void measure(const char *text, size_t *line, size_t *word)
{
    while (text && *text) {
        size_t size = strcspn(text, "\n"), at = 0;

        *line = longer(*line, text_columns(text, size));
        while (at < size) {
            size_t n = strcspn(text + at, " \n");

            *word = longer(*word, text_columns(text + at, n));
            at += n + 1;
        }
        text += size + (text[size] == '\n');
    }
}

static const char *cell(const struct view_table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->column_count + column];

    return text ? text : "";
}

static bool is_marked(const struct view_table *table, size_t row)
{
    return table->marked && table->marked[row];
}

static void measure_columns(struct layout *l)
{
    const struct view_table *t = l->table;
    size_t r, c;

    for (c = 0; c < t->column_count; c++) {
        /* A heading does not wrap: its magic has broken it already. */
        measure(t->columns[c].title, &l->widths[c], &l->words[c]);
        l->words[c] = l->widths[c];
        for (r = 0; r < t->row_count; r++)
            measure(cell(t, r, c), &l->widths[c], &l->words[c]);
        if (t->columns[c].align == VIEW_RIGHT)
            l->words[c] = l->widths[c];
    }
    for (r = 0; r < t->row_count; r++)
        if (is_marked(t, r))
            l->mark = t->columns[0].align == VIEW_LEFT ? MARK_BEHIND : MARK_MARGIN;
}

/* Columns of the line that holds table columns 0 and from..to-1. */
static size_t line_columns(const struct layout *l, size_t from, size_t to)
{
    size_t total = l->indent + l->widths[0], c;

    if (l->mark == MARK_BEHIND)
        total += 3; /* "  >" */
    for (c = from; c < to; c++)
        total += l->gap + l->widths[c];
    return total;
}

/* Takes columns from the widest texts until the line fits or only words are left. */
static void shrink(struct layout *l)
{
    const struct view_table *t = l->table;

    while (line_columns(l, 1, t->column_count) > TEXT_COLUMNS) {
        size_t widest = t->column_count, c;

        for (c = 0; c < t->column_count; c++)
            if (l->widths[c] > l->words[c] &&
                (widest == t->column_count || l->widths[c] > l->widths[widest]))
                widest = c;
        if (widest == t->column_count)
            return;
        l->widths[widest]--;
    }
}

static void choose_room(struct layout *l)
{
    size_t columns = l->table->column_count;

    l->indent = MARK_MARGIN_COLUMNS;
    for (l->gap = MAX_GAP; l->gap > 1 && line_columns(l, 1, columns) > TEXT_COLUMNS; l->gap--)
        ;
    if (l->mark != MARK_MARGIN && line_columns(l, 1, columns) > TEXT_COLUMNS) {
        l->indent = 0;
        if (line_columns(l, 1, columns) <= TEXT_COLUMNS)
            return;
        l->gap = 2;
    }
    shrink(l);
    if (line_columns(l, 1, columns) > TEXT_COLUMNS)
        l->gap = 2;
}

/* The piece of *rest that fits into width, without trailing blanks; *rest moves behind it. */
static struct bytes next_piece(const char **rest, size_t width)
{
    const char *text = *rest;
    size_t size = strcspn(text, "\n"), take = 0, at = 0, after;

    while (at < size) {
        size_t blanks = strspn(text + at, " "), end = at + blanks;

        end += strcspn(text + end, " \n");
        if (take && text_columns(text, end) > width)
            break;
        take = at = end;
    }
    after = take + strspn(text + take, " ");
    *rest = text + after + (text[after] == '\n');
    while (take && text[take - 1] == ' ')
        take--;
    return (struct bytes){ text, take };
}

/*
 * Blanks are owed, not written, until something follows them, so that no line ends in
 * blanks.
 */
static void put_piece(struct buf *out, size_t *owed, struct bytes piece, size_t width,
                      enum view_align align)
{
    size_t columns = text_columns(piece.data, piece.size);
    size_t pad = width > columns ? width - columns : 0;

    if (!columns) {
        *owed += width;
        return;
    }
    buf_fill(out, ' ', *owed + (align == VIEW_RIGHT ? pad : 0));
    text_put(out, piece.data, piece.size);
    *owed = align == VIEW_RIGHT ? 0 : pad;
}

/* One printed line of columns 0 and from..to-1; false when nothing was left to print. */
static bool put_line(struct buf *out, const struct layout *l, size_t from, size_t to, bool has_mark)
{
    const struct view_table *t = l->table;
    size_t owed = l->indent, c;
    bool is_more = false;

    if (has_mark && l->mark == MARK_MARGIN) {
        buf_putc(out, '>');
        owed--;
    }
    for (c = 0; c < to; c = c ? c + 1 : from) {
        if (c)
            owed += l->gap;
        put_piece(out, &owed, next_piece(&l->rest[c], l->widths[c]), l->widths[c],
                  t->columns[c].align);
        if (c == 0 && l->mark == MARK_BEHIND)
            put_piece(out, &owed, bytes_of(has_mark ? "  >" : ""), 3, VIEW_LEFT);
        is_more |= *l->rest[c] != '\0';
    }
    buf_putc(out, '\n');
    return is_more;
}

/* Heads stand on the line above the cells: a short one is moved down by empty lines. */
static size_t head_lines(const char *title)
{
    size_t n = *title != '\0';

    for (; *title; title++)
        n += *title == '\n';
    return n;
}

static void put_head(struct buf *out, const struct layout *l, size_t from, size_t to)
{
    const struct view_table *t = l->table;
    size_t height = 0, line, c;

    for (c = 0; c < to; c = c ? c + 1 : from)
        height = longer(height, head_lines(t->columns[c].title));
    for (line = 0; line < height; line++) {
        size_t owed = l->indent;

        for (c = 0; c < to; c = c ? c + 1 : from) {
            const char *title = t->columns[c].title;
            size_t skip = height - head_lines(title);
            struct bytes piece = { title, 0 };

            if (line == skip)
                l->rest[c] = title;
            if (line >= skip && *title)
                piece = next_piece(&l->rest[c], SIZE_MAX);
            if (c)
                owed += l->gap;
            put_piece(out, &owed, piece, l->widths[c], t->columns[c].align);
            if (c == 0 && l->mark == MARK_BEHIND)
                owed += 3;
        }
        buf_putc(out, '\n');
    }
}

static void put_band(struct buf *out, const struct layout *l, size_t from, size_t to)
{
    const struct view_table *t = l->table;
    size_t r, c;

    put_head(out, l, from, to);
    for (r = 0; r < t->row_count; r++) {
        bool has_mark = is_marked(t, r);

        for (c = 0; c < to; c = c ? c + 1 : from)
            l->rest[c] = cell(t, r, c);
        while (put_line(out, l, from, to, has_mark))
            has_mark = false;
    }
}

/* As many columns as fit beside the first one, then the next ones below. */
static void put_bands(struct buf *out, const struct layout *l)
{
    size_t columns = l->table->column_count, from = 1, to;

    do {
        for (to = from + 1; to < columns && line_columns(l, from, to + 1) <= TEXT_COLUMNS; to++)
            ;
        if (to > columns)
            to = columns;
        if (from > 1)
            buf_putc(out, '\n');
        put_band(out, l, from, to);
        from = to;
    } while (from < columns);
}

/* One table; every line ends with '\n'. */
static void table_put(struct buf *out, const struct view_table *table)
{
    struct layout l = { .table = table };

    if (!table->column_count)
        return;
    l.widths = calloc(table->column_count, sizeof(*l.widths));
    l.words = calloc(table->column_count, sizeof(*l.words));
    l.rest = calloc(table->column_count, sizeof(*l.rest));
    if (l.widths && l.words && l.rest) {
        measure_columns(&l);
        choose_room(&l);
        put_bands(out, &l);
    } else {
        out->is_failed = true;
    }
    free(l.widths);
    free(l.words);
    free(l.rest);
}

static void put_facts(struct buf *out, const struct view_block *block)
{
    size_t width = 0, i;

    for (i = 0; i < block->count; i++)
        if (block->names[i])
            width = longer(width, text_columns(block->names[i], strlen(block->names[i])));
    for (i = 0; i < block->count; i++) {
        const char *name = block->names[i] ? block->names[i] : "";
        size_t columns = text_columns(name, strlen(name));

        buf_fill(out, ' ', 2);
        text_put(out, name, strlen(name));
        if (block->texts[i] && *block->texts[i]) {
            buf_fill(out, ' ', width - columns + 2);
            text_put_wrapped(out, block->texts[i], width + 4, width + 4);
        }
        buf_putc(out, '\n');
    }
}

static void put_lines(struct buf *out, const struct view_block *block)
{
    size_t i;

    for (i = 0; i < block->count; i++) {
        if (block->texts[i])
            text_put(out, block->texts[i], strlen(block->texts[i]));
        buf_putc(out, '\n');
    }
}

static void put_sentence(struct buf *out, const char *text)
{
    if (!text || !*text)
        return;
    text_put_wrapped(out, text, 0, 0);
    buf_putc(out, '\n');
}

void table_put_view(struct buf *out, const struct view *view)
{
    const struct view_block *block;

    put_sentence(out, view->answer);
    put_sentence(out, view->origin);
    for (block = view->first; block; block = block->next) {
        if (!block->count && !block->table.column_count)
            continue;
        if (out->size)
            buf_putc(out, '\n');
        if (block->kind == VIEW_TABLE)
            table_put(out, &block->table);
        else if (block->kind == VIEW_FACTS)
            put_facts(out, block);
        else
            put_lines(out, block);
    }
    /* Facts lead to the closing line; a table ends first. */
    if (view->last && view->last->kind == VIEW_TABLE && view->closing)
        buf_putc(out, '\n');
    put_sentence(out, view->closing);
    if (out->size && !out->is_failed)
        buf_cut(out, out->size - 1);
}
