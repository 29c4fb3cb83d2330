/*
 * %occupancy KERNEL maxreg=...: the kernel is compiled once for each cap on its
 * registers. Fewer let more warps live; what no longer fits is spilled to local
 * memory, which lies in the caches and behind them in VRAM.
 */
#include "cells/magics/occupancy.h"

#include "cells/render/text.h"

enum { MOST_ROWS = 40 };

json_t *occupancy_spills_json(const struct occupancy_point *point)
{
    const struct cuda_kernel *k = point->kernel;

    return json_pack("{s:i, s:i, s:i, s:i}", "registers", k->registers, "store_bytes",
                     k->spill_store_bytes, "load_bytes", k->spill_load_bytes, "stack_bytes",
                     k->stack_bytes);
}

static int spilled(const struct occupancy_point *point)
{
    return point->kernel->spill_store_bytes + point->kernel->spill_load_bytes;
}

static const char *number(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

/* The highest occupancy, at the cap that spills least of those that reach it. */
static size_t best_of(const struct sweep_view *v, const struct occupancy_point *points)
{
    size_t best = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i] > v->values[best] ||
            (v->values[i] == v->values[best] && spilled(&points[i]) < spilled(&points[best])))
            best = i;
    return best;
}

/* The highest occupancy at no spill: what a cap gives for nothing. SIZE_MAX: every cap spills. */
static size_t best_free(const struct sweep_view *v, const struct occupancy_point *points)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < v->sweep->points; i++)
        if (spilled(&points[i]) == 0 && (best == SIZE_MAX || v->values[i] > v->values[best]))
            best = i;
    return best;
}

static const char *answer_text(const struct sweep_view *v, const struct occupancy_point *points)
{
    size_t best = best_of(v, points), free = best_free(v, points);
    const char *highest = result_text(v->result, "%s at maxreg=%s with %s bytes of spills a thread",
                                      sweep_percent(v, best), sweep_span_text(v, best, best, 0),
                                      number(v->result, spilled(&points[best])));

    if (free == SIZE_MAX)
        return result_text(v->result, "Occupancy up to %s;\nevery cap here spills.", highest);
    if (v->values[free] == v->values[best])
        return result_text(v->result, "Occupancy %s at maxreg=%s, and nothing is spilled.",
                           sweep_percent(v, free), sweep_span_text(v, free, free, 0));
    return result_text(v->result, "Occupancy %s without spills (maxreg=%s),\nup to %s.",
                       sweep_percent(v, free), sweep_span_text(v, free, free, 0), highest);
}

static void add_rows(const struct sweep_view *v, const struct occupancy_point *points)
{
    static const struct view_column columns[] = {
        { "maxreg", VIEW_LEFT },
        { "registers", VIEW_RIGHT },
        { "warps", VIEW_RIGHT },
        { "occupancy", VIEW_RIGHT },
        { "stored\na thread", VIEW_RIGHT },
        { "loaded\na thread", VIEW_RIGHT },
        { "spilled by\nan SM", VIEW_RIGHT },
    };
    size_t n = v->sweep->points, shown = n < MOST_ROWS ? n : MOST_ROWS, free = best_free(v, points);
    struct view_table *table = view_add_table(v->result, columns, COUNT(columns), shown);

    for (size_t r = 0; r < shown; r++) {
        const struct occupancy_point *p = &points[r];

        view_cell(table, r, 0, sweep_span_text(v, r, r, 0));
        view_cell(table, r, 1, number(v->result, p->kernel->registers));
        view_cell(table, r, 2,
                  result_text(v->result, "%d of %d", p->occ.active_warps, p->occ.max_warps));
        view_cell(table, r, 3, sweep_percent(v, r));
        view_cell(table, r, 4, number(v->result, p->kernel->spill_store_bytes));
        view_cell(table, r, 5, number(v->result, p->kernel->spill_load_bytes));
        view_cell(table, r, 6,
                  number(v->result, (int64_t)spilled(p) * p->occ.active_blocks * p->shape.block));
        if (r == free)
            view_mark(table, r);
    }
}

static void add_figure(const struct sweep_view *v, const struct occupancy_point *points)
{
    size_t n = v->sweep->points;
    double *x = arena_array(v->result->arena, n, sizeof(*x));
    double *y = arena_array(v->result->arena, n, sizeof(*y));
    struct figure_axis caps = { .label = "most registers a thread", .unit = UNIT_POW2 };
    struct figure *figure =
        figure_new(v->result, v->title, v->result->view.answer, v->result->view.answer);
    struct panel *panel;

    if (!x || !y || n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        x[i] = sweep_number(v->sweep, i, 0);
    panel = figure_add_lines(figure, "Warps that a cap wins", caps,
                             (struct figure_axis){
                                 .label = "occupancy", .unit = UNIT_PERCENT, .min = 0, .max = 1 });
    panel_add_series(panel, "occupancy", x, v->values, n);
    for (size_t i = 0; i < n; i++)
        y[i] = spilled(&points[i]);
    panel = figure_add_lines(figure, "What it spills", caps,
                             (struct figure_axis){ .label = "bytes a thread" });
    panel_add_series(panel, "stored and loaded", x, y, n);
}

int occupancy_show_spills(struct result *result, const struct sweep *sweep,
                          const struct occupancy_point *points, const char *parameters,
                          struct err *err)
{
    double *values = sweep_array(sweep, sizeof(*values), err);
    struct sweep_view v = { .result = result,
                            .sweep = sweep,
                            .values = values,
                            .what = "occupancy",
                            .axes = OCCUPANCY_AXES,
                            .axis_count = OCCUPANCY_AXIS_COUNT };
    struct view_block *block;

    if (!values)
        return -1;
    for (size_t i = 0; i < sweep->points; i++)
        values[i] = points[i].occ.occupancy;
    if (occupancy_set_sweep(&v, points, parameters, err) < 0)
        return -1;
    v.title = result_text(result, "What a cap on the registers of %s wins and costs",
                          call_text(sweep->call, "kernel"));
    result->view.answer = answer_text(&v, points);
    add_rows(&v, points);
    block = view_add_facts(result, 1);
    if (block) {
        block->names[0] = "spilled";
        block->texts[0] = "bytes to and from local memory each time the code is run through, as "
                          "the assembler counts them; in a loop they are paid every round";
    }
    result->view.closing = "Next: %%kernel maxreg=32 on the kernel's cell keeps a cap; %bench "
                           "times it.";
    add_figure(&v, points);
    return 0;
}
