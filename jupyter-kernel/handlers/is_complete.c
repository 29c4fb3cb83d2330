/* is_complete_request: may a console run this on Enter, or does the cell go on? */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"

int is_complete_request(struct kernel *kernel, struct request *request, json_t **reply,
                        struct err *err)
{
    struct bytes code = content_text(request->message.content, "code");
    char indent[64] = "";

    (void)err;
    switch (session_is_complete(kernel->session, code, indent)) {
    case CELL_COMPLETE:
        *reply = json_pack("{s:s}", "status", "complete");
        break;
    case CELL_INCOMPLETE:
        *reply = json_pack("{s:s, s:s}", "status", "incomplete", "indent", indent);
        break;
    case CELL_INVALID:
        *reply = json_pack("{s:s}", "status", "invalid");
        break;
    }
    return 0;
}
