/*
 * Magics that are none here: names that people bring from IPython and nvcc4jupyter, and names that
 * this version does not have. Each gets the words that lead on.
 */
#include "cells/cell.h"

/* Names that people bring from elsewhere, and names that this version does not have yet. */
static const struct {
    const char *name;
    enum err_name error;
    const char *text, *next;
} FOREIGN[] = {
    { "timeit", ERR_UnknownMagic, "%timeit is IPython's; nothing here runs Python",
      "%run times the lesson kernels" },
    { "time", ERR_UnknownMagic, "%time is IPython's; nothing here runs Python",
      "%run times the lesson kernels" },
    { "load_ext", ERR_UnknownMagic, "%load_ext is IPython's; Warpbook needs no extension",
      "write CUDA C in a cell as it is, without it" },
    { "reload_ext", ERR_UnknownMagic, "%reload_ext is IPython's; Warpbook needs no extension",
      "leave the line out" },
    { "lsmagic", ERR_UnknownMagic, "%lsmagic is IPython's", "%help lists the magics" },
    { "magic", ERR_UnknownMagic, "%magic is IPython's", "%help lists the magics" },
    { "env", ERR_UnknownMagic, "%env is IPython's; cells see no environment variables",
      "n = 1000 sets a variable of the session" },
    { "set_env", ERR_UnknownMagic, "%set_env is IPython's; cells see no environment variables",
      "n = 1000 sets a variable of the session" },
    { "set", ERR_UnknownMagic, "%set is no magic here", "%let n = 1000 sets a variable" },
    { "matplotlib", ERR_UnknownMagic, "%matplotlib is IPython's; figures are drawn by the magics",
      "leave the line out" },
    { "pip", ERR_UnknownMagic, "%pip is IPython's; this kernel has no Python packages",
      "run pip in a terminal" },
    { "conda", ERR_UnknownMagic, "%conda is IPython's; this kernel has no Python packages",
      "run conda in a terminal" },
    { "cd", ERR_UnknownMagic, "%cd is IPython's; cells use no directory",
      "%help lists the magics" },
    { "who_ls", ERR_UnknownMagic, "%who_ls is IPython's", "%who lists the variables" },
    { "whos", ERR_UnknownMagic, "%whos is IPython's", "%who lists the variables" },
    { "python", ERR_UnknownMagic, "%%python: this kernel runs CUDA C, not Python",
      "use a notebook with a Python kernel beside it" },
    { "bash", ERR_UnknownMagic, "%%bash: this kernel runs no shell", "use a terminal" },
    { "sh", ERR_UnknownMagic, "%%sh: this kernel runs no shell", "use a terminal" },
    { "cu", ERR_UnknownMagic, "%%cu is nvcc4jupyter's; here a cell is CUDA C as it stands",
      "remove the line; keep the kernels, leave main() out" },
    { "cuda_group_save", ERR_UnknownMagic,
      "%%cuda_group_save is nvcc4jupyter's; definitions stay in the session by themselves",
      "remove the line" },
    { "cuda_group_run", ERR_UnknownMagic, "%cuda_group_run is nvcc4jupyter's",
      "%run runs the lesson kernels" },
    { "cuda", ERR_UnsupportedError, "whole programs with main() are not in this version",
      "put just the kernels in a cell; %run shows how lesson kernels behave" },
};

static const char *const LATER[] = { "log", "interact", "seed", "param", "replay" };

int magic_refuse(const struct lexer *lexer, const char *name, bool is_cell, size_t end,
                 struct err *err)
{
    struct nearest near = { .wanted = name };
    const char *signs = is_cell ? "%%" : "%";

    for (size_t i = 0; i < COUNT(FOREIGN); i++)
        if (strcmp(FOREIGN[i].name, name) == 0) {
            lexer_fail_at(lexer, 0, end, err, FOREIGN[i].error, "%s", FOREIGN[i].text);
            return err_next(err, "%s", FOREIGN[i].next);
        }
    for (size_t i = 0; i < COUNT(LATER); i++)
        if (strcmp(LATER[i], name) == 0) {
            lexer_fail_at(lexer, 0, end, err, ERR_UnsupportedError, "%s%s is not in this version",
                          signs, name);
            return err_next(err, "%%help lists what is");
        }
    if (magic_find(name, !is_cell)) {
        lexer_fail_at(lexer, 0, end, err, ERR_UsageError,
                      is_cell ? "%%%%%s: this magic is one line"
                              : "%%%s: this magic takes a whole cell",
                      name);
        return err_next(err, "write %s%s", is_cell ? "%" : "%%", name);
    }
    for (size_t i = 0; i < MAGIC_COUNT; i++)
        nearest_try(&near, MAGICS[i]->name);
    if (near.best)
        lexer_fail_at(lexer, 0, end, err, ERR_UnknownMagic,
                      "no magic is called %s%s; %s%s is the nearest", signs, name,
                      magic_find(near.best, false) ? "%" : "%%", near.best);
    else
        lexer_fail_at(lexer, 0, end, err, ERR_UnknownMagic, "no magic is called %s%s", signs, name);
    return err_next(err, "%%help lists the magics");
}
