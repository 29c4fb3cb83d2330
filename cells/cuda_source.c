/*
 * Putting a text together: from the items that are wanted to those that they use,
 * by name, and out again in an order in which every name is known before its use.
 */
#include "cells/cuda_source.h"

#include "cells/cuda_headers.h"
#include "cells/cuda_scan.h"
#include "cells/cuda_state.h"

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
    struct bytes also; /* a text whose names are needed too, as item number items->count */
    bool is_plain;     /* no #line */
    int only_cell;     /* clean=yes: what other cells define is not seen; 0: all is */
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

static bool is_provided(const struct composition *c, struct bytes word)
{
    size_t i = lower_bound(c, word);

    return i < c->index_count && bytes_equal(word, c->index[i].name);
}

/* Calls each for every item that defines an identifier which this item uses. */
static void each_provider(struct composition *c, size_t user,
                          void (*each)(struct composition *, size_t user, size_t provider))
{
    struct bytes text = user < c->items->count ? c->items->list[user].text : c->also, word;
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
    if (c->is_plain && c->out->size > 0)
        buf_putc(c->out, '\n');
    buf_puts(c->out, item->open);
    if (!c->is_plain) {
        buf_printf(c->out, "#line %d \"In[%d]\"\n", item->line, item->cell);
        buf_fill(c->out, ' ', (size_t)item->column - 1); /* the caret's column is the cell's */
    }
    buf_put(c->out, item->text.data, item->text.size);
    buf_putc(c->out, '\n');
    buf_puts(c->out, item->close);
}

static bool is_hidden(const struct composition *c, const struct cuda_item *item)
{
    return item->kind == ITEM_HOST || (c->only_cell && item->cell != c->only_cell);
}

static bool is_always_needed(const struct cuda_item *item)
{
    return item->kind == ITEM_OPERATOR || (item->kind == ITEM_OTHER && item->name_count == 0);
}

/* ---- includes ---- */

/* One include of the session, while they are put in order. */
struct include {
    size_t item;
    struct cuda_header header;
    bool is_wanted;
};

static int compare_includes(const void *a, const void *b)
{
    const struct include *p = a, *q = b;

    if (p->header.rank != q->header.rank)
        return p->header.rank - q->header.rank;
    return (p->item > q->item) - (p->item < q->item);
}

static bool is_same_text(const struct composition *c, const struct include *a,
                         const struct include *b)
{
    struct bytes p = c->items->list[a->item].text, q = c->items->list[b->item].text;

    return p.size == q.size && memcmp(p.data, q.data, p.size) == 0;
}

/* Which headers the words of a text ask for. */
static void want_includes(struct include *list, size_t count, struct bytes text)
{
    struct scanner s = { text.data, text.data + text.size, true };
    struct scanner directive = { text.data, text.data, false };
    struct bytes word;

    while (scan_identifier(&s, &directive, &word))
        for (size_t i = 0; i < count; i++)
            list[i].is_wanted |= cuda_header_wants(&list[i].header, word);
}

/* Is this `* name,` as behind a type? A product goes on with another sign: `* threadIdx.x`. */
static bool is_pointer_name(struct bytes rest)
{
    struct scanner s = { rest.data, rest.data + rest.size, false };
    struct scan_token t = scan_next(&s);

    while (scan_is_sign(t, '*') || scan_is_word(t, "const") || scan_is_word(t, "__restrict__"))
        t = scan_next(&s);
    if (t.kind == SCAN_WORD)
        t = scan_next(&s);
    return t.text.size > 0 && t.kind != SCAN_WORD && t.kind != SCAN_NUMBER &&
           strchr(",)=;>[", t.text.data[0]);
}

/* `half` is a type before a name, a pointer's star or a bracket; else some variable's name. */
static bool is_variable(struct bytes text, struct bytes word)
{
    const char *at = word.data + word.size, *end = text.data + text.size, *before = word.data;

    if (!bytes_equal(word, "half"))
        return false;
    while (at < end && *at == ' ')
        at++;
    while (before > text.data && before[-1] == ' ')
        before--;
    if (at == end || before == text.data)
        return true;
    if (*at == '*')
        return strchr("[+-*/=&|>?:", before[-1]) ||
               !is_pointer_name((struct bytes){ at, (size_t)(end - at) });
    if (*at == '>')
        return !strchr("<,", before[-1]);
    return !isalpha((unsigned char)*at) && *at != '_';
}

bool cuda_includes(const struct cuda_item *item, struct bytes name)
{
    struct bytes own = cuda_header_name(item->text);
    size_t stem =
        name.size - (name.size > 2 ? 2 : 0); /* cooperative_groups/reduce.h brings it, too */

    return item->kind == ITEM_INCLUDE && own.size >= name.size &&
           memcmp(own.data, name.data, stem) == 0 &&
           (own.data[stem] == '/' ||
            (own.size == name.size && memcmp(own.data, name.data, name.size) == 0));
}

/* Does an include of the session's own bring this header? */
static bool is_written(const struct composition *c, struct bytes name)
{
    for (size_t i = 0; i < c->items->count; i++)
        if (!is_hidden(c, &c->items->list[i]) && cuda_includes(&c->items->list[i], name))
            return true;
    return false;
}

/* What the words of the needed items take for granted and no item of the session defines. */
static bool write_implied_includes(struct composition *c)
{
    bool is_wanted[CUDA_IMPLIED_MOST] = { false }, is_any = false;
    const char *include;

    for (size_t i = 0; i < c->items->count; i++) {
        struct bytes text = c->items->list[i].text, word;
        struct scanner s = { text.data, text.data + text.size, true };
        struct scanner directive = { text.data, text.data, false };
        bool is_std = cuda_uses(text, "std");

        if (!c->is_needed[i] || c->items->list[i].kind == ITEM_INCLUDE)
            continue;
        while (scan_identifier(&s, &directive, &word))
            if (!is_provided(c, word) && !is_variable(text, word))
                cuda_implied_want(word, is_std, is_wanted);
    }
    for (size_t i = 0; (include = cuda_implied_include(i)); i++)
        if (is_wanted[i] && !is_written(c, cuda_header_name(bytes_of(include)))) {
            buf_printf(c->out, "%s\n", include);
            is_any = true;
        }
    return is_any;
}

static size_t collect_includes(const struct composition *c, struct include *list)
{
    size_t n = 0;

    for (size_t i = 0; i < c->items->count; i++) {
        const struct cuda_item *item = &c->items->list[i];
        struct include *include = &list[n];

        if (item->kind != ITEM_INCLUDE || is_hidden(c, item))
            continue;
        *include = (struct include){ i, cuda_header_find(cuda_header_name(item->text)), false };
        include->is_wanted = c->is_plain || include->header.kind == HEADER_PLAIN;
        n++;
    }
    for (size_t i = 0; n > 0 && i < c->items->count; i++)
        if (c->is_needed[i] && c->items->list[i].kind != ITEM_INCLUDE)
            want_includes(list, n, c->items->list[i].text);
    return n;
}

/* A header of the user may hold host code; what that takes for granted stands before it. */
static bool write_host_declarations(struct composition *c, const struct include *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].is_wanted && memchr(c->items->list[list[i].item].text.data, '"',
                                        c->items->list[list[i].item].text.size)) {
            buf_puts(c->out, "#include <cuda_runtime.h>\n#include <stdio.h>\n"
                             "#include <stdlib.h>\n#include <string.h>\n");
            return true;
        }
    return false;
}

/* Without #line, at which precompiled headers end, each once and in a fixed order. */
static void write_includes(struct composition *c)
{
    struct include *list = calloc(c->items->count + 1, sizeof(*list));
    bool is_any = false;
    size_t n;

    if (!list) {
        c->out->is_failed = true;
        return;
    }
    n = collect_includes(c, list);
    if (!c->is_plain)
        is_any = write_implied_includes(c) | write_host_declarations(c, list, n);
    if (n > 1 && !c->is_plain)
        qsort(list, n, sizeof(*list), compare_includes);
    for (size_t i = 0; i < n; i++) {
        const struct cuda_item *item = &c->items->list[list[i].item];
        bool is_again = false;

        for (size_t k = 0; k < i; k++)
            is_again |= is_same_text(c, &list[i], &list[k]);
        c->is_written[list[i].item] = true;
        if (is_again || !list[i].is_wanted)
            continue;
        buf_put(c->out, item->text.data, item->text.size);
        buf_putc(c->out, '\n');
        is_any = true;
    }
    /* A #define right behind them would count as one of the headers, and differ from cell to cell.
     */
    if (is_any && !c->is_plain)
        buf_puts(c->out, "#pragma nv_hdrstop\n");
    free(list);
}

size_t cuda_include_at(const struct cuda_items *items, struct bytes composed, int line)
{
    const char *at = composed.data, *end = composed.data + composed.size, *stop;

    while (--line > 0 && at < end && (stop = memchr(at, '\n', (size_t)(end - at))))
        at = stop + 1;
    stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    for (size_t i = 0; stop && i < items->count; i++)
        if (items->list[i].kind == ITEM_INCLUDE &&
            items->list[i].text.size == (size_t)(stop - at) &&
            memcmp(items->list[i].text.data, at, items->list[i].text.size) == 0)
            return i;
    return items->count;
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
            if (!is_hidden(c, &c->items->list[i]))
                c->index[c->index_count++] =
                    (struct provider){ c->items->list[i].names[k].name, i };
    qsort(c->index, c->index_count, sizeof(*c->index), compare_providers);
    return 0;
}

static int compose(struct composition *c, const bool *is_root, struct err *err)
{
    const struct cuda_items *items = c->items;

    if (start_composition(c) == 0) {
        for (size_t i = 0; i < items->count; i++)
            if (!is_hidden(c, &items->list[i]) && (is_root[i] || is_always_needed(&items->list[i])))
                need(c, i, i);
        if (c->also.size > 0)
            each_provider(c, items->count, need);
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

int cuda_compose_item(const struct cuda_items *items, const struct cuda_item *item,
                      enum compile_with with, const char *also, struct buf *out, struct err *err)
{
    struct composition c = { .items = items, .out = out, .also = bytes_of(also ? also : "") };
    bool *is_root = calloc(items->count + 1, sizeof(*is_root));
    int rc;

    if (!is_root)
        return err_set(err, ERR_ResourceError, "out of memory for a cell's source");
    if (item->options && item->options->is_clean)
        c.only_cell = item->cell;
    for (size_t i = 0; i < items->count; i++)
        is_root[i] = with == WITH_SEGMENT ? items->list[i].segment == item->segment
                                          : &items->list[i] == item;
    rc = compose(&c, is_root, err);
    free(is_root);
    return rc;
}

static bool is_device_code(const struct cuda_item *item)
{
    for (size_t i = 0; i < item->inner_count; i++)
        if (is_device_code(&item->inner[i]))
            return true;
    return item->kind == ITEM_KERNEL || item->kind == ITEM_FUNCTION ||
           item->kind == ITEM_OPERATOR || item->kind == ITEM_VARIABLE || item->kind == ITEM_ONCE;
}

int cuda_find_needed(const struct cuda_items *items, int segment, bool *is_needed, struct err *err)
{
    struct buf unused = { 0 };
    struct composition c = { .items = items, .out = &unused };
    int rc = start_composition(&c);

    for (size_t i = 0; rc == 0 && i < items->count; i++)
        if (items->list[i].segment == segment && is_device_code(&items->list[i]))
            need(&c, i, i);
    for (size_t i = 0; rc == 0 && i < items->count; i++)
        is_needed[i] = c.is_needed[i];
    free(c.is_needed);
    free(c.is_written);
    free(c.index);
    return rc == 0 ? 0 : err_set(err, ERR_ResourceError, "out of memory for a cell's source");
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

bool cuda_symbol_is(const char *symbol, const char *scope, const char *name)
{
    char plain[256], part[140];

    cuda_plain_name(symbol, plain, sizeof(plain));
    if (strcmp(plain, name) != 0)
        return false;
    if (strncmp(symbol, "_ZN", 3) != 0) /* extern "C" has no scope in its linked name */
        return true;
    for (const char *at = scope; *at;) {
        size_t n = strcspn(at, ":");

        snprintf(part, sizeof(part), "%zu%.*s", n, (int)min_i64((int64_t)n, 120), at);
        if (!strstr(symbol, part))
            return false;
        at += n + strspn(at + n, ":");
    }
    return true;
}
