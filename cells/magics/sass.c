/*
 * %sass prints a kernel's machine code. Only NVIDIA's disassembler can read it, and
 * it is a program of its own: the compiler child runs it.
 */
#include "cells/internal.h"
#include "cells/magics.h"

static int disassemble(struct call *call, const struct cuda_image *image, struct err *err)
{
    struct child_message request = { .op = OP_DISASSEMBLE }, answer;
    struct bytes text = { "", 0 };
    int rc;

    fields_put(&request.body, TAG_CUBIN, image->cubin);
    fields_put_text(&request.body, TAG_NAME, image->symbol);
    rc = workers_ask(session_workers(call->session), CHILD_COMPILER, &request, &answer, err);
    child_message_done(&request);
    if (rc < 0)
        return -1;
    fields_find(child_message_body(&answer), TAG_LOG, 0, &text);
    sink_printf(call->sink, STREAM_STDOUT, "%.*s\n", (int)text.size, text.data);
    child_message_done(&answer);
    return 0;
}

static int run(struct call *call, struct err *err)
{
    struct session_device device;
    struct cuda_image image;

    if (call_device(call, &device, err) < 0)
        return -1;
    if (cuda_kernel_image(call->session, call_text(call, "kernel"), &device.device, IMAGE_CUBIN,
                          call->arena, &image, err) < 0)
        return call_fail(call, "kernel", err, ERR_NameError, "no such kernel");
    return disassemble(call, &image, err);
}

static const struct param PARAMS[] = {
    { .name = "kernel",
      .type = PARAM_NAME,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "a kernel of this session; a template with its arguments: k<float,32>" },
    { .name = "device", .type = PARAM_DEVICE, .help = "whose code; else the session's device" },
};

const struct magic MAGIC_SASS = {
    .name = "sass",
    .flags = MAGIC_SILENT,
    .summary = "prints a kernel's machine code for a device (needs nvdisasm)",
    .about = "The instructions that the card runs, made by the assembler of the compiler. "
             "nvdisasm reads them: it is in the CUDA Toolkit and in the wheel "
             "nvidia-cuda-nvdisasm, and is looked for beside the toolkit and on PATH; "
             "%doctor says whether it was found.",
    .example = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
               "%sass twice",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
