/*
 * What %device and %devices share: a device and its latencies as fields and as
 * words.
 */
#ifndef WB_CELLS_MAGICS_DEVICE_H
#define WB_CELLS_MAGICS_DEVICE_H

#include "cells/gpus.h"
#include "cells/result.h"
#include "model/device.h"

/* ---- device_view.c ---- */

/* Every limit by its name in struct device; unknown ones are null. New reference, or NULL. */
json_t *device_to_json(const struct device *dev);

/* "1,980", or "unknown" for 0; the result's arena. */
const char *device_number_text(struct result *result, double v);

/* "Device L40S: 142 SMs of 48 warps ...": line 1 of %device. */
const char *device_answer_text(struct result *result, const struct device *dev);

/* The limits, one a line. */
void device_add_facts(struct result *result, const struct device *dev);

/* ---- device_card.c ---- */

/* What the driver says of the card, in cudaDeviceProp's words, a table a group. */
void device_add_attributes(struct result *result, const struct gpu_info *info);

/* The same by name: numbers, and lists for dimensions. New reference, or NULL. */
json_t *device_properties_json(const struct gpu_info *info);

/* ---- device_plan.c ---- */

/* The figure: the floor plan of one SM. */
void device_add_plan(struct result *result, const struct device *dev);

/* ---- device_latency.c ---- */

/*
 * Each quantity of model/latency.h by its name, as published for the device's compute
 * capability: {least, most, sources}, sources 0 when it is made up; null: unknown. New reference,
 * or NULL.
 */
json_t *device_latencies_json(const struct device *dev);

/* Every row of model/latency.h. New reference, or NULL. */
json_t *device_published_json(void);

/* One line a quantity with its sources; those that nobody states stand together at the end. */
void device_add_latencies(struct result *result, const struct device *dev);

/* What each quantity is, as published for the device's compute capability; the unknown ones last.
 */
void device_add_latency_list(struct result *result, const struct device *dev);

/* One row a compute capability: the few latencies that decide most, or all that is known. */
void device_add_latency_table(struct result *result, const struct device *current, bool is_full);

/*
 * What to say where a device's cycles are another's: "no cycles are known of cc 6.1: those of
 * cc 7.0 stand in, but for its FP32 lanes". In the result's arena; NULL: they are its own.
 */
const char *device_costs_notice(struct result *result, const struct device *device);

#endif
