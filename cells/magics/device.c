/*
 * %device: the device that this session models, or the card that it runs on:
 * shows it, picks another one, or makes one up from it.
 */
#include "cells/magics/device.h"

#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/render/text.h"
#include "model/base/buf.h"

#include <ctype.h>

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

    if (!dev->sms)
        return result_text(result, "%d an SM", dev->fp32_lanes);
    if (!dev->clock_mhz)
        return result_text(result, "%d an SM, %s in all", dev->fp32_lanes,
                           number(result, (double)lanes));
    /* Two operations a lane and cycle: a fused multiply-add. */
    return result_text(result, "%d an SM, %s in all: %.1f TFLOP/s at most", dev->fp32_lanes,
                       number(result, (double)lanes), (double)lanes * dev->clock_mhz * 2e-6);
}

static const char *answer_text(struct result *result, const struct device *dev)
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

static void add_facts(struct result *result, const struct device *dev)
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
        { "schedulers",
          result_text(result, "%d an SM, each issues one instruction a cycle", dev->partitions) },
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

/* What the driver says of the card, in cudaDeviceProp's words. */
static void add_attributes(struct result *result, const struct gpu_info *info)
{
    const struct view_column columns[] = { { "cudaDeviceProp", VIEW_LEFT },
                                           { "", VIEW_RIGHT },
                                           { "", VIEW_LEFT } };
    struct view_table *table =
        view_add_table(result, columns, COUNT(columns), info->attribute_count);

    for (size_t i = 0; i < info->attribute_count; i++) {
        const struct gpu_attribute *a = &info->attributes[i];

        view_cell(table, i, 0, result_text(result, "%s", a->name));
        view_cell(table, i, 1, number(result, (double)a->value));
        view_cell(table, i, 2, result_text(result, "%s", a->unit));
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
    return json_whole(object, failed);
}

/* ---- making one up ---- */

/* A made-up SM has no other splits of its cache than what its shared memory allows. */
static void fit_splits(struct device *dev)
{
    int count = 0;

    while (count < dev->carveout_count && dev->carveouts_kb[count] * 1024 < dev->shared_per_sm)
        count++;
    if (!dev->carveout_count)
        return;
    if (count == DEVICE_MAX_CARVEOUTS)
        count--;
    dev->carveouts_kb[count] = dev->shared_per_sm / 1024;
    dev->carveout_count = count + 1;
}

static int check_name(const struct call *call, const char *name, struct err *err)
{
    bool is_name = isalpha((unsigned char)name[0]) && strlen(name) <= 40;

    for (const char *p = name; *p; p++)
        is_name &= isalnum((unsigned char)*p) || strchr(" _-.", *p);
    if (!is_name)
        return call_fail(call, "name", err, ERR_ValueError,
                         "%.50s: a device's name starts with a letter and has letters, digits, "
                         "blanks, _ - and . (40 at most)",
                         name);
    if (device_find(name) || strncasecmp(name, "gpu", 3) == 0 || strcasecmp(name, "model") == 0)
        return call_fail(call, "name", err, ERR_ValueError,
                         "%s is a device already: give the made-up one another name", name);
    return 0;
}

/* Which key of the line sets which limit. */
static const struct limit {
    const char *key;
    size_t offset;
} LIMITS[] = {
    { "threads", offsetof(struct device, threads_per_sm) },
    { "blocks", offsetof(struct device, blocks_per_sm) },
    { "registers", offsetof(struct device, registers_per_sm) },
    { "shared", offsetof(struct device, shared_per_sm) },
    { "block_shared", offsetof(struct device, shared_per_block_optin) },
    { "reserved", offsetof(struct device, shared_reserved) },
    { "partitions", offsetof(struct device, partitions) },
    { "fp32", offsetof(struct device, fp32_lanes) },
    { "sms", offsetof(struct device, sms) },
    { "clock", offsetof(struct device, clock_mhz) },
    { "cluster", offsetof(struct device, cluster_max) },
};

static bool has_limits(const struct call *call)
{
    for (size_t i = 0; i < COUNT(LIMITS); i++)
        if (call_given(call, LIMITS[i].key))
            return true;
    return false;
}

/* What follows from the limits that were given, unless it was given too. */
static void derive(const struct call *call, struct device *dev)
{
    int room = dev->shared_per_sm - dev->shared_reserved;

    dev->warps_per_sm = dev->threads_per_sm / WARP;
    if (!call_given(call, "block_shared") && dev->shared_per_block_optin > room)
        dev->shared_per_block_optin = room;
    dev->shared_per_block = (int)min_i64(dev->shared_per_block, dev->shared_per_block_optin);
    dev->static_shared_per_block =
        (int)min_i64(dev->static_shared_per_block, dev->shared_per_block_optin);
    dev->registers_per_block = (int)min_i64(dev->registers_per_block, dev->registers_per_sm);
    dev->cluster_portable =
        (int)min_i64(dev->cluster_portable ? dev->cluster_portable : 8, dev->cluster_max);
    if (call_given(call, "shared"))
        fit_splits(dev);
}

/* Puts the caret at the key whose limit the error names ("blocks=0: ..."). */
static int mark_limit(const struct call *call, struct err *err)
{
    for (size_t i = 0; i < COUNT(LIMITS); i++)
        if (bytes_equal((struct bytes){ err->text, strcspn(err->text, "=") }, LIMITS[i].key))
            return call_fail(call, LIMITS[i].key, err, ERR_ValueError, "no such device");
    return call_fail(call, "name", err, ERR_ValueError, "no such device");
}

static int make_device(const struct call *call, const char *name, struct session_device *out,
                       struct err *err)
{
    struct device dev = session_device(call->session)->device;

    if (check_name(call, name, err) < 0)
        return -1;
    dev.name = name;
    dev.aliases = NULL;
    for (size_t i = 0; i < COUNT(LIMITS); i++)
        if (call_given(call, LIMITS[i].key))
            *(int *)((char *)&dev + LIMITS[i].offset) = (int)call_int(call, LIMITS[i].key);
    if (dev.threads_per_sm % WARP)
        return call_fail(call, "threads", err, ERR_ValueError,
                         "threads=%d: an SM holds whole warps, a multiple of %d threads",
                         dev.threads_per_sm, WARP);
    derive(call, &dev);
    if (device_check(&dev, err) < 0)
        return mark_limit(call, err);
    if (session_add_device(call->session, &dev, err) < 0)
        return -1;
    return session_find_device(call->session, name, out, err);
}

/* ---- the call ---- */

static int choose(const struct call *call, struct session_device *out, struct err *err)
{
    const char *name = call_text(call, "name");

    if (has_limits(call)) {
        if (!name)
            return call_fail(call, NULL, err, ERR_UsageError,
                             "a made-up device needs a name: %%device toy threads=1536 blocks=4");
        return make_device(call, name, out, err);
    }
    return call_device(call, out, err);
}

static int show(struct call *call, const struct session_device *device, bool is_pick,
                struct err *err)
{
    const struct device *dev = &device->device;
    struct result *result = result_new("device", 1);
    const struct gpu_info *info = NULL;
    json_t *fields;
    int rc;

    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (device->is_gpu &&
        workers_gpu_info(session_workers(call->session), device->gpu_index, &info, err) < 0) {
        result_release(&result);
        return -1;
    }
    fields = device_to_json(dev);
    rc = json_object_update(result->fields, fields);
    json_decref(fields);
    if (rc < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    result->view.answer = answer_text(result, dev);
    result->view.origin =
        device->is_gpu ? result_text(result, "gpu:%d, cc %d.%d", device->gpu_index, dev->cc_major,
                                     dev->cc_minor)
                       : result_text(result, "model, cc %d.%d", dev->cc_major, dev->cc_minor);
    if (info)
        add_attributes(result, info);
    else if (!is_pick)
        add_facts(result, dev);
    if (is_pick && !info)
        result->view.closing = "From here on cells use it; %device shows its limits.";
    return call_take_result(call, result, err);
}

static int run(struct call *call, struct err *err)
{
    struct session_device device;
    bool is_pick = call_text(call, "name") != NULL;

    if (choose(call, &device, err) < 0)
        return -1;
    if (is_pick)
        session_set_device(call->session, &device);
    return show(call, &device, is_pick, err);
}

/* ---- the row ---- */

#define LIMIT(key, least, most, text)                                                              \
    {                                                                                              \
        .name = (key), .type = PARAM_INT, .min = (least), .max = (most), .help = (text)            \
    }

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_DEVICE,
      .flags = PARAM_POSITIONAL,
      .help = "L40S, \"RTX 4090\", cc=8.9, gpu, gpu:1, model, or a new name with limits" },
    LIMIT("threads", WARP, 256 * WARP, "threads of an SM, a multiple of 32"),
    LIMIT("blocks", 1, 256, "blocks of an SM"),
    LIMIT("registers", 16, 1 << 20, "registers of an SM"),
    LIMIT("shared", 1024, 1 << 24, "shared bytes of an SM"),
    LIMIT("block_shared", 1, 1 << 24, "shared bytes of a block, after opting in"),
    LIMIT("reserved", 0, 1 << 20, "bytes that the system keeps of each block"),
    LIMIT("partitions", 1, 16, "warp schedulers of an SM"),
    LIMIT("fp32", 1, 1024, "FP32 lanes of an SM"),
    LIMIT("sms", 1, 1024, "SMs of the device"),
    LIMIT("clock", 1, 100000, "MHz"),
    LIMIT("cluster", 0, 64, "blocks of the largest cluster; 0: none"),
};

static const struct field FIELDS[] = {
    { "sms", "SMs", "null: unknown" },
    { "warps_per_sm", "warps", "that an SM holds" },
    { "threads_per_sm", "threads", "that an SM holds" },
    { "blocks_per_sm", "blocks", "that an SM holds" },
    { "registers_per_sm", "registers", "32 bits each" },
    { "shared_per_sm", "bytes", "shared memory of an SM" },
    { "shared_per_block_optin", "bytes", "most shared memory of a block, after opting in" },
    { "partitions", "", "warp schedulers of an SM" },
    { "fp32_lanes", "lanes", "of an SM" },
    { "clock_mhz", "MHz", "null: unknown" },
    { "bandwidth_gbs", "GB/s", "null: unknown" },
    { "l2_bytes", "bytes", "null: unknown" },
};

const struct magic MAGIC_DEVICE = {
    .name = "device",
    .summary = "shows, picks or makes up the device of this session",
    .about =
        "%device shows the session's device; %device L40S picks one from the table (%devices "
        "lists it), cc=8.9 a bare compute capability, gpu the card of this machine with what its "
        "driver says of it. A new name with limits makes one up from the current device: "
        "%device toy threads=1536 blocks=4. Case, blanks, - and _ do not count.\n\n"
        "Where the numbers come from: docs/devices.md.",
    .example = "%device L40S\n"
               "%device\n"
               "%device toy threads=512 blocks=4 registers=16384",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
