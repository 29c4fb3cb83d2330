/*
 * The card's state while it is timed: the SM clock as a probe kernel counts it,
 * and whether the card throttles, as NVML says (where NVML is there).
 */
#ifndef WB_KERNELS_GPU_CLOCK_H
#define WB_KERNELS_GPU_CLOCK_H

#include "kernels/driver.h"

#include <stdbool.h>

struct gpu_clock {
    const struct driver *cu;
    cu_module module;
    cu_function probe;
    cu_address out;
    void *nvml_device; /* NULL: no NVML */
};

/* cubin: of kernels/clock.cu for this card; uuid: 16 bytes. Fails with DeviceError. */
int gpu_clock_init(struct gpu_clock *clock, const struct driver *cu, struct bytes cubin,
                   const unsigned char *uuid, struct err *err) MUST_CHECK;
void gpu_clock_done(struct gpu_clock *clock);

/* The SM clock now, in MHz. Waits for the card; takes about 50 us of it. */
int gpu_clock_read(struct gpu_clock *clock, double *mhz, struct err *err) MUST_CHECK;

/* True when the card holds its clock back now for heat or power. False without NVML. */
bool gpu_clock_is_throttled(const struct gpu_clock *clock);

#endif
