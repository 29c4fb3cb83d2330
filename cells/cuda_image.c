/*
 * One kernel, ready to launch: the text that it needs and no more is compiled once for the
 * interpreter (PTX) and once for the device (machine code, registers). The types of its
 * parameters are read off its head where they are built-in ones, and their sizes off the PTX.
 */
#include "cells/cuda_parameters.h"
#include "cells/cuda_state.h"
#include "cells/internal.h"

#include <stdlib.h>

enum { MAX_PARAMETERS = 1024 };

static const char PTX_ARCH[] = "compute_80";

/* What is being put together. */
struct making {
    struct session *session;
    struct cuda *cuda;
    const struct cuda_item *item;
    const char *name, *base; /* "ns::k<float>"; "k" */
    bool is_template;
    struct arena *arena;
    struct buf source;
};

/* The plain name inside "ns::k<float,32>". */
static const char *base_name(struct arena *arena, const char *name)
{
    size_t n = strcspn(name, "<"), start;

    while (n > 0 && name[n - 1] == ' ')
        n--;
    start = n;
    while (start > 0 && name[start - 1] != ':')
        start--;
    return arena_copy(arena, name + start, n - start);
}

static bool starts_with_template(struct bytes text)
{
    return text.size > 8 && memcmp(text.data, "template", 8) == 0;
}

static int compile_for(struct making *m, const char *arch, bool is_debug, const struct image **out,
                       struct err *err)
{
    struct image_request request = { .source = { buf_text(&m->source), m->source.size },
                                     .arch = arch,
                                     .is_debug = is_debug,
                                     .expression = m->is_template ? m->name : NULL };

    return image_of(&m->cuda->images, session_workers(m->session), &request, out, err);
}

struct entry_search {
    const char *wanted; /* a plain name */
    struct bytes found;
};

static void try_entry(void *arg, struct bytes symbol)
{
    struct entry_search *search = arg;
    char text[512], plain[256];

    if (search->found.size > 0 || symbol.size >= sizeof(text))
        return;
    memcpy(text, symbol.data, symbol.size);
    text[symbol.size] = '\0';
    cuda_plain_name(text, plain, sizeof(plain));
    if (strcmp(plain, search->wanted) == 0)
        search->found = symbol;
}

static const char *find_symbol(const struct making *m, const struct image *image)
{
    struct entry_search search = { .wanted = m->base };

    if (image->lowered[0])
        return arena_string(m->arena, image->lowered);
    cuda_each_entry(image->ptx, try_entry, &search);
    return search.found.size ? arena_copy(m->arena, search.found.data, search.found.size) : NULL;
}

/* Sizes from the PTX: right for every type, pointers aside, of which it knows the pointer. */
static int read_sizes(const struct making *m, struct bytes ptx, const char *symbol,
                      struct cuda_parameter *list, size_t count)
{
    struct ptx_parameter sizes[MAX_PARAMETERS];
    int n = cuda_ptx_parameters(ptx, symbol, sizes, MAX_PARAMETERS);

    (void)m;
    if (n < 0 || (size_t)n != count || count > MAX_PARAMETERS)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!list[i].is_pointer) {
            list[i].bytes = sizes[i].bytes;
            list[i].align = sizes[i].align;
        }
    return 0;
}

/* The session's variable that a linked name stands for, or NULL. */
static const char *variable_named(const struct cuda *cuda, const char *plain)
{
    for (size_t i = cuda->items.count; i > 0; i--) {
        const struct cuda_item *item = &cuda->items.list[i - 1];

        for (size_t k = 0; k < item->name_count; k++)
            if ((item->kind == ITEM_VARIABLE || item->kind == ITEM_OTHER) &&
                strcmp(item->names[k], plain) == 0)
                return item->names[k];
    }
    return NULL;
}

static int read_symbols(const struct making *m, struct bytes ptx, struct cuda_image *out,
                        struct err *err)
{
    struct ptx_variable v;
    struct cuda_symbol *list;
    size_t n = 0;

    for (const char *at = ptx.data; cuda_next_variable(ptx, &at, &v);)
        n++;
    list = arena_array(m->arena, n + 1, sizeof(*list));
    for (const char *at = ptx.data; list && cuda_next_variable(ptx, &at, &v);) {
        const char *linked = arena_copy(m->arena, v.linked.data, v.linked.size), *name;
        char plain[256];

        if (!linked)
            return err_set(err, ERR_ResourceError, "out of memory for a kernel's symbols");
        cuda_plain_name(linked, plain, sizeof(plain));
        name = variable_named(m->cuda, plain);
        if (name)
            list[out->symbol_count++] = (struct cuda_symbol){ arena_string(m->arena, name), linked,
                                                              v.is_constant, v.bytes };
    }
    out->symbols = list;
    return list ? 0 : err_set(err, ERR_ResourceError, "out of memory for a kernel's symbols");
}

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t h, struct bytes b)
{
    for (size_t i = 0; i < b.size; i++)
        h = (h ^ (unsigned char)b.data[i]) * 0x100000001b3u;
    return h;
}

static int make_ptx(struct making *m, bool is_debug, struct cuda_image *out, struct err *err)
{
    struct cuda_parameter *list;
    const struct image *image;
    bool all_known;

    if (compile_for(m, PTX_ARCH, is_debug, &image, err) < 0)
        return -1;
    out->symbol = find_symbol(m, image);
    if (!out->symbol)
        return err_set(err, ERR_NameError, "%s: the compiled cell has no kernel of this name",
                       m->name);
    if (cuda_read_parameters(m->arena, out->signature, &list, &out->parameter_count, &all_known,
                             err) < 0)
        return -1;
    out->parameters = list;
    if (read_sizes(m, image->ptx, out->symbol, list, out->parameter_count) < 0)
        return err_set(err, ERR_UnsupportedError,
                       "%s: its parameters cannot be read: write them without macros", m->name);
    out->ptx = image->ptx;
    return read_symbols(m, image->ptx, out, err);
}

static int make_cubin(struct making *m, const struct device *device, bool is_needed,
                      struct cuda_image *out, struct err *err)
{
    const struct cuda_kernel *kernel;
    const struct image *image;
    char arch[24];

    image_arch(device, arch, sizeof(arch));
    if (!arch[0] && !is_needed)
        return 0;
    if (!arch[0])
        return err_set(err, ERR_ValueError,
                       "%s: the compiler makes no code below compute capability 7.5, and %s has "
                       "%d.%d",
                       m->name, device->name, device->cc_major, device->cc_minor);
    if (compile_for(m, arch, false, &image, err) < 0)
        return -1;
    kernel = image_kernel(image, out->symbol);
    if (!kernel)
        return err_set(err, ERR_InternalError, "%s is not in its machine code", m->name);
    out->resources = *kernel;
    if (is_needed)
        out->cubin = image->cubin;
    return 0;
}

static int make_all(struct making *m, const struct device *device, int needs,
                    struct cuda_image *out, struct err *err)
{
    if (make_ptx(m, needs & IMAGE_PTX_DEBUG, out, err) < 0 ||
        make_cubin(m, device, needs & IMAGE_CUBIN, out, err) < 0)
        return -1;
    if (!(needs & (IMAGE_PTX | IMAGE_PTX_DEBUG)))
        out->ptx = (struct bytes){ "", 0 };
    out->id = mix(mix(mix(0xcbf29ce484222325u, bytes_of(out->symbol)), out->ptx), out->cubin);
    return 0;
}

int cuda_kernel_image(struct session *session, const char *name, const struct device *device,
                      int needs, struct arena *arena, struct cuda_image *out, struct err *err)
{
    struct making m = { .session = session, .cuda = session_cuda(session), .arena = arena };
    size_t first;
    int rc;

    *out = (struct cuda_image){ .ptx = { "", 0 }, .cubin = { "", 0 } };
    m.name = out->kernel = arena_string(arena, name);
    m.base = base_name(arena, name);
    if (!m.name || !m.base)
        return err_set(err, ERR_ResourceError, "out of memory for a kernel");
    m.item = cuda_find_kernel(m.cuda, m.base, err);
    if (!m.item)
        return -1;
    m.is_template = starts_with_template(m.item->text);
    if (m.is_template && !strchr(name, '<')) {
        err_set(err, ERR_UsageError, "%s is a template: a launch gives its arguments", m.base);
        return err_next(err, "such as %s<float><<<grid, block>>>(...)", m.base);
    }
    out->signature = arena_string(arena, m.item->head);
    first = (size_t)(m.item - m.cuda->items.list);
    rc = out->signature ? cuda_compose_from(&m.cuda->items, first, 1, &m.source, err)
                        : err_set(err, ERR_ResourceError, "out of memory for a kernel");
    if (rc == 0)
        rc = make_all(&m, device, needs, out, err);
    buf_done(&m.source);
    return rc;
}

/* ---- lines ---- */

/* The line-th line of a text that starts at line `first`; false when it ends before. */
static bool line_at(const struct cell_source *s, int line, struct bytes *out)
{
    const char *at = s->text, *end = s->text + s->size;

    for (int i = s->first_line; i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    out->data = at;
    at = memchr(at, '\n', (size_t)(end - at));
    out->size = (size_t)((at ? at : end) - out->data);
    if (out->size > 0 && out->data[out->size - 1] == '\r')
        out->size--;
    return true;
}

bool cuda_source_line(struct session *session, int cell, int line, struct bytes *out)
{
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = cuda->source_count; i > 0; i--) {
        const struct cell_source *s = &cuda->sources[i - 1];

        if (s->cell == cell && line >= s->first_line)
            return line_at(s, line, out);
    }
    return false;
}
