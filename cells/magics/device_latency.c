/*
 * Published latencies for reading: one device with the source of each number,
 * or all compute capabilities side by side. What nobody measured is unknown, and
 * is said to be.
 */
#include "cells/magics/device.h"

#include "cells/render/text.h"
#include "model/base/buf.h"
#include "model/costs.h"
#include "model/latency.h"

/* "4", "32..41.12". */
static const char *range_text(struct result *result, double least, double most)
{
    char from[TEXT_NUMBER], to[TEXT_NUMBER];

    text_number(from, least);
    text_number(to, most);
    return strcmp(from, to) == 0 ? result_text(result, "%s", from)
                                 : result_text(result, "%s..%s", from, to);
}

/* What a made-up device has invented; 0: nothing. */
static int invented(const struct device *dev, enum latency what)
{
    switch (what) {
    case LATENCY_FMA:
        return dev->fma_latency;
    case LATENCY_SHARED:
        return dev->shared_latency;
    case LATENCY_L1:
        return dev->l1_latency;
    case LATENCY_L2:
        return dev->l2_latency;
    case LATENCY_MEMORY:
        return dev->memory_latency;
    default:
        return 0;
    }
}

static bool is_about(const struct latency_row *row, const struct device *dev, enum latency what)
{
    return row->what == what && row->cc_major == dev->cc_major && row->cc_minor == dev->cc_minor;
}

/* ---- fields ---- */

static json_t *latency_json(const struct device *dev, enum latency what)
{
    struct latency_range range = latency_of(dev->cc_major, dev->cc_minor, what);
    int own = invented(dev, what);

    if (own)
        range = (struct latency_range){ own, own, 0 };
    if (!range.most)
        return json_null();
    return json_pack("{s:f, s:f, s:i}", "least", range.least, "most", range.most, "sources",
                     (int)range.sources);
}

json_t *device_latencies_json(const struct device *dev)
{
    json_t *object = json_object();
    int failed = 0;

    for (enum latency what = 0; what < LATENCY_COUNT; what++)
        failed |= json_object_set_new(object, latency_name(what), latency_json(dev, what));
    return json_whole(object, failed);
}

json_t *device_published_json(void)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < LATENCY_ROW_COUNT; i++) {
        const struct latency_row *row = &LATENCY_ROWS[i];

        failed |=
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:s, s:s, s:s*}",
                                            "quantity", latency_name(row->what), "unit",
                                            latency_unit(row->what), "cc_major", row->cc_major,
                                            "cc_minor", row->cc_minor, "least", row->least, "most",
                                            row->most, "measured_on", row->measured_on, "source",
                                            row->source, "note", row->note));
    }
    return json_whole(list, failed);
}

/* ---- one device ---- */

/* "222..339 cycles by: L40 274..285 (RRZE gpu-benches), ...". */
static const char *sources_text(struct result *result, const struct device *dev, enum latency what)
{
    struct latency_range range = latency_of(dev->cc_major, dev->cc_minor, what);
    struct buf out = { 0 };
    const char *text;

    if (invented(dev, what))
        return result_text(result, "%d cycles, invented", invented(dev, what));
    buf_printf(&out, "%s %s:", range_text(result, range.least, range.most), latency_unit(what));
    for (size_t i = 0; i < LATENCY_ROW_COUNT; i++) {
        const struct latency_row *row = &LATENCY_ROWS[i];

        if (!is_about(row, dev, what))
            continue;
        if (range.sources > 1)
            buf_printf(&out, " %s", range_text(result, row->least, row->most));
        buf_printf(&out, " %s (%s%s%s),", row->measured_on, row->source, row->note ? "; " : "",
                   row->note ? row->note : "");
    }
    buf_cut(&out, out.size ? out.size - 1 : 0);
    text = result_text(result, "%s", buf_text(&out));
    buf_done(&out);
    return text;
}

static bool is_stated(const struct device *dev, enum latency what)
{
    return invented(dev, what) || latency_of(dev->cc_major, dev->cc_minor, what).sources;
}

/* "ex2, rcp", or NULL when all are known; *known: how many are. */
static const char *unknown_text(struct result *result, const struct device *dev, size_t *known)
{
    struct buf list = { 0 };
    const char *text = NULL;

    *known = 0;
    for (enum latency what = 0; what < LATENCY_COUNT; what++)
        if (is_stated(dev, what))
            *known += 1;
        else
            buf_printf(&list, "%s%s", list.size ? ", " : "", latency_name(what));
    if (list.size)
        text = result_text(result, "%s", buf_text(&list));
    buf_done(&list);
    return text;
}

void device_add_latencies(struct result *result, const struct device *dev)
{
    size_t known, row = 0;
    const char *unknown = unknown_text(result, dev, &known);
    struct view_block *block = view_add_facts(result, known + (unknown != NULL));

    for (enum latency what = 0; block && what < LATENCY_COUNT; what++) {
        if (!is_stated(dev, what))
            continue;
        block->names[row] = latency_name(what);
        block->texts[row++] = sources_text(result, dev, what);
    }
    if (block && unknown) {
        block->names[row] = "unknown";
        block->texts[row] = unknown;
    }
}

static void put_quantity(struct result *result, struct view_table *table, size_t row,
                         const struct device *dev, enum latency what)
{
    struct latency_range range = latency_of(dev->cc_major, dev->cc_minor, what);
    int own = invented(dev, what);

    view_cell(table, row, 0, latency_name(what));
    view_cell(table, row, 1, latency_text(what));
    view_cell(table, row, 2, range_text(result, own ? own : range.least, own ? own : range.most));
    view_cell(table, row, 3, latency_unit(what));
    view_cell(table, row, 4, own ? "invented" : result_text(result, "%zu", range.sources));
}

void device_add_latency_list(struct result *result, const struct device *dev)
{
    struct view_column columns[] = { { result_text(result, "on %s", dev->name), VIEW_LEFT },
                                     { "what it is", VIEW_LEFT },
                                     { "published", VIEW_RIGHT },
                                     { "", VIEW_LEFT },
                                     { "sources", VIEW_RIGHT } };
    size_t known, row = 0;
    const char *unknown = unknown_text(result, dev, &known);
    struct view_table *table = view_add_table(result, columns, COUNT(columns), known);

    for (enum latency what = 0; what < LATENCY_COUNT; what++)
        if (is_stated(dev, what))
            put_quantity(result, table, row++, dev, what);
    if (unknown) {
        struct view_block *block = view_add_facts(result, 1);

        if (block) {
            block->names[0] = "unknown";
            block->texts[0] = unknown;
        }
    }
}

/* ---- all of them ---- */

static const enum latency FEW[] = { LATENCY_FMA, LATENCY_DOUBLE, LATENCY_SHARED, LATENCY_L1,
                                    LATENCY_L2,  LATENCY_L2_FAR, LATENCY_MEMORY };
static const enum latency ARITHMETIC[] = { LATENCY_FMA,  LATENCY_INTEGER, LATENCY_INTEGER64,
                                           LATENCY_HALF, LATENCY_DOUBLE,  LATENCY_EX2,
                                           LATENCY_RCP };
static const enum latency MEMORY[] = { LATENCY_SHARED, LATENCY_L1,     LATENCY_L2,
                                       LATENCY_L2_FAR, LATENCY_MEMORY, LATENCY_CLUSTER };
static const enum latency WAITS[] = { LATENCY_MMA, LATENCY_WGMMA, LATENCY_BARRIER, LATENCY_ARRIVE,
                                      LATENCY_TRY_WAIT };
static const enum latency LANES[] = { LATENCY_INTEGER_LANES, LATENCY_DOUBLE_LANES,
                                      LATENCY_SPECIAL_LANES, LATENCY_TENSOR };
static const enum latency BYTES[] = { LATENCY_SHARED_BYTES, LATENCY_L1_BYTES, LATENCY_L2_BYTES,
                                      LATENCY_MEMORY_RATE };
enum { MOST_COLUMNS = 10 };

/* "special_lanes" stands on two lines of a head. */
static const char *title_text(struct result *result, enum latency what)
{
    char *title = (char *)result_text(result, "%s", latency_name(what));
    char *underscore = title ? strchr(title, '_') : NULL;

    if (underscore)
        *underscore = '\n';
    return title ? title : "";
}

static size_t count_capabilities(void)
{
    size_t n = 0;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        n += device_by_cc(DEVICES[i].cc_major, DEVICES[i].cc_minor) == &DEVICES[i] &&
             latency_is_known(DEVICES[i].cc_major, DEVICES[i].cc_minor);
    return n;
}

static void add_table(struct result *result, const struct device *current, const char *head,
                      const enum latency *list, size_t count)
{
    struct view_column *columns = arena_array(result->arena, MOST_COLUMNS, sizeof(*columns));
    struct view_table *table;
    size_t row = 0;

    if (!columns)
        return;
    columns[0] = (struct view_column){ head, VIEW_LEFT };
    for (size_t k = 0; k < count; k++)
        columns[k + 1] = (struct view_column){ title_text(result, list[k]), VIEW_RIGHT };
    table = view_add_table(result, columns, count + 1, count_capabilities());
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        const struct device *dev = &DEVICES[i];

        if (device_by_cc(dev->cc_major, dev->cc_minor) != dev ||
            !latency_is_known(dev->cc_major, dev->cc_minor))
            continue;
        view_cell(table, row, 0, dev->name);
        for (size_t k = 0; k < count; k++) {
            struct latency_range r = latency_of(dev->cc_major, dev->cc_minor, list[k]);

            view_cell(table, row, k + 1,
                      r.sources ? range_text(result, r.least, r.most) : "unknown");
        }
        if (dev->cc_major == current->cc_major && dev->cc_minor == current->cc_minor)
            view_mark(table, row);
        row++;
    }
}

void device_add_latency_table(struct result *result, const struct device *current, bool is_full)
{
    if (!is_full) {
        add_table(result, current, "cycles of", FEW, COUNT(FEW));
        return;
    }
    add_table(result, current, "cycles of", ARITHMETIC, COUNT(ARITHMETIC));
    add_table(result, current, "cycles of", MEMORY, COUNT(MEMORY));
    add_table(result, current, "cycles of", WAITS, COUNT(WAITS));
    add_table(result, current, "a cycle of", LANES, COUNT(LANES));
    add_table(result, current, "rates of", BYTES, COUNT(BYTES));
}

const char *device_costs_notice(struct result *result, const struct device *device)
{
    const struct costs *costs = costs_of(device);

    if (costs_are_own(device))
        return NULL;
    return result_text(result,
                       "the timing model has no cycles of cc %d.%d: those of %d.%d stand in, but "
                       "for its FP32 lanes",
                       device->cc_major, device->cc_minor, costs->cc_major, costs->cc_minor);
}
