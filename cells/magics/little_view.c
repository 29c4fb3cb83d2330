/*
 * One kernel of %little as a person reads it: how much is under way and how much
 * would be enough, on an SM and on the device, what latency under load makes of
 * it, and what would fill the unit.
 */
#include "cells/magics/little.h"

#include "cells/internal.h"
#include "cells/magics/device.h"
#include "cells/magics/occupancy.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <math.h>

enum { LINE_BYTES = 128, MOST_POINTS = 257, DOTS = 16, ILPS = 3 };

static const int ILP_CURVES[ILPS] = { 1, 2, 4 };

/* The case, and the dots of its curves: on bytes in flight, and on warps for each of the ilps. */
struct dots {
    struct little_case *flight, *warps[ILPS];
    size_t flight_count, warp_count;
    struct little_agreement agreement, crowd; /* of what is alone, and under load */
};

static const char *number(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

/* Whole where rounding alone keeps it from being so: 99 lines, not 99.0014. */
static const char *about(struct result *result, double v)
{
    return number(result, (v >= 0.5 && fabs(v - round(v)) < 0.01) || v >= 1000 ? round(v) : v);
}

static bool is_plain_load(const struct little_case *c)
{
    return !c->is_arithmetic && c->kernel.alpha == 0;
}

/* "loads of 128 bytes", "1 instruction", "iterations": what n of them are called. */
static const char *things_text(struct result *result, const struct little_case *c, double n)
{
    const char *plural = n == 1 ? "" : "s";

    if (is_plain_load(c))
        return result_text(result, "load%s of %s bytes", plural,
                           number(result, c->kernel.bytes_per_warp));
    return result_text(result, "%s%s", c->is_arithmetic ? "instruction" : "iteration", plural);
}

/* ---- fields ---- */

static json_t *needed_json(const struct little_case *c)
{
    double bytes = little_bytes(c, c->plain.needed);
    double warps = little_warps_for(c, c->plain.needed);

    return json_pack("{s:f, s:o, s:o, s:f, s:f, s:f}", "iterations", c->plain.needed, "bytes",
                     c->is_arithmetic ? json_null() : json_real(bytes), "lines",
                     c->is_arithmetic ? json_null() : json_real(bytes / LINE_BYTES), "warps", warps,
                     "threads", warps * WARP, "occupancy", warps / c->max_warps);
}

/* The law's terms: bytes of the device's memory, or instructions of an SM's FP32 units. */
static struct little_law law_of(const struct little_case *c)
{
    struct little_law law = { .latency = c->machine.alu_latency,
                              .throughput = c->machine.alu_rate };

    if (!c->is_arithmetic) {
        law.latency = c->machine.memory_latency;
        law.throughput = c->bandwidth / (c->device.device.clock_mhz * 1e6);
    }
    law.concurrency = law.latency * law.throughput;
    return law;
}

static int set_fields(struct result *result, const struct little_case *c, const struct dots *dots,
                      struct err *err)
{
    struct little_law law = law_of(c);
    json_t *fields =
        json_pack("{s:f, s:f, s:f, s:o, s:o, s:{s:I, s:f}}", "concurrency", law.concurrency,
                  "latency", law.latency, "throughput", law.throughput, "needed", needed_json(c),
                  "reached", little_reached_json(c), "simulated", "points",
                  (json_int_t)dots->agreement.simulated, "difference", dots->agreement.difference);
    int rc = json_object_update(result->fields, fields);

    json_decref(fields);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- words ---- */

static const char *law_text(struct result *result, const struct little_case *c)
{
    const struct device *dev = &c->device.device;
    double needed = c->plain.needed;

    if (c->is_arithmetic)
        return result_text(result, "%s cycles x %s a cycle = %s instructions, %s lanes, an SM.",
                           number(result, c->machine.alu_latency),
                           number(result, c->machine.alu_rate), number(result, needed),
                           number(result, needed * WARP));
    if (is_plain_load(c))
        return result_text(result,
                           "%s GB/s x %s cycles at %s MHz = %s bytes an SM, %s lines of %d.",
                           number(result, c->bandwidth * 1e-9),
                           number(result, c->machine.memory_latency),
                           number(result, dev->clock_mhz), about(result, little_bytes(c, needed)),
                           about(result, little_bytes(c, needed) / LINE_BYTES), LINE_BYTES);
    return result_text(result, "An iteration takes %s + %s x %s = %s cycles when it is alone.",
                       number(result, c->machine.memory_latency), number(result, c->kernel.alpha),
                       number(result, c->machine.alu_latency),
                       number(result, c->machine.memory_latency +
                                          c->kernel.alpha * c->machine.alu_latency));
}

static const char *answer_text(struct result *result, const struct little_case *c)
{
    double n = c->kernel.warps * c->kernel.ilp;

    return result_text(result, "%s of the %s: %s %s in flight an SM, %s fill it.\n%s",
                       little_percent(result, c->plain.fraction), little_unit_text(c->plain.unit),
                       number(result, n), things_text(result, c, n), about(result, c->plain.needed),
                       law_text(result, c));
}

struct rows {
    struct result *result;
    struct view_table *table;
    size_t count;
};

static void add_row(struct rows *rows, const char *name, double now, double needed)
{
    view_cell(rows->table, rows->count, 0, name);
    view_cell(rows->table, rows->count, 1, about(rows->result, now));
    view_cell(rows->table, rows->count++, 2, about(rows->result, needed));
}

static void add_table(struct result *result, const struct little_case *c)
{
    const struct view_column columns[] = { { "", VIEW_LEFT },
                                           { "in flight", VIEW_RIGHT },
                                           { "to fill it", VIEW_RIGHT } };
    struct rows rows = { .result = result };
    double n = c->kernel.warps * c->kernel.ilp, needed = c->plain.needed;
    double warps = little_warps_for(c, needed);

    rows.table = view_add_table(result, columns, COUNT(columns), 5);
    if (c->is_arithmetic) {
        add_row(&rows, "instructions a scheduler", n / c->machine.issue_rate,
                needed / c->machine.issue_rate);
        add_row(&rows, "instructions an SM", n, needed);
        add_row(&rows, "lanes an SM", n * WARP, needed * WARP);
    } else {
        add_row(&rows, result_text(result, "%s an SM", things_text(result, c, 2)), n, needed);
        add_row(&rows, "bytes an SM", little_bytes(c, n), little_bytes(c, needed));
        add_row(&rows, result_text(result, "bytes on %d SMs", c->device.device.sms),
                little_bytes(c, n) * c->device.device.sms,
                little_bytes(c, needed) * c->device.device.sms);
    }
    add_row(&rows, result_text(result, "warps, ilp=%d", c->ilp), c->kernel.warps, warps);
    view_cell(rows.table, rows.count, 0, result_text(result, "of the %d warps", c->max_warps));
    view_cell(rows.table, rows.count, 1, little_percent(result, c->kernel.warps / c->max_warps));
    view_cell(rows.table, rows.count, 2,
              warps > c->max_warps ? "out of reach" : little_percent(result, warps / c->max_warps));
}

/* What n times the bytes a thread are called: a thread loads 1, 2, 4, 8 or 16 bytes at once. */
static int wider_load(const struct little_case *c)
{
    for (int bytes = c->bytes_per_thread * 2; bytes <= 16; bytes *= 2)
        if (little_bytes(c, c->plain.needed) <= c->kernel.warps * c->ilp * bytes * WARP)
            return bytes;
    return 0;
}

static const char *closing_text(struct result *result, const struct little_case *c)
{
    int ilp = (int)ceil(c->plain.needed / c->kernel.warps - 0.01);
    double warps = little_warps_for(c, c->plain.needed);
    int wider = is_plain_load(c) ? wider_load(c) : 0;
    struct buf out = { 0 };
    const char *text;

    if (c->plain.bound != LITTLE_BOUND_LATENCY)
        return result_text(result,
                           "Next: warps=1..%d ilp=[1,2,4] with the same keys draws how few "
                           "warps are enough.",
                           c->max_warps);
    buf_printf(&out, "To 100 %%: ilp=%d", ilp);
    if (wider)
        buf_printf(&out, ", or bytes_per_thread=%d", wider);
    if (warps <= c->max_warps)
        buf_printf(&out, ", or warps=%.0f", warps);
    text = result_text(result, "%s.", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *simulated_text(struct result *result, const struct little_case *c,
                                  const struct dots *dots)
{
    const struct little_simulated *s = &c->simulated;

    if (!s->cycles)
        return "not: the core layer has whole cycles and operations, and not too many";
    return result_text(result,
                       "%s, %s cycles each, on the core layer: so are the figure's %zu dots, of "
                       "which none is further than %s of the unit from its closed form, the line",
                       little_percent(result, s->fraction), about(result, round(s->latency)),
                       dots->agreement.simulated,
                       little_percent(result, fmax(dots->agreement.difference, 0.001)));
}

static const char *loaded_text(struct result *result, const struct little_case *c,
                               const struct dots *dots)
{
    const char *form = result_text(
        result,
        "%s, %s cycles each: at the part u of its rate memory takes %s x u / (1 - u) cycles "
        "longer, and more must be in flight",
        little_percent(result, c->loaded.fraction), about(result, round(c->loaded.latency)),
        number(result, c->kernel.queue));

    if (!c->crowded.cycles)
        return form;
    return result_text(result,
                       "%s; simulated, with memory that works in bursts, %s, %s cycles each, and "
                       "the figure's dots within %s of the unit",
                       form, little_percent(result, c->crowded.fraction),
                       about(result, round(c->crowded.latency)),
                       little_percent(result, fmax(dots->crowd.difference, 0.001)));
}

static void add_facts(struct result *result, const struct little_case *c, const struct dots *dots)
{
    const struct device *dev = &c->device.device;
    bool is_loaded = !c->is_arithmetic && c->kernel.queue > 0;
    const char *notice = c->has_own_latency ? NULL : device_costs_notice(result, &c->device.device);
    struct view_block *block = view_add_facts(result, (size_t)(2 + is_loaded + (notice != NULL)));
    size_t n = 0;

    if (!block)
        return;
    block->names[n] = "simulated";
    block->texts[n++] = simulated_text(result, c, dots);
    if (is_loaded) {
        block->names[n] = "under load";
        block->texts[n++] = loaded_text(result, c, dots);
    }
    if (notice) {
        block->names[n] = "notice";
        block->texts[n++] = notice;
    }
    block->names[n] = "an SM has";
    block->texts[n] =
        c->is_arithmetic
            ? result_text(result, "%d schedulers and %d FP32 lanes: %s warp instructions a cycle",
                          dev->partitions, dev->fp32_lanes, number(result, c->machine.alu_rate))
            : result_text(result,
                          "%s bytes a cycle: 1 of %d parts of %s GB/s; all but what is simulated "
                          "are closed forms",
                          number(result, c->machine.memory_rate), dev->sms,
                          number(result, c->bandwidth * 1e-9));
}

/* ---- points on the core layer ---- */

/* The most that the panel of bytes in flight shows. */
static double most_in_flight(const struct little_case *c)
{
    return fmax(c->kernel.warps * c->kernel.ilp, 2.5 * c->plain.needed);
}

/* As many in flight as n, in as few chains a warp as the SM's warps allow. */
static void place_dot(struct little_case *dot, double n)
{
    dot->kernel.ilp = ceil(n / dot->max_warps);
    dot->kernel.warps = fmax(floor(n / dot->kernel.ilp), 1);
}

static int make_dots(struct little_case *c, const struct call *call, struct dots *out,
                     struct err *err)
{
    size_t most = 1 + DOTS + (size_t)c->max_warps * ILPS, n = 0;
    struct little_case *all = arena_array(call->arena, most, sizeof *all);
    int step = (c->max_warps + DOTS - 1) / DOTS;

    if (!all)
        return err_set(err, ERR_ResourceError, "out of memory");
    all[n++] = *c;
    out->flight = &all[n];
    for (int i = 1; i <= DOTS && !c->is_arithmetic; i++) {
        all[n] = *c;
        place_dot(&all[n++], most_in_flight(c) * i / DOTS);
    }
    out->flight_count = n - 1;
    for (int k = 0; k < ILPS; k++) {
        out->warps[k] = &all[n];
        for (int warps = 1; warps <= c->max_warps; warps += step) {
            all[n] = *c;
            all[n].kernel.warps = warps;
            all[n++].kernel.ilp = ILP_CURVES[k];
        }
        out->warp_count = n - (size_t)(out->warps[k] - all);
    }
    for (size_t i = 0; i < n; i++)
        if (little_case_run(&all[i], err) < 0)
            return -1;
    if (little_simulate(all, n, 1, call, err) < 0)
        return -1;
    if (little_simulate_crowded(all, 1 + out->flight_count, 1, call, err) < 0)
        return -1;
    c->simulated = all[0].simulated;
    c->crowded = all[0].crowded;
    out->agreement = little_compare(all, n, false);
    out->crowd = little_compare(all, 1 + out->flight_count, true);
    return 0;
}

/* ---- figure ---- */

struct curve {
    double x[MOST_POINTS], y[MOST_POINTS];
    size_t count;
};

static void put_point(struct curve *curve, double x, double y)
{
    if (curve->count == MOST_POINTS)
        return;
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

/* A curve of the closed form in the look-th colour, and on it what was simulated. */
static void add_curve(struct panel *panel, const char *name, const struct curve *curve, size_t look)
{
    struct figure_series *series = panel_add_series(panel, name, curve->x, curve->y, curve->count);

    if (!series)
        return;
    series->is_bare = true;
    series->look = look;
}

static void add_dots(struct panel *panel, const char *name, const struct curve *curve, size_t look)
{
    struct figure_series *series = panel_add_series(panel, name, curve->x, curve->y, curve->count);

    if (!series)
        return;
    series->is_points = true;
    series->look = look;
}

static void put_dot(struct curve *curve, double x, const struct little_simulated *s)
{
    if (s->cycles)
        put_point(curve, x, s->fraction);
}

static struct figure_axis percent_axis(const struct little_case *c)
{
    return (struct figure_axis){
        .label = little_unit_text(c->plain.unit), .unit = UNIT_PERCENT, .min = 0, .max = 1
    };
}

/* Reached against bytes under way, with and without the wait under load. */
static void add_flight_panel(struct result *result, struct figure *figure,
                             const struct little_case *c, const struct dots *dots)
{
    struct little_case tried = *c;
    struct curve plain = { .count = 0 }, loaded = { .count = 0 }, measured = { .count = 0 };
    struct curve simulated = { .count = 0 }, crowded = { .count = 0 };
    double asked = c->kernel.warps * c->kernel.ilp;
    double step = most_in_flight(c) / (MOST_POINTS - 1);
    struct panel *panel =
        figure_add_lines(figure, "Bytes in flight",
                         (struct figure_axis){ .label = "bytes in flight an SM" }, percent_axis(c));

    put_point(&plain, 0, 0);
    put_point(&loaded, 0, 0);
    tried.kernel.ilp = 1;
    for (int i = 1; i < MOST_POINTS; i++) {
        tried.kernel.warps = fmax(i * step, 1);
        if (little_case_run(&tried, NULL) < 0)
            return;
        put_point(&plain, little_bytes(c, tried.kernel.warps), tried.plain.fraction);
        put_point(&loaded, little_bytes(c, tried.kernel.warps), tried.loaded.fraction);
    }
    for (size_t i = 0; i < dots->flight_count; i++) {
        const struct little_case *dot = &dots->flight[i];
        double bytes = little_bytes(c, dot->kernel.warps * dot->kernel.ilp);

        put_dot(&simulated, bytes, &dot->simulated);
        put_dot(&crowded, bytes, &dot->crowded);
    }
    add_curve(panel, "closed form", &plain, 1);
    add_dots(panel, "simulated", &simulated, 1);
    if (c->kernel.queue > 0) {
        add_curve(panel, "closed form under load", &loaded, 2);
        add_dots(panel, "simulated under load", &crowded, 2);
    }
    /* Eight bytes a thread, on this very device. */
    for (size_t i = 0; strcmp(c->device.device.name, "GH200") == 0 && i < LITTLE_MEASURED_COUNT;
         i++)
        put_point(&measured, LITTLE_MEASURED[i].threads_per_sm * 8.0,
                  LITTLE_MEASURED[i].gbs * 1e9 / c->bandwidth);
    if (measured.count)
        add_dots(panel, "measured by RRZE", &measured, 3);
    panel_add_reference(panel, little_bytes(c, c->plain.needed), true,
                        result_text(result, "%s bytes",
                                    about(result, little_bytes(c, c->plain.needed))));
    panel_highlight(panel, little_bytes(c, asked),
                    result_text(result, "%s", little_percent(result, c->plain.fraction)));
}

/* Reached against warps, for some amounts of independent work in each. */
static void add_warps_panel(struct result *result, struct figure *figure,
                            const struct little_case *c, const struct dots *dots)
{
    struct little_case tried = *c;
    struct panel *panel =
        figure_add_lines(figure, "Warps and independent work",
                         (struct figure_axis){ .label = "warps an SM" }, percent_axis(c));

    for (size_t k = 0; k < ILPS; k++) {
        struct curve curve = { .count = 0 }, simulated = { .count = 0 };

        tried.kernel.ilp = ILP_CURVES[k];
        for (int warps = 1; warps <= c->max_warps; warps++) {
            tried.kernel.warps = warps;
            if (little_case_run(&tried, NULL) < 0)
                return;
            put_point(&curve, warps, tried.plain.fraction);
        }
        for (size_t i = 0; i < dots->warp_count; i++)
            put_dot(&simulated, dots->warps[k][i].kernel.warps, &dots->warps[k][i].simulated);
        add_curve(panel, result_text(result, "ilp=%d", ILP_CURVES[k]), &curve, k + 1);
        add_dots(panel, k ? "" : "simulated", &simulated, k + 1);
    }
}

static void add_figure(struct result *result, const struct little_case *c, const struct dots *dots)
{
    struct figure *figure = figure_new(
        result, result_text(result, "How much must be in flight on %s", c->device.device.name),
        result_text(result,
                    "Curves of the part of the %s that is reached, over what is in "
                    "flight and over warps: they rise and then are flat. Lines are closed "
                    "forms, dots the core layer.",
                    little_unit_text(c->plain.unit)),
        result->view.answer);

    if (!c->is_arithmetic)
        add_flight_panel(result, figure, c, dots);
    add_warps_panel(result, figure, c, dots);
}

int little_show_case(struct result *result, const struct call *call, struct little_case *c,
                     struct err *err)
{
    struct dots dots = { 0 };

    if (make_dots(c, call, &dots, err) < 0 || set_fields(result, c, &dots, err) < 0)
        return -1;
    result->view.answer = answer_text(result, c);
    result->view.origin =
        result_text(result, "%s  %s", occupancy_device_text(result, &c->device),
                    call_parameters_text(call, c->is_arithmetic
                                                   ? "device bytes_per_thread alpha queue"
                                                   : "device"));
    add_table(result, c);
    add_facts(result, c, &dots);
    result->view.closing = closing_text(result, c);
    add_figure(result, c, &dots);
    return 0;
}
