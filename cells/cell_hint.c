/*
 * What was meant by a line that CUDA C does not take: the compiler's words for a forgotten percent
 * sign help nobody.
 */
#include "cells/buffer.h"
#include "cells/cell.h"

static bool is_kernel(const struct session *session, const char *name)
{
    for (size_t i = 0; i < cuda_name_count(session->cuda); i++) {
        struct cuda_name n = cuda_name_at(session->cuda, i);

        if (n.kind == CUDA_KERNEL && strcmp(n.name, name) == 0)
            return true;
    }
    return false;
}

/* What was meant by a line that is no C: a magic without its %, a variable to look at, Python. */
static void hint_at_words(struct cell *cell, struct bytes line, struct err *err)
{
    static const char *const PYTHON[] = { "import", "from", "def", "lambda" };
    size_t n = 0;
    char *word;

    while (n < line.size && is_name_char(line.data[n]))
        n++;
    word = arena_copy(cell->arena, line.data, n);
    if (!word || !n)
        return;
    if (is_kernel(cell->session, word))
        err_next(err, "launch it as %s<<<grid, block>>>(arguments);", word);
    else if (line.size == n && session_variable(cell->session, word))
        err_next(err, "%%print %s shows the variable", word);
    else if (buffer_find(cell->session, word))
        err_next(err,
                 "%%show %.60s shows the buffer; %%buffer %.60s = {i == 0 ? 5 : %.60s} changes an "
                 "element",
                 word, word, word);
    else if (magic_find(word, false))
        err_next(err, "a magic starts with %%: %%%s", word);
    else if (strcmp(word, "for") == 0)
        err_next(err, "%%%%for n in [1,2,3] on the first line repeats a cell");
    for (size_t i = 0; i < COUNT(PYTHON); i++)
        if (strcmp(word, PYTHON[i]) == 0)
            err_next(err, "cells are CUDA C and magics here, no Python; %%help lists the magics");
}

/*
 * `# if you ...` reads as #if, and `    %print` is C to the compiler, whose words for both help
 * nobody.
 */
void cell_hint_line(struct cell *cell, struct err *err)
{
    struct bytes code = cell->code;
    const char *p = code.data, *end = code.data + code.size;

    for (int line = 1; p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl ? nl : end, *q = p;

        while (q < stop && is_blank(*q))
            q++;
        if ((line == err->line || !err->line) && q + 2 < stop && q[0] == '#' && q[1] == ' ' &&
            is_name_start(q[2])) {
            err_next(err, "line %d reads as a preprocessor line; a comment starts with //", line);
            return;
        }
        if (line == err->line && q + 1 < stop && q[0] == '%' && is_name_start(q[1])) {
            err_next(err, "a magic starts in the first column, outside all braces and after a ;");
            return;
        }
        if (line == err->line) {
            hint_at_words(cell,
                          (struct bytes){ p, line_strip((struct bytes){ p, (size_t)(stop - p) }) },
                          err);
            return;
        }
        p = stop + 1;
    }
}
