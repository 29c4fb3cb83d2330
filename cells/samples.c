/*
 * A median says what a repeat usually takes, the inter-quartile range how far
 * repeats lie apart: neither is moved by the one that something else delayed.
 */
#include "cells/samples.h"

#include "kernels/fields.h"

#include <stdlib.h>
#include <string.h>

double *samples_read(struct arena *arena, struct bytes record, unsigned tag, size_t *n)
{
    struct bytes data;
    double *copy;

    *n = 0;
    if (!fields_find(record, tag, 0, &data) || data.size < sizeof(double))
        return NULL;
    copy = arena_alloc(arena, data.size);
    if (!copy)
        return NULL;
    memcpy(copy, data.data, data.size);
    *n = data.size / sizeof(double);
    return copy;
}

static int compare_doubles(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

void samples_sort(double *samples, size_t n)
{
    qsort(samples, n, sizeof(*samples), compare_doubles);
}

double samples_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t low = (size_t)at;

    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}
