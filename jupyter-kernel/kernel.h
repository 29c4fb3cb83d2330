/* `warpbook kernel -f CONNECTION.json`: what the kernelspec starts. */
#ifndef WB_JUPYTER_KERNEL_H
#define WB_JUPYTER_KERNEL_H

/*
 * Serves a client until it asks for the end. argv[0] is "kernel"; unknown options are
 * ignored, as clients append their own. Returns the exit status: 0, 1 when the kernel could
 * not start (said on stderr), 2 without a connection file.
 */
int kernel_main(int argc, char **argv);

extern const char KERNEL_HELP[];

#endif
