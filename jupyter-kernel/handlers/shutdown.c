/*
 * shutdown_request: every client learns of it on iopub, not only the one that
 * asked. restart is for the client's eyes: whoever restarts a kernel starts a
 * new process.
 */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/post.h"

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
