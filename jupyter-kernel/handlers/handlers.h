/*
 * The messages that the kernel answers: one row and one function each, one file a family.
 *
 * A handler reads request->message.content and makes *reply, the content of the
 * reply with its status; busy, idle, sending and error replies are dispatch.c's.
 * Returning -1 answers with err. *reply is taken in any case.
 */
#ifndef WB_JUPYTER_HANDLERS_H
#define WB_JUPYTER_HANDLERS_H

#include "jupyter-kernel/internal.h"

enum handler_flag {
    /* On the control channel it is answered while a cell runs; it may not touch the session. */
    AT_ONCE = 1,
    /* Its error replies too have an execution_count. */
    COUNTED = 2,
};

/* clang-format off */
/* X(message and function, reply or NULL: it has none, flags) */
#define HANDLER_ROWS(X) \
    X(kernel_info_request, "kernel_info_reply", AT_ONCE) \
    X(execute_request, "execute_reply", COUNTED) \
    X(complete_request, "complete_reply", 0) \
    X(inspect_request, "inspect_reply", 0) \
    X(is_complete_request, "is_complete_reply", 0) \
    X(history_request, "history_reply", 0) \
    X(comm_open, NULL, 0) \
    X(comm_msg, NULL, 0) \
    X(comm_close, NULL, 0) \
    X(comm_info_request, "comm_info_reply", 0) \
    X(connect_request, "connect_reply", AT_ONCE) \
    X(interrupt_request, "interrupt_reply", AT_ONCE) \
    X(shutdown_request, "shutdown_reply", AT_ONCE) \
    X(usage_request, "usage_reply", AT_ONCE)
/* clang-format on */

typedef int handler_function(struct kernel *kernel, struct request *request, json_t **reply,
                             struct err *err);

#define X(name, reply, flags) handler_function name;
HANDLER_ROWS(X)
#undef X

#endif
