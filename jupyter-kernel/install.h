/* `warpbook install`: writes the kernelspec, so that Jupyter finds this binary. */
#ifndef WB_JUPYTER_INSTALL_H
#define WB_JUPYTER_INSTALL_H

/* Exit status: 0, 1 when it could not be written, 2 for a wrong command line. */
int install_main(int argc, char **argv);

extern const char INSTALL_HELP[];

#endif
