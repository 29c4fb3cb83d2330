/*
 * A kernel has operations to do and bytes to move, and a device does both at the
 * same time, each at its rate: whichever takes longer decides.
 */
#include "model/roofline.h"

#include <math.h>

static const char *const TYPE_NAMES[] = {
#define X(id, name, help) name,
    ROOFLINE_TYPES(X)
#undef X
};

/* Multiply-adds a cycle and SM, from one compute capability up to another; 0: unknown. */
static const struct {
    int from, to; /* major x 10 + minor */
    int fp64, fp16, tensor;
} RATES[] = {
    { 50, 52, 4, 0, 0 },   { 53, 53, 4, 256, 0 },   { 60, 60, 32, 128, 0 }, { 61, 61, 4, 2, 0 },
    { 62, 62, 4, 256, 0 }, { 70, 72, 32, 128, 0 },  { 75, 75, 2, 128, 0 },  { 80, 80, 32, 0, 0 },
    { 86, 89, 2, 0, 0 },   { 90, 90, 64, 0, 2048 },
};

int roofline_type_find(const char *name)
{
    for (int i = 0; i < ROOFLINE_TYPE_COUNT; i++)
        if (strcmp(TYPE_NAMES[i], name) == 0)
            return i;
    return -1;
}

static int rate_of(const struct device *dev, enum roofline_type type)
{
    int cc = dev->cc_major * 10 + dev->cc_minor;

    if (type == ROOFLINE_FP32)
        return dev->fp32_lanes;
    for (size_t i = 0; i < COUNT(RATES); i++)
        if (cc >= RATES[i].from && cc <= RATES[i].to)
            return type == ROOFLINE_FP64   ? RATES[i].fp64
                   : type == ROOFLINE_FP16 ? RATES[i].fp16
                                           : RATES[i].tensor;
    return 0;
}

double roofline_peak(const struct device *dev, enum roofline_type type)
{
    return 2.0 * rate_of(dev, type) * dev->sms * dev->clock_mhz * 1e6;
}

int roofline_at(const struct roofline *roof, double flops, double bytes, struct roofline_point *out,
                struct err *err)
{
    double compute_s, memory_s;

    if (!(roof->peak > 0) || !(roof->bandwidth > 0))
        return err_set(err, ERR_ValueError, "the device's peak or bandwidth is unknown");
    if (!(flops >= 0) || !(bytes >= 0) || !(flops + bytes > 0))
        return err_set(err, ERR_ValueError, "flops=%g bytes=%g: there is nothing to do", flops,
                       bytes);
    compute_s = flops / roof->peak;
    memory_s = bytes / roof->bandwidth;
    *out = (struct roofline_point){
        .intensity = bytes > 0 ? flops / bytes : INFINITY,
        .is_memory_bound = memory_s > compute_s,
        .least_s = memory_s > compute_s ? memory_s : compute_s,
    };
    out->attainable = flops / out->least_s;
    return 0;
}
