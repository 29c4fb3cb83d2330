/* inspect_request: what the thing under the cursor is; detail_level 1 says more. */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"

int inspect_request(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    const json_t *content = request->message.content;
    struct bytes code = content_text(content, "code");
    int detail = content_int(content, "detail_level", 0) > 0;
    json_t *data = NULL;

    if (session_inspect(kernel->session, code, content_cursor(content, code), detail, &data, err) <
        0)
        return -1;
    *reply = json_pack("{s:s, s:b, s:o, s:{}}", "status", "ok", "found", data != NULL, "data",
                       data ? data : json_object(), "metadata");
    return 0;
}
