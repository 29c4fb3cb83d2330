/*
 * What each kind of line does, and what it leaves unset when it fails: nothing
 * later can pass on stale facts.
 */
#include "cells/cell.h"
#include "cells/characters.h"
#include "cells/context.h"
#include "cells/cuda_source.h"
#include "cells/launch_plan.h"
#include "cells/main_lines.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- magics ---- */

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

int cell_run_magic(struct cell *cell, struct source line, const struct source *body,
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
        return magic_refuse(&lexer, text_show(cell->arena, bytes_of(name), 40), is_cell, end, err);
    }
    return run_found_magic(cell, magic, &lexer, body, target, err);
}

/* kernel<<<grid, block>>>(arguments); is %launch with the name left out. */
int cell_run_launch(struct cell *cell, struct source line, const char *target, struct err *err)
{
    struct lexer lexer;

    lexer_init(&lexer, line, cell->arena);
    return run_found_magic(cell, magic_find("launch", false), &lexer, NULL, target, err);
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

/* The first name of a line that CUDA C of the session defines as code; NULL: none. */
static const char *device_name_in(const struct cell *cell, struct bytes text)
{
    const struct cuda *cuda = session_cuda(cell->session);

    for (size_t i = cuda_name_count(cuda); i > 0; i--) {
        struct cuda_name name = cuda_name_at(cuda, i - 1);

        if ((name.kind == CUDA_MACRO || name.kind == CUDA_FUNCTION) && cuda_uses(text, name.name))
            return name.name;
    }
    return NULL;
}

/*
 * int tiles = TILES(n); A program computes on the host with its macros and functions, which only
 * the compiler can: the line is left out, and says so.
 */
static int declare_scalar(struct cell *cell, struct call *call, struct source text, struct err *err)
{
    struct err failed = { 0 };
    const char *name;

    if (launch_scalar_declare(call, text, &failed) == 0)
        return 0;
    name = failed.name == ERR_NameError ? device_name_in(cell, text.text) : NULL;
    if (!name) {
        *err = failed;
        return -1;
    }
    err_done(&failed);
    sink_printf(cell->sink, STREAM_STDOUT,
                "In[%d]: left out %s, as %s is known to kernels alone.\n",
                session_run_count(cell->session), text_show(cell->arena, text.text, 40), name);
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
        return declare_scalar(cell, &call, segment->text, err);
    return segment->kind == SEGMENT_DIM ? launch_dim_declare(&call, segment->text, err)
                                        : launch_host_call(segment->text, err);
}

static int refuse_shell(const struct source *line, struct err *err)
{
    err_set(err, ERR_UsageError, "! starts a shell command in IPython; this kernel runs none");
    err_at(err, line->line, line->column, 1);
    return err_next(err, "use a terminal; packages of Python are none of this kernel's");
}

/* What a program with main() does on the device, as lines to paste; false: it launches nothing. */
static bool offer_lines(struct cell *cell, struct bytes program, struct err *err)
{
    struct buf lines = { 0 };
    bool has_lines;

    buf_puts(&lines, "main() as lines of a cell:\n\n");
    main_lines_of(cell->arena, program, &lines);
    has_lines = strchr(buf_text(&lines), ';') != NULL && !lines.is_failed;
    if (has_lines)
        err_take_detail(err, buf_take(&lines));
    buf_done(&lines);
    return has_lines;
}

static int refuse_main(struct cell *cell, const struct segment *segment, struct err *err)
{
    int line, column;

    source_place(&segment->text, segment->main_at, &line, &column);
    err_set(err, ERR_UnsupportedError,
            "main() makes this a whole program, and those are not in this version");
    err_at(err, line, column, 4);
    if (offer_lines(cell, segment->text.text, err))
        return err_next(err, "leave main() out; the lines above, in the next cell, do what it "
                             "does on the device (iota: what the host fills in)");
    return err_next(err, "keep the kernels and leave main() out; a later version runs programs "
                         "that have %%%%cuda on the first line");
}

/* %%cuda and nvcc4jupyter's %%cu hold programs, too. */
static int run_cell_magic(struct cell *cell, const struct segment *segment, struct err *err)
{
    int rc = cell_run_magic(cell, segment->text, &segment->body, NULL, err);

    if (rc < 0 && (err->name == ERR_UnsupportedError || err->name == ERR_UnknownMagic) &&
        memmem(segment->text.text.data, segment->text.text.size, "%%cu", 4) &&
        offer_lines(cell, segment->body.text, err)) {
        err->next[0] = '\0';
        err_next(err, "run the kernels without this line and without main(); the lines above, in "
                      "the next cell, do what it does (iota: what the host fills in)");
    }
    return rc;
}

static int refuse_open_comment(const struct segment *segment, struct err *err)
{
    int line, column;

    source_place(&segment->text, segment->open_comment_at, &line, &column);
    err_set(err, ERR_SyntaxError, "the comment that starts here is never closed");
    err_at(err, line, column, 2);
    return err_next(err, "a comment ends with */");
}

static int run_cuda(struct cell *cell, const struct segment *segment, struct err *err)
{
    if (segment->main_at < segment->text.text.size)
        return refuse_main(cell, segment, err);
    if (segment->open_comment_at < segment->text.text.size)
        return refuse_open_comment(segment, err);
    if (cuda_run_segment(cell->session, segment->text.text, segment->text.line, cell->sink, err) <
        0) {
        if (err->name == ERR_CompileError)
            cell_hint_line(cell, err);
        session_unset(cell->session, "_", "the compilation that would have set it failed");
        return -1;
    }
    return 0;
}

int cell_run_segment(struct cell *cell, const struct segment *segment, struct err *err)
{
    switch (segment->kind) {
    case SEGMENT_CUDA:
        return run_cuda(cell, segment, err);
    case SEGMENT_MAGIC:
        return cell_run_magic(cell, segment->text, NULL, NULL, err);
    case SEGMENT_CELL_MAGIC:
        return run_cell_magic(cell, segment, err);
    case SEGMENT_ASSIGN:
        return cell_assign(cell, segment->text, err);
    case SEGMENT_LAUNCH:
        return cell_run_launch(cell, segment->text, NULL, err);
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

/* A line that an error above kept from running: what it would have set is stale now. */
void cell_forget_segment(struct cell *cell, const struct segment *segment)
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
