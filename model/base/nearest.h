/*
 * Which known name a misspelt one was meant to be.
 */
#ifndef WB_MODEL_BASE_NEAREST_H
#define WB_MODEL_BASE_NEAREST_H

#include "model/base/base.h"

/* The nearest of several names, when one is near enough to be meant. Start with wanted alone. */
struct nearest {
    const char *wanted;
    const char *best; /* NULL: none is */
    int distance;
};

/*
 * Letters to add, drop, change or swap, case ignored; 0 when candidate begins with wanted (of three
 * letters or more), which is what people type; 99 when one of them is above 32 letters.
 */
int nearest_distance(const char *wanted, const char *candidate);

/* Offers a name; it is kept by pointer when it is nearer than those before. */
void nearest_try(struct nearest *nearest, const char *candidate);

#endif
