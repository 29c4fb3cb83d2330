/*
 * A name of a type leads to another name, until one is built in or a struct. Each
 * step reads the other's text as if it were one parameter: `typedef float *real;`
 * says of real what `(float *real)` says of a parameter.
 */
#include "cells/cuda_types.h"

#include "cells/buffer_struct.h"
#include "cells/cuda_condition.h"
#include "cells/cuda_parameters.h"
#include "cells/cuda_scan.h"
#include "cells/internal.h"
#include "model/base/buf.h"

#include <stdio.h>

enum { MAX_STEPS = 16 };

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the types of a kernel");
}

/* What a text says of its type: base and pointers of `text x`; false when it says nothing. */
static bool read_type(struct arena *arena, struct bytes text, bool has_name, const char **base,
                      int *levels)
{
    struct cuda_parameter *list;
    struct err ignored = { 0 };
    size_t count = 0;
    bool all_known, is_read;
    const char *head =
        arena_printf(arena, "f(%.*s%s)", (int)text.size, text.data, has_name ? "" : " x");

    is_read = head && cuda_read_parameters(arena, head, &list, &count, &all_known, &ignored) == 0 &&
              count == 1 && list[0].base;
    err_done(&ignored);
    if (!is_read)
        return false;
    *base = list[0].base;
    *levels += list[0].levels;
    return true;
}

/* ---- template arguments ---- */

/* The n-th of a list with commas outside all brackets; false: there is none. */
static bool nth_part(struct bytes list, size_t n, struct bytes *out)
{
    struct scanner s = { list.data, list.data + list.size, false };
    const char *from = list.data;
    struct scan_token t;
    int depth = 0;

    for (;;) {
        t = scan_next(&s);
        if (t.kind == SCAN_END || (scan_is_sign(t, ',') && depth == 0)) {
            if (n-- == 0) {
                *out = (struct bytes){ from, (size_t)((t.kind == SCAN_END ? s.end : t.text.data) -
                                                      from) };
                return list.size > 0;
            }
            from = t.text.data + 1;
        }
        if (t.kind == SCAN_END)
            return false;
        depth += (scan_is_sign(t, '<') || scan_is_sign(t, '(')) -
                 (scan_is_sign(t, '>') || scan_is_sign(t, ')'));
    }
}

/* What stands between the first < and the > that closes it. */
static struct bytes in_angles(const char *text)
{
    const char *open = strchr(text, '<'), *at;
    int depth = 0;

    for (at = open; at && *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0)
            return (struct bytes){ open + 1, (size_t)(at - open - 1) };
    }
    return (struct bytes){ "", 0 };
}

/* Is this part `typename NAME`, perhaps with a default? Then *preset is that text, or empty. */
static bool is_type_parameter(struct bytes part, const char *name, struct bytes *preset)
{
    struct scanner s = { part.data, part.data + part.size, false };
    struct scan_token t = scan_next(&s);
    bool is_type = scan_is_word(t, "typename") || scan_is_word(t, "class");

    *preset = (struct bytes){ "", 0 };
    t = scan_next(&s);
    if (!is_type || !scan_is_word(t, name))
        return false;
    if (scan_is_sign(scan_next(&s), '='))
        *preset = (struct bytes){ s.at, (size_t)(s.end - s.at) };
    return true;
}

/* The argument that the kernel's template parameter stands for; false: it is none. */
static bool template_argument(const struct kernel_found *kernel, const char *name, const char *base,
                              struct bytes *out)
{
    struct bytes parameters, arguments = in_angles(name), part, preset;

    if (!kernel->name->is_template)
        return false;
    parameters = in_angles(kernel->head);
    for (size_t i = 0; nth_part(parameters, i, &part); i++) {
        if (!is_type_parameter(part, base, &preset))
            continue;
        if (!nth_part(arguments, i, out))
            *out = preset;
        return out->size > 0;
    }
    return false;
}

/* ---- names of the session ---- */

static const struct cuda_item *type_named(const struct cuda *cuda, const char *name,
                                          const struct item_name **found)
{
    const char *last = strrchr(name, ':');

    name = last ? last + 1 : name;
    for (size_t i = cuda->items.count; i > 0; i--)
        for (size_t k = 0; k < cuda->items.list[i - 1].name_count; k++) {
            const struct item_name *n = &cuda->items.list[i - 1].names[k];

            if ((n->kind == ITEM_TYPE || n->kind == ITEM_MACRO) && strcmp(n->name, name) == 0) {
                *found = n;
                return cuda_active_item(cuda, &cuda->items.list[i - 1], name, found);
            }
        }
    return NULL;
}

/* The text that says what a typedef, using or macro stands for; false: a type of its own. */
static bool aliased_text(const struct cuda_item *item, const struct item_name *name,
                         struct bytes *out, bool *has_name)
{
    const char *head = name->head ? name->head : item->head, *at;

    *has_name = false;
    if (name->kind == ITEM_MACRO) {
        *out = item->value;
        return out->size > 0;
    }
    at = head ? strchr(head, '=') : NULL;
    if (head && strncmp(head, "using ", 6) == 0 && at) {
        *out = bytes_of(at + 1);
    } else if (head && strncmp(head, "typedef ", 8) == 0 && !strchr(head, '{') &&
               !memchr(item->text.data, '{', item->text.size)) {
        *out = bytes_of(head + 8);
        *has_name = true;
    } else {
        return false;
    }
    while (out->size > 0 && (out->data[out->size - 1] == ';' || out->data[out->size - 1] == ' '))
        out->size--;
    return true;
}

static bool is_enum(const struct cuda_item *item)
{
    struct scanner s = { item->text.data, item->text.data + item->text.size, true };
    struct scan_token t = scan_next(&s);

    return scan_is_word(t, "enum") ||
           (scan_is_word(t, "typedef") && scan_is_word(scan_next(&s), "enum"));
}

/* A struct's size, as far as its members are known. */
static void fill_struct(struct session *session, const char *base, struct cuda_parameter *p)
{
    struct element_type type;
    struct err ignored = { 0 };

    if (element_type_find(session, base, &type, &ignored) == 0) {
        p->kind = type.kind;
        p->lanes = type.lanes;
        p->bytes = type.bytes;
        p->align = type.align;
    }
    err_done(&ignored);
}

static void fill(struct session *session, const struct cuda_item *item, const char *base,
                 struct cuda_parameter *p)
{
    struct element_type type;

    if (element_type_builtin(base, &type)) {
        p->kind = type.kind;
        p->lanes = type.lanes;
        p->bytes = type.bytes;
        p->align = type.align;
    } else if (strcmp(base, "void") == 0) {
        p->kind = SCALAR_UCHAR;
    } else if (item && is_enum(item)) {
        p->kind = SCALAR_INT;
        p->bytes = p->align = 4;
    } else {
        fill_struct(session, base, p);
    }
}

int cuda_resolve_type(struct session *session, const struct kernel_found *kernel, const char *name,
                      struct arena *arena, struct cuda_parameter *p, struct err *err)
{
    const struct cuda *cuda = session_cuda(session);
    const struct cuda_item *item = NULL;
    const struct item_name *found = NULL;
    const char *base = p->base;
    struct element_type type;
    int levels = p->levels;

    for (int i = 0; i < MAX_STEPS && !element_type_builtin(base, &type); i++) {
        struct bytes text;
        bool has_name = false;

        item = NULL;
        if (!template_argument(kernel, name, base, &text)) {
            item = type_named(cuda, base, &found);
            if (!item || !aliased_text(item, found, &text, &has_name))
                break;
        }
        if (!read_type(arena, text, has_name, &base, &levels))
            return base ? 0 : no_memory(err);
    }
    p->is_pointer = levels > 0;
    if (levels > 1) {
        p->kind = SCALAR_ULONG;
        p->bytes = p->align = 8;
        p->pointee = arena_printf(arena, "%s *", base);
    } else {
        fill(session, item, base, p);
        p->pointee = levels ? base : "";
    }
    return p->pointee ? 0 : no_memory(err);
}

/* ---- deduction ---- */

struct deduction {
    const struct cuda_parameter *parameters;
    size_t count;
    cuda_argument_type *type_of;
    void *arg;
};

/* The type that the arguments give a template parameter; NULL: none does. */
static const char *deduced_type(const struct deduction *d, struct bytes name)
{
    for (int is_value = 0; is_value <= 1; is_value++)
        for (size_t i = 0; i < d->count; i++) {
            const struct cuda_parameter *p = &d->parameters[i];
            const char *type = p->levels == 1 - is_value && bytes_equal(name, p->base)
                                   ? d->type_of(d->arg, i, !is_value)
                                   : NULL;

            if (type)
                return type;
        }
    return NULL;
}

/* The name in `typename NAME`; empty when the part is no type's. */
static struct bytes type_parameter(struct bytes part)
{
    struct scanner s = { part.data, part.data + part.size, false };
    struct scan_token t = scan_next(&s);

    if (!scan_is_word(t, "typename") && !scan_is_word(t, "class"))
        return (struct bytes){ "", 0 };
    t = scan_next(&s);
    return t.kind == SCAN_WORD ? t.text : (struct bytes){ "", 0 };
}

/* Appends what the arguments give; false when a parameter without a default is left open. */
static bool put_arguments(const struct deduction *d, const char *head, struct buf *out)
{
    struct bytes parameters = in_angles(head), part;

    for (size_t i = 0; nth_part(parameters, i, &part); i++) {
        struct bytes name = type_parameter(part);
        const char *type = name.size ? deduced_type(d, name) : NULL;

        if (!type)
            return memchr(part.data, '=', part.size) != NULL;
        buf_printf(out, "%s%s", i ? ", " : "", type);
    }
    return true;
}

const char *cuda_deduce_template(const struct cuda *cuda, const char *name,
                                 cuda_argument_type *type_of, void *arg, size_t argument_count,
                                 struct arena *arena)
{
    struct deduction d = { .type_of = type_of, .arg = arg };
    struct kernel_found kernel;
    struct cuda_parameter *list;
    struct buf out = { 0 };
    struct err ignored = { 0 };
    const char *text = NULL;
    bool all_known;

    if (strchr(name, '<') || cuda_find_kernel(cuda, name, &kernel, &ignored) < 0 ||
        !kernel.name->is_template ||
        cuda_read_parameters(arena, kernel.head, &list, &d.count, &all_known, &ignored) < 0) {
        err_done(&ignored);
        return NULL;
    }
    d.parameters = list;
    buf_printf(&out, "%.*s<", (int)strcspn(name, "("), name);
    if (d.count == argument_count && put_arguments(&d, kernel.head, &out) && !out.is_failed) {
        buf_putc(&out, '>');
        text = arena_copy(arena, out.data, out.size);
    }
    buf_done(&out);
    return text;
}
