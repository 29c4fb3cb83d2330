/*
 * What the driver says of a card, field by field in cudaDeviceProp's words: a table a group,
 * and one object in which a field is found by its name.
 */
#include "cells/magics/device.h"
#include "cells/render/text.h"

static const char *value_text(struct result *result, const struct gpu_attribute *a)
{
    char number[TEXT_NUMBER];
    const char *text = "";

    if (strcmp(a->unit, "flag") == 0)
        return a->values[0] ? "yes" : "no";
    for (int i = 0; i < a->value_count; i++)
        text = result_text(result, "%s%s%s", text, i ? " x " : "",
                           text_number(number, (double)a->values[i]));
    return text;
}

/* Rows of the group that begins at row `at`. */
static size_t group_size(const struct gpu_info *info, size_t at)
{
    size_t n = 0;

    while (at + n < info->attribute_count &&
           strcmp(info->attributes[at + n].group, info->attributes[at].group) == 0)
        n++;
    return n;
}

/* Columns are the result's: their titles differ by group. */
static void add_group(struct result *result, const struct gpu_attribute *rows, size_t count)
{
    const struct view_column columns[] = { { result_text(result, "%s", rows->group), VIEW_LEFT },
                                           { "", VIEW_RIGHT },
                                           { "", VIEW_LEFT } };
    struct view_table *table = view_add_table(result, columns, COUNT(columns), count);

    for (size_t i = 0; i < count; i++) {
        view_cell(table, i, 0, result_text(result, "%s", rows[i].name));
        view_cell(table, i, 1, value_text(result, &rows[i]));
        if (strcmp(rows[i].unit, "flag") != 0)
            view_cell(table, i, 2, result_text(result, "%s", rows[i].unit));
    }
}

static void add_card(struct result *result, const struct gpu_info *info)
{
    char bytes[TEXT_NUMBER];

    view_fact(result, "uuid", result_text(result, "%s", info->uuid));
    view_fact(result, "totalGlobalMem",
              result_text(result, "%s bytes", text_number(bytes, (double)info->memory_bytes)));
    view_fact(result, "driver",
              result_text(result, "for CUDA %d.%d", info->driver_version / 1000,
                          info->driver_version % 1000 / 10));
}

void device_add_attributes(struct result *result, const struct gpu_info *info)
{
    add_card(result, info);
    for (size_t at = 0; at < info->attribute_count; at += group_size(info, at))
        add_group(result, &info->attributes[at], group_size(info, at));
}

static json_t *value_json(const struct gpu_attribute *a)
{
    json_t *list;
    int failed = 0;

    if (a->value_count == 1)
        return json_integer(a->values[0]);
    list = json_array();
    for (int i = 0; i < a->value_count; i++)
        failed |= json_array_append_new(list, json_integer(a->values[i]));
    return json_whole(list, failed);
}

json_t *device_properties_json(const struct gpu_info *info)
{
    json_t *object = json_pack("{s:s, s:I, s:i}", "uuid", info->uuid, "totalGlobalMem",
                               (json_int_t)info->memory_bytes, "driver", info->driver_version);
    int failed = 0;

    for (size_t i = 0; i < info->attribute_count; i++)
        failed |=
            json_object_set_new(object, info->attributes[i].name, value_json(&info->attributes[i]));
    return json_whole(object, failed);
}
