/*
 * %export: the way out. A session that works becomes a program for nvcc.
 */
#include "cells/cell.h"
#include "cells/export.h"
#include "cells/file.h"
#include "cells/internal.h"
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    const char *path = call_text(call, "file");
    struct export_count n;
    struct buf text = { 0 };
    int rc = export_program(call->session, &text, &n, err);

    if (rc == 0 && !path)
        sink_write(call->sink, STREAM_STDOUT, text.data, text.size);
    if (rc == 0 && path)
        rc = file_write(path, (struct bytes){ text.data, text.size }, err);
    if (rc == 0 && path)
        sink_printf(call->sink, STREAM_STDOUT,
                    "%s  %zu definition%s, %zu buffer%s, %zu launch%s\n"
                    "to compile: nvcc -arch=native -o program %s\n",
                    path, n.definitions, n.definitions == 1 ? "" : "s", n.buffers,
                    n.buffers == 1 ? "" : "s", n.launches, n.launches == 1 ? "" : "es", path);
    buf_done(&text);
    return rc < 0 ? call_mark(call, err) : 0;
}

static const struct param PARAMS[] = {
    { .name = "file",
      .type = PARAM_TEXT,
      .flags = PARAM_POSITIONAL,
      .help = "where to, such as saxpy.cu; without it the program is printed" },
};

const struct magic MAGIC_EXPORT = {
    .name = "export",
    .flags = MAGIC_SILENT,
    .summary = "writes the session as one CUDA C++ program: %export saxpy.cu",
    .about = "The program has the definitions as they are now, and in main() every buffer and "
             "launch in the order in which they happened, with an error check behind each. nvcc "
             "compiles it; at the end it prints how each buffer begins.",
    .example = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
               "%buffer float x[32] = iota\n"
               "%export",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
