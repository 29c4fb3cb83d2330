/*
 * Building figures. Every builder copies into the arena of the result, so that
 * a magic may hand over arrays from its stack, and passes NULL on, so that it
 * need not check each step.
 */
#include "cells/figure.h"

static struct figure *new_figure(struct result *result, const char *title, const char *desc,
                                 const char *conclusion)
{
    struct figure *figure = arena_alloc(result->arena, sizeof(*figure));

    if (!figure)
        return NULL;
    figure->result = result;
    figure->title = arena_string(result->arena, title ? title : "");
    figure->desc = arena_string(result->arena, desc ? desc : "");
    figure->conclusion = arena_string(result->arena, conclusion ? conclusion : "");
    return figure->title && figure->desc && figure->conclusion ? figure : NULL;
}

struct figure *figure_new(struct result *result, const char *title, const char *desc,
                          const char *conclusion)
{
    result->figure = new_figure(result, title, desc, conclusion);
    return result->figure;
}

/* Copies of n items, strings, or numbers; an empty copy is not a failure. */
static void *copy_items(struct result *result, const void *items, size_t n, size_t size)
{
    void *copy = arena_array(result->arena, n, size);

    if (copy && n)
        memcpy(copy, items, n * size);
    return copy;
}

static const char **copy_names(struct result *result, const char *const *names, size_t n)
{
    const char **copy = arena_array(result->arena, n, sizeof(*copy));
    size_t i;

    for (i = 0; copy && i < n; i++) {
        if (!names[i])
            continue;
        copy[i] = arena_string(result->arena, names[i]);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

/* A failed copy of an optional text leaves it out, which a reader can bear. */
static const char *copy_text(struct result *result, const char *text)
{
    return text ? arena_string(result->arena, text) : NULL;
}

static struct figure_axis copy_axis(struct result *result, struct figure_axis axis)
{
    axis.label = copy_text(result, axis.label);
    return axis;
}

static struct panel *new_panel(struct figure *figure, enum panel_kind kind, const char *title)
{
    struct panel *panel = figure ? arena_alloc(figure->result->arena, sizeof(*panel)) : NULL;

    if (!panel)
        return NULL;
    panel->kind = kind;
    panel->result = figure->result;
    panel->title = copy_text(figure->result, title);
    return panel;
}

/* A panel joins its figure only when it is whole. */
static struct panel *join(struct figure *figure, struct panel *panel)
{
    if (figure->last)
        figure->last->next = panel;
    else
        figure->first = panel;
    figure->last = panel;
    return panel;
}

struct panel *figure_add_lines(struct figure *figure, const char *title, struct figure_axis x,
                               struct figure_axis y)
{
    struct panel *panel = new_panel(figure, PANEL_LINES, title);

    if (!panel)
        return NULL;
    panel->lines.x = copy_axis(figure->result, x);
    panel->lines.y = copy_axis(figure->result, y);
    return join(figure, panel);
}

struct figure_series *panel_add_series(struct panel *panel, const char *name, const double *x,
                                       const double *y, size_t count)
{
    struct figure_series *series;
    struct figure_lines *lines;

    if (!panel || panel->kind != PANEL_LINES)
        return NULL;
    series = arena_alloc(panel->result->arena, sizeof(*series));
    if (!series)
        return NULL;
    series->name = copy_text(panel->result, name);
    series->x = copy_items(panel->result, x, count, sizeof(*x));
    series->y = copy_items(panel->result, y, count, sizeof(*y));
    series->count = count;
    if (!series->x || !series->y)
        return NULL;
    lines = &panel->lines;
    if (lines->last_series)
        lines->last_series->next = series;
    else
        lines->series = series;
    lines->last_series = series;
    return series;
}

struct figure_series *panel_add_steps(struct panel *panel, const char *name, const double *x,
                                      const double *y, size_t count)
{
    struct figure_series *series = panel_add_series(panel, name, x, y, count);

    if (series)
        series->is_step = true;
    return series;
}

void panel_add_reference(struct panel *panel, double at, bool is_vertical, const char *label)
{
    struct figure_reference *reference, **end;

    if (!panel || panel->kind != PANEL_LINES)
        return;
    reference = arena_alloc(panel->result->arena, sizeof(*reference));
    if (!reference)
        return;
    reference->at = at;
    reference->is_vertical = is_vertical;
    reference->label = copy_text(panel->result, label);
    for (end = &panel->lines.references; *end; end = &(*end)->next)
        ;
    *end = reference;
}

void panel_highlight(struct panel *panel, double x, const char *label)
{
    if (!panel || panel->kind != PANEL_LINES)
        return;
    panel->lines.has_highlight = true;
    panel->lines.highlight_x = x;
    panel->lines.highlight_label = copy_text(panel->result, label);
}

struct panel *figure_add_bars(struct figure *figure, const char *title, struct figure_axis value,
                              const char *const *groups, size_t group_count,
                              const char *const *series, size_t series_count, const double *values,
                              const char *const *labels)
{
    struct panel *panel = new_panel(figure, PANEL_BARS, title);
    struct figure_bars *bars;
    size_t n;

    if (!panel || __builtin_mul_overflow(group_count, series_count, &n))
        return NULL;
    bars = &panel->bars;
    bars->value = copy_axis(figure->result, value);
    bars->groups = copy_names(figure->result, groups, group_count);
    bars->series = copy_names(figure->result, series, series_count);
    bars->group_count = group_count;
    bars->series_count = series_count;
    bars->values = copy_items(figure->result, values, n, sizeof(*values));
    bars->labels = labels ? copy_names(figure->result, labels, n) : NULL;
    if (!bars->groups || !bars->series || !bars->values || (labels && !bars->labels))
        return NULL;
    return join(figure, panel);
}

void panel_base(struct panel *panel, double base)
{
    if (panel && panel->kind == PANEL_BARS)
        panel->bars.base = base;
}

struct panel *figure_add_heat(struct figure *figure, const char *title, struct figure_axis x,
                              struct figure_axis y, struct figure_axis value,
                              const char *const *x_names, size_t x_count,
                              const char *const *y_names, size_t y_count, const double *values)
{
    struct panel *panel = new_panel(figure, PANEL_HEAT, title);
    struct figure_heat *heat;
    size_t n;

    if (!panel || __builtin_mul_overflow(x_count, y_count, &n))
        return NULL;
    heat = &panel->heat;
    heat->x = copy_axis(figure->result, x);
    heat->y = copy_axis(figure->result, y);
    heat->value = copy_axis(figure->result, value);
    heat->x_names = copy_names(figure->result, x_names, x_count);
    heat->y_names = copy_names(figure->result, y_names, y_count);
    heat->x_count = x_count;
    heat->y_count = y_count;
    heat->values = copy_items(figure->result, values, n, sizeof(*values));
    if (!heat->x_names || !heat->y_names || !heat->values)
        return NULL;
    return join(figure, panel);
}

void panel_highlight_cell(struct panel *panel, size_t x, size_t y)
{
    if (!panel || panel->kind != PANEL_HEAT)
        return;
    panel->heat.has_highlight = x < panel->heat.x_count && y < panel->heat.y_count;
    panel->heat.highlight_x = x;
    panel->heat.highlight_y = y;
}

static const struct figure_state *copy_states(struct result *result,
                                              const struct figure_state *states, size_t count)
{
    struct figure_state *copy = copy_items(result, states, count, sizeof(*states));
    size_t i;

    for (i = 0; copy && i < count; i++)
        copy[i].name = copy_text(result, states[i].name);
    return copy;
}

struct panel *figure_add_gantt(struct figure *figure, const char *title, struct figure_axis x,
                               const struct figure_state *states, size_t state_count,
                               size_t row_count, size_t cycle_count)
{
    struct panel *panel = new_panel(figure, PANEL_GANTT, title);
    struct figure_gantt *gantt;

    if (!panel)
        return NULL;
    gantt = &panel->gantt;
    gantt->states = copy_states(figure->result, states, state_count);
    gantt->rows = arena_array(figure->result->arena, row_count, sizeof(*gantt->rows));
    if (!gantt->states || !gantt->rows)
        return NULL;
    gantt->x = copy_axis(figure->result, x);
    gantt->state_count = state_count;
    gantt->row_count = row_count;
    gantt->cycle_count = cycle_count;
    return join(figure, panel);
}

void panel_row(struct panel *panel, size_t row, const char *name, const char *group,
               const uint8_t *states, const int32_t *numbers)
{
    struct figure_row *r;
    size_t n;

    if (!panel || panel->kind != PANEL_GANTT || row >= panel->gantt.row_count)
        return;
    n = panel->gantt.cycle_count;
    r = &panel->gantt.rows[row];
    r->name = copy_text(panel->result, name);
    r->group = copy_text(panel->result, group);
    r->states = states ? copy_items(panel->result, states, n, sizeof(*states)) : NULL;
    r->numbers = numbers ? copy_items(panel->result, numbers, n, sizeof(*numbers)) : NULL;
}

struct panel *figure_add_cells(struct figure *figure, const char *title, struct figure_axis x,
                               const struct figure_state *states, size_t state_count,
                               size_t row_count, size_t column_count, size_t bundle)
{
    struct panel *panel =
        column_count <= FIGURE_MARK_COLUMNS ? new_panel(figure, PANEL_CELLS, title) : NULL;
    struct figure_cells *cells;

    if (!panel)
        return NULL;
    cells = &panel->cells;
    cells->states = copy_states(figure->result, states, state_count);
    cells->rows = arena_array(figure->result->arena, row_count, sizeof(*cells->rows));
    if (!cells->states || !cells->rows)
        return NULL;
    cells->x = copy_axis(figure->result, x);
    cells->state_count = state_count;
    cells->row_count = row_count;
    cells->column_count = column_count;
    cells->bundle = bundle;
    return join(figure, panel);
}

void panel_marks(struct panel *panel, size_t row, const struct figure_marks *marks)
{
    struct figure_marks *m;
    size_t n;

    if (!panel || panel->kind != PANEL_CELLS || row >= panel->cells.row_count)
        return;
    n = panel->cells.column_count;
    m = &panel->cells.rows[row];
    m->name = copy_text(panel->result, marks->name);
    m->group = copy_text(panel->result, marks->group);
    m->note = copy_text(panel->result, marks->note);
    m->states =
        marks->states ? copy_items(panel->result, marks->states, n, sizeof(*m->states)) : NULL;
    m->texts = marks->texts ? copy_names(panel->result, marks->texts, n) : NULL;
}

static struct figure_thing *copy_things(struct result *result, const struct figure_thing *things,
                                        size_t n)
{
    struct figure_thing *copy = copy_items(result, things, n, sizeof(*things));

    for (size_t i = 0; copy && i < n; i++) {
        copy[i].name = copy_text(result, things[i].name);
        copy[i].note = copy_text(result, things[i].note);
    }
    return copy;
}

struct panel *figure_add_plan(struct figure *figure, const char *title,
                              const struct figure_plan *plan)
{
    struct panel *panel = new_panel(figure, PANEL_PLAN, title);

    if (!panel)
        return NULL;
    panel->plan = *plan;
    panel->plan.part = copy_text(figure->result, plan->part);
    panel->plan.things = copy_things(figure->result, plan->things, plan->thing_count);
    panel->plan.shared = copy_things(figure->result, plan->shared, plan->shared_count);
    return panel->plan.things && panel->plan.shared ? join(figure, panel) : NULL;
}

struct figure *figure_add_frame(struct figure *figure, const char *key, const char *label,
                                const char *title, const char *desc, const char *conclusion)
{
    struct frame *frame = figure ? arena_alloc(figure->result->arena, sizeof(*frame)) : NULL;

    if (!frame)
        return NULL;
    frame->label = copy_text(figure->result, label);
    frame->figure = new_figure(figure->result, title, desc, conclusion);
    if (!frame->figure)
        return NULL;
    figure->frames_key = copy_text(figure->result, key);
    if (figure->last_frame)
        figure->last_frame->next = frame;
    else
        figure->frames = frame;
    figure->last_frame = frame;
    return frame->figure;
}
