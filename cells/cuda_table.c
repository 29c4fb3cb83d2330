/*
 * Occupancy here is theoretical, at 256 threads a block and no dynamic shared
 * memory: enough to see at once that a kernel took too much. %occupancy KERNEL
 * says the rest.
 */
#include "cells/cuda_table.h"

#include "cells/cuda_overload.h"
#include "cells/internal.h"
#include "cells/magics/occupancy.h"
#include "cells/render/render.h"
#include "cells/render/text.h"
#include "model/occupancy.h"

#include <stdio.h>
#include <stdlib.h>

enum { TABLE_BLOCK = 256, MAX_ROWS = 512 };

/* One kernel of the cell; kernel NULL: no machine code (template, or an old device). */
struct row {
    const char *name;
    const struct cuda_kernel *kernel;
    struct cuda_kernel own; /* what kernel points to, of one of several kernels of a name */
    struct occupancy occupancy;
    const char *limit;
};

struct table {
    struct row rows[MAX_ROWS];
    size_t count, compiled, worst; /* worst: the row that fits least */
    bool has_template;
    bool has_code;  /* the compiler gave machine code */
    bool uses_arch; /* the source asks for __CUDA_ARCH__ */
    const struct device *device;
    int cell;
    const struct cuda_options *options; /* of %%kernel, or NULL */
};

static bool has_row(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return true;
    return false;
}

/* Registers of one of several kernels of a name: compiled by itself, as its name says its types. */
static const struct cuda_kernel *overload_of(struct session *session, struct row *row,
                                             const char *name, const struct device *device)
{
    struct err ignored = { 0 };
    int rc = cuda_kernel_resources(session, name, device, &row->own, &ignored);

    err_done(&ignored);
    return rc == 0 ? &row->own : NULL;
}

static int add_row(struct session *session, struct table *t, const char *name,
                   const struct cuda_kernel *kernel, struct err *err)
{
    struct launch_shape shape = { .block = TABLE_BLOCK, .carveout = OCCUPANCY_DEFAULT_CARVEOUT };
    struct row *row = &t->rows[t->count];

    if (t->count == MAX_ROWS || has_row(t, name))
        return 0;
    *row = (struct row){ .name = name, .kernel = kernel, .limit = "" };
    if (kernel && strchr(name, '('))
        row->kernel = kernel = overload_of(session, row, name, t->device);
    t->count++;
    if (!kernel)
        return 0;
    t->compiled++;
    shape.regs = kernel->registers;
    shape.static_bytes = kernel->static_bytes;
    if (occupancy_of(t->device, &shape, &row->occupancy, err) < 0)
        return -1;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT && !row->limit[0]; i++)
        if (row->occupancy.limiters & (1u << i))
            row->limit = occupancy_limit_name((enum occupancy_limit)i);
    if (row->occupancy.occupancy < t->rows[t->worst].occupancy.occupancy ||
        !t->rows[t->worst].kernel)
        t->worst = t->count - 1;
    return 0;
}

static const struct cuda_kernel *kernel_of(const struct image *image, const struct item_name *n)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (cuda_symbol_is(image->kernels[i].symbol, n->scope, n->name))
            return &image->kernels[i];
    return NULL;
}

/* "m::k"; "k(float *)" where the session has several of the name. */
static const char *shown_name(struct result *r, const struct cuda *cuda,
                              const struct cuda_item *item, const struct item_name *n)
{
    const char *text = n->scope[0] ? result_text(r, "%s%s", n->scope, n->name) : n->name;
    const char *head = n->head ? n->head : item->head;

    if (text && head && cuda_overloads(cuda, text, NULL, 0) > 1)
        text = cuda_overload_name(r->arena, text, head);
    return text ? text : n->name;
}

static int collect(struct session *session, struct result *r, struct table *t,
                   const struct cuda_items *fresh, const struct image *image, struct err *err)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const struct cuda_item *item = &fresh->list[i];

        t->uses_arch |= item->kind != ITEM_HOST && cuda_uses(item->text, "__CUDA_ARCH__");
        for (size_t k = 0; k < item->name_count; k++) {
            const struct item_name *n = &item->names[k];
            const struct cuda_kernel *kernel = kernel_of(image, n);

            if (n->kind != ITEM_KERNEL || n->is_specialization)
                continue;
            t->has_template |= n->is_template;
            /* A branch of #if that was not taken has no kernel. */
            if ((kernel || n->is_template || item->kind == ITEM_KERNEL || !t->has_code) &&
                add_row(session, t, shown_name(r, session_cuda(session), item, n),
                        n->is_template ? NULL : kernel, err) < 0)
                return -1;
        }
    }
    return 0;
}

static json_t *row_fields(const struct row *row)
{
    const struct cuda_kernel *k = row->kernel;

    if (!k)
        return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n}", "name", row->name, "registers",
                         "static_bytes", "spills", "stack_bytes", "occupancy");
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:o}", "name", row->name,
                     "symbol", k->symbol, "registers", k->registers, "static_bytes",
                     k->static_bytes, "spills", k->spill_store_bytes + k->spill_load_bytes,
                     "spill_store_bytes", k->spill_store_bytes, "stack_bytes", k->stack_bytes,
                     "occupancy", json_number(row->occupancy.occupancy), "active_warps",
                     row->occupancy.active_warps, "max_warps", row->occupancy.max_warps, "limiters",
                     occupancy_limiters_json(&row->occupancy));
}

static int set_fields(struct result *r, const struct table *t, const struct session_device *device,
                      struct err *err)
{
    json_t *kernels = json_array();
    int failed = 0;

    for (size_t i = 0; i < t->count; i++)
        failed |= json_array_append_new(kernels, row_fields(&t->rows[i]));
    if (json_object_set_new(r->fields, "kernels", json_whole(kernels, failed)) < 0 ||
        json_object_set_new(r->fields, "device", session_device_json(device)) < 0 ||
        json_object_set_new(r->fields, "input",
                            json_pack("{s:i, s:s, s:i}", "block", TABLE_BLOCK, "build",
                                      t->options && t->options->is_debug ? "debug" : "opt", "cell",
                                      t->cell)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory for the table of kernels");
    return 0;
}

static const char *number(struct result *r, int v)
{
    char text[TEXT_NUMBER];

    return result_text(r, "%s", text_number(text, v));
}

static void set_answer(struct result *r, const struct table *t)
{
    const struct row *worst = &t->rows[t->worst];

    if (t->compiled == 0) {
        r->view.answer = result_text(r, "%zu kernel%s read without error; registers are not known.",
                                     t->count, t->count == 1 ? "" : "s");
        return;
    }
    if (t->count == 1)
        r->view.answer =
            result_text(r, "%s takes %d registers%s: %s occupancy in blocks of %d. Limit: %s.",
                        worst->name, worst->kernel->registers,
                        worst->kernel->spill_store_bytes ? " and spills" : "",
                        occupancy_percent(r, worst->occupancy.occupancy), TABLE_BLOCK,
                        worst->limit);
    else
        r->view.answer =
            result_text(r, "%zu kernels; %s fits least: %s occupancy in blocks of %d. Limit: %s.",
                        t->count, worst->name, occupancy_percent(r, worst->occupancy.occupancy),
                        TABLE_BLOCK, worst->limit);
}

static void add_rows(struct result *r, const struct table *t)
{
    static const struct view_column columns[] = {
        { "kernel", VIEW_LEFT },     { "registers", VIEW_RIGHT }, { "static\nshared", VIEW_RIGHT },
        { "spills", VIEW_RIGHT },    { "stack", VIEW_RIGHT },     { "warps\nof an SM", VIEW_RIGHT },
        { "occupancy", VIEW_RIGHT }, { "limit", VIEW_LEFT },
    };
    struct view_table *table = view_add_table(r, columns, COUNT(columns), t->count);

    for (size_t i = 0; table && i < t->count; i++) {
        const struct row *row = &t->rows[i];
        const struct cuda_kernel *k = row->kernel;

        view_cell(table, i, 0, row->name);
        view_cell(table, i, 1, k ? number(r, k->registers) : "?");
        view_cell(table, i, 2, k ? number(r, k->static_bytes) : "?");
        view_cell(table, i, 3, k ? number(r, k->spill_store_bytes + k->spill_load_bytes) : "?");
        view_cell(table, i, 4, k ? number(r, k->stack_bytes) : "?");
        if (!k)
            continue;
        view_cell(table, i, 5,
                  result_text(r, "%d of %d", row->occupancy.active_warps,
                              row->occupancy.max_warps));
        view_cell(table, i, 6, occupancy_percent(r, row->occupancy.occupancy));
        view_cell(table, i, 7, row->limit);
    }
}

static void set_closing(struct result *r, const struct table *t)
{
    const struct row *worst = &t->rows[t->worst];

    if (t->compiled == 0 && t->has_template)
        r->view.closing = "A template has registers only once it is used.";
    else if (t->compiled == 0)
        r->view.closing = result_text(r, "Next: %%occupancy regs=32 (the compiler of CUDA 13 makes "
                                         "no code below capability 7.5).");
    else if (worst->kernel->spill_store_bytes > 0)
        r->view.closing = "Spilled registers live in local memory, which is in VRAM: "
                          "raise the limit, or use fewer.";
    else
        r->view.closing =
            result_text(r, "Next: %%occupancy %s%s%s block=64..1024:64 finds the block size.",
                        strchr(worst->name, '(') ? "\"" : "", worst->name,
                        strchr(worst->name, '(') ? "\"" : "");
}

/* " __CUDA_ARCH__=890" where the code asks, or the cell chose. */
static const char *arch_text(struct result *r, const struct table *t)
{
    int arch = t->device->cc_major * 100 + t->device->cc_minor * 10;

    if (t->options && t->options->arch[0])
        arch = atoi(t->options->arch + 3) * 10;
    else if (!t->uses_arch)
        return "";
    return result_text(r, " __CUDA_ARCH__=%d", arch);
}

static void fill_view(struct result *r, const struct table *t, const struct session_device *device)
{
    bool is_debug = t->options && t->options->is_debug;
    const char *arch = arch_text(r, t);

    set_answer(r, t);
    r->view.origin =
        result_text(r, "%s (%s, cc %d.%d)   In[%d]   build=%s%s   theoretical, %d threads a block",
                    t->device->name, device->is_gpu ? "gpu" : "model", t->device->cc_major,
                    t->device->cc_minor, t->cell, is_debug ? "debug" : "opt", arch, TABLE_BLOCK);
    add_rows(r, t);
    set_closing(r, t);
}

/* As call_take_result does for a magic: display, then `_`. Takes the reference. */
static int take_result(struct session *session, struct result *result, struct sink *sink,
                       struct err *err)
{
    struct value v = { .type = VALUE_RESULT, .result = result };
    struct rendering rendering = { 0 };
    int rc = render_result(result, &rendering, err);

    for (size_t i = 0; rc == 0 && i < rendering.count; i++)
        sink_display(sink, rendering.bundles[i], NULL, NULL, false);
    rendering_done(&rendering);
    if (rc == 0)
        rc = session_set(session, "_", &v, err);
    result_release(&result);
    return rc;
}

int cuda_show_kernels(struct session *session, const struct cuda_items *fresh,
                      const struct image *image, struct sink *sink, struct err *err)
{
    const struct session_device *device = session_device(session);
    struct result *r = result_new("kernels", 1);
    struct table *t = r ? arena_alloc(r->arena, sizeof(*t)) : NULL;
    int rc = -1;

    if (!t) {
        err_set(err, ERR_ResourceError, "out of memory for the table of kernels");
        goto out;
    }
    t->device = &device->device;
    t->cell = session_run_count(session);
    t->has_code = image->cubin.size > 0;
    t->options = fresh->count > 0 ? fresh->list[0].options : NULL;
    if (collect(session, r, t, fresh, image, err) < 0)
        goto out;
    if (t->count == 0) {
        rc = 0;
        goto out;
    }
    if (set_fields(r, t, device, err) < 0)
        goto out;
    fill_view(r, t, device);
    return take_result(session, r, sink, err);
out:
    result_release(&r);
    return rc;
}
