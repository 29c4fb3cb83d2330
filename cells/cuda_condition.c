/*
 * The compiler alone decides every #if. But which of two typedefs of `real` an argument must fit,
 * or what a macro is worth in an expression, is asked here: programs choose by a macro that is
 * defined or not, and that much is read.
 */
#include "cells/cuda_condition.h"

#include "cells/cuda_scan.h"
#include "cells/internal.h"

#include <stdlib.h>

enum truth { FALSE, TRUE, UNKNOWN };

struct search {
    const struct cuda *cuda;
    const struct cuda_options *options; /* of the cell that the block stands in; may be NULL */
    const char *name;
    const struct item_name *found;
};

/* The newest definition of a macro, in any branch; NULL: none, or #undef. */
static const struct cuda_item *macro_named(const struct cuda *cuda, struct bytes name)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        for (size_t k = 0; k < item->name_count; k++)
            if ((item->names[k].kind == ITEM_MACRO || item->names[k].kind == ITEM_UNDEF) &&
                bytes_equal(name, item->names[k].name))
                return item->names[k].kind == ITEM_MACRO ? item : NULL;
    }
    return NULL;
}

/* `-DNAME` or `-DNAME=value` among the options of %%kernel, one a line. */
static bool is_option(const struct cuda_options *options, struct bytes name)
{
    const char *at = options ? options->compiler : "";

    while ((at = strstr(at, "-D"))) {
        at += 2;
        if (strncmp(at, name.data, name.size) == 0 && !is_name_char(at[name.size]))
            return true;
    }
    return false;
}

static bool is_defined(const struct search *search, struct bytes name)
{
    return macro_named(search->cuda, name) || is_option(search->options, name);
}

static enum truth value_of(const struct cuda *cuda, struct scan_token t)
{
    const struct cuda_item *macro = t.kind == SCAN_WORD ? macro_named(cuda, t.text) : NULL;
    struct bytes text = t.kind == SCAN_NUMBER ? t.text : macro ? macro->value : bytes_of("0");
    char digits[24] = "", *end;
    long value;

    if (text.size == 0 || text.size >= sizeof(digits))
        return UNKNOWN;
    memcpy(digits, text.data, text.size);
    value = strtol(digits, &end, 0);
    return *end ? UNKNOWN : value ? TRUE : FALSE;
}

/* What stands behind #if: `defined(X)`, `X` or a number, each with or without `!`. */
static enum truth condition(const struct search *search, struct scanner *s)
{
    struct scan_token t = scan_next(s);
    bool is_negated = scan_is_sign(t, '!');
    enum truth truth;

    if (is_negated)
        t = scan_next(s);
    if (scan_is_word(t, "defined")) {
        t = scan_next(s);
        if (scan_is_sign(t, '(')) {
            t = scan_next(s);
            scan_next(s);
        }
        truth = is_defined(search, t.text) ? TRUE : FALSE;
    } else {
        truth = value_of(search->cuda, t);
    }
    if (scan_next(s).kind != SCAN_END || truth == UNKNOWN)
        return UNKNOWN;
    return is_negated ? (truth == TRUE ? FALSE : TRUE) : truth;
}

/* Of the line that opens a block, or of its #elif. */
static enum truth holds(const struct search *search, struct bytes text)
{
    const char *newline = memchr(text.data, '\n', text.size);
    struct scanner s = { text.data + 1, newline ? newline : text.data + text.size, false };
    struct scan_token word = scan_next(&s);

    if (scan_is_word(word, "ifdef"))
        return is_defined(search, scan_next(&s).text) ? TRUE : FALSE;
    if (scan_is_word(word, "ifndef"))
        return is_defined(search, scan_next(&s).text) ? FALSE : TRUE;
    return condition(search, &s);
}

/* Is this the line `#word`, or the block that it opens? */
static bool is_line(const struct cuda_item *item, const char *word)
{
    struct scanner s = { item->text.data + 1, item->text.data + item->text.size, false };

    return item->text.size > 1 && item->text.data[0] == '#' && scan_is_word(scan_next(&s), word);
}

/* Of `#if 0` the first branch is no part of the list, and the second one is the first in it. */
static bool is_dead(const struct cuda_item *block)
{
    struct scanner s = { block->text.data + 1, block->text.data + block->text.size, false };

    return scan_is_word(scan_next(&s), "if") && bytes_equal(scan_next(&s).text, "0");
}

static const struct cuda_item *find(struct search *search, const struct cuda_item *item)
{
    bool is_block = item->text.size > 0 && item->text.data[0] == '#';
    bool is_open = !is_block || is_dead(item) || holds(search, item->text) != FALSE;
    bool is_taken = is_open;
    const struct cuda_item *last = NULL;

    for (size_t k = 0; item->inner_count == 0 && k < item->name_count; k++)
        if (strcmp(item->names[k].name, search->name) == 0) {
            search->found = &item->names[k];
            return item;
        }
    for (size_t i = 0; i < item->inner_count; i++) {
        const struct cuda_item *inner = &item->inner[i], *active;

        if (is_block && (is_line(inner, "else") || is_line(inner, "elif"))) {
            is_open = !is_taken && (is_line(inner, "else") || holds(search, inner->text) != FALSE);
            is_taken |= is_open;
        }
        active = is_open ? find(search, inner) : NULL;
        last = active ? active : last;
    }
    return last;
}

const struct cuda_item *cuda_active_item(const struct cuda *cuda, const struct cuda_item *item,
                                         const char *name, const struct item_name **found)
{
    struct search search = { .cuda = cuda, .options = item->options, .name = name };
    const struct cuda_item *active = find(&search, item);

    if (found)
        *found = search.found;
    return active;
}
