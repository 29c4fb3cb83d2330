/*
 * A run of the core layer as a chart: a row for each warp, grouped by scheduler, a colour for each
 * reason to wait.
 */
#include "cells/magics/simulate_core_view.h"

enum { CHART_CYCLES = 200, CHART_ROWS = 64 };

/* States that occur, each with a tone; the first four reasons have one of their own. */
static size_t list_states(const struct core_view *v, struct figure_state *states, uint8_t *index)
{
    static const enum figure_tone TONES[] = { TONE_STALLED, TONE_STALLED_2, TONE_STALLED_3,
                                              TONE_STALLED_4 };
    bool is_used[STALL_COUNT + 1] = { false };
    size_t n = 0, reasons = 0;

    core_view_find_states(v, is_used);
    is_used[STALL_selected] = true;
    for (int i = 0; i < STALL_COUNT; i++) {
        enum figure_tone tone = TONE_SELECTED;

        if (!is_used[i])
            continue;
        if (i == STALL_not_selected)
            tone = TONE_NOT_SELECTED;
        else if (i > STALL_not_selected)
            tone = TONES[min_i64((int64_t)reasons++, COUNT(TONES) - 1)];
        index[i] = (uint8_t)n;
        states[n++] = (struct figure_state){ stall_name((enum stall)i), tone };
    }
    index[CORE_NO_WARP] = (uint8_t)n;
    states[n++] = (struct figure_state){ "scheduler idle", TONE_IDLE };
    return n;
}

static void add_row(const struct core_view *v, struct panel *panel, size_t row, int warp,
                    const char *group, const uint8_t *index, size_t cycles)
{
    uint8_t states[CHART_CYCLES];

    for (size_t k = 0; k < cycles; k++)
        states[k] = index[v->c->record.states[(size_t)warp * (size_t)v->s->cycles + k]];
    panel_row(panel, row, result_text(v->result, "warp %d", warp), group, states, NULL);
}

static void add_issued_row(const struct core_view *v, struct panel *panel, size_t row,
                           int scheduler, const char *group, const uint8_t *index, size_t cycles)
{
    const int32_t *issuer = v->c->record.issuer + (size_t)scheduler * (size_t)v->s->cycles;
    uint8_t states[CHART_CYCLES];

    for (size_t k = 0; k < cycles; k++)
        states[k] = index[issuer[k] < 0 ? CORE_NO_WARP : STALL_selected];
    panel_row(panel, row, "issued", group, states, issuer);
}

static void add_chart(const struct core_view *v, struct figure *figure)
{
    size_t cycles = (size_t)min_i64(v->s->cycles, CHART_CYCLES), row = 0;
    int schedulers = v->c->config.partitions;
    size_t rows = (size_t)min_i64(schedulers + v->c->warps, CHART_ROWS);
    struct figure_state states[STALL_COUNT + 1];
    uint8_t index[STALL_COUNT + 1] = { 0 };
    size_t count = list_states(v, states, index);
    struct panel *panel = figure_add_gantt(figure, NULL, (struct figure_axis){ .label = "cycle" },
                                           states, count, rows, cycles);

    for (int i = 0; panel && i < schedulers; i++) {
        const char *group = schedulers > 1 ? result_text(v->result, "scheduler %d", i) : NULL;

        if (row < rows)
            add_issued_row(v, panel, row++, i, group, index, cycles);
        for (int w = i; w < v->c->warps && row < rows; w += schedulers)
            add_row(v, panel, row++, w, group, index, cycles);
    }
}

void simulate_core_add_gantt(struct figure *figure, const struct simulation *s)
{
    const struct core_view v = { .result = figure->result, .c = s->core, .s = s };

    add_chart(&v, figure);
}

void core_view_add_figure(const struct core_view *v)
{
    struct figure *figure =
        figure_new(v->result,
                   result_text(v->result, "%d warps on %s, %s", v->c->warps,
                               v->c->device.device.name,
                               scheduler_policy_name(v->s->pattern.policy)),
                   result_text(v->result, "A row for each warp and a column for each cycle. %s",
                               v->result->view.answer),
                   v->result->view.answer);

    if (figure)
        add_chart(v, figure);
}
