/*
 * How %device shows a device: its limits as words and as fields, a card's
 * attributes in the driver's own words.
 */
#include "cells/magics/device.h"

#include "cells/render/text.h"
#include "model/base/buf.h"

/* ---- words ---- */

static const char *number(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

const char *device_number_text(struct result *result, double v)
{
    return v > 0 ? number(result, v) : "unknown";
}

static const char *split_text(struct result *result, const struct device *dev)
{
    struct buf out = { 0 };
    const char *text;

    if (!dev->carveout_count)
        return "none: shared memory has a room of its own";
    for (int i = 0; i < dev->carveout_count; i++)
        buf_printf(&out, "%d ", dev->carveouts_kb[i]);
    text = result_text(result, "%sKB of shared memory, the rest is L1", buf_text(&out));
    buf_done(&out);
    return text;
}

static const char *cluster_text(struct result *result, const struct device *dev)
{
    if (!dev->cluster_max)
        return "none";
    if (dev->cluster_max == dev->cluster_portable)
        return result_text(result, "up to %d blocks", dev->cluster_max);
    return result_text(result, "up to %d blocks, %d when the kernel allows it",
                       dev->cluster_portable, dev->cluster_max);
}

static const char *lanes_text(struct result *result, const struct device *dev)
{
    int64_t lanes = (int64_t)dev->sms * dev->fp32_lanes;
    const char *held = result_text(result, "%s threads held for each",
                                   number(result, (double)dev->threads_per_sm / dev->fp32_lanes));

    if (!dev->sms)
        return result_text(result, "%d an SM; %s", dev->fp32_lanes, held);
    if (!dev->clock_mhz)
        return result_text(result, "%d an SM, %s in all; %s", dev->fp32_lanes,
                           number(result, (double)lanes), held);
    /* Two operations a lane and cycle: a fused multiply-add. */
    return result_text(result, "%d an SM, %s in all: %.1f TFLOP/s at most; %s", dev->fp32_lanes,
                       number(result, (double)lanes), (double)lanes * dev->clock_mhz * 2e-6, held);
}

/* The floor plan: what lies in each part of an SM. */
static const char *partitions_text(struct result *result, const struct device *dev)
{
    return result_text(
        result,
        "%d an SM, each with a scheduler that issues one instruction a cycle, %s KB of registers, "
        "%s FP32 lanes and room for %s warps",
        dev->partitions, number(result, 4.0 * dev->registers_per_sm / dev->partitions / 1024),
        number(result, (double)dev->fp32_lanes / dev->partitions),
        number(result, (double)dev->warps_per_sm / dev->partitions));
}

const char *device_answer_text(struct result *result, const struct device *dev)
{
    if (!dev->sms)
        return result_text(result,
                           "Device %s: an SM holds %d warps in at most %d blocks; SMs: unknown.",
                           dev->name, dev->warps_per_sm, dev->blocks_per_sm);
    return result_text(result,
                       "Device %s: %d SMs of %d warps hold %s threads; %d schedulers an SM.",
                       dev->name, dev->sms, dev->warps_per_sm,
                       number(result, (double)dev->sms * dev->threads_per_sm), dev->partitions);
}

void device_add_facts(struct result *result, const struct device *dev)
{
    const char *const rows[][2] = {
        { "SMs", device_number_text(result, dev->sms) },
        { "warps", result_text(result, "%d an SM = %s threads; %s threads a block",
                               dev->warps_per_sm, number(result, dev->threads_per_sm),
                               number(result, dev->threads_per_block)) },
        { "blocks", result_text(result, "%d an SM", dev->blocks_per_sm) },
        { "registers",
          result_text(result, "%s an SM, %s a block, %d a thread; in units of %d a warp",
                      number(result, dev->registers_per_sm),
                      number(result, dev->registers_per_block), dev->registers_per_thread,
                      dev->register_unit) },
        { "shared bytes",
          result_text(result,
                      "%s an SM; a block has %s, %s after opting in; units of %d, and %s of each "
                      "block kept by the system",
                      number(result, dev->shared_per_sm), number(result, dev->shared_per_block),
                      number(result, dev->shared_per_block_optin), dev->shared_unit,
                      number(result, dev->shared_reserved)) },
        { "cache split", split_text(result, dev) },
        { "partitions", partitions_text(result, dev) },
        { "FP32 lanes", lanes_text(result, dev) },
        { "clusters", cluster_text(result, dev) },
        { "clock MHz", device_number_text(result, dev->clock_mhz) },
        { "memory GB/s", device_number_text(result, dev->bandwidth_gbs) },
        { "L2 MB", device_number_text(result, (double)dev->l2_bytes / (1024.0 * 1024)) },
    };
    struct view_block *block = view_add_facts(result, COUNT(rows));

    for (size_t i = 0; block && i < COUNT(rows); i++) {
        block->names[i] = rows[i][0];
        block->texts[i] = rows[i][1];
    }
}

/* ---- fields ---- */

static json_t *known(double v)
{
    return v > 0 ? json_real(v) : json_null();
}

static json_t *known_count(int64_t v)
{
    return v > 0 ? json_integer(v) : json_null();
}

json_t *device_to_json(const struct device *dev)
{
    json_t *splits = json_array(), *object;
    int failed = 0;

    for (int i = 0; i < dev->carveout_count; i++)
        failed |= json_array_append_new(splits, json_integer(dev->carveouts_kb[i]));
    object = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, "
        "s:i, s:o}",
        "name", dev->name, "cc_major", dev->cc_major, "cc_minor", dev->cc_minor, "threads_per_sm",
        dev->threads_per_sm, "warps_per_sm", dev->warps_per_sm, "blocks_per_sm", dev->blocks_per_sm,
        "threads_per_block", dev->threads_per_block, "registers_per_sm", dev->registers_per_sm,
        "registers_per_block", dev->registers_per_block, "registers_per_thread",
        dev->registers_per_thread, "shared_per_sm", dev->shared_per_sm, "shared_per_block",
        dev->shared_per_block, "shared_per_block_optin", dev->shared_per_block_optin,
        "shared_reserved", dev->shared_reserved, "shared_unit", dev->shared_unit, "partitions",
        dev->partitions, "fp32_lanes", dev->fp32_lanes, "cluster_max", dev->cluster_max,
        "carveouts_kb", json_whole(splits, failed));
    failed = json_object_set_new(object, "sms", known_count(dev->sms));
    failed |= json_object_set_new(object, "clock_mhz", known_count(dev->clock_mhz));
    failed |= json_object_set_new(object, "bandwidth_gbs", known(dev->bandwidth_gbs));
    failed |= json_object_set_new(object, "l2_bytes", known_count(dev->l2_bytes));
    /* What follows, so that nobody need compute it: lanes and threads of the whole device. */
    failed |=
        json_object_set_new(object, "lanes", known_count((int64_t)dev->sms * dev->fp32_lanes));
    failed |= json_object_set_new(object, "threads",
                                  known_count((int64_t)dev->sms * dev->threads_per_sm));
    failed |= json_object_set_new(object, "threads_per_lane",
                                  json_real((double)dev->threads_per_sm / dev->fp32_lanes));
    failed |= json_object_set_new(object, "lanes_per_partition",
                                  json_integer(dev->fp32_lanes / dev->partitions));
    failed |= json_object_set_new(object, "register_bytes_per_partition",
                                  json_integer(4LL * dev->registers_per_sm / dev->partitions));
    return json_whole(object, failed);
}
