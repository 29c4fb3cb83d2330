/*
 * %occupancy compare=RULE: what a launch gets beside what another way of counting
 * says: where the formula of a textbook promises too much, what idle lanes cost,
 * what an SM cut into fixed parts would lose, what the best block size wins.
 */
#include "cells/magics/occupancy.h"

#include "cells/render/text.h"

/* How a rule is spoken of. */
struct rule_words {
    const char *name;       /* "naive" */
    const char *head, *own; /* of its column, and of the launch's own answer */
    const char *title;      /* of a figure */
    const char *verdict;    /* what happens where there is a difference */
    const char *gap;        /* what the difference is */
    const char *peak;       /* what stands at the largest one */
};

static const struct rule_words WORDS[OCCUPANCY_RULE_COUNT] = {
    [OCCUPANCY_RULE_NAIVE] = { "naive", "plain division", "hardware",
                               "What plain division promises too much",
                               "Plain division promises too much", "promised too much",
                               "where plain division is farthest off" },
    [OCCUPANCY_RULE_THREADS] = { "threads", "by threads", "by warps",
                                 "Lanes of resident warps that have no thread",
                                 "Resident warps have idle lanes", "idle lanes",
                                 "where most lanes are idle" },
    [OCCUPANCY_RULE_FIXED] = { "fixed", "fixed parts", "as needed",
                               "What fixed parts of an SM lose", "Fixed parts lose warps", "lost",
                               "where fixed parts lose most" },
    [OCCUPANCY_RULE_BEST] = { "best", "best block size", "asked for",
                              "What the best block size wins", "Another block size wins", "to win",
                              "where most is to be won" },
};

static const struct rule_words *words_of(const struct occupancy_point *point)
{
    return &WORDS[point->rule];
}

/* The launch's own answer in the measure of its rule: threads, or warps where parts lose them. */
static double own_occupancy(const struct occupancy_point *point)
{
    if (point->rule == OCCUPANCY_RULE_FIXED || point->rule == OCCUPANCY_RULE_THREADS)
        return point->occ.occupancy;
    return (double)point->occ.active_blocks * point->shape.block /
           point->device.device.threads_per_sm;
}

json_t *occupancy_other_json(const struct occupancy_point *point)
{
    return json_pack("{s:s, s:i, s:i, s:f, s:f}", "rule", words_of(point)->name, "block",
                     point->other.block, "blocks", point->other.blocks, "occupancy",
                     point->other.occupancy, "difference", point->other.difference);
}

static const char *number(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

/* ---- one point ---- */

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

static const char *answer_text(struct result *result, const struct occupancy_point *point)
{
    const struct occupancy_other *other = &point->other;
    const char *own = occupancy_percent(result, own_occupancy(point));
    const char *its = occupancy_percent(result, other->occupancy);
    int blocks = point->occ.active_blocks;

    switch ((enum occupancy_rule)point->rule) {
    case OCCUPANCY_RULE_NAIVE:
        if (other->blocks == blocks)
            return result_text(result, "Plain division agrees: %d block%s an SM, %s.", blocks,
                               plural(blocks), own);
        return result_text(result,
                           "Plain division promises %d block%s an SM, %s; the hardware holds %d, "
                           "%s.",
                           other->blocks, plural(other->blocks), its, blocks, own);
    case OCCUPANCY_RULE_THREADS:
        return result_text(result, "Occupancy %s by warps, %s by threads.", own, its);
    case OCCUPANCY_RULE_FIXED:
        return result_text(result,
                           "Fixed parts hold %d block%s an SM, %s; shared out as needed it holds "
                           "%d, %s.",
                           other->blocks, plural(other->blocks), its, blocks, own);
    case OCCUPANCY_RULE_BEST:
    case OCCUPANCY_RULE_COUNT:
        break;
    }
    if (!other->block)
        return "No size of block fits on this SM, so none is the best.";
    return result_text(result, "Blocks of %s reach %s of the threads, blocks of %s %s.",
                       number(result, other->block), its, number(result, point->shape.block), own);
}

static const char *limit_text(struct result *result, int blocks)
{
    return blocks == OCCUPANCY_NO_LIMIT ? "no limit" : number(result, blocks);
}

/* Blocks by each resource, where the rule has an answer of its own for each. */
static size_t add_limits(struct result *result, struct view_table *table,
                         const struct occupancy_point *point)
{
    static const char *const names[] = { "blocks by threads", "blocks by slots",
                                         "blocks by registers", "blocks by shared memory" };

    if (point->rule != OCCUPANCY_RULE_NAIVE)
        return 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        view_cell(table, i, 0, names[i]);
        view_cell(table, i, 1, limit_text(result, point->occ.limits[i]));
        view_cell(table, i, 2, limit_text(result, point->other.limits[i]));
        /* The row that decides, where the other rule sees more room. */
        if (point->occ.limits[i] == point->occ.active_blocks &&
            point->occ.limits[i] != point->other.limits[i])
            view_mark(table, i);
    }
    return COUNT(names);
}

static void add_table(struct result *result, const struct occupancy_point *point)
{
    const struct occupancy_other *other = &point->other;
    const struct view_column columns[] = { { "", VIEW_LEFT },
                                           { words_of(point)->own, VIEW_RIGHT },
                                           { words_of(point)->head, VIEW_RIGHT } };
    size_t limits = point->rule == OCCUPANCY_RULE_NAIVE ? 4 : 0;
    struct view_table *table = view_add_table(result, columns, COUNT(columns), limits + 3);
    size_t at = add_limits(result, table, point);

    view_cell(table, at, 0, "blocks an SM");
    view_cell(table, at, 1, number(result, point->occ.active_blocks));
    view_cell(table, at++, 2, number(result, other->blocks));
    view_cell(table, at, 0, "threads an SM");
    view_cell(table, at, 1, number(result, (int64_t)point->occ.active_blocks * point->shape.block));
    view_cell(table, at++, 2, number(result, (int64_t)other->blocks * other->block));
    view_cell(table, at, 0, "occupancy");
    view_cell(table, at, 1, occupancy_percent(result, own_occupancy(point)));
    view_cell(table, at, 2, occupancy_percent(result, other->occupancy));
}

static void add_figure(struct result *result, const struct occupancy_point *point)
{
    const char *const series[] = { words_of(point)->own, words_of(point)->head };
    const char *const groups[] = { "occupancy" };
    const double values[] = { own_occupancy(point), point->other.occupancy };
    struct figure *figure =
        figure_new(result, words_of(point)->title,
                   "Two bars of occupancy: the launch's own answer, and that of the other rule.",
                   result->view.answer);

    figure_add_bars(figure, NULL, (struct figure_axis){ .unit = UNIT_PERCENT, .min = 0, .max = 1 },
                    groups, COUNT(groups), series, COUNT(series), values, NULL);
}

static const char *closing_text(struct result *result, const struct occupancy_point *point)
{
    switch ((enum occupancy_rule)point->rule) {
    case OCCUPANCY_RULE_NAIVE:
        return "Next: %occupancy regs=16..128 compare=naive shows where it goes wrong.";
    case OCCUPANCY_RULE_THREADS:
        if (point->shape.block % WARP == 0)
            return "Blocks are whole warps: both ways of counting agree.";
        return result_text(result, "Try block=%lld, whole warps.",
                           (long long)round_up(point->shape.block, WARP));
    case OCCUPANCY_RULE_FIXED:
        return "Next: %occupancy block=32..1024:32 compare=fixed shows which blocks fit.";
    case OCCUPANCY_RULE_BEST:
    case OCCUPANCY_RULE_COUNT:
        break;
    }
    return "The block size of cudaOccupancyMaxPotentialBlockSize; it counts threads.";
}

int occupancy_show_comparison(struct result *result, const struct occupancy_point *point,
                              const char *parameters, struct err *err)
{
    struct occupancy_advice advice;

    if (occupancy_advise(&point->device.device, &point->shape, &advice, err) < 0 ||
        occupancy_set_fields(result, point, &advice, err) < 0)
        return -1;
    result->view.answer = answer_text(result, point);
    result->view.origin =
        occupancy_origin(result, occupancy_device_text(result, &point->device), parameters);
    add_table(result, point);
    occupancy_add_reasons(result, point);
    result->view.closing = closing_text(result, point);
    add_figure(result, point);
    return 0;
}

/* ---- ranges and lists ---- */

enum { MOST_ROWS = 40 };

static size_t count_different(const struct occupancy_point *points, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += points[i].other.difference > 0;
    return count;
}

static const char *sweep_answer(const struct sweep_view *v, const struct occupancy_point *points)
{
    size_t n = v->sweep->points, different = count_different(points, n), most = sweep_best(v);

    if (!different)
        return result_text(v->result, "%s at none of %s points.", words_of(points)->verdict,
                           number(v->result, (int64_t)n));
    return result_text(v->result, "%s at %s of %s points,\nup to %s of an SM at %s.",
                       words_of(points)->verdict, number(v->result, (int64_t)different),
                       number(v->result, (int64_t)n), sweep_percent(v, most),
                       sweep_point_text(v, most));
}

static bool is_same_step(const struct occupancy_point *a, const struct occupancy_point *b)
{
    return a->occ.active_blocks == b->occ.active_blocks && a->other.blocks == b->other.blocks &&
           a->other.block == b->other.block && own_occupancy(a) == own_occupancy(b) &&
           a->other.occupancy == b->other.occupancy;
}

static size_t step_end(const struct sweep_view *v, const struct occupancy_point *points, size_t i)
{
    while (v->sweep->keys[0].is_number && i + 1 < v->sweep->points &&
           is_same_step(&points[i], &points[i + 1]))
        i++;
    return i;
}

/* One key: a row for each run of points that are alike. */
static void add_steps(const struct sweep_view *v, const struct occupancy_point *points)
{
    const struct rule_words *words = words_of(points);
    const struct view_column columns[] = {
        { v->sweep->keys[0].param->name, VIEW_LEFT },
        { words->own, VIEW_RIGHT },
        { words->head, VIEW_RIGHT },
        { "blocks", VIEW_RIGHT },
        { "its blocks", VIEW_RIGHT },
        { words->gap, VIEW_RIGHT },
    };
    size_t count = 0, shown = 0, r = 0;
    struct view_table *table;

    for (size_t i = 0; i < v->sweep->points; i = step_end(v, points, i) + 1)
        count++;
    shown = count < MOST_ROWS ? count : MOST_ROWS;
    table = view_add_table(v->result, columns, COUNT(columns), shown);
    for (size_t i = 0, end; r < shown; i = end + 1, r++) {
        const struct occupancy_point *p = &points[i];

        end = step_end(v, points, i);
        view_cell(table, r, 0, sweep_span_text(v, i, end, 0));
        view_cell(table, r, 1, occupancy_percent(v->result, own_occupancy(p)));
        view_cell(table, r, 2, occupancy_percent(v->result, p->other.occupancy));
        view_cell(table, r, 3, number(v->result, p->occ.active_blocks));
        view_cell(table, r, 4,
                  p->rule == OCCUPANCY_RULE_BEST
                      ? result_text(v->result, "%d of %d", p->other.blocks, p->other.block)
                      : number(v->result, p->other.blocks));
        view_cell(table, r, 5, sweep_percent(v, i));
        if (p->other.difference > 0)
            view_mark(table, r);
    }
    if (count > shown)
        v->result->view.closing =
            result_text(v->result,
                        "The first %zu of %zu steps; the sweep field has all %zu points.", shown,
                        count, v->sweep->points);
}

static int set_summary(const struct sweep_view *v, const struct occupancy_point *points,
                       struct err *err)
{
    size_t n = v->sweep->points, most = sweep_best(v);
    json_t *largest = sweep_to_json(v->sweep, most), *summary;
    int failed =
        json_object_set_new(largest, "difference", json_real(points[most].other.difference));

    summary = json_pack("{s:s, s:I, s:I, s:o}", "rule", words_of(points)->name, "points",
                        (json_int_t)n, "different", (json_int_t)count_different(points, n),
                        "largest", json_whole(largest, failed));
    if (json_object_set_new(v->result->fields, "compare", summary) < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}

int occupancy_show_comparisons(struct result *result, const struct sweep *sweep,
                               const struct occupancy_point *points, const char *parameters,
                               struct err *err)
{
    const struct rule_words *words = words_of(points);
    double *gaps = sweep_array(sweep, sizeof(*gaps), err);
    double *values = sweep_array(sweep, 2 * sizeof(*values), err);
    struct sweep_view v = { .result = result,
                            .sweep = sweep,
                            .values = values,
                            .what = words->own,
                            .second_what = words->head,
                            .peak = words->peak,
                            .axes = OCCUPANCY_AXES,
                            .axis_count = OCCUPANCY_AXIS_COUNT };

    if (!gaps || !values)
        return -1;
    v.seconds = values + sweep->points;
    for (size_t i = 0; i < sweep->points; i++) {
        gaps[i] = points[i].other.difference;
        values[i] = own_occupancy(&points[i]);
        values[sweep->points + i] = points[i].other.occupancy;
    }
    if (occupancy_set_sweep(&v, points, parameters, err) < 0)
        return -1;
    /* Two curves show both answers; a map and the tables what lies between them. */
    v.title = words->title;
    v.values = gaps;
    if (set_summary(&v, points, err) < 0)
        return -1;
    result->view.answer = sweep_answer(&v, points);
    if (sweep->key_count == 1)
        add_steps(&v, points);
    else if (sweep->key_count == 2)
        sweep_add_matrix(&v);
    else
        sweep_add_best(&v);
    if (sweep->key_count == 1) {
        v.values = values;
        v.scale = "occupancy";
    } else {
        v.what = words->gap;
    }
    sweep_add_figure(&v);
    return 0;
}
