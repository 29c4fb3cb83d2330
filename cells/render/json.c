/*
 * The fields are JSON already, and json_number has made every number finite;
 * what is left is the order, so that the same result is the same bytes.
 */
#include "cells/render/json.h"

static const char *const HEAD[] = { "kind", "schema", "device", "input" };

json_t *json_of_result(const struct result *result)
{
    json_t *out = json_object(), *value;
    const char *key;
    bool is_whole = out != NULL;
    size_t i;

    for (i = 0; i < COUNT(HEAD); i++) {
        value = json_object_get(result->fields, HEAD[i]);
        if (value)
            is_whole &= json_object_set(out, HEAD[i], value) == 0;
    }
    json_object_foreach(result->fields, key, value) is_whole &=
        json_object_set(out, key, value) == 0;
    if (!is_whole) {
        json_decref(out);
        return NULL;
    }
    return out;
}
