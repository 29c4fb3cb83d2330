/* interrupt_request: acts at once, whatever runs; the cell's own reply tells how it ended. */
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/handlers/handlers.h"

int interrupt_request(struct kernel *kernel, struct request *request, json_t **reply,
                      struct err *err)
{
    (void)request, (void)err;
    executor_interrupt(kernel);
    *reply = json_pack("{s:s}", "status", "ok");
    return 0;
}
