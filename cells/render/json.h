/*
 * A result for machines: the value of application/vnd.warpbook.v1+json.
 * docs/result.schema.json describes it.
 */
#ifndef WB_CELLS_RENDER_JSON_H
#define WB_CELLS_RENDER_JSON_H

#include "cells/result.h"

#define JSON_MIME "application/vnd.warpbook.v1+json"

/*
 * The fields of a result: kind, schema, device and input first, then the magic's own in
 * its order. A new object that shares its values with the result; NULL when out of memory.
 */
json_t *json_of_result(const struct result *result);

#endif
