/*
 * One launch of %schedule as a person reads it: how many waves and what they
 * cost, which SMs do the same, who runs where in time, and which grid would
 * have no tail. SMs with the same history share one row.
 */
#include "cells/magics/schedule.h"

#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

enum {
    TEXT_CYCLES = 60, /* columns of a text line */
    CHART_CYCLES = 216,
    TEXT_ROWS = SCHEDULE_SLOT_ROWS,
    CHART_ROWS = 140,
    TABLE_ROWS = 8,
};

/* ---- fields ---- */

static json_t *classes_json(const struct schedule_history *h)
{
    json_t *list = json_array();
    int failed = 0;

    for (int c = 0; c < h->class_count; c++)
        failed |=
            json_array_append_new(list, json_pack("{s:i, s:i, s:I, s:I}", "sm", h->classes[c].first,
                                                  "count", h->classes[c].count, "blocks",
                                                  (json_int_t)h->classes[c].blocks, "end",
                                                  (json_int_t)h->classes[c].end));
    return json_whole(list, failed);
}

static json_t *timeline_json(struct schedule_picture *p, const struct schedule_history *h)
{
    json_t *resident = json_array(), *blocks = p->blocks;
    int failed = p->failed;

    p->blocks = NULL;
    for (size_t c = 0; c < p->columns; c++)
        failed |= json_array_append_new(resident, json_integer(p->resident[c]));
    return json_pack("{s:o, s:o, s:I, s:o}", "blocks", json_whole(blocks, failed), "sms",
                     classes_json(h), "resident_step", (json_int_t)p->step, "resident", resident);
}

int schedule_set_fields(struct result *result, const struct schedule *s, struct schedule_picture *p,
                        const struct schedule_history *h, struct err *err)
{
    const struct grid_waves *w = &s->waves;
    double us = s->stays ? s->measured.time_us : schedule_time_us(s, s->run.cycles);
    json_t *fields = json_pack(
        "{s:I, s:i, s:i, s:I, s:f, s:I, s:I, s:f, s:I, s:o, s:f, s:f, s:I, s:{s:I, s:f, s:b}, s:o, "
        "s:o}",
        "blocks", (json_int_t)s->grid.blocks, "sms", s->grid.sms, "blocks_per_sm", s->grid.per_sm,
        "places", (json_int_t)w->places, "waves", w->waves, "full_waves", (json_int_t)w->full,
        "partial_blocks", (json_int_t)w->partial, "tail_efficiency", w->efficiency, "cycles",
        (json_int_t)s->run.cycles, "time_us", us > 0 ? json_real(us) : json_null(), "efficiency",
        s->run.efficiency, "sm_busy", s->run.sm_busy, "work", (json_int_t)s->run.work, "tail",
        "cycles", (json_int_t)s->run.tail, "share", w->tail_share, "warns", w->has_tail,
        "occupancy", s->occ.max_warps ? json_real(s->occ.occupancy) : json_null(), "timeline",
        timeline_json(p, h));
    int rc = fields ? json_object_update(result->fields, fields) : -1;

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- the first lines ---- */

static const char *answer_text(struct result *result, const struct schedule *s)
{
    char waves[TEXT_NUMBER];

    return result_text(result, "%s block%s: %s wave%s, %s cycles%s. Places busy %s.",
                       schedule_count(result, s->grid.blocks), s->grid.blocks == 1 ? "" : "s",
                       text_number(waves, s->waves.waves), s->waves.waves == 1 ? "" : "s",
                       schedule_count(result, s->run.cycles),
                       schedule_time(result, s, s->run.cycles),
                       schedule_percent(result, s->run.efficiency));
}

/* ---- who did what ---- */

/* The SMs that decide when the launch ends. */
static int last_class(const struct schedule_history *h)
{
    int last = 0;

    for (int c = 1; c < h->class_count; c++)
        if (h->classes[c].end > h->classes[last].end)
            last = c;
    return last;
}

/* The first kinds of SM, and always the one that ends last. */
static void add_table(struct result *result, const struct schedule *s,
                      const struct schedule_history *h)
{
    static const struct view_column columns[] = {
        { "SMs", VIEW_LEFT },        { "how many", VIEW_RIGHT },    { "blocks each", VIEW_RIGHT },
        { "last ends", VIEW_RIGHT }, { "places busy", VIEW_RIGHT },
    };
    int count = h->class_count < TABLE_ROWS ? h->class_count : TABLE_ROWS, last = last_class(h);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), (size_t)count);

    for (int i = 0; i < count; i++) {
        const struct schedule_class *c = &h->classes[i == count - 1 && last > i ? last : i];
        double places = (double)s->run.cycles * s->grid.per_sm;
        size_t r = (size_t)i;

        view_cell(table, r, 0, schedule_class_name(result, c));
        view_cell(table, r, 1, schedule_count(result, c->count));
        view_cell(table, r, 2, schedule_count(result, c->blocks));
        view_cell(table, r, 3, schedule_count(result, c->end));
        view_cell(table, r, 4, schedule_percent(result, (double)c->busy / places));
        if (c->end == s->run.cycles && h->class_count > 1)
            view_mark(table, r);
    }
}

/* ---- the facts ---- */

enum { MOST_FACTS = 8 };

struct facts {
    struct result *result;
    const char *names[MOST_FACTS], *texts[MOST_FACTS];
    size_t count;
};

static void add_fact(struct facts *facts, const char *name, const char *text)
{
    if (!text || facts->count == MOST_FACTS)
        return;
    facts->names[facts->count] = name;
    facts->texts[facts->count++] = text;
}

static const char *places_text(struct result *result, const struct schedule *s)
{
    const char *held =
        result_text(result, "%s = %d SM%s x %d block%s", schedule_count(result, s->waves.places),
                    s->grid.sms, s->grid.sms == 1 ? "" : "s", s->grid.per_sm,
                    s->grid.per_sm == 1 ? "" : "s");

    if (!s->occ.max_warps)
        return held;
    return result_text(result, "%s   occupancy %s, limit %s", held,
                       schedule_percent(result, s->occ.occupancy),
                       occupancy_limiters_text(result, &s->occ));
}

static const char *waves_text(struct result *result, const struct schedule *s)
{
    const struct grid_waves *w = &s->waves;

    if (!w->partial)
        return result_text(result, "%s whole, no partial one: 100 %%",
                           schedule_count(result, w->full));
    return result_text(result, "%s whole and one of %s of %s blocks: waves / ceil(waves) = %s",
                       schedule_count(result, w->full), schedule_count(result, w->partial),
                       schedule_count(result, w->places), schedule_percent(result, w->efficiency));
}

static const char *replaced_text(struct result *result, const struct schedule_history *h)
{
    if (h->replaced < 0)
        return "nobody: all blocks are resident at once";
    return result_text(result, "block %s starts on SM %d in cycle %s, as soon as a place is free",
                       schedule_count(result, h->replaced), h->replaced_sm,
                       schedule_count(result, h->replaced_at));
}

static const char *tail_text(struct result *result, const struct schedule *s)
{
    return result_text(result, "%s cycles with an empty place, %s of the launch",
                       schedule_count(result, s->run.tail),
                       schedule_percent(result, (double)s->run.tail / (double)s->run.cycles));
}

static const char *barrier_text(struct result *result, const struct schedule *s)
{
    return result_text(result, "%s of %s blocks can meet at one%s",
                       schedule_count(result, min_i64(s->waves.places, s->grid.blocks)),
                       schedule_count(result, s->grid.blocks),
                       s->grid.blocks <= s->waves.places
                           ? " (cooperative launch)"
                           : ": a cooperative launch of all would be refused");
}

/* What the launch takes when starting it costs what it costs on the device. */
static int as_launched(struct result *result, const struct call *call, const struct schedule *s,
                       const char **text, struct err *err)
{
    struct schedule with = *s;

    *text = NULL;
    if (s->grid.start || s->grid.launch || !grid_add_overheads(&s->device.device, &with.grid))
        return 0;
    if (grid_run(&with.grid, NULL, NULL, call->arena, call_stop(call), &with.run, err) < 0)
        return -1;
    *text = result_text(result, "%s cycles%s (start=device launch=device, as calibrated)",
                        schedule_count(result, with.run.cycles),
                        schedule_time(result, &with, with.run.cycles));
    return 0;
}

static const char *nsight_text(struct result *result, const struct schedule *s)
{
    if (!s->waves.has_tail)
        return NULL;
    return result_text(result, "the partial wave takes up to %s of the time (its rule: from 20 %%)",
                       schedule_percent(result, s->waves.tail_share));
}

static int add_facts(struct result *result, const struct call *call, const struct schedule *s,
                     const struct schedule_history *h, struct err *err)
{
    struct facts facts = { .result = result };
    struct view_block *block;
    const char *launched;

    if (as_launched(result, call, s, &launched, err) < 0)
        return -1;
    if (h->class_count > TABLE_ROWS)
        add_fact(&facts, "kinds of SM",
                 result_text(result, "%d; the first, and the one that ends last", h->class_count));
    add_fact(&facts, "places", places_text(result, s));
    add_fact(&facts, "waves", waves_text(result, s));
    add_fact(&facts, "replaced", replaced_text(result, h));
    add_fact(&facts, "tail", tail_text(result, s));
    add_fact(&facts, "Nsight says", nsight_text(result, s));
    add_fact(&facts, "grid barrier", barrier_text(result, s));
    add_fact(&facts, "with starts", launched);
    block = view_add_facts(result, facts.count);
    for (size_t i = 0; block && i < facts.count; i++) {
        block->names[i] = facts.names[i];
        block->texts[i] = facts.texts[i];
    }
    return 0;
}

static const char *closing_text(struct result *result, const struct schedule *s)
{
    const struct grid_waves *w = &s->waves;
    int64_t next = (w->full + 1) * w->places;

    if (!w->partial)
        return result_text(result, "Next: %%schedule grid=1..%lld%s draws the sawtooth.",
                           (long long)min_i64(4 * w->places, GRID_MAX_BLOCKS),
                           s->occ.max_warps ? "" : " with the same keys");
    if (!w->full)
        return result_text(result, "To fill all places: grid=%lld. More blocks of less work each.",
                           (long long)next);
    return result_text(result,
                       "To have no tail: grid=%lld or grid=%lld; or shorter blocks, so that a "
                       "wave is short.",
                       (long long)(w->full * w->places), (long long)next);
}

/* ---- the figure ---- */

static void add_figure(struct result *result, const struct call *call,
                       const struct schedule_picture *p, const struct schedule_history *h)
{
    const struct schedule *s = p->s;
    const char *title = result_text(result, "%s blocks on %d SM%s, %d at once on each",
                                    schedule_count(result, s->grid.blocks), s->grid.sms,
                                    s->grid.sms == 1 ? "" : "s", s->grid.per_sm);
    struct figure *figure =
        figure_new(result, title,
                   result_text(result,
                               "Time to the right, a row for each %s that differs from the others. "
                               "%s",
                               p->is_by_slot ? "place of an SM" : "SM", result->view.answer),
                   result_text(result, "%s\n  waves  %s", result->view.answer,
                               waves_text(result, s)));

    if (!figure)
        return;
    schedule_add_gantt(figure, NULL, p, h);
    schedule_add_resident(figure, &(struct schedule_named){ "resident", p }, 1, call->arena);
}

int schedule_show_one(struct result *result, const struct call *call, const struct schedule *s,
                      const char *origin, struct err *err)
{
    struct schedule_picture *text, *chart;
    struct schedule_history *h;
    int rc;

    if (schedule_read_history(call, s, &h, err) < 0 ||
        schedule_draw(call, s, h, TEXT_CYCLES, TEXT_ROWS, false, &text, err) < 0)
        return -1;
    rc = schedule_draw(call, s, h, CHART_CYCLES, CHART_ROWS, true, &chart, err);
    if (rc == 0)
        rc = schedule_set_fields(result, s, chart, h, err);
    if (rc == 0 && (json_object_set_new(result->fields, "measured", json_null()) < 0 ||
                    json_object_set_new(result->fields, "modelled", schedule_modelled_json(s)) < 0))
        rc = err_set(err, ERR_ResourceError, "out of memory");
    if (chart)
        json_decref(chart->blocks);
    if (rc < 0)
        return -1;
    result->view.answer = answer_text(result, s);
    result->view.origin = origin;
    schedule_add_lines(result, "cycle", text, h);
    add_table(result, s, h);
    if (add_facts(result, call, s, h, err) < 0)
        return -1;
    result->view.closing = closing_text(result, s);
    add_figure(result, call, chart, h);
    return 0;
}
