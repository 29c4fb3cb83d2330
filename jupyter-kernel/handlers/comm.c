/*
 * Comms. A comm_open names a target that the kernel must know; whoever opens
 * one that it does not know is told at once by comm_close, else the front end
 * waits for an answer. busy and idle around every comm message are dispatch's,
 * and a slider sends its next value only after it saw idle.
 */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/post.h"

int comm_open(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    json_t *id = json_object_get(request->message.content, "comm_id");

    (void)reply;
    if (!json_is_string(id))
        return err_set(err, ERR_UsageError, "comm_id is not a string");
    post_iopub(kernel, &request->message, "comm_close",
               json_pack("{s:O, s:{}}", "comm_id", id, "data"));
    return 0;
}

/* No comm is open, so a message can only be late: its comm was closed already. */
int comm_msg(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    (void)kernel, (void)request, (void)reply, (void)err;
    return 0;
}

int comm_close(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    (void)kernel, (void)request, (void)reply, (void)err;
    return 0;
}

int comm_info_request(struct kernel *kernel, struct request *request, json_t **reply,
                      struct err *err)
{
    (void)kernel, (void)request, (void)err;
    *reply = json_pack("{s:s, s:{}}", "status", "ok", "comms");
    return 0;
}
