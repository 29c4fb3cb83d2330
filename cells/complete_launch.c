/*
 * A launch reads backwards from the cursor: to the start of its statement, in which
 * <<< says that it is one, the name before it which, and the commas behind >>> (
 * which argument.
 */
#include "cells/complete_launch.h"

#include "cells/cuda_overload.h"
#include "cells/cuda_parameters.h"
#include "cells/cuda_types.h"
#include "cells/internal.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_OVERLOADS = 64, MAX_LOOK_BACK = 4000 };

static size_t statement_start(struct bytes code, size_t cursor)
{
    size_t at = cursor;

    while (at > 0 && cursor - at < MAX_LOOK_BACK && !strchr(";{}", code.data[at - 1]))
        at--;
    return at;
}

/* The name that ends before <<<: k, ns::k or k<float,32>. */
static struct bytes name_before(struct bytes text, const char *end)
{
    const char *at = end;
    int angles = 0;

    while (at > text.data && isspace((unsigned char)at[-1]))
        at--;
    end = at;
    while (at > text.data &&
           (angles > 0 || is_name_char(at[-1]) || at[-1] == ':' || at[-1] == '>')) {
        angles += (at[-1] == '>') - (at[-1] == '<');
        at--;
    }
    return (struct bytes){ at, (size_t)(end - at) };
}

bool complete_launch_find(struct bytes code, size_t cursor, struct arena *arena,
                          struct launch_cursor *out)
{
    size_t start = statement_start(code, cursor);
    struct bytes text = { code.data + start, cursor - start }, name;
    const char *sign = memmem(text.data, text.size, "<<<", 3), *end = text.data + text.size;
    const char *close;
    int depth = 0;

    *out = (struct launch_cursor){ .kernel = NULL };
    if (!sign)
        return false;
    name = name_before(text, sign);
    if (name.size == 0)
        return false;
    out->kernel = arena_copy(arena, name.data, name.size);
    close = memmem(sign, (size_t)(end - sign), ">>>", 3);
    if (!out->kernel || !close)
        return out->kernel != NULL;
    close = memchr(close, '(', (size_t)(end - close));
    if (!close)
        return false; /* between >>> and ( */
    for (const char *p = close; p < end; p++) {
        depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
        out->argument += *p == ',' && depth == 1;
    }
    out->in_arguments = true;
    return depth > 0;
}

bool complete_launch_parameters(struct session *session, const char *kernel, struct arena *arena,
                                const struct cuda_parameter **list, size_t *count)
{
    struct cuda_parameter *read;
    struct kernel_found found;
    struct err ignored = { 0 };
    bool all_known, is_read;

    is_read = cuda_find_kernel(session_cuda(session), kernel, &found, &ignored) == 0 &&
              cuda_read_parameters(arena, found.head, &read, count, &all_known, &ignored) == 0;
    for (size_t i = 0; is_read && i < *count; i++)
        if (read[i].kind == SCALAR_STRUCT)
            is_read = cuda_resolve_type(session, &found, kernel, arena, &read[i], &ignored) == 0;
    err_done(&ignored);
    *list = is_read ? read : NULL;
    return is_read;
}

/* Signedness does not count at a launch. */
static int family(enum scalar_kind kind)
{
    switch (kind) {
    case SCALAR_UCHAR:
        return SCALAR_CHAR;
    case SCALAR_USHORT:
        return SCALAR_SHORT;
    case SCALAR_UINT:
        return SCALAR_INT;
    case SCALAR_ULONG:
        return SCALAR_LONG;
    default:
        return (int)kind;
    }
}

bool complete_launch_takes(const struct cuda_parameter *p, const struct element_type *type)
{
    if (!p->is_pointer)
        return false;
    if (strcmp(p->pointee, "void") == 0 || family(p->kind) == SCALAR_CHAR ||
        (p->kind == SCALAR_STRUCT && p->bytes == 0))
        return true;
    return family(p->kind) == family(type->kind);
}

static void put_parameters(const struct cuda_parameter *list, size_t count, size_t current,
                           struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s %s %s\n", i == current ? ">" : " ", list[i].type, list[i].name);
}

static void put_resources(struct session *session, const char *kernel, struct buf *out)
{
    const struct device *device = &session_device(session)->device;
    struct cuda_kernel k;
    struct err ignored = { 0 };

    if (cuda_kernel_resources(session, kernel, device, &k, &ignored) == 0)
        buf_printf(out,
                   "\n%d registers a thread, %d bytes of static shared memory, %d spilled (%s)\n",
                   k.registers, k.static_bytes, k.spill_store_bytes + k.spill_load_bytes,
                   device->name);
    err_done(&ignored);
}

const char *complete_launch_overload(struct session *session, const char *kernel, size_t i,
                                     struct arena *arena)
{
    struct kernel_found list[MAX_OVERLOADS];
    size_t count = strpbrk(kernel, "<(")
                       ? 1
                       : cuda_overloads(session_cuda(session), kernel, list, MAX_OVERLOADS);

    if (count < 2)
        return i == 0 ? kernel : NULL;
    return i < count && i < MAX_OVERLOADS ? cuda_overload_name(arena, kernel, list[i].head) : NULL;
}

static bool put_page(struct session *session, const char *kernel, size_t current,
                     struct arena *arena, struct buf *out)
{
    const struct cuda_parameter *list;
    struct kernel_found found;
    struct err ignored = { 0 };
    size_t count;
    int rc = cuda_find_kernel(session_cuda(session), kernel, &found, &ignored);

    err_done(&ignored);
    if (rc < 0 || !complete_launch_parameters(session, kernel, arena, &list, &count))
        return false;
    buf_printf(out, "%s: kernel of In[%d], line %d\n\n  %s\n\n", kernel, found.item->cell,
               found.item->line, found.head);
    put_parameters(list, count, current, out);
    put_resources(session, kernel, out);
    return true;
}

bool complete_launch_page(struct session *session, const char *kernel, size_t current,
                          struct arena *arena, struct buf *out)
{
    const char *name;
    bool is_any = false;

    for (size_t i = 0; (name = complete_launch_overload(session, kernel, i, arena)); i++) {
        if (is_any)
            buf_putc(out, '\n');
        is_any |= put_page(session, name, current, arena, out);
    }
    return is_any;
}

const char *complete_launch_skeleton(struct session *session, const char *kernel,
                                     struct arena *arena)
{
    const struct cuda_parameter *list;
    struct kernel_found found;
    struct err ignored = { 0 };
    struct buf text = { 0 };
    const char *copy;
    size_t count;
    int rc = cuda_find_kernel(session_cuda(session), kernel, &found, &ignored);

    err_done(&ignored);
    if (rc < 0 || !complete_launch_parameters(session, kernel, arena, &list, &count))
        return NULL;
    /* "k(float *)" is launched as k: the arguments say which. */
    buf_printf(&text, "%.*s%s<<<1, 256>>>(", (int)strcspn(kernel, "("), kernel,
               found.name->is_template && !strchr(kernel, '<') ? "<float>" : "");
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", list[i].name[0] ? list[i].name : "0");
    buf_puts(&text, ");");
    copy = arena_string(arena, buf_text(&text));
    buf_done(&text);
    return copy;
}
