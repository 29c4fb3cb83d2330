/*
 * %device: the device that this session models, or the card that it runs on:
 * shows it, picks another one, or makes one up from it.
 */
#include "cells/magics/device.h"

#include "cells/device_file.h"
#include "cells/file.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "model/base/buf.h"

#include <ctype.h>

/* ---- names ---- */

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

/* ---- what the line and the file say ---- */

/* The changes of the file, then those of the line, which count where both name a limit. */
struct recipe {
    const char *path; /* of the file, or NULL */
    struct buf text;
    struct device_file file;
    struct device_change changes[DEVICE_KEY_COUNT];
    size_t count, from_file; /* the first so many stand in the file */
};

static void take_file_changes(const struct call *call, struct recipe *r)
{
    for (size_t i = 0; i < r->file.count; i++)
        if (!call_given(call, r->file.changes[i].key->name))
            r->changes[r->count++] = r->file.changes[i];
    r->from_file = r->count;
}

static void take_line_changes(const struct call *call, struct recipe *r)
{
    for (size_t i = 0; i < DEVICE_KEY_COUNT; i++) {
        const struct device_key *key = &DEVICE_KEY_ROWS[i];
        bool is_float = key->kind == DEVICE_MHZ || key->kind == DEVICE_GBS;

        if (call_given(call, key->name))
            r->changes[r->count++] = (struct device_change){
                .key = key,
                .value = is_float ? call_float(call, key->name) : (double)call_int(call, key->name),
            };
    }
}

static int read_recipe(const struct call *call, struct recipe *r, struct err *err)
{
    struct bytes text;

    r->path = call_text(call, "file");
    if (r->path) {
        if (file_read_plain(r->path, &r->text, err) < 0)
            return call_fail(call, "file", err, ERR_FileError, "%.60s cannot be read", r->path);
        text = (struct bytes){ buf_text(&r->text), r->text.size };
        if (device_file_read(call->arena, r->path, text, &r->file, err) < 0)
            return call_fail(call, "file", err, ERR_UsageError, "no device file");
        take_file_changes(call, r);
    }
    take_line_changes(call, r);
    return 0;
}

/* "my" for machines/my.device. */
static const char *stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return arena_copy(arena, name, strcspn(name, "."));
}

static int find_base(const struct call *call, const struct recipe *r, struct device *out,
                     struct err *err)
{
    const char *line = call_text(call, "from"), *name = line ? line : r->file.from;
    struct session_device base = *session_device(call->session);

    if (name && session_find_device(call->session, name, &base, err) < 0) {
        if (line)
            return call_fail(call, "from", err, ERR_NameError, "no such device");
        device_file_fail(r->path, (struct bytes){ buf_text(&r->text), r->text.size },
                         r->file.from_line, r->file.from_column, r->file.from_length, err);
        return call_fail(call, "file", err, ERR_NameError, "no such device");
    }
    *out = base.device;
    return 0;
}

/* Marks the change to blame where it was written: in the file, or on the line. */
static int mark(const struct call *call, const struct recipe *r, const struct device_change *wrong,
                struct err *err)
{
    if (!wrong)
        return call_fail(call, "name", err, ERR_ValueError, "no such device");
    if (wrong >= r->changes + r->from_file)
        return call_fail(call, wrong->key->name, err, ERR_ValueError, "no such device");
    device_file_fail(r->path, (struct bytes){ buf_text(&r->text), r->text.size }, wrong->line,
                     wrong->column, wrong->length, err);
    return call_fail(call, "file", err, ERR_ValueError, "no such device");
}

static int make_device(const struct call *call, const struct recipe *r, struct session_device *out,
                       struct err *err)
{
    const char *name = call_text(call, "name");
    const struct device_change *wrong;
    struct device base, dev;

    if (!name && r->path)
        name = r->file.name ? r->file.name : stem(call->arena, r->path);
    if (!name)
        return call_fail(call, NULL, err, ERR_UsageError,
                         "a made-up device needs a name: %%device toy threads=1536 blocks=4");
    if (check_name(call, name, err) < 0 || find_base(call, r, &base, err) < 0)
        return -1;
    if (device_make(&base, r->changes, r->count, &dev, &wrong, err) < 0)
        return mark(call, r, wrong, err);
    dev.name = name;
    dev.aliases = NULL;
    if (session_add_device(call->session, &dev, err) < 0)
        return -1;
    return session_find_device(call->session, name, out, err);
}

/* ---- the call ---- */

static int choose(const struct call *call, struct session_device *out, struct err *err)
{
    struct recipe r = { 0 };
    int rc = read_recipe(call, &r, err);

    if (rc == 0)
        rc = r.path || r.count || call_given(call, "from") ? make_device(call, &r, out, err)
                                                           : call_device(call, out, err);
    buf_done(&r.text);
    return rc;
}

static int save(const struct call *call, const struct device *dev, struct err *err)
{
    const char *path = call_text(call, "save");
    struct buf text = { 0 };
    int rc;

    if (!path)
        return 0;
    device_file_write(dev, &text);
    rc = text.is_failed ? err_set(err, ERR_ResourceError, "out of memory")
                        : file_write(path, (struct bytes){ buf_text(&text), text.size }, err);
    buf_done(&text);
    return rc < 0 ? call_fail(call, "save", err, ERR_FileError, "%.60s is not written", path) : 0;
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
    if (rc < 0 ||
        json_object_set_new(result->fields, "latencies", device_latencies_json(dev)) < 0 ||
        json_object_set_new(result->fields, "properties",
                            info ? device_properties_json(info) : json_null()) < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    result->view.answer = device_answer_text(result, dev);
    result->view.origin = device->is_gpu
                              ? result_text(result, "gpu:%d, cc %d.%d", device->gpu_index,
                                            dev->cc_major, dev->cc_minor)
                              : result_text(result, "model, cc %d.%d  %s", dev->cc_major,
                                            dev->cc_minor, call_parameters_text(call, "name"));
    if (info)
        device_add_attributes(result, info);
    else if (!is_pick)
        device_add_facts(result, dev);
    if (!is_pick)
        device_add_latencies(result, dev);
    device_add_plan(result, dev);
    if (call_given(call, "save"))
        result->view.closing =
            result_text(result, "Written: %.40s. Change it, then: %%device file=\"%.40s\"",
                        call_text(call, "save"), call_text(call, "save"));
    else if (is_pick && !info)
        result->view.closing = "From here on cells use it; %device shows its limits.";
    return call_take_result(call, result, err);
}

static int run(struct call *call, struct err *err)
{
    struct session_device device;
    bool is_pick = call_given(call, "name") || call_given(call, "file");

    if (choose(call, &device, err) < 0 || save(call, &device.device, err) < 0)
        return -1;
    if (is_pick)
        session_set_device(call->session, &device);
    return show(call, &device, is_pick, err);
}

/* ---- the row ---- */

#define TYPE_DEVICE_INT   PARAM_INT
#define TYPE_DEVICE_INT64 PARAM_INT
#define TYPE_DEVICE_MHZ   PARAM_FLOAT, .unit = NUMBER_HERTZ, .per_unit = 1e-6
#define TYPE_DEVICE_GBS   PARAM_FLOAT, .unit = NUMBER_RATE, .per_unit = 1e-9

static const struct param PARAMS[] = {
    { .name = "name",
      .type = PARAM_DEVICE,
      .flags = PARAM_POSITIONAL,
      .help = "L40S, \"RTX 4090\", cc=8.9, gpu, gpu:1, model, or a new name with limits" },
    { .name = "from",
      .type = PARAM_DEVICE,
      .help = "whose limits count where none is given; without it the session's device" },
    { .name = "file", .type = PARAM_TEXT, .help = "a text file of limits: name = value  # why" },
    { .name = "save", .type = PARAM_TEXT, .help = "writes the device into such a file" },
#define X(key, member, kind, least, most, text)                                                    \
    { .name = #key, .type = TYPE_##kind, .min = (least), .max = (most), .help = (text) },
    DEVICE_KEYS(X)
#undef X
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
    { "lanes", "lanes", "FP32 lanes of the whole device; null: unknown" },
    { "threads", "threads", "that the whole device holds; null: unknown" },
    { "threads_per_lane", "threads", "held for each FP32 lane" },
    { "lanes_per_partition", "lanes", "FP32 lanes of each scheduler's part of an SM" },
    { "register_bytes_per_partition", "bytes", "of the register file in each part" },
    { "properties", "",
      "of a card: every field of cudaDeviceProp by its name; dimensions are lists; null: modelled" },
    { "latencies", "",
      "latencies.fma, .shared, .l1, .l2, .memory and more: least, most, sources (how many; 0: made "
      "up); null: unknown" },
};

const struct magic MAGIC_DEVICE = {
    .name = "device",
    .summary = "shows, picks or makes up the device of this session",
    .about =
        "%device shows the session's device; %device L40S picks one from the table (%devices "
        "lists it), cc=8.9 a bare compute capability, gpu the card of this machine with what its "
        "driver says of it. Case, blanks, - and _ do not count. The figure is the floor plan of an "
        "SM: its partitions with scheduler, registers and lanes, and what they share.\n\n"
        "A new name with limits makes a device up, for textbook exercises: %device toy "
        "threads=1536 blocks=4. What is not given is as on the session's device, or as from= "
        "says. A text file does the same (file=\"my.device\"), one `name = value` a line with "
        "the names of the keys below, and # for comments; save=\"my.device\" writes one. "
        "Invented latencies count where a kernel is timed.\n\n"
        "Where the numbers come from: docs/devices.md.",
    .example = "%device L40S\n"
               "%device\n"
               "%device toy from=A100 threads=512 blocks=4 registers=16384",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
