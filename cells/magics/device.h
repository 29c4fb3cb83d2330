/*
 * What %device and %devices share: a device as fields and as words.
 */
#ifndef WB_CELLS_MAGICS_DEVICE_H
#define WB_CELLS_MAGICS_DEVICE_H

#include "cells/result.h"
#include "model/device.h"

/* Every limit by its name in struct device; unknown ones are null. New reference, or NULL. */
json_t *device_to_json(const struct device *dev);

/* "1,980", or "unknown" for 0; the result's arena. */
const char *device_number_text(struct result *result, double v);

#endif
