/*
 * A kernel file becomes a module for each set of the compiler's options that some point asks for:
 * machine code for the device, whose registers decide how many blocks fit, and PTX for the model.
 */
#include "cells/experiment_internal.h"

#include "cells/cuda_table.h"
#include "cells/internal.h"
#include "kernels/lessons.h"

static int get_image(struct experiment_work *w, struct bytes source, const char *name,
                     const char *arch, const char *options, const struct image **out,
                     struct err *err)
{
    struct session *session = w->call->session;
    struct image_request request = { .arch = arch, .options = options };
    struct bytes before = experiment_prelude();
    char *text = arena_printf(w->call->arena, "#line 1 \"stamp.cu\"\n%.*s\n#line 1 \"%s\"\n%.*s",
                              (int)before.size, before.data, name, (int)source.size, source.data);

    if (!text)
        return experiment_no_memory(err);
    request.source = bytes_of(text);
    return image_of(cuda_images(session_cuda(session)), session_workers(session), &request, out,
                    err);
}

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

size_t experiment_module_of(const struct experiment_work *w, const struct experiment_launch *l)
{
    size_t i = 0;

    while (i < w->module_count && !is_same_text(w->modules[i].options, l->options))
        i++;
    return i;
}

static int compile_one(struct experiment_work *w, const char *options, const char *arch,
                       struct err *err)
{
    const struct experiment *e = w->run->experiment;
    struct experiment_module *m = &w->modules[w->module_count];
    const char *name = arena_printf(w->call->arena, "%s.cu", e->name);

    if (!name)
        return experiment_no_memory(err);
    if (w->module_count == EXPERIMENT_MAX_MODULES)
        return err_set(err, ERR_ValueError,
                       "%s: the points of one sweep need at most %d compilations", e->name,
                       EXPERIMENT_MAX_MODULES);
    *m = (struct experiment_module){ .options = options };
    w->module_count++;
    if (arch[0] && get_image(w, e->source(), name, arch, options, &m->machine, err) < 0)
        return -1;
    return get_image(w, e->source(), name, "compute_80", options, &m->ptx, err);
}

int experiment_compile(struct experiment_work *w, struct err *err)
{
    struct experiment_run *run = w->run;
    char arch[24];

    image_arch(&run->device.device, arch, sizeof(arch));
    if (run->use_gpu && !arch[0])
        return err_set(err, ERR_DeviceError, "no code can be compiled for capability %d.%d",
                       run->device.device.cc_major, run->device.device.cc_minor);
    if (run->use_gpu &&
        get_image(w, lesson_clock_source(), "clock.cu", arch, NULL, &w->probe, err) < 0)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        struct experiment_outcome *o = &run->points[i];
        const struct cuda_kernel *k;

        if (!experiment_exists(o))
            continue;
        if (experiment_module_of(w, &o->launch) == w->module_count &&
            compile_one(w, o->launch.options, arch, err) < 0)
            return -1;
        if (!arch[0])
            continue;
        k = image_kernel(w->modules[experiment_module_of(w, &o->launch)].machine, o->launch.kernel);
        o->registers = k ? k->registers : 0;
        o->spill_bytes = k ? k->spill_store_bytes + k->spill_load_bytes : 0;
    }
    return 0;
}
