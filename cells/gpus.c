/*
 * The model's row for the card's compute capability gives the limits that no
 * attribute states (allocation units, carveouts); the card gives what the product
 * decides: processors, clock, cache.
 */
#include "cells/gpus.h"

#include "kernels/launch.h"

static int no_memory(struct err *err)
{
    return err_set(err, ERR_ResourceError, "out of memory for the list of cards");
}

static const char *text_of(struct arena *arena, struct bytes record, unsigned tag)
{
    struct bytes text = { "", 0 };

    fields_find(record, tag, 0, &text);
    return arena_copy(arena, text.data, text.size);
}

static int read_attribute(struct arena *arena, struct bytes record, struct gpu_attribute *out)
{
    struct field_reader reader = { record, false };
    struct field_item item;

    out->group = text_of(arena, record, TAG_GROUP);
    out->name = text_of(arena, record, TAG_NAME);
    out->unit = text_of(arena, record, TAG_UNIT);
    while (fields_next(&reader, &item) && out->value_count < (int)COUNT(out->values))
        if (item.tag == TAG_VALUE && item.data.size == sizeof(int64_t))
            memcpy(&out->values[out->value_count++], item.data.data, sizeof(int64_t));
    return out->group && out->name && out->unit ? 0 : -1;
}

static int read_attributes(struct arena *arena, struct bytes card, struct gpu_info *out,
                           struct err *err)
{
    struct gpu_attribute *list;
    struct bytes record;
    size_t n = 0;

    while (fields_find(card, TAG_ATTRIBUTE, n, &record))
        n++;
    list = arena_array(arena, n, sizeof(*list));
    if (!list)
        return no_memory(err);
    for (size_t i = 0; i < n && fields_find(card, TAG_ATTRIBUTE, i, &record); i++)
        if (read_attribute(arena, record, &list[i]) < 0)
            return no_memory(err);
    out->attributes = list;
    out->attribute_count = n;
    return 0;
}

int64_t gpu_info_number(const struct gpu_info *gpu, const char *name)
{
    for (size_t i = 0; i < gpu->attribute_count; i++)
        if (strcmp(gpu->attributes[i].name, name) == 0)
            return gpu->attributes[i].values[0];
    return 0;
}

double gpu_info_bandwidth_gbs(const struct gpu_info *gpu)
{
    double khz = (double)gpu_info_number(gpu, "memoryClockRate");

    return 2 * khz * (double)gpu_info_number(gpu, "memoryBusWidth") / 8 / 1e6;
}

/* "NVIDIA H200" is the model's H200: the row that names the same product, if there is one. */
static const struct device *limits_of(const struct gpu_info *gpu, const char *name)
{
    const struct device *row;
    const char *word = strncmp(name, "NVIDIA ", 7) == 0 ? name + 7 : name;
    int major = (int)gpu_info_number(gpu, "major");
    int minor = (int)gpu_info_number(gpu, "minor");

    row = device_find(word);
    if (row && row->cc_major == major && row->cc_minor == minor)
        return row;
    return device_by_cc(major, minor);
}

static int read_card(struct arena *arena, struct bytes record, int driver, struct gpu_info *out,
                     struct err *err)
{
    const char *name = text_of(arena, record, TAG_NAME);
    const struct device *row;

    if (!name || read_attributes(arena, record, out, err) < 0)
        return no_memory(err);
    out->uuid = text_of(arena, record, TAG_UUID);
    out->driver_version = driver;
    out->memory_bytes = fields_int(record, TAG_MEMORY_BYTES, 0);
    row = limits_of(out, name);
    if (row)
        out->device = *row;
    out->device.name = strncmp(name, "NVIDIA ", 7) == 0 ? name + 7 : name;
    out->device.cc_major = (int)gpu_info_number(out, "major");
    out->device.cc_minor = (int)gpu_info_number(out, "minor");
    out->device.sms = (int)gpu_info_number(out, "multiProcessorCount");
    out->device.clock_mhz = (int)(gpu_info_number(out, "clockRate") / 1000);
    out->device.l2_bytes = gpu_info_number(out, "l2CacheSize");
    return out->uuid ? 0 : no_memory(err);
}

int gpu_list_read(struct gpu_list *list, struct bytes answer, struct err *err)
{
    struct gpu_list l = { .arena = arena_new(0) };
    struct bytes record;
    int rc = 0, driver = (int)fields_int(answer, TAG_DRIVER, 0);

    while (fields_find(answer, TAG_CARD, l.count, &record))
        l.count++;
    l.items = l.arena ? arena_array(l.arena, l.count, sizeof(*l.items)) : NULL;
    if (!l.items)
        rc = no_memory(err);
    for (size_t i = 0; rc == 0 && i < l.count && fields_find(answer, TAG_CARD, i, &record); i++)
        rc = read_card(l.arena, record, driver, &l.items[i], err);
    if (rc < 0) {
        gpu_list_done(&l);
        return -1;
    }
    l.is_known = true;
    *list = l;
    return 0;
}

int gpu_list_at(const struct gpu_list *list, int index, const struct gpu_info **out,
                struct err *err)
{
    if (index < 0 || (size_t)index >= list->count)
        return err_set(err, ERR_DeviceError, "gpu:%d: this machine has %zu GPU%s", index,
                       list->count, list->count == 1 ? "" : "s");
    if (list->items[index].device.threads_per_sm == 0)
        return err_set(err, ERR_DeviceError,
                       "gpu:%d: the limits of compute capability %d.%d are not in the table", index,
                       list->items[index].device.cc_major, list->items[index].device.cc_minor);
    *out = &list->items[index];
    return 0;
}

void gpu_list_done(struct gpu_list *list)
{
    arena_free(&list->arena);
    *list = (struct gpu_list){ .count = 0 };
}
