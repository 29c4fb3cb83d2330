/* connect_request: the ports, for clients older than connection files. Deprecated, and cheap. */
#include "jupyter-kernel/handlers/handlers.h"

int connect_request(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    const int *ports = kernel->connection.ports;

    (void)request, (void)err;
    *reply = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i}", "status", "ok", "shell_port",
                       ports[CHANNEL_SHELL], "iopub_port", ports[CHANNEL_IOPUB], "stdin_port",
                       ports[CHANNEL_STDIN], "hb_port", ports[CHANNEL_HB], "control_port",
                       ports[CHANNEL_CONTROL]);
    return 0;
}
