/* interrupt_request and shutdown_request: both act at once, whatever runs. */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/post.h"

int interrupt_request(struct kernel *kernel, struct request *request, json_t **reply,
                      struct err *err)
{
    (void)request, (void)err;
    executor_interrupt(kernel);
    *reply = json_pack("{s:s}", "status", "ok");
    return 0;
}

/* Every client learns of it on iopub, not only the one that asked. */
int shutdown_request(struct kernel *kernel, struct request *request, json_t **reply,
                     struct err *err)
{
    bool restart = content_bool(request->message.content, "restart", false);

    (void)err;
    *reply = json_pack("{s:s, s:b}", "status", "ok", "restart", restart);
    post_iopub(kernel, &request->message, "shutdown_reply", json_incref(*reply));
    request->ends_kernel = true;
    return 0;
}
