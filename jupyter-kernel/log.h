/*
 * What the kernel has to say to whoever runs it: lines on stderr, which Jupyter
 * shows in its own log. Never waits: a pipe that nobody reads loses the line,
 * not the kernel.
 */
#ifndef WB_JUPYTER_LOG_H
#define WB_JUPYTER_LOG_H

#include "model/base/base.h"

/* One line, "warpbook: " in front; any thread. Bytes that are no plain text become '?'. */
void log_line(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
