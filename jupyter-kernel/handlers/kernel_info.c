/* kernel_info_request: what this kernel is. */
#include "cells/language_info.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "model/base/version.h"

static const char BANNER[] = "Warpbook " WARPBOOK_VERSION ": how a GPU runs warps\n"
                             "CUDA C and magics; %help lists them, %name? explains one";

static json_t *help_links(void)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s}]", "text", "CUDA C++ Programming Guide", "url",
                     "https://docs.nvidia.com/cuda/cuda-c-programming-guide/", "text", "PTX ISA",
                     "url", "https://docs.nvidia.com/cuda/parallel-thread-execution/");
}

int kernel_info_request(struct kernel *kernel, struct request *request, json_t **reply,
                        struct err *err)
{
    (void)kernel, (void)request, (void)err;
    *reply = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:[], s:b}", "status", "ok",
                       "protocol_version", WIRE_VERSION, "implementation", "warpbook",
                       "implementation_version", WARPBOOK_VERSION, "language_info", language_info(),
                       "banner", BANNER, "help_links", help_links(), "supported_features",
                       "debugger", 0);
    return 0;
}
