/*
 * %lines: a kernel's source with the lanes that work on each line. The build is the
 * code as written unless asked otherwise: an optimizer moves and merges what a reader
 * looks for.
 */
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/launch.h"
#include "cells/render/text.h"

#include <stdio.h>

enum { MOST_LINES = 120, SOURCE_COLUMNS = 30, BAR = 8 };

/* The kernel's own lines in its cell. */
struct extent {
    char file[24];
    int cell, first, last;
};

static bool find_extent(const struct call *call, const char *kernel, struct extent *out)
{
    char name[128];
    struct bytes text;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(kernel, "< "), kernel);
    if (!cuda_definition(session_cuda(call->session), name, &text, &out->cell, &out->first))
        return false;
    out->last = out->first;
    for (size_t i = 0; i < text.size; i++)
        out->last += text.data[i] == '\n';
    snprintf(out->file, sizeof(out->file), "In[%d]", out->cell);
    return true;
}

static const struct ptx_line_facts *facts_of(const struct ptx_facts *facts, const char *file,
                                             int line)
{
    for (size_t i = 0; i < facts->line_count; i++)
        if (facts->lines[i].line == line && strcmp(facts->lines[i].file, file) == 0)
            return &facts->lines[i];
    return NULL;
}

static bool is_own(const struct ptx_line_facts *l, const struct extent *own)
{
    return strcmp(l->file, own->file) == 0 && l->line >= own->first && l->line <= own->last;
}

/* The line with the fewest lanes at work, NULL when all are full. */
static const struct ptx_line_facts *find_idlest(const struct ptx_facts *facts)
{
    const struct ptx_line_facts *worst = NULL;

    for (size_t i = 0; i < facts->line_count; i++)
        if (facts->lines[i].line > 0 && facts->lines[i].warp_instructions > 0 &&
            launch_line_lanes(&facts->lines[i]) < (worst ? launch_line_lanes(worst) : 0.9995))
            worst = &facts->lines[i];
    return worst;
}

/* ---- the table ---- */

static const char *bar(struct result *r, double lanes)
{
    char text[BAR + 1];
    int n = (int)(lanes * BAR + 0.5);

    n = n < 1 ? 1 : n > BAR ? BAR : n;
    memset(text, '#', (size_t)n);
    memset(text + n, '.', (size_t)(BAR - n));
    text[BAR] = '\0';
    return result_text(r, "%s", text);
}

static void put_row(struct result *r, struct view_table *table, size_t row, const char *name,
                    struct bytes text, const struct ptx_line_facts *l)
{
    char number[TEXT_NUMBER], branches[TEXT_NUMBER];

    view_cell(table, row, 0, name);
    view_cell(table, row, 1, text_show(r->arena, text, SOURCE_COLUMNS));
    if (!l)
        return;
    view_cell(table, row, 2,
              result_text(r, "%s", text_number(number, (double)l->warp_instructions)));
    view_cell(table, row, 3, result_text(r, "%.1f", WARP * launch_line_lanes(l)));
    view_cell(table, row, 4, bar(r, launch_line_lanes(l)));
    if (l->branches)
        view_cell(table, row, 5,
                  result_text(r, "%s of %s", text_number(number, (double)l->divergent_branches),
                              text_number(branches, (double)l->branches)));
}

/* Blanks in front of a line show its place in the code. */
static struct bytes own_text(struct call *call, const struct extent *own, int line)
{
    struct bytes text;

    if (!cuda_source_line(call->session, own->cell, line, &text))
        return (struct bytes){ "", 0 };
    return text;
}

static void add_table(struct result *result, struct call *call, const struct ptx_facts *facts,
                      const struct extent *own, const struct ptx_line_facts *idlest)
{
    static const struct view_column COLUMNS[] = {
        { "line", VIEW_RIGHT },  { "source", VIEW_LEFT }, { "warp instr", VIEW_RIGHT },
        { "lanes", VIEW_RIGHT }, { "of 32", VIEW_LEFT },  { "branches split", VIEW_LEFT },
    };
    size_t others = 0, rows = 0, count = (size_t)(own->last - own->first + 1);
    struct view_table *table;

    for (size_t i = 0; i < facts->line_count; i++)
        others += facts->lines[i].line > 0 && !is_own(&facts->lines[i], own);
    count = count < MOST_LINES ? count : MOST_LINES;
    others = others < MOST_LINES ? others : MOST_LINES;
    table = view_add_table(result, COLUMNS, COUNT(COLUMNS), count + others);
    for (; table && rows < count; rows++) {
        int line = own->first + (int)rows;
        const struct ptx_line_facts *l = facts_of(facts, own->file, line);

        put_row(result, table, rows, result_text(result, "%d", line), own_text(call, own, line), l);
        if (l && l == idlest)
            view_mark(table, rows);
    }
    for (size_t i = 0; table && i < facts->line_count && rows < count + others; i++) {
        const struct ptx_line_facts *l = &facts->lines[i];
        const char *slash = strrchr(l->file, '/');
        struct bytes text = { "", 0 };

        if (l->line <= 0 || is_own(l, own))
            continue;
        launch_line_text(call, l, &text);
        put_row(result, table, rows,
                result_text(result, "%.24s %d", slash ? slash + 1 : l->file, l->line), text, l);
        if (l == idlest)
            view_mark(table, rows);
        rows++;
    }
}

static const char *answer(struct result *r, const struct launch_point *p,
                          const struct ptx_line_facts *idlest)
{
    char all[TEXT_NUMBER], least[TEXT_NUMBER];
    const char *text = text_percent(all, p->outcome.facts.lane_efficiency);

    if (!idlest)
        return result_text(r, "%.40s keeps all lanes busy on every line.", p->plan.kernel);
    return result_text(r, "%.40s keeps %s of its lanes busy; the fewest on line %d: %s.",
                       p->plan.kernel, text, idlest->line,
                       text_percent(least, launch_line_lanes(idlest)));
}

static int show(struct result *result, struct call *call, const struct launch_point *p,
                struct err *err)
{
    const struct ptx_line_facts *idlest = find_idlest(&p->outcome.facts);
    struct extent own = { .file = "", .first = 1, .last = 0 };
    const char *origin = launch_origin(result, call, p);

    find_extent(call, p->plan.kernel, &own);
    result->view.answer = answer(result, p, idlest);
    result->view.origin =
        p->plan.is_debug
            ? result_text(result,
                          "%s\nThis is the code as written, which no GPU runs; build=opt shows "
                          "what one does.",
                          origin)
            : origin;
    if (!result->view.answer || !result->view.origin)
        return err_set(err, ERR_ResourceError, "out of memory");
    add_table(result, call, &p->outcome.facts, &own, idlest);
    return 0;
}

static int run(struct call *call, struct err *err)
{
    struct launch_request_options options = { .is_quiet = true };
    struct launch_point point = { 0 };
    struct launch_line line;
    struct sweep sweep;
    struct result *result;

    if (launch_read(call, true, &line, err) < 0 || sweep_init(&sweep, call, err) < 0)
        return -1;
    if (sweep.key_count)
        return call_fail(call, sweep.keys[0].param->name, err, ERR_UsageError,
                         "%%lines shows one launch: no ranges and no lists here");
    if (launch_plan_make(call, &line, &sweep, 0, &point.plan, err) < 0)
        return -1;
    if (point.plan.device.is_gpu) {
        call_fail(call, "device", err, ERR_UsageError, "a GPU does not count lanes by line");
        return err_next(err, "device=model does");
    }
    if (launch_run(call, &point.plan, &options, &point.outcome, err) < 0)
        return -1;
    result = result_new("lines", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    return call_finish(call, result,
                       launch_set_fields(result, call, &point, err) < 0 ||
                           show(result, call, &point, err) < 0,
                       err);
}

static const struct param PARAMS[] = { LAUNCH_KEYS("debug") };

static const struct field FIELDS[] = {
    { "lane_efficiency", "0..1", "lanes that work, of all lanes of all warp instructions" },
    { "lines", "", "one entry a source line: file, line, text, lane_efficiency, ..." },
    { "lines[0].lane_efficiency", "0..1", "lanes that work on the line" },
    { "lines[0].divergent_branches", "warps", "branches of the line that split their warp" },
};

const struct magic MAGIC_LINES = {
    .name = "lines",
    .summary = "a kernel's lines of source with the lanes that work on each",
    .about =
        "Runs a launch on the interpreter for its counts alone, buffers stay as they are, and "
        "shows every line of the kernel with how many of the 32 lanes work on it, on average "
        "over the warps that run it. A kernel's name alone means its last launch. build=debug, "
        "the default here, is the code as it is written; build=opt is what a GPU runs, where "
        "short branches have become selects and loops are unrolled.",
    .example = "__global__ void odd(int *y) {\n"
               "    int i = threadIdx.x;\n"
               "    if (i % 2)\n"
               "        y[i] = i;\n"
               "}\n"
               "%buffer y int[64]\n"
               "%lines odd<<<1, 64>>>(y)",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
