/*
 * Fuzzer of the interpreter: an input is a PTX text. What loads is launched, shortly, over a few
 * buffers; whatever the text says, the buffers' neighbours and the process must come to no harm.
 */
#include "model/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

enum { BUFFERS = 4, BUFFER_BYTES = 4096, MOST_PARAMETERS = 4096, BUDGET = 20000 };

/* Pointers get buffers, in turn; anything else a small number. */
static void fill_parameters(uint8_t *blob, const struct ptx_kernel *kernel,
                            const struct ptx_buffer *buffers)
{
    size_t next = 0;

    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const struct ptx_parameter *p = &kernel->parameters[i];
        uint64_t v = p->size == 8 ? buffers[next++ % BUFFERS].address : 100;

        memcpy(blob + p->offset, &v, (size_t)min_i64(p->size, 8));
    }
}

static void launch(const struct ptx_module *module, const struct ptx_kernel *kernel)
{
    static uint8_t data[BUFFERS][BUFFER_BYTES];
    struct ptx_buffer buffers[BUFFERS];
    uint8_t *blob = calloc(1, MOST_PARAMETERS + 8);
    struct arena *arena = arena_new((size_t)64 << 20);
    struct ptx_launch l = { .kernel = kernel,
                            .grid = { 2, 1, 1 },
                            .block = { 40, 1, 1 },
                            .parameters = blob,
                            .buffers = buffers,
                            .buffer_count = BUFFERS,
                            .device = device_find("L40S"),
                            .max_thread_instructions = BUDGET,
                            .checks = PTX_CHECK_DEFAULT,
                            .is_timed = true,
                            .memory_limit = (size_t)64 << 20 };
    struct ptx_facts facts;
    struct ptx_fault fault;
    struct err err = { 0 };

    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = (struct ptx_buffer){ .address = 0x10000 * (uint64_t)(i + 1),
                                          .data = data[i],
                                          .size = BUFFER_BYTES };
    if (blob && arena && kernel->parameter_bytes <= MOST_PARAMETERS) {
        fill_parameters(blob, kernel, buffers);
        if (ptx_run(module, &l, arena, &facts, &fault, &err) < 0 && err.name == ERR_none)
            abort(); /* a failure without a reason */
    }
    err_done(&err);
    arena_free(&arena);
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *module;
    struct err err = { 0 };

    if (ptx_module_load((struct bytes){ (const char *)data, size }, &module, &err) == 0)
        for (size_t i = 0; i < ptx_kernel_count(module) && i < 3; i++)
            launch(module, ptx_kernel_at(module, i));
    else if (err.name == ERR_none)
        abort();
    ptx_module_free(&module);
    err_done(&err);
    return 0;
}
