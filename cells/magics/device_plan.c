/*
 * The floor plan of an SM: what lies in each of its partitions, and what all of
 * them share. Every number is the device's own or a published one; what no
 * source states is drawn as unknown, with no mark.
 */
#include "cells/magics/device.h"

#include "cells/figure.h"
#include "cells/render/text.h"
#include "model/latency.h"

static const char *number(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

/* ---- lanes ---- */

struct lanes {
    const char *name;
    enum latency what;
    enum figure_tone tone;
};

static const struct lanes LANES[] = {
    { "INT32 lanes", LATENCY_INTEGER_LANES, TONE_STALLED_3 },
    { "FP64 lanes", LATENCY_DOUBLE_LANES, TONE_STALLED_4 },
    { "SFU lanes", LATENCY_SPECIAL_LANES, TONE_STALLED_2 },
};

/* Lanes of an SM. A source that measured says a little less than there are: the most counts. */
static int lanes_of(const struct device *dev, enum latency what)
{
    return (int)latency_of(dev->cc_major, dev->cc_minor, what).most;
}

/* 2 FP64 lanes for 4 partitions belong to none of them. */
static bool is_split(const struct device *dev, int lanes)
{
    return lanes % dev->partitions == 0;
}

static struct figure_thing lanes_thing(struct result *result, const struct device *dev,
                                       const char *name, int lanes, enum figure_tone tone)
{
    struct figure_thing thing = { .name = name, .tone = tone, .note = "unknown" };

    if (!lanes)
        return thing;
    thing.note = number(result, (double)lanes / dev->partitions);
    thing.marks = is_split(dev, lanes) ? (size_t)(lanes / dev->partitions) : 0;
    return thing;
}

/* ---- of each partition ---- */

static struct figure_thing tensor_thing(struct result *result, const struct device *dev)
{
    int rate = lanes_of(dev, LATENCY_TENSOR);

    return (struct figure_thing){
        .name = "tensor cores",
        .note = rate ? result_text(result, "%s FLOP/cycle",
                                   number(result, (double)rate / dev->partitions))
                     : "rate unknown",
    };
}

static size_t put_partition(struct result *result, const struct device *dev,
                            struct figure_thing *out)
{
    double warps = (double)dev->warps_per_sm / dev->partitions;
    double registers = (double)dev->registers_per_sm / dev->partitions;
    size_t n = 0;

    out[n++] = (struct figure_thing){
        .name = "room for warps",
        .note = number(result, warps),
        .marks = dev->warps_per_sm % dev->partitions ? 0 : (size_t)warps,
        .tone = TONE_STALLED,
    };
    out[n++] = (struct figure_thing){
        .name = "scheduler", .note = "1 a cycle", .marks = 1, .tone = TONE_SELECTED
    };
    out[n++] = (struct figure_thing){
        .name = "registers",
        .note = result_text(result, "%s KB", number(result, 4 * registers / 1024)),
    };
    out[n++] = lanes_thing(result, dev, "FP32 lanes", dev->fp32_lanes, TONE_NOT_SELECTED);
    for (size_t i = 0; i < COUNT(LANES); i++)
        if (is_split(dev, lanes_of(dev, LANES[i].what)))
            out[n++] = lanes_thing(result, dev, LANES[i].name, lanes_of(dev, LANES[i].what),
                                   LANES[i].tone);
    /* Source: CUDA Programming Guide, "Compute Capabilities": tensor cores come with 7.0. */
    if (dev->cc_major >= 7)
        out[n++] = tensor_thing(result, dev);
    return n;
}

/* ---- of all together ---- */

static struct figure_thing cache_thing(struct result *result, const struct device *dev)
{
    const char *shared = number(result, dev->shared_per_sm / 1024.0);
    const char *block = number(result, dev->shared_per_block_optin / 1024.0);

    if (!dev->carveout_count)
        return (struct figure_thing){
            .name = "shared memory",
            .note = result_text(result,
                                "%s KB, %s KB a block; the L1 cache is apart, its size "
                                "unknown",
                                shared, block),
        };
    return (struct figure_thing){
        .name = "L1 cache and shared memory",
        .note =
            result_text(result, "up to %s KB shared, %s KB a block; the rest is L1", shared, block),
    };
}

static size_t put_shared(struct result *result, const struct device *dev, struct figure_thing *out)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(LANES); i++) {
        int lanes = lanes_of(dev, LANES[i].what);

        if (!is_split(dev, lanes))
            out[n++] = (struct figure_thing){
                .name = LANES[i].name,
                .note = result_text(result, "%d of the whole SM", lanes),
                .marks = (size_t)lanes,
                .tone = LANES[i].tone,
            };
    }
    out[n++] = cache_thing(result, dev);
    return n;
}

/* ---- the figure ---- */

static const char *conclusion_text(struct result *result, const struct device *dev)
{
    const char *registers = number(result, dev->registers_per_sm);
    double kb = 4.0 * dev->registers_per_sm / 1024;

    return result_text(
        result,
        "An SM of %s has %d partitions of 1 scheduler, %s KB of registers, %s FP32 lanes and room "
        "for %s warps.\n"
        "  registers   %d x %s KB = %s KB = %s of 32 bits\n"
        "  FP32 lanes  %d x %s = %d\n"
        "  warps       %d x %s = %d = %s threads, in at most %d blocks",
        dev->name, dev->partitions, number(result, kb / dev->partitions),
        number(result, (double)dev->fp32_lanes / dev->partitions),
        number(result, (double)dev->warps_per_sm / dev->partitions), dev->partitions,
        number(result, kb / dev->partitions), number(result, kb), registers, dev->partitions,
        number(result, (double)dev->fp32_lanes / dev->partitions), dev->fp32_lanes, dev->partitions,
        number(result, (double)dev->warps_per_sm / dev->partitions), dev->warps_per_sm,
        number(result, dev->threads_per_sm), dev->blocks_per_sm);
}

void device_add_plan(struct result *result, const struct device *dev)
{
    struct figure_thing things[4 + COUNT(LANES) + 1], shared[COUNT(LANES) + 1];
    struct figure_plan plan = { .part = "partition",
                                .part_count = (size_t)dev->partitions,
                                .things = things,
                                .shared = shared };
    struct figure *figure =
        figure_new(result, result_text(result, "Floor plan of an SM: %s", dev->name),
                   result_text(result,
                               "%d partitions side by side, each with its warps, scheduler, "
                               "registers and lanes; below them what they share",
                               dev->partitions),
                   conclusion_text(result, dev));

    plan.thing_count = put_partition(result, dev, things);
    plan.shared_count = put_shared(result, dev, shared);
    figure_add_plan(figure, NULL, &plan);
}
