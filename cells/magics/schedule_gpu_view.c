/*
 * A launch of %schedule that a card ran, as a person reads it: the measured timeline, the
 * modelled one below it in the same cycles, and in numbers where they differ.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/schedule.h"
#include "cells/render/text.h"

#include <math.h>

enum { TEXT_CYCLES = 60, CHART_CYCLES = 216, TEXT_ROWS = 8, CHART_ROWS = 40 };

/* One of the two, drawn for text and for the figure. */
struct side {
    const char *name;
    const struct schedule *s;
    struct schedule_history *h;
    struct schedule_picture *text, *chart;
};

/* ---- fields ---- */

static json_t *run_json(const struct schedule *s, double us)
{
    return json_pack("{s:I, s:o, s:f, s:f, s:I}", "cycles", (json_int_t)s->run.cycles, "time_us",
                     us > 0 ? json_real(us) : json_null(), "efficiency", s->run.efficiency,
                     "sm_busy", s->run.sm_busy, "tail", (json_int_t)s->run.tail);
}

json_t *schedule_modelled_json(const struct schedule *s)
{
    return run_json(s, schedule_time_us(s, s->run.cycles));
}

static json_t *measured_json(const struct schedule *s)
{
    const struct schedule_measured *m = &s->measured;
    json_t *o = run_json(s, m->time_us);
    int failed = 0;

    failed |= json_object_set_new(o, "clock_mhz", json_real(m->clock_mhz));
    failed |= json_object_set_new(o, "sms_used", json_integer(m->sms_used));
    failed |=
        json_object_set_new(o, "replace_cycles",
                            m->replace_cycles < 0 ? json_null() : json_integer(m->replace_cycles));
    failed |= json_object_set_new(o, "strangers", json_integer(m->strangers));
    return json_whole(o, failed);
}

static int set_fields(struct result *result, const struct side *measured,
                      const struct side *modelled, struct err *err)
{
    if (schedule_set_fields(result, measured->s, measured->chart, measured->h, err) < 0)
        return -1;
    if (json_object_set_new(result->fields, "measured", measured_json(measured->s)) < 0 ||
        json_object_set_new(result->fields, "modelled", schedule_modelled_json(modelled->s)) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

/* ---- words ---- */

static const char *answer_text(struct result *r, const struct schedule *m,
                               const struct schedule *model)
{
    double percent = 100 * ((double)model->run.cycles / (double)m->run.cycles - 1);

    /* No minus before what rounds to nothing. */
    if (fabs(percent) < 0.05)
        percent = 0;
    return result_text(r, "%s blocks: %s cycles = %.4g us measured, %s modelled (%+.1f %%).",
                       schedule_count(r, m->grid.blocks), schedule_count(r, m->run.cycles),
                       m->measured.time_us, schedule_count(r, model->run.cycles), percent);
}

static const char *origin_text(struct result *r, const struct schedule *m, const char *origin)
{
    return result_text(r, "%s\nSM clock %.0f MHz; cycles count from the first block's start.",
                       origin, m->measured.clock_mhz);
}

/* A row of the comparison. */
static void put_row(struct view_table *table, size_t row, const char *name, const char *measured,
                    const char *modelled)
{
    view_cell(table, row, 0, name);
    view_cell(table, row, 1, measured);
    view_cell(table, row, 2, modelled);
}

static const char *gap_text(struct result *r, const struct schedule *s)
{
    int64_t gap = s->measured.replace_cycles;

    return gap < 0 ? "no place was" : schedule_count(r, gap);
}

static void add_table(struct result *r, const struct schedule *m, const struct schedule *model)
{
    static const struct view_column columns[] = { { "", VIEW_LEFT },
                                                  { "measured", VIEW_RIGHT },
                                                  { "modelled", VIEW_RIGHT } };
    struct view_table *table = view_add_table(r, columns, COUNT(columns), 5);

    put_row(table, 0, "cycles, first start to last end", schedule_count(r, m->run.cycles),
            schedule_count(r, model->run.cycles));
    put_row(table, 1, "places busy", schedule_percent(r, m->run.efficiency),
            schedule_percent(r, model->run.efficiency));
    put_row(table, 2, "SMs busy", schedule_percent(r, m->run.sm_busy),
            schedule_percent(r, model->run.sm_busy));
    put_row(table, 3, "cycles of the tail", schedule_count(r, m->run.tail),
            schedule_count(r, model->run.tail));
    put_row(table, 4, "cycles until a place is taken again, median", gap_text(r, m),
            gap_text(r, model));
}

static const char *homes_text(struct result *r, const struct schedule *m)
{
    const char *threads = schedule_count(r, m->grid.blocks * m->shape.block);

    if (m->measured.strangers)
        return result_text(r, "%s of %s threads ran on another SM than their block",
                           schedule_count(r, m->measured.strangers), threads);
    return result_text(r, "all %s threads ran on the SM of their block; %d of %d SMs had blocks",
                       threads, m->measured.sms_used, m->grid.sms);
}

static const char *waves_text(struct result *r, const struct schedule *m)
{
    char waves[TEXT_NUMBER];

    return result_text(r, "%s blocks on %s places (%d SMs x %d): %s waves",
                       schedule_count(r, m->grid.blocks), schedule_count(r, m->waves.places),
                       m->grid.sms, m->grid.per_sm, text_number(waves, m->waves.waves));
}

static const char *closing_text(struct result *r, const struct schedule *m)
{
    int64_t places = m->waves.places;

    if (m->grid.blocks > places)
        return result_text(r, "Next: grid=%lld fills the places once: nobody waits.",
                           (long long)places);
    return result_text(r, "Next: grid=%lld is one block too many: it takes a second wave.",
                       (long long)places + 1);
}

/* ---- the picture ---- */

static int draw(const struct call *call, struct side *side, struct err *err)
{
    bool lists = side->s->measured.time_us > 0; /* the timeline field is the measured one */

    if (schedule_read_history(call, side->s, &side->h, err) < 0 ||
        schedule_draw(call, side->s, side->h, TEXT_CYCLES, TEXT_ROWS, false, &side->text, err) < 0)
        return -1;
    return schedule_draw(call, side->s, side->h, CHART_CYCLES, CHART_ROWS, lists, &side->chart,
                         err);
}

/* A card's SMs all differ a little: the first ones stand for the rest. */
static const char *panel_title(struct result *result, const struct side *side)
{
    int rows = side->chart->is_by_slot ? side->s->grid.per_sm : 1;
    int shown = (int)side->chart->rows / rows, kinds = side->h->class_count;

    if (shown == kinds)
        return side->name;
    return result_text(result, "%s, the first %d of %d SMs that differ", side->name, shown, kinds);
}

static void add_figure(struct result *result, const struct call *call, const struct side *sides)
{
    const struct schedule *m = sides[0].s;
    const char *title =
        result_text(result, "%s blocks on the %d SMs of %s, measured and modelled",
                    schedule_count(result, m->grid.blocks), m->grid.sms, m->device.device.name);
    struct schedule_named lines[] = { { "measured", sides[0].chart },
                                      { "modelled", sides[1].chart } };
    struct figure *figure =
        figure_new(result, title,
                   result_text(result,
                               "Time to the right, a row for each SM that differs from "
                               "the others. %s",
                               result->view.answer),
                   result->view.answer);

    if (!figure)
        return;
    for (int i = 0; i < 2; i++)
        schedule_add_gantt(figure, panel_title(result, &sides[i]), sides[i].chart, sides[i].h);
    schedule_add_resident(figure, lines, COUNT(lines), call->arena);
}

static void show(struct result *result, const struct call *call, const struct side *sides,
                 const char *origin)
{
    const struct schedule *m = sides[0].s, *model = sides[1].s;

    result->view.answer = answer_text(result, m, model);
    result->view.origin = origin_text(result, m, origin);
    for (int i = 0; i < 2; i++)
        schedule_add_lines(result, sides[i].name, sides[i].text, sides[i].h);
    add_table(result, m, model);
    view_fact(result, "waves", waves_text(result, m));
    view_fact(result, "home", homes_text(result, m));
    result->view.closing = closing_text(result, m);
    add_figure(result, call, sides);
}

int schedule_show_measured(struct result *result, const struct call *call,
                           const struct schedule *measured, const struct schedule *modelled,
                           const char *origin, struct err *err)
{
    struct schedule both[2] = { *measured, *modelled };
    struct side sides[2] = { { .name = "measured", .s = &both[0] },
                             { .name = "modelled", .s = &both[1] } };
    int rc = 0;

    both[0].span = both[1].span = max_i64(measured->run.cycles, modelled->run.cycles);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = draw(call, &sides[i], err);
    if (rc == 0)
        rc = set_fields(result, &sides[0], &sides[1], err);
    if (sides[0].chart)
        json_decref(sides[0].chart->blocks);
    if (rc == 0)
        show(result, call, sides, origin);
    return rc;
}
