/*
 * %devices: the table of model/device.c for reading. What follows from the
 * compute capability stands once a capability, what is the product's once a
 * product.
 */
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/magics/device.h"
#include "cells/render/text.h"

static bool is_product(const struct device *dev)
{
    return strncmp(dev->name, "cc ", 3) != 0;
}

static const char *count(struct result *result, int64_t v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, (double)v));
}

static const char *cc_text(struct result *result, const struct device *dev)
{
    return result_text(result, "%d.%d", dev->cc_major, dev->cc_minor);
}

static void put_product(struct result *result, struct view_table *table, size_t row,
                        const struct device *dev)
{
    view_cell(table, row, 0, result_text(result, "%s", dev->name));
    view_cell(table, row, 1, cc_text(result, dev));
    view_cell(table, row, 2, device_number_text(result, dev->sms));
    view_cell(table, row, 3, device_number_text(result, (double)dev->sms * dev->fp32_lanes));
    view_cell(table, row, 4, device_number_text(result, dev->clock_mhz));
    view_cell(table, row, 5, device_number_text(result, dev->bandwidth_gbs));
    view_cell(table, row, 6, device_number_text(result, (double)dev->l2_bytes / (1024.0 * 1024)));
}

static void add_products(struct result *result, struct session *session)
{
    static const struct view_column columns[] = {
        { "device", VIEW_LEFT },      { "cc", VIEW_RIGHT },  { "SMs", VIEW_RIGHT },
        { "FP32 lanes", VIEW_RIGHT }, { "MHz", VIEW_RIGHT }, { "GB/s", VIEW_RIGHT },
        { "L2 MB", VIEW_RIGHT },
    };
    const struct device *current = &session_device(session)->device;
    size_t products = 0, made = session->made_count, row = 0;
    struct view_table *table;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        products += is_product(&DEVICES[i]);
    table = view_add_table(result, columns, COUNT(columns), products + made);
    for (size_t i = 0; i < DEVICE_COUNT + made; i++) {
        const struct device *dev =
            i < DEVICE_COUNT ? &DEVICES[i] : &session->made[i - DEVICE_COUNT].device;

        if (!is_product(dev))
            continue;
        put_product(result, table, row, dev);
        if (strcmp(dev->name, current->name) == 0)
            view_mark(table, row);
        row++;
    }
}

static const char *cluster_text(struct result *result, const struct device *dev)
{
    return dev->cluster_max ? count(result, dev->cluster_max) : "-";
}

static void add_capabilities(struct result *result, struct session *session)
{
    static const struct view_column columns[] = {
        { "an SM of", VIEW_LEFT },     { "warps", VIEW_RIGHT },
        { "blocks", VIEW_RIGHT },      { "registers\na block", VIEW_RIGHT },
        { "shared\nKB", VIEW_RIGHT },  { "a block\nKB", VIEW_RIGHT },
        { "kept\nbytes", VIEW_RIGHT }, { "sched-\nulers", VIEW_RIGHT },
        { "FP32\nlanes", VIEW_RIGHT }, { "cluster", VIEW_RIGHT },
    };
    const struct device *current = &session_device(session)->device;
    size_t rows = 0, row = 0;
    struct view_table *table;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        rows += !is_product(&DEVICES[i]);
    table = view_add_table(result, columns, COUNT(columns), rows);
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        const struct device *dev = &DEVICES[i];

        if (is_product(dev))
            continue;
        view_cell(table, row, 0, dev->name);
        view_cell(table, row, 1, count(result, dev->warps_per_sm));
        view_cell(table, row, 2, count(result, dev->blocks_per_sm));
        view_cell(table, row, 3, count(result, dev->registers_per_block));
        view_cell(table, row, 4, count(result, dev->shared_per_sm / 1024));
        view_cell(table, row, 5, count(result, dev->shared_per_block_optin / 1024));
        view_cell(table, row, 6, count(result, dev->shared_reserved));
        view_cell(table, row, 7, count(result, dev->partitions));
        view_cell(table, row, 8, count(result, dev->fp32_lanes));
        view_cell(table, row, 9, cluster_text(result, dev));
        if (dev->cc_major == current->cc_major && dev->cc_minor == current->cc_minor)
            view_mark(table, row);
        row++;
    }
}

static json_t *devices_json(struct session *session)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < DEVICE_COUNT; i++)
        failed |= json_array_append_new(list, device_to_json(&DEVICES[i]));
    for (size_t i = 0; i < session->made_count; i++)
        failed |= json_array_append_new(list, device_to_json(&session->made[i].device));
    return json_whole(list, failed);
}

static bool shows(const struct call *call, const char *what)
{
    return strcmp(call_text(call, "show"), what) == 0;
}

static void add_views(struct call *call, struct result *result, const struct device *dev)
{
    if (shows(call, "all") || shows(call, "limits")) {
        add_products(result, call->session);
        add_capabilities(result, call->session);
    }
    if (!shows(call, "limits"))
        device_add_latency_table(result, dev, shows(call, "published"));
    if (shows(call, "latency"))
        device_add_latency_list(result, dev);
    result->view.closing = shows(call, "latency") || shows(call, "published")
                               ? "Next: %device A100, then %device: each number with its source."
                               : "Next: %device L40S picks one; %devices show=latency has more.";
}

static int run(struct call *call, struct err *err)
{
    size_t products = 0, capabilities = 0;
    struct session_device device;
    struct result *result;

    if (call_device(call, &device, err) < 0)
        return -1;
    result = result_new("devices", 1);
    if (!result)
        return err_set(err, ERR_ResourceError, "out of memory");
    for (size_t i = 0; i < DEVICE_COUNT; i++)
        *(is_product(&DEVICES[i]) ? &products : &capabilities) += 1;
    if (json_object_set_new(result->fields, "devices", devices_json(call->session)) < 0 ||
        json_object_set_new(result->fields, "published", device_published_json()) < 0) {
        result_release(&result);
        return err_set(err, ERR_ResourceError, "out of memory");
    }
    result->view.answer =
        result_text(result, "%zu GPUs and %zu compute capabilities are known%s", products,
                    capabilities, call->session->made_count ? ", and what you made up." : ".");
    result->view.origin =
        result_text(result, "this session: %s; every SM has 65,536 registers, 255 a thread",
                    session_device(call->session)->device.name);
    add_views(call, result, &device.device);
    return call_take_result(call, result, err);
}

static const struct param PARAMS[] = {
    { .name = "show",
      .type = PARAM_CHOICE,
      .flags = PARAM_POSITIONAL,
      .preset = "all",
      .choices = "all limits latency published",
      .help = "limits; latency of one device; published: every capability's; all: limits and the "
              "latencies that decide most" },
    { .name = "device", .type = PARAM_DEVICE, .help = "of show=latency; without it the session's" },
};

static const struct field FIELDS[] = {
    { "devices", "", "one entry a device, as %device gives it" },
    { "published", "",
      "one entry a published number: quantity, unit, cc_major, cc_minor, least, most, "
      "measured_on, source, and a note or none" },
};

const struct magic MAGIC_DEVICES = {
    .name = "devices",
    .summary = "lists the GPUs and compute capabilities that the model knows",
    .about = "The limits of an SM follow from the compute capability; SMs, clock, bandwidth and "
             "cache are the product's. Latencies are as others measured them, with the least and "
             "the most where they differ. What no source states is shown as unknown.\n\n"
             "Where each column comes from: docs/devices.md.",
    .example = "%devices\n"
               "%devices show=latency device=A100",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
    .run = run,
};
