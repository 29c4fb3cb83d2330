/*
 * poll promises room for PIPE_BUF bytes in a pipe, so a line of that size is
 * written whole or not at all. Parts of a line may come from a stranger's
 * message; shown as they are, they could forge lines or steer a terminal.
 */
#include "jupyter-kernel/log.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void log_line(const char *fmt, ...)
{
    static const char PREFIX[] = "warpbook: ";
    char line[1024] = "warpbook: ";
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    size_t n;
    va_list args;

    _Static_assert(sizeof(line) <= PIPE_BUF, "a line must fit the room that poll promises");
    va_start(args, fmt);
    vsnprintf(line + strlen(PREFIX), sizeof(line) - strlen(PREFIX) - 1, fmt, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    n = strlen(line);
    line[n++] = '\n';
    if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) && write(STDERR_FILENO, line, n) < 0) {
        /* Nowhere is left to say it. */
    }
}
