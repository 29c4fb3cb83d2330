/*
 * The messages that the kernel answers, one function each, one file a family.
 *
 * A handler reads request->message.content and makes *reply, the content of the
 * reply with its status; busy, idle, sending and error replies are dispatch.c's.
 * Returning -1 answers with err. *reply is taken in any case.
 */
#ifndef WB_JUPYTER_HANDLERS_H
#define WB_JUPYTER_HANDLERS_H

#include "jupyter-kernel/internal.h"

typedef int handler_function(struct kernel *kernel, struct request *request, json_t **reply,
                             struct err *err);

handler_function kernel_info_request, execute_request, complete_request, inspect_request;
handler_function is_complete_request, history_request, usage_request, connect_request;
handler_function interrupt_request, shutdown_request;
handler_function comm_open, comm_msg, comm_close, comm_info_request; /* comm.c */

#endif
