/*
 * One kernel, ready to launch: the text that it needs and no more is compiled once for the
 * interpreter (PTX) and once for the device (machine code, registers). The types of its
 * parameters are read off its head where they are built-in ones, and their sizes off the PTX.
 */
#include "cells/cuda_overload.h"
#include "cells/cuda_parameters.h"
#include "cells/cuda_state.h"
#include "cells/cuda_types.h"
#include "cells/internal.h"

#include <stdio.h>

enum { MAX_PARAMETERS = 1024 };

/* ---- where for ---- */

static bool mentions(struct bytes text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text.data, text.size, words[i], strlen(words[i])))
            return true;
    return false;
}

/*
 * The interpreter's code is made for compute_80, as one and the same for every device, unless the
 * source asks what it is compiled for. The bodies for 8.0 to 8.9 are equal (facts: 1,402 of 1,443
 * files even for 9.0), so there the compilation for the device gives both: one call instead of two.
 */
void cuda_target_of(const struct device *device, const struct cuda_options *options,
                    struct bytes source, struct cuda_target *out)
{
    static const char *const asking[] = { "__CUDA_ARCH__", "cluster",      "cp.async.bulk",
                                          "cuda/ptx",      "NV_PROVIDES_", "mbarrier.try_wait" };
    static const char *const varying[] = { "cuda_fp8", "cuda_fp4" };
    int cc = device->cc_major * 10 + device->cc_minor;
    bool asks = mentions(source, asking, COUNT(asking));

    image_arch(device, out->machine, sizeof(out->machine));
    if (options && options->arch[0])
        snprintf(out->machine, sizeof(out->machine), "%s", options->arch);
    snprintf(out->ptx, sizeof(out->ptx), "compute_80");
    if (!out->machine[0])
        return;
    if ((options && options->arch[0]) || (asks && cc <= 90) ||
        (cc >= 80 && cc < 90 && !mentions(source, varying, COUNT(varying))))
        memcpy(out->ptx, out->machine, sizeof(out->ptx));
    else if (asks)
        snprintf(out->ptx, sizeof(out->ptx), "compute_90");
}

const char *cuda_written_arch(const struct cuda_target *target, char *out, size_t capacity)
{
    bool is_machine = strncmp(target->ptx, "sm_", 3) == 0;

    snprintf(out, capacity, "%s%.12s", is_machine ? "compute_" : "",
             target->ptx + (is_machine ? 3 : 0));
    return out;
}

/* ---- compiling ---- */

/* What is being put together. */
struct making {
    struct session *session;
    struct cuda *cuda;
    const struct device *device;
    struct kernel_found found;
    const char *name;       /* "ns::k<float>" */
    const char *base;       /* "k" */
    const char *expression; /* a template with its arguments, one of several kernels, or NULL */
    int maxreg;             /* registers a thread, whatever its cell says; 0: as that says */
    struct arena *arena;
};

/* The options of the cell, with this cap on registers in place of its own. */
static const char *capped_options(struct making *m, const char *options)
{
    static const char cap[] = "--maxrregcount=";
    const char *own = options ? strstr(options, cap) : NULL, *rest = own ? strchr(own, '\n') : NULL;
    int before = own ? (int)(own - options) : options ? (int)strlen(options) : 0;

    if (!m->maxreg)
        return options;
    return arena_printf(m->arena, "%.*s%s%s%d\n", before, options ? options : "",
                        rest ? rest + 1 : "", cap, m->maxreg);
}

static int compile_one(struct making *m, enum compile_with with, bool for_machine, bool is_debug,
                       const struct image **out, struct err *err)
{
    const struct cuda_options *options = m->found.item->options;
    struct buf source = { 0 };
    struct cuda_target target;
    struct image_request request = { .is_debug = is_debug,
                                     .options =
                                         capped_options(m, options ? options->compiler : NULL),
                                     .expression = m->expression };
    char arch[24];
    int rc = cuda_compose_item(&m->cuda->items, m->found.item, with, m->expression, &source, err);

    if (rc == 0) {
        request.source = (struct bytes){ buf_text(&source), source.size };
        cuda_target_of(m->device, options, request.source, &target);
        request.arch = for_machine ? target.machine : target.ptx;
        if (is_debug)
            request.arch = cuda_written_arch(&target, arch, sizeof(arch));
        rc = image_of(&m->cuda->images, session_workers(m->session), &request, out, err);
    }
    buf_done(&source);
    return rc;
}

/*
 * With everything that its cell defines, as it was compiled when the cell ran: that is at hand.
 * When something else of the cell no longer compiles, and for a template, alone.
 */
static int compile_for(struct making *m, bool for_machine, bool is_debug, const struct image **out,
                       struct err *err)
{
    struct err ignored = { 0 };
    int rc = -1;

    if (!m->expression) {
        rc = compile_one(m, WITH_SEGMENT, for_machine, is_debug, out, &ignored);
        if (rc < 0 && ignored.name != ERR_CompileError) {
            *err = ignored;
            return -1;
        }
        err_done(&ignored);
    }
    return rc == 0 ? 0 : compile_one(m, ALONE, for_machine, is_debug, out, err);
}

struct entry_search {
    const char *wanted; /* a plain name */
    const char *scope;  /* "m::" or "" */
    struct bytes found;
};

static void try_entry(void *arg, struct bytes symbol)
{
    struct entry_search *search = arg;
    char text[1024];

    if (search->found.size > 0 || symbol.size >= sizeof(text))
        return;
    memcpy(text, symbol.data, symbol.size);
    text[symbol.size] = '\0';
    if (cuda_symbol_is(text, search->scope, search->wanted))
        search->found = symbol;
}

static const char *find_symbol(const struct making *m, const struct image *image)
{
    struct entry_search search = { .wanted = m->base, .scope = m->found.name->scope };

    if (image->lowered[0])
        return arena_string(m->arena, image->lowered);
    cuda_each_entry(image->ptx, try_entry, &search);
    return search.found.size ? arena_copy(m->arena, search.found.data, search.found.size) : NULL;
}

/* Sizes from the PTX: right for every type, pointers aside, of which it knows the pointer. */
static int read_sizes(struct bytes ptx, const char *symbol, struct cuda_parameter *list,
                      size_t count)
{
    struct ptx_parameter sizes[MAX_PARAMETERS];
    int n = cuda_ptx_parameters(ptx, symbol, sizes, MAX_PARAMETERS);

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
    for (size_t i = cuda->items.count; i > 0; i--)
        for (size_t k = 0; k < cuda->items.list[i - 1].name_count; k++) {
            const struct item_name *n = &cuda->items.list[i - 1].names[k];

            if (n->kind == ITEM_VARIABLE && strcmp(n->name, plain) == 0)
                return n->name;
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

static int read_kernel(struct making *m, const struct image *image, struct cuda_image *out,
                       struct err *err)
{
    static const char *const heap[] = { "func_retval0) malloc" }; /* its declaration in PTX */
    struct cuda_parameter *list;
    bool all_known;

    out->symbol = find_symbol(m, image);
    if (!out->symbol)
        return err_set(err, ERR_NameError, "%s: the compiled cell has no kernel of this name",
                       m->name);
    if (cuda_read_parameters(m->arena, out->signature, &list, &out->parameter_count, &all_known,
                             err) < 0)
        return -1;
    out->parameters = list;
    for (size_t i = 0; i < out->parameter_count; i++)
        if (list[i].kind == SCALAR_STRUCT &&
            cuda_resolve_type(m->session, &m->found, m->name, m->arena, &list[i], err) < 0)
            return -1;
    if (read_sizes(image->ptx, out->symbol, list, out->parameter_count) < 0)
        return err_set(err, ERR_UnsupportedError,
                       "%s: its parameters cannot be read: write them without macros", m->name);
    out->ptx = image->ptx;
    out->uses_heap = mentions(image->ptx, heap, COUNT(heap));
    return read_symbols(m, image->ptx, out, err);
}

static int below_75(const struct making *m, struct err *err)
{
    err_set(err, ERR_ValueError,
            "%s: the compiler makes no code below compute capability 7.5, and %s has %d.%d",
            m->name, m->device->name, m->device->cc_major, m->device->cc_minor);
    return err_next(err, "say how many registers it takes: regs=32");
}

static int make_machine(struct making *m, bool is_needed, struct cuda_image *out, struct err *err)
{
    const struct cuda_kernel *kernel;
    const struct image *image;
    char arch[24];

    image_arch(m->device, arch, sizeof(arch));
    if (!arch[0] && !is_needed)
        return 0;
    if (!arch[0]) {
        err_set(err, ERR_DeviceError,
                "%s has compute capability %d.%d: the compiler makes no code below 7.5",
                m->device->name, m->device->cc_major, m->device->cc_minor);
        return err_next(err, "device=model runs it on the interpreter");
    }
    if (compile_for(m, true, false, &image, err) < 0)
        return -1;
    kernel = image_kernel(image, out->symbol);
    if (!kernel)
        return err_set(err, ERR_InternalError, "%s is not in its machine code", m->name);
    out->resources = *kernel;
    if (is_needed)
        out->cubin = image->cubin;
    return 0;
}

static int make_all(struct making *m, int needs, struct cuda_image *out, struct err *err)
{
    bool is_debug =
        (needs & IMAGE_PTX_DEBUG) || (m->found.item->options && m->found.item->options->is_debug);
    const struct image *image;

    if (compile_for(m, false, is_debug, &image, err) < 0 || read_kernel(m, image, out, err) < 0 ||
        make_machine(m, needs & IMAGE_CUBIN, out, err) < 0)
        return -1;
    if (!(needs & (IMAGE_PTX | IMAGE_PTX_DEBUG)))
        out->ptx = (struct bytes){ "", 0 };
    out->id = mix(mix(mix(0xcbf29ce484222325u, bytes_of(out->symbol)), out->ptx), out->cubin);
    return 0;
}

/* Finds the kernel and what its name says. */
static int begin(struct making *m, const char *name, struct err *err)
{
    struct buf base = { 0 };

    if (cuda_find_kernel(m->cuda, name, &m->found, err) < 0)
        return -1;
    m->name = arena_string(m->arena, name);
    cuda_base_name(name, &base);
    m->base = arena_string(m->arena, buf_text(&base));
    buf_done(&base);
    if (!m->name || !m->base)
        return err_set(err, ERR_ResourceError, "out of memory for a kernel");
    if (strchr(name, '<')) /* with its whole scope, as it is asked for from outside */
        m->expression =
            arena_printf(m->arena, "%s%s%s", m->found.name->scope, m->base, strchr(name, '<'));
    else if (strchr(name, '('))
        m->expression = cuda_overload_expression(m->arena, m->found.name->scope, name);
    else if (cuda_overloads(m->cuda, name, NULL, 0) > 1)
        return cuda_refuse_overloaded(m->cuda, name, err);
    return 0;
}

int cuda_kernel_image(struct session *session, const char *name, const struct device *device,
                      int needs, struct arena *arena, struct cuda_image *out, struct err *err)
{
    struct making m = {
        .session = session, .cuda = session_cuda(session), .device = device, .arena = arena
    };

    *out = (struct cuda_image){ .ptx = { "", 0 }, .cubin = { "", 0 } };
    if (begin(&m, name, err) < 0)
        return -1;
    if (m.found.name->is_template && !m.expression) {
        err_set(err, ERR_UsageError, "%s is a template: a launch gives its arguments", m.base);
        return err_next(err, "such as %s<float><<<grid, block>>>(...)", m.base);
    }
    out->kernel = m.name;
    out->signature = arena_string(arena, m.found.head);
    if (!out->signature)
        return err_set(err, ERR_ResourceError, "out of memory for a kernel");
    return make_all(&m, needs, out, err);
}

int cuda_kernel_resources(struct session *session, const char *name, const struct device *device,
                          struct cuda_kernel *out, struct err *err)
{
    return cuda_kernel_capped(session, name, device, 0, out, err);
}

int cuda_kernel_capped(struct session *session, const char *name, const struct device *device,
                       int maxreg, struct cuda_kernel *out, struct err *err)
{
    struct arena *arena = arena_new(0);
    struct making m = { .session = session,
                        .cuda = session_cuda(session),
                        .device = device,
                        .maxreg = maxreg,
                        .arena = arena };
    const struct image *image;
    const struct cuda_kernel *kernel;
    const char *symbol;
    char arch[24];
    int rc = -1;

    image_arch(device, arch, sizeof(arch));
    if (!arena) {
        err_set(err, ERR_ResourceError, "out of memory for a kernel");
    } else if (begin(&m, name, err) < 0) {
        /* said already */
    } else if (m.found.name->is_template && !m.expression) {
        err_set(err, ERR_NameError, "%s is a template: it has registers only once it is used",
                name);
        err_next(err, "give its arguments, as in %s<float>, or say how many: regs=32", name);
    } else if (!arch[0]) {
        below_75(&m, err);
    } else if (compile_for(&m, true, false, &image, err) == 0) {
        symbol = find_symbol(&m, image);
        kernel = symbol ? image_kernel(image, symbol) : NULL;
        if (kernel) {
            *out = *kernel;
            rc = 0;
        } else {
            err_set(err, ERR_NameError, "%s: the compiled cell has no kernel of this name", name);
        }
    }
    arena_free(&arena);
    return rc;
}
