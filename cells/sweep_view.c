/*
 * A staircase has few steps, however many points were asked for: tables merge
 * what does not change.
 */
#include "cells/sweep_view.h"

#include "cells/internal.h"
#include "cells/render/text.h"
#include "cells/sweep_groups.h"
#include "model/base/buf.h"

#include <math.h>

enum {
    MOST_ROWS = 40,
    MOST_COLUMNS = 24,
    BEST_ROWS = 10,
};

/* ---- words ---- */

static const char *label(const struct sweep_view *v, size_t point, size_t k)
{
    return sweep_label(v->sweep, v->result->arena, point, k);
}

const char *sweep_point_text(const struct sweep_view *v, size_t point)
{
    struct buf out = { 0 };
    const char *text;

    for (size_t k = 0; k < v->sweep->key_count; k++)
        buf_printf(&out, "%s%s=%s", k ? " " : "", v->sweep->keys[k].param->name,
                   label(v, point, k));
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

const char *sweep_percent(const struct sweep_view *v, size_t point)
{
    char text[TEXT_NUMBER];

    return result_text(v->result, "%s", text_percent(text, v->values[point]));
}

const char *sweep_span_text(const struct sweep_view *v, size_t from, size_t to, size_t k)
{
    const char *first = label(v, from, k);

    if (from == to)
        return result_text(v->result, "%s", first);
    return result_text(v->result, v->sweep->keys[k].is_number ? "%s..%s" : "%s, %s", first,
                       label(v, to, k));
}

const char *sweep_call_text(const struct sweep_view *v, size_t point)
{
    const struct call *call = v->sweep->call;
    struct buf out = { 0 };
    const char *text;

    buf_printf(&out, "%%%s", call->magic->name);
    for (size_t i = 0; i < call->magic->param_count; i++) {
        const char *name = call->magic->params[i].name;
        int k = sweep_find(v->sweep, name);

        if (k >= 0)
            buf_printf(&out, " %s=%s", name, label(v, point, (size_t)k));
        else if (call->args[i].is_given && (call->magic->params[i].flags & PARAM_POSITIONAL))
            buf_printf(&out, " %s", call->args[i].text);
        else if (call->args[i].is_given) {
            buf_printf(&out, " %s=", name);
            arg_put(&out, &call->args[i]);
        }
    }
    text = result_text(v->result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* ---- extremes ---- */

static bool is_out(const struct sweep_view *v, size_t point)
{
    return v->is_out && v->is_out[point];
}

size_t sweep_best(const struct sweep_view *v)
{
    size_t best = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (is_out(v, i) != is_out(v, best) ? is_out(v, best) : v->values[i] > v->values[best])
            best = i;
    return best;
}

size_t sweep_worst(const struct sweep_view *v)
{
    size_t worst = 0;

    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i] < v->values[worst])
            worst = i;
    return worst;
}

bool sweep_is_flat(const struct sweep_view *v)
{
    for (size_t i = 1; i < v->sweep->points; i++)
        if (v->values[i] != v->values[0])
            return false;
    return true;
}

size_t sweep_level_end(const struct sweep_view *v, size_t point)
{
    while (point + 1 < v->sweep->points && v->values[point + 1] == v->values[point])
        point++;
    return point;
}

/* ---- tables ---- */

/* "83.3" of "83.3 %": the head of the table has the sign. */
static const char *percent_number(struct result *result, double fraction)
{
    char text[TEXT_NUMBER];
    const char *percent = text_percent(text, fraction);

    return result_text(result, "%.*s", (int)strcspn(percent, " "), percent);
}

void sweep_add_matrix(const struct sweep_view *v)
{
    const struct sweep_key *keys = v->sweep->keys;
    struct view_column heads[MOST_COLUMNS + 1];
    struct view_table *table;
    struct sweep_groups down, right;
    size_t best = sweep_best(v), columns = keys[1].arg->count;

    sweep_find_groups(v, 0, MOST_ROWS, &down);
    sweep_find_groups(v, 1, MOST_COLUMNS, &right);
    heads[0] = (struct view_column){
        result_text(v->result, "%s \\ %s, %%", keys[0].param->name, keys[1].param->name), VIEW_LEFT
    };
    for (size_t c = 0; c < right.count; c++)
        heads[c + 1] = (struct view_column){ sweep_group_text(v, &right, c, 1), VIEW_RIGHT };
    table = view_add_table(v->result, heads, right.count + 1, down.count);
    for (size_t r = 0; r < down.count; r++) {
        const double *row = &v->values[down.start[r] * columns];

        view_cell(table, r, 0, sweep_group_text(v, &down, r, 0));
        for (size_t c = 0; c < right.count; c++)
            view_cell(table, r, c + 1, percent_number(v->result, row[right.start[c]]));
        if (best / columns >= down.start[r] && best / columns < down.start[r + 1])
            view_mark(table, r);
    }
    v->result->view.closing =
        down.is_cut || right.is_cut
            ? result_text(v->result, "A part of the map; the sweep field has all %zu points.",
                          v->sweep->points)
            : result_text(v->result, "Next: %s shows %s.", sweep_call_text(v, best),
                          v->peak ? v->peak : "the best point");
}

void sweep_add_best(const struct sweep_view *v)
{
    const struct view_column columns[] = { { "point", VIEW_LEFT }, { v->what, VIEW_RIGHT } };
    double level = INFINITY, next;
    size_t chosen[BEST_ROWS], count = 0;
    struct view_table *table;

    /* Level by level from the top, in the order of the sweep within each. */
    while (count < BEST_ROWS && count < v->sweep->points) {
        next = -1;
        for (size_t i = 0; i < v->sweep->points; i++)
            if (v->values[i] < level && v->values[i] > next)
                next = v->values[i];
        level = next;
        for (size_t i = 0; i < v->sweep->points && count < BEST_ROWS; i++)
            if (v->values[i] == level)
                chosen[count++] = i;
    }
    table = view_add_table(v->result, columns, COUNT(columns), count);
    for (size_t r = 0; r < count; r++) {
        view_cell(table, r, 0, sweep_point_text(v, chosen[r]));
        view_cell(table, r, 1, sweep_percent(v, chosen[r]));
    }
    v->result->view.closing =
        result_text(v->result, "The best %zu of %zu points; the sweep field has all.", count,
                    v->sweep->points);
}

/* ---- fields ---- */

int sweep_set_fields(const struct sweep_view *v, sweep_point_json *point_json, const void *of,
                     bool has_best, struct err *err)
{
    json_t *list = json_array(), *fields = v->result->fields;
    size_t n = v->sweep->points;

    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list, point_json(v, of, i)) < 0)
            break;
    if (json_array_size(list) != n) {
        json_decref(list);
        return err_set(err, ERR_ResourceError, "%zu points do not fit in memory", n);
    }
    if (json_object_set_new(fields, "sweep", list) < 0 ||
        (has_best && json_object_set_new(fields, "best", point_json(v, of, sweep_best(v))) < 0))
        return err_set(err, ERR_ResourceError, "out of memory");
    return 0;
}
