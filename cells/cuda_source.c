/*
 * Putting a text together: from the items that are wanted to those that they use,
 * by name, and out again in an order in which every name is known before its use.
 */
#include "cells/cuda_source.h"

#include "cells/cuda_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

bool cuda_uses(struct bytes text, const char *name)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };
    struct bytes word;

    while (scan_identifier(&s, &directive, &word))
        if (bytes_equal(word, name))
            return true;
    return false;
}

/* One name and an item that defines it; sorted by name, then by item. */
struct provider {
    const char *name;
    size_t item;
};

struct composition {
    const struct cuda_items *items;
    struct provider *index;
    size_t index_count;
    bool *is_needed, *is_written;
    bool is_plain; /* no #line */
    struct buf *out;
};

static int compare_providers(const void *a, const void *b)
{
    const struct provider *p = a, *q = b;
    int order = strcmp(p->name, q->name);

    return order ? order : (p->item > q->item) - (p->item < q->item);
}

/* Where the entries of a word begin in the index, or would. */
static size_t lower_bound(const struct composition *c, struct bytes word)
{
    size_t low = 0, high = c->index_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strncmp(c->index[middle].name, word.data, word.size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Calls each for every item that defines an identifier which this item uses. */
static void each_provider(struct composition *c, size_t user,
                          void (*each)(struct composition *, size_t user, size_t provider))
{
    struct bytes text = c->items->list[user].text, word;
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };

    while (scan_identifier(&s, &directive, &word))
        for (size_t i = lower_bound(c, word);
             i < c->index_count && strncmp(c->index[i].name, word.data, word.size) == 0; i++)
            if (c->index[i].item != user && strlen(c->index[i].name) == word.size)
                each(c, user, c->index[i].item);
}

static void need(struct composition *c, size_t user, size_t item)
{
    (void)user;
    if (c->is_needed[item])
        return;
    c->is_needed[item] = true;
    each_provider(c, item, need);
}

static void write_item(struct composition *c, size_t i);

/* A later item of the same cell was not visible to this one when it was written. */
static void write_provider(struct composition *c, size_t user, size_t provider)
{
    bool is_later = c->items->list[provider].cell == c->items->list[user].cell && provider > user;

    if (!is_later)
        write_item(c, provider);
}

static void write_item(struct composition *c, size_t i)
{
    const struct cuda_item *item = &c->items->list[i];

    if (c->is_written[i] || !c->is_needed[i])
        return;
    c->is_written[i] = true;
    each_provider(c, i, write_provider);
    if (c->is_plain) {
        if (c->out->size > 0)
            buf_putc(c->out, '\n');
    } else {
        buf_printf(c->out, "#line %d \"In[%d]\"\n", item->line, item->cell);
        buf_fill(c->out, ' ', (size_t)item->column - 1); /* the caret's column is the cell's */
    }
    buf_put(c->out, item->text.data, item->text.size);
    buf_putc(c->out, '\n');
}

static bool is_always_needed(const struct cuda_item *item)
{
    return item->kind == ITEM_OPERATOR || (item->kind == ITEM_OTHER && item->name_count == 0);
}

static bool is_same_include(const struct cuda_items *items, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (items->list[k].kind == ITEM_INCLUDE &&
            items->list[k].text.size == items->list[i].text.size &&
            memcmp(items->list[k].text.data, items->list[i].text.data, items->list[i].text.size) ==
                0)
            return true;
    return false;
}

size_t cuda_include_at(const struct cuda_items *items, int line)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i].kind == ITEM_INCLUDE && !is_same_include(items, i) && --line == 0)
            return i;
    return items->count;
}

/* Without #line, at which precompiled headers end, and each once. */
static void write_includes(struct composition *c)
{
    for (size_t i = 0; i < c->items->count; i++) {
        const struct cuda_item *item = &c->items->list[i];

        if (item->kind != ITEM_INCLUDE)
            continue;
        c->is_written[i] = true;
        if (is_same_include(c->items, i))
            continue;
        buf_put(c->out, item->text.data, item->text.size);
        buf_putc(c->out, '\n');
    }
}

static int start_composition(struct composition *c)
{
    size_t names = 0;

    for (size_t i = 0; i < c->items->count; i++)
        names += c->items->list[i].name_count;
    c->is_needed = calloc(c->items->count + 1, sizeof(bool));
    c->is_written = calloc(c->items->count + 1, sizeof(bool));
    c->index = calloc(names + 1, sizeof(*c->index));
    if (!c->is_needed || !c->is_written || !c->index)
        return -1;
    for (size_t i = 0; i < c->items->count; i++)
        for (size_t k = 0; k < c->items->list[i].name_count; k++)
            if (c->items->list[i].kind != ITEM_HOST)
                c->index[c->index_count++] = (struct provider){ c->items->list[i].names[k], i };
    qsort(c->index, c->index_count, sizeof(*c->index), compare_providers);
    return 0;
}

static int compose(struct composition *c, const bool *is_root, struct err *err)
{
    const struct cuda_items *items = c->items;

    if (start_composition(c) == 0) {
        for (size_t i = 0; i < items->count; i++)
            if (items->list[i].kind != ITEM_HOST &&
                (is_root[i] || is_always_needed(&items->list[i])))
                need(c, i, i);
        write_includes(c);
        for (size_t i = 0; i < items->count; i++)
            write_item(c, i);
    } else {
        c->out->is_failed = true;
    }
    free(c->is_needed);
    free(c->is_written);
    free(c->index);
    return c->out->is_failed ? err_set(err, ERR_ResourceError, "out of memory for a cell's source")
                             : 0;
}

int cuda_compose(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err)
{
    struct composition c = { .items = items, .out = out };

    return compose(&c, is_root, err);
}

int cuda_extract(const struct cuda_items *items, const bool *is_root, struct buf *out,
                 struct err *err)
{
    struct composition c = { .items = items, .out = out, .is_plain = true };

    return compose(&c, is_root, err);
}

/* Itanium C++ ABI: _Z <length> <name> ..., _ZN <length> <name> ... E, _ZL for internal ones. */
void cuda_plain_name(const char *symbol, char *out, size_t capacity)
{
    const char *at = symbol, *name = symbol;
    size_t n = strlen(symbol);

    if (strncmp(at, "_Z", 2) == 0) {
        bool is_nested = at[2] == 'N'; /* else a second number starts a parameter's type */

        at += 2;
        while (*at == 'N' || *at == 'L' || *at == 'K')
            at++;
        while (isdigit((unsigned char)*at) && (is_nested || name == symbol)) {
            size_t length = (size_t)strtoul(at, (char **)(uintptr_t)&at, 10);

            if (length > strlen(at))
                break;
            name = at;
            n = length;
            at += length;
        }
    }
    snprintf(out, capacity, "%.*s", (int)min_i64((int64_t)n, 1000), name);
}
