/*
 * A cell runs like a list of statements: CUDA C is compiled when the next line
 * of ours is reached, so that a magic below a kernel can use it. The first
 * error ends the cell, and unsets the names that would have held the results:
 * nothing later can pass on stale facts.
 */
#include "cells/cell.h"

#include "cells/buffer.h"
#include "cells/characters.h"
#include "cells/check.h"
#include "cells/context.h"
#include "cells/expr.h"
#include "cells/launch_plan.h"
#include "cells/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_NESTED = 8 };

/* ---- magics ---- */

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

static const char *const LATER[] = {
    "layout",   "lanes",      "access",   "schedule", "little", "log",
    "roofline", "specialize", "interact", "seed",     "param",  "replay",
};

static int refuse_magic(const struct lexer *lexer, const char *name, bool is_cell, size_t end,
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

/* The results that this magic would have set are unset: checks must not pass on old ones. */
static void forget_results(struct cell *cell, const struct magic *magic, const char *target)
{
    char reason[128];

    snprintf(reason, sizeof(reason), "its %%%s in In[%d] failed", magic->name,
             cell->session->run_count);
    if (!(magic->flags & MAGIC_SILENT) && magic->field_count)
        session_unset(cell->session, "_", reason);
    if (target)
        session_unset(cell->session, target, reason);
}

/* What follows -> or the name before = when the line could not be read as arguments. */
static const char *find_target(struct lexer lexer)
{
    struct token t, name;

    while (lexer_next(&lexer, &t, NULL) == 0 && t.kind != TOKEN_END)
        if (t.kind == TOKEN_OP && t.op == OP_ARROW && lexer_next(&lexer, &name, NULL) == 0 &&
            name.kind == TOKEN_WORD)
            return arena_copy(lexer.arena, name.text.data, name.text.size);
    return NULL;
}

static int run_found_magic(struct cell *cell, const struct magic *magic, struct lexer *lexer,
                           const struct source *body, const char *target, struct err *err)
{
    struct lexer start = *lexer;
    struct arg *args = NULL;
    const char *arrow = NULL;
    struct call call = { .session = cell->session,
                         .sink = cell->sink,
                         .arena = cell->arena,
                         .magic = magic,
                         .line = lexer->source.line,
                         .column = lexer->source.column,
                         .allow_stdin = cell->allow_stdin };

    if (body) {
        call.body = body->text;
        call.body_line = body->line;
    }
    if (args_parse(cell->session, magic, lexer, &args, &arrow, err) < 0) {
        forget_results(cell, magic, target ? target : arrow ? arrow : find_target(start));
        return -1;
    }
    call.args = args;
    call.target = arrow ? arrow : target;
    if (magic->run(&call, err) < 0) {
        forget_results(cell, magic, call.target);
        return call_mark(&call, err);
    }
    return 0;
}

/* %name? and %name --help explain; everything else runs. */
static bool asks_for_help(struct lexer *lexer)
{
    struct bytes text = lexer->source.text;
    size_t end = line_strip(text), at = lexer->at;

    if (at < text.size && text.data[at] == '?')
        return true;
    while (at < end && is_blank(text.data[at]))
        at++;
    return end - at == 6 && memcmp(text.data + at, "--help", 6) == 0;
}

static int run_magic(struct cell *cell, struct source line, const struct source *body,
                     const char *target, struct err *err)
{
    struct lexer lexer;
    bool is_cell = body != NULL;
    size_t start = is_cell ? 2 : 1, end = start;
    const struct magic *magic;
    char *name;

    lexer_init(&lexer, line, cell->arena);
    while (end < line.text.size && is_name_char(line.text.data[end]))
        end++;
    name = arena_copy(cell->arena, line.text.data + start, end - start);
    if (!name)
        return err_set(err, ERR_ResourceError, "out of memory");
    lexer_seek(&lexer, end);
    magic = magic_find(name, is_cell);
    if (asks_for_help(&lexer) && (magic || (magic = magic_find(name, !is_cell)) != NULL))
        return help_page(cell->session, cell->sink, name, err);
    if (!magic || end - start > 40) {
        if (target)
            session_unset(cell->session, target, "the line that sets it failed");
        return refuse_magic(&lexer, text_show(cell->arena, bytes_of(name), 40), is_cell, end, err);
    }
    return run_found_magic(cell, magic, &lexer, body, target, err);
}

/* kernel<<<grid, block>>>(arguments); is %launch with the name left out. */
static int run_launch(struct cell *cell, struct source line, const char *target, struct err *err)
{
    struct lexer lexer;

    lexer_init(&lexer, line, cell->arena);
    return run_found_magic(cell, magic_find("launch", false), &lexer, NULL, target, err);
}

/* ---- assignments ---- */

/* name=word, as a shell writes it: a word that means nothing else is a text. */
static bool is_shell_word(struct bytes text)
{
    if (!text.size || !(is_name_start(text.data[0]) || strchr("/.~", text.data[0])))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_name_char(text.data[i]) && !strchr("/.:@%+-,~", text.data[i]))
            return false;
    return true;
}

static int assign_value(struct cell *cell, const char *name, struct source right,
                        bool is_shell_style, struct err *err)
{
    struct err inner = { 0 };
    struct value v;
    size_t n = line_strip(right.text);
    int rc = expr_eval_source(cell->session, right, cell->arena, &v, &inner);

    if (rc < 0 && is_shell_style &&
        (inner.name == ERR_NameError || inner.name == ERR_SyntaxError) &&
        is_shell_word((struct bytes){ right.text.data, n })) {
        v = (struct value){ .type = VALUE_STRING,
                            .text = arena_copy(cell->arena, right.text.data, n) };
        rc = v.text ? 0 : -1;
    }
    if (rc < 0) {
        if (err->name == ERR_none) {
            *err = inner;
            inner.detail = NULL;
        }
        err_done(&inner);
        return -1;
    }
    err_done(&inner);
    return session_set(cell->session, name, &v, err);
}

static int read_assigned_name(struct lexer *lexer, char **name, struct token *equals,
                              struct err *err)
{
    struct token t;

    if (lexer_next(lexer, &t, err) < 0 || lexer_peek(lexer, equals, err) < 0)
        return -1;
    if (equals->kind == TOKEN_WORD && t.kind == TOKEN_WORD &&
        (bytes_equal(t.text, "var") || bytes_equal(t.text, "val")) &&
        (lexer_next(lexer, &t, err) < 0 || lexer_peek(lexer, equals, err) < 0))
        return -1;
    if (t.kind != TOKEN_WORD || equals->kind != TOKEN_OP || equals->op != '=') {
        lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                      "an assignment is NAME = VALUE; %s does not start one",
                      token_show(lexer, &t));
        return err_next(err, "such as n = 1000");
    }
    if (t.text.size > 60)
        return lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                             "a name of %zu characters: 60 are allowed", t.text.size);
    *name = arena_copy(lexer->arena, t.text.data, t.text.size);
    if (!*name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (expr_is_reserved(*name))
        return lexer_fail_at(lexer, t.start, t.end, err, ERR_SyntaxError,
                             "%s has its own meaning and cannot be set", *name);
    return 0;
}

int cell_assign(struct cell *cell, struct source source, struct err *err)
{
    struct lexer lexer;
    struct token equals;
    struct source right;
    struct bytes text = source.text;
    size_t at;
    char *name = NULL;
    bool is_shell_style;

    lexer_init(&lexer, source, cell->arena);
    if (read_assigned_name(&lexer, &name, &equals, err) < 0)
        return -1;
    at = equals.end;
    is_shell_style = !equals.blank_before && at < text.size && !is_blank(text.data[at]);
    while (at < text.size && is_blank(text.data[at]))
        at++;
    right.text = (struct bytes){ text.data + at, text.size - at };
    source_place(&source, at, &right.line, &right.column);
    if (right.text.size > 1 && right.text.data[0] == '%' && is_name_start(right.text.data[1]))
        return run_magic(cell, right, NULL, name, err);
    if (memmem(right.text.data, right.text.size, "<<<", 3))
        return run_launch(cell, right, name, err);
    if (right.text.size && right.text.data[0] == '{' &&
        memchr(right.text.data, ':', right.text.size)) {
        lexer_fail_at(&lexer, at, text.size, err, ERR_UsageError, "a variable holds no dictionary");
        return err_next(err, "give each of its values a name of its own");
    }
    if (line_strip(right.text) == 0) {
        /* papermill's bash spelling of a parameter that is None. */
        struct value none = { .type = VALUE_NULL };

        if (equals.blank_before)
            return lexer_fail_at(&lexer, equals.start, equals.end, err, ERR_SyntaxError,
                                 "%s = has no value", name);
        return session_set(cell->session, name, &none, err);
    }
    return assign_value(cell, name, right, is_shell_style, err);
}

/* ---- the other kinds of lines ---- */

static int run_help_line(struct cell *cell, struct source line, struct err *err)
{
    struct bytes text = line.text;
    size_t start = 0, end;
    char *name;

    while (start < text.size &&
           (text.data[start] == '?' || text.data[start] == '%' || is_blank(text.data[start])))
        start++;
    end = start;
    while (end < text.size && is_name_char(text.data[end]))
        end++;
    name = arena_copy(cell->arena, text.data + start, end - start);
    if (!name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (help_page(cell->session, cell->sink, name, err) < 0)
        return err_at(err, line.line, (int)start + 1, (int)(end - start));
    return 0;
}

/* What stands around a launch in C: dim3 block(16, 16); and cudaDeviceSynchronize(); */
static int run_statement(struct cell *cell, const struct segment *segment, struct err *err)
{
    struct call call = { .session = cell->session,
                         .sink = cell->sink,
                         .arena = cell->arena,
                         .magic = magic_find("launch", false),
                         .line = segment->text.line,
                         .column = segment->text.column };

    if (segment->kind == SEGMENT_SCALAR)
        return launch_scalar_declare(&call, segment->text, err);
    return segment->kind == SEGMENT_DIM ? launch_dim_declare(&call, segment->text, err)
                                        : launch_host_call(segment->text, err);
}

static int refuse_shell(const struct source *line, struct err *err)
{
    err_set(err, ERR_UsageError, "! starts a shell command in IPython; this kernel runs none");
    err_at(err, line->line, line->column, 1);
    return err_next(err, "use a terminal; packages of Python are none of this kernel's");
}

static int refuse_main(const struct segment *segment, struct err *err)
{
    int line, column;

    source_place(&segment->text, segment->main_at, &line, &column);
    err_set(err, ERR_UnsupportedError,
            "main() makes this a whole program, and those are not in this version");
    err_at(err, line, column, 4);
    return err_next(err, "keep the kernels and leave main() out; a later version runs programs "
                         "that have %%%%cuda on the first line");
}

static int refuse_open_comment(const struct segment *segment, struct err *err)
{
    int line, column;

    source_place(&segment->text, segment->open_comment_at, &line, &column);
    err_set(err, ERR_SyntaxError, "the comment that starts here is never closed");
    err_at(err, line, column, 2);
    return err_next(err, "a comment ends with */");
}

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
static void hint_at_line(struct cell *cell, struct err *err)
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

static int run_cuda(struct cell *cell, const struct segment *segment, struct err *err)
{
    if (segment->main_at < segment->text.text.size)
        return refuse_main(segment, err);
    if (segment->open_comment_at < segment->text.text.size)
        return refuse_open_comment(segment, err);
    if (cuda_run_segment(cell->session, segment->text.text, segment->text.line, cell->sink, err) <
        0) {
        if (err->name == ERR_CompileError)
            hint_at_line(cell, err);
        session_unset(cell->session, "_", "the compilation that would have set it failed");
        return -1;
    }
    return 0;
}

static int run_segment(struct cell *cell, const struct segment *segment, struct err *err)
{
    switch (segment->kind) {
    case SEGMENT_CUDA:
        return run_cuda(cell, segment, err);
    case SEGMENT_MAGIC:
        return run_magic(cell, segment->text, NULL, NULL, err);
    case SEGMENT_CELL_MAGIC:
        return run_magic(cell, segment->text, &segment->body, NULL, err);
    case SEGMENT_ASSIGN:
        return cell_assign(cell, segment->text, err);
    case SEGMENT_LAUNCH:
        return run_launch(cell, segment->text, NULL, err);
    case SEGMENT_DIM:
    case SEGMENT_SCALAR:
    case SEGMENT_HOST:
        return run_statement(cell, segment, err);
    case SEGMENT_HELP:
        return run_help_line(cell, segment->text, err);
    case SEGMENT_SHELL:
        return refuse_shell(&segment->text, err);
    }
    return 0;
}

/*
 * A segment has memory of its own, so that a cell of a million lines needs no more than its longest
 * one. What outlives it is in the session or in err.
 */
static int run_apart(struct cell *cell, const struct segment *segment, struct err *err)
{
    struct cell inner = *cell;
    int rc;

    inner.arena = arena_new(CELL_MEMORY_LIMIT);
    if (!inner.arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    cell->session->cell = &inner;
    rc = run_segment(&inner, segment, err);
    cell->session->cell = cell;
    arena_free(&inner.arena);
    return rc;
}

/* A line that an error above kept from running: what it would have set is stale now. */
static void forget_unrun(struct cell *cell, const struct segment *segment)
{
    struct bytes text = segment->text.text;
    const struct magic *magic;
    struct lexer lexer;
    struct token t;
    const char *target = NULL;
    char reason[80];

    lexer_init(&lexer, segment->text, cell->arena);
    if (segment->kind == SEGMENT_ASSIGN && memchr(text.data, '%', text.size) &&
        lexer_next(&lexer, &t, NULL) == 0 && t.kind == TOKEN_WORD)
        target = arena_copy(cell->arena, t.text.data, t.text.size);
    else if (segment->kind == SEGMENT_MAGIC)
        target = find_target(lexer);
    snprintf(reason, sizeof(reason), "In[%d] failed before the line that sets it",
             cell->session->run_count);
    magic = segment->kind == SEGMENT_MAGIC || target ? magic_of_line(text, cell->arena) : NULL;
    if (target && session_variable(cell->session, target))
        session_unset(cell->session, target, reason);
    if (magic && magic->field_count && !(magic->flags & MAGIC_SILENT))
        session_unset(cell->session, "_", reason);
}

int cell_run_lines(struct cell *cell, struct source source, struct err *err)
{
    struct segmenter segmenter;
    struct segment segment;
    bool found;
    int rc = 0;

    if (segmenter_init(&segmenter, source, cell->arena, err) < 0)
        return -1;
    while (rc == 0) {
        if (session_check_stop(cell->session, err) < 0 ||
            segmenter_next(&segmenter, &segment, &found, err) < 0)
            return -1;
        if (!found)
            return 0;
        rc = run_apart(cell, &segment, err);
    }
    while (segmenter_next(&segmenter, &segment, &found, NULL) == 0 && found)
        forget_unrun(cell, &segment);
    return rc;
}

int cell_run_body(struct cell *cell, struct source source, struct err *err)
{
    struct cell inner = *cell;
    int rc;

    if (++inner.depth > MAX_NESTED)
        return err_set(err, ERR_UsageError, "cell magics nest at most %d deep", MAX_NESTED);
    inner.arena = arena_new(CELL_MEMORY_LIMIT);
    if (!inner.arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    cell->session->cell = &inner;
    rc = cell_run_lines(&inner, source, err);
    cell->session->cell = cell;
    arena_free(&inner.arena);
    return rc;
}

/* What failed but is no check: later checks show what it cost. */
static int note_failed_line(struct cell *cell, const struct segment *segment, struct err *err)
{
    struct bytes line = segment->text.text;
    struct err add = { 0 };
    const char *label, *remark;

    if (err->name == ERR_Interrupted || err->name == ERR_ResourceError)
        return -1;
    label = text_show(cell->arena, line, 40);
    remark = arena_printf(cell->arena, "%s: %s", err_spelling(err->name), err->text);
    err_done(err);
    if (grading_add(cell->grading, label, 0, 0, remark ? remark : "", &add) == 0)
        return 0;
    *err = add;
    return -1;
}

int cell_run_graded(struct cell *cell, struct source source, struct err *err)
{
    struct segmenter segmenter;
    struct segment segment;
    bool found;

    if (segmenter_init(&segmenter, source, cell->arena, err) < 0)
        return -1;
    for (;;) {
        if (session_check_stop(cell->session, err) < 0 ||
            segmenter_next(&segmenter, &segment, &found, err) < 0)
            return -1;
        if (!found)
            return 0;
        if (run_apart(cell, &segment, err) < 0 && note_failed_line(cell, &segment, err) < 0)
            return -1;
    }
}

/* ---- one whole cell ---- */

/* Everything behind this may rely on UTF-8 without NUL, and so may every front end's JSON. */
static int check_text(struct bytes code, struct err *err)
{
    int line = 1;
    size_t start = 0, n;

    for (size_t at = 0; at < code.size; at += n) {
        n = character_size((struct bytes){ code.data + at, code.size - at }, NULL);
        if (n == 0 || code.data[at] == '\0') {
            err_set(err, ERR_SyntaxError,
                    n ? "a NUL byte (0x%02X) is in the cell" : "byte 0x%02X is not UTF-8",
                    (unsigned char)code.data[at]);
            return err_at(err, line, (int)(at - start) + 1, 1);
        }
        if (code.data[at] == '\n') {
            line++;
            start = at + 1;
        }
    }
    return 0;
}

static void begin_run(struct session *session)
{
    uint64_t drained;
    ssize_t n;

    atomic_store(&session->stop, false);
    n = read(session->stop_fd, &drained, sizeof(drained));
    (void)n; /* nothing to read is the usual case */
    atomic_store(&session->is_running, true);
}

static void end_run(struct session *session)
{
    atomic_store(&session->is_running, false);
    session->cell = NULL;
    workers_reap(session->workers);
}

static void report_error(struct session *session, struct err *err, struct bytes code,
                         struct sink *sink, struct error_report *report)
{
    struct error_report made;

    if (report_make(err, code, session->run_count, &made) < 0)
        return;
    if (sink && sink->error)
        sink->error(sink, &made);
    if (report)
        *report = made;
    else
        report_done(&made);
}

int session_run_cell(struct session *session, struct bytes code, const struct cell_options *options,
                     struct sink *sink, struct error_report *report)
{
    static struct sink silent;
    struct err err = { 0 };
    struct cell cell = { .session = session,
                         .sink = options && options->is_silent ? &silent : sink,
                         .code = code,
                         .allow_stdin = options && options->allow_stdin,
                         .arena = arena_new(CELL_MEMORY_LIMIT) };
    int rc = -1;

    /* A byte order mark, as editors on Windows leave it, is no text. */
    if (code.size >= 3 && memcmp(code.data, "\xEF\xBB\xBF", 3) == 0)
        cell.code = code = (struct bytes){ code.data + 3, code.size - 3 };
    if (report)
        *report = (struct error_report){ 0 };
    begin_run(session);
    session->run_count++;
    session->cell = &cell;
    if (!cell.arena)
        err_set(&err, ERR_ResourceError, "out of memory");
    else if (check_text(code, &err) == 0)
        rc = cell_run_lines(&cell, (struct source){ code, 1, 1 }, &err);
    if (rc < 0)
        report_error(session, &err, code, cell.sink, report);
    end_run(session);
    err_done(&err);
    arena_free(&cell.arena);
    return rc;
}
