/*
 * The roofline: operations a second that a device allows a kernel, by how many
 * operations it does for each byte that it moves.
 *
 * Source: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52 (2009).
 */
#ifndef WB_MODEL_ROOFLINE_H
#define WB_MODEL_ROOFLINE_H

#include "model/base/err.h"
#include "model/device.h"

#include <stdbool.h>

#define ROOFLINE_TYPES(X)                                                                          \
    X(FP32, "fp32", "single precision")                                                            \
    X(FP64, "fp64", "double precision")                                                            \
    X(FP16, "fp16", "half precision, outside the tensor cores")                                    \
    X(TENSOR, "tensor", "half precision on the tensor cores, dense")

enum roofline_type {
#define X(id, name, help) ROOFLINE_##id,
    ROOFLINE_TYPES(X)
#undef X
        ROOFLINE_TYPE_COUNT
};

/* The type of a name; -1: none. */
int roofline_type_find(const char *name);

/*
 * Operations a second at most, a multiply-add counting as two; 0: unknown (the rate of this type,
 * or the device's SMs or clock).
 *
 * Sources: fp32: the lanes of the device's row. fp64 and fp16: CUDA C++ Programming Guide, table
 * "Throughput of Native Arithmetic Instructions", for the capabilities that this project's notes
 * have it for. tensor: 4,096 operations a cycle of an SM of 9.0, dense half precision.
 */
double roofline_peak(const struct device *dev, enum roofline_type type);

struct roofline {
    double peak;      /* operations a second */
    double bandwidth; /* bytes a second */
};

struct roofline_point {
    double intensity;     /* operations a byte; infinite without bytes */
    double attainable;    /* operations a second */
    bool is_memory_bound; /* below the ridge, peak / bandwidth */
    double least_s;       /* seconds that the work takes at least */
};

/* ValueError: a roof or the work is not above 0, or there is neither an operation nor a byte. */
int roofline_at(const struct roofline *roof, double flops, double bytes, struct roofline_point *out,
                struct err *err) MUST_CHECK;

#endif
