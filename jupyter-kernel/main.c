/*
 * The command line: one row a subcommand. Everything else is in the rooms.
 */
#include "cells/doctor.h"
#include "cells/notebook.h"
#include "cells/script.h"
#include "jupyter-kernel/install.h"
#include "jupyter-kernel/kernel.h"
#include "kernels/child.h"
#include "model/base/base.h"
#include "model/base/version.h"

#include <stdio.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: not for people */
    const char *help;    /* printed for --help; NULL: the command prints its own */
};

static const struct command COMMANDS[] = {
    { "kernel", kernel_main, "serve Jupyter; the kernelspec starts it", KERNEL_HELP },
    { "install", install_main, "write the kernelspec", INSTALL_HELP },
    { "cell", script_main, "run cells from a file", SCRIPT_HELP },
    { "run", notebook_main, "run a notebook", NOTEBOOK_HELP },
    { "child", child_main, NULL, NULL },
    { "doctor", doctor_main, "what is installed, and what is missing", DOCTOR_HELP },
};

static void print_help(FILE *to)
{
    fputs("Warpbook: a Jupyter kernel that shows how a GPU runs warps.\n\n"
          "usage: warpbook COMMAND ...     warpbook COMMAND --help\n\n",
          to);
    for (size_t i = 0; i < COUNT(COMMANDS); i++)
        if (COMMANDS[i].summary)
            fprintf(to, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    fputs("  --version  print the version\n  --help     print this\n", to);
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    for (int i = 1; command->help && i < argc; i++) {
        if (!is_help(argv[i]))
            continue;
        fputs(command->help, stdout);
        return 0;
    }
    return command->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("warpbook " WARPBOOK_VERSION);
        return 0;
    }
    for (size_t i = 0; i < COUNT(COMMANDS); i++)
        if (strcmp(COMMANDS[i].name, argv[1]) == 0)
            return run(&COMMANDS[i], argc - 1, argv + 1);
    fprintf(stderr, "warpbook: %s: no such command; warpbook --help lists them\n", argv[1]);
    return 2;
}
