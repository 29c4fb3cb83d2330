/*
 * What another choice would give: occupancy is a staircase over registers, block
 * size and shared bytes, and what counts is how far the next step is.
 */
#include "cells/figure.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

/* ---- in words ---- */

enum { SHOWN_STEPS = 4 };

/* Neighbouring values that give the same occupancy. */
struct run {
    int64_t from, to;
    double occupancy;
};

struct runs {
    struct run run[256];
    size_t count, current; /* current: the run of the value that was asked for; count: none */
};

static void join_run(struct runs *runs, int64_t at, double occupancy, bool is_current)
{
    struct run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

    if (last && last->occupancy == occupancy) {
        last->to = at;
    } else if (runs->count < COUNT(runs->run)) {
        runs->run[runs->count++] = (struct run){ at, at, occupancy };
    }
    if (is_current)
        runs->current = runs->count - 1;
}

static double occupancy_with(const struct occupancy_point *point, const struct launch_shape *shape)
{
    struct occupancy_point tried = *point;

    tried.shape = *shape;
    return occupancy_point_eval(&tried, NULL) < 0 ? 0 : tried.occ.occupancy;
}

static void runs_of_regs(const struct occupancy_point *point, struct runs *runs)
{
    struct launch_shape shape = point->shape;

    *runs = (struct runs){ .current = SIZE_MAX };
    for (shape.regs = 1; shape.regs <= point->device.device.registers_per_thread; shape.regs++)
        join_run(runs, shape.regs, occupancy_with(point, &shape), shape.regs == point->shape.regs);
}

/* Shown around the current one: the one below it, itself, and what follows. */
static size_t first_shown(size_t current, size_t count)
{
    size_t first = current == SIZE_MAX || current == 0 ? 0 : current - 1;

    if (first + SHOWN_STEPS > count)
        first = count > SHOWN_STEPS ? count - SHOWN_STEPS : 0;
    return first;
}

const char *occupancy_regs_text(struct result *result, const struct occupancy_point *point)
{
    struct runs runs;
    struct buf out = { 0 };
    const char *text;
    size_t first;

    runs_of_regs(point, &runs);
    first = first_shown(runs.current, runs.count);
    for (size_t i = first; i < runs.count && i < first + SHOWN_STEPS; i++) {
        const struct run *run = &runs.run[i];

        buf_puts(&out, i > first ? "    " : "");
        if (run->from > 1)
            buf_printf(&out, "%lld", (long long)run->from);
        if (run->to > run->from)
            buf_printf(&out, "..%lld", (long long)run->to);
        buf_printf(&out, ": %s%s", occupancy_percent(result, run->occupancy),
                   i == runs.current ? " <" : "");
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

const char *occupancy_block_text(struct result *result, const struct occupancy_point *point)
{
    static const int usual[] = { 32, 64, 128, 192, 256, 384, 512, 768, 1024 };
    struct launch_shape shape = point->shape;
    int sizes[COUNT(usual) + 1];
    size_t count = 0, current = SIZE_MAX, first;
    struct buf out = { 0 };
    const char *text;

    for (size_t i = 0; i < COUNT(usual); i++) {
        if (current == SIZE_MAX && shape.block <= usual[i]) {
            current = count;
            if (shape.block < usual[i])
                sizes[count++] = shape.block;
        }
        sizes[count++] = usual[i];
    }
    first = first_shown(current ? current - 1 : 0, count);
    for (size_t i = first; i < first + SHOWN_STEPS; i++) {
        shape.block = sizes[i];
        buf_printf(&out, "%s%d: %s%s", i > first ? "    " : "", sizes[i],
                   occupancy_percent(result, occupancy_with(point, &shape)),
                   i == current ? " <" : "");
    }
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

/* The most shared bytes a block for one block more, as many, and one and two fewer. */
const char *occupancy_shared_text(struct result *result, const struct occupancy_point *point)
{
    const struct launch_shape *shape = &point->shape;
    struct launch_shape bare = *shape;
    int now = point->occ.active_blocks, shown = 0;
    struct buf out = { 0 };
    const char *text;
    int64_t bytes;

    if (!shape->static_bytes && !shape->dynamic_bytes)
        return NULL;
    bare.static_bytes = 0;
    bare.is_opted_out = false;
    for (int blocks = now + 1; blocks >= 1 && blocks >= now - 2; blocks--) {
        if (occupancy_available_dynamic(&point->device.device, &bare, blocks, &bytes, NULL) < 0)
            continue;
        bare.dynamic_bytes = bytes;
        buf_printf(&out, "%s..%s: %s%s", shown++ ? "    " : "", occupancy_number(result, bytes),
                   occupancy_percent(result, occupancy_with(point, &bare)),
                   blocks == now ? " <" : "");
    }
    text = shown ? result_text(result, "%s", buf_text(&out)) : NULL;
    buf_done(&out);
    return text;
}

/* ---- as a figure of three panels ---- */

enum { MOST_PANEL_POINTS = 256 };

struct panel_data {
    double x[MOST_PANEL_POINTS], y[MOST_PANEL_POINTS];
    size_t count;
};

static void put_point(struct panel_data *data, double x, double y)
{
    if (data->count == MOST_PANEL_POINTS)
        return;
    data->x[data->count] = x;
    data->y[data->count++] = y;
}

/* A staircase of one parameter; the value that was asked for carries its number. */
static void add_panel(struct figure *figure, const char *title, struct figure_axis x,
                      const struct panel_data *data, double current, const char *label)
{
    struct figure_axis y = { .label = "occupancy", .unit = UNIT_PERCENT, .min = 0, .max = 1 };
    struct panel *panel = figure_add_lines(figure, title, x, y);

    panel_add_steps(panel, "occupancy", data->x, data->y, data->count);
    if (current >= data->x[0] && current <= data->x[data->count - 1])
        panel_highlight(panel, current, label);
}

static void add_regs(struct figure *figure, struct result *result,
                     const struct occupancy_point *point, const char *now)
{
    struct figure_axis x = { .label = "registers a thread", .unit = UNIT_POW2 };
    struct launch_shape shape = point->shape;
    struct panel_data data = { .count = 0 };

    for (shape.regs = 8; shape.regs <= point->device.device.registers_per_thread; shape.regs++)
        put_point(&data, shape.regs, occupancy_with(point, &shape));
    add_panel(figure, "Registers", x, &data, point->shape.regs,
              result_text(result, "%d: %s", point->shape.regs, now));
}

static void add_block(struct figure *figure, struct result *result,
                      const struct occupancy_point *point, const char *now)
{
    struct figure_axis x = { .label = "threads a block", .unit = UNIT_POW2 };
    int most = point->device.device.threads_per_block;
    struct launch_shape shape = point->shape;
    struct panel_data data = { .count = 0 };

    /* A warp is given whole: 97 to 128 threads take the same. */
    for (shape.block = WARP; shape.block <= most; shape.block += WARP)
        put_point(&data, shape.block - WARP + 1, occupancy_with(point, &shape));
    put_point(&data, most, data.y[data.count - 1]);
    add_panel(figure, "Block size", x, &data, point->shape.block,
              result_text(result, "%d: %s", point->shape.block, now));
}

static void add_shared(struct figure *figure, struct result *result,
                       const struct occupancy_point *point, const char *now)
{
    struct figure_axis x = { .label = "shared bytes a block", .unit = UNIT_BYTES };
    int64_t total = point->shape.static_bytes + point->shape.dynamic_bytes;
    int64_t most = point->device.device.shared_per_block_optin;
    int64_t step = round_up(max_i64(most / (MOST_PANEL_POINTS - 8), 1), 512);
    struct launch_shape shape = point->shape;
    struct panel_data data = { .count = 0 };

    shape.static_bytes = 0;
    for (shape.dynamic_bytes = 0; shape.dynamic_bytes <= most; shape.dynamic_bytes += step)
        put_point(&data, (double)shape.dynamic_bytes, occupancy_with(point, &shape));
    add_panel(figure, "Shared memory", x, &data, (double)total,
              result_text(result, "%s: %s", occupancy_number(result, total), now));
}

void occupancy_add_what_ifs(struct result *result, const struct occupancy_point *point)
{
    const char *now = occupancy_percent(result, point->occ.occupancy);
    /* Where nothing is to be lifted, the answer itself is what the picture says. */
    const char *conclusion =
        point->occ.active_warps < point->occ.max_warps ? result->view.closing : result->view.answer;
    struct figure *figure =
        figure_new(result,
                   result_text(result, "Occupancy %s on %s, and what would change it", now,
                               point->device.device.name),
                   result_text(result,
                               "Three staircases of occupancy: over registers a thread, threads a "
                               "block and shared bytes a block. Asked for: %s.",
                               now),
                   result_text(result, "%s\n  regs    %s\n  block   %s", conclusion,
                               occupancy_regs_text(result, point),
                               occupancy_block_text(result, point)));

    add_regs(figure, result, point, now);
    add_block(figure, result, point, now);
    add_shared(figure, result, point, now);
}
