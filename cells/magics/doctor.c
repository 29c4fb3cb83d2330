/* %doctor: what is installed here, what is missing, and what to do about it. */
#include "cells/cell.h"
#include "cells/doctor.h"
#include "cells/magics.h"

static int run(struct call *call, struct err *err)
{
    struct result *result;

    if (doctor_examine(call->session, &result, err) < 0)
        return call_mark(call, err);
    return call_take_result(call, result, err);
}

static const struct field FIELDS[] = {
    { "is_ready", "", "CUDA C compiles, with all headers" },
    { "nvrtc_version", "", "13000 for 13.0; 0: no compiler" },
    { "nvrtc_path", "", "the compiler's library" },
    { "headers", "", "folder of the CUDA headers, or null" },
    { "cccl", "", "folder of CUDA's C++ library, or null" },
    { "driver_version", "", "13000 for 13.0; 0: no driver" },
    { "gpus", "", "the cards: name, uuid, memory_bytes" },
    { "nvdisasm", "", "the disassembler, or null" },
};

const struct magic MAGIC_DOCTOR = {
    .name = "doctor",
    .summary = "what is installed here, what is missing, and what to do about it",
    .about = "Compiles a kernel and asks the driver for its cards, instead of believing what "
             "lies around. The same as `warpbook doctor`.",
    .example = "%doctor",
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
