/*
 * NVML is asked only to notice throttling. It is a library of its own and may be
 * missing; then the probe's clock is what is recorded.
 */
#include "kernels/gpu_clock.h"

#include <dlfcn.h>

enum { PROBE_CYCLES = 100000 };

/* nvml.h, nvmlClocksEventReasons: power cap, slowdown, thermal (software, hardware), brake. */
#define THROTTLED (0x4ull | 0x8ull | 0x20ull | 0x40ull | 0x80ull)

static struct nvml {
    bool is_tried;
    int (*by_uuid)(const char *uuid, void **device);
    int (*reasons)(void *device, unsigned long long *reasons);
} nvml;

static void open_nvml(void)
{
    int (*init)(void);
    void *library;

    nvml.is_tried = true;
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&nvml.reasons = dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!nvml.reasons)
        *(void **)&nvml.reasons = dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!init || init() != 0)
        nvml.by_uuid = NULL;
}

/* By UUID, as CUDA_VISIBLE_DEVICES renumbers the driver's cards and not NVML's. */
static void *nvml_device(const unsigned char *uuid)
{
    char text[DRIVER_UUID];
    void *device = NULL;

    if (!nvml.is_tried)
        open_nvml();
    if (!nvml.by_uuid || !nvml.reasons)
        return NULL;
    driver_uuid_text(uuid, text);
    return nvml.by_uuid(text, &device) == 0 ? device : NULL;
}

int gpu_clock_init(struct gpu_clock *clock, const struct driver *cu, struct bytes cubin,
                   const unsigned char *uuid, struct err *err)
{
    *clock = (struct gpu_clock){ .cu = cu };
    if (driver_check(cu, cu->ModuleLoadData(&clock->module, cubin.data),
                     "cuModuleLoadData of the clock probe", err) < 0 ||
        driver_check(cu, cu->ModuleGetFunction(&clock->probe, clock->module, "clock_probe"),
                     "cuModuleGetFunction of the clock probe", err) < 0 ||
        driver_check(cu, cu->MemAlloc(&clock->out, 16), "cuMemAlloc", err) < 0) {
        gpu_clock_done(clock);
        return -1;
    }
    clock->nvml_device = nvml_device(uuid);
    return 0;
}

void gpu_clock_done(struct gpu_clock *clock)
{
    if (clock->out)
        clock->cu->MemFree(clock->out);
    if (clock->module)
        clock->cu->ModuleUnload(clock->module);
    *clock = (struct gpu_clock){ .cu = clock->cu };
}

int gpu_clock_read(struct gpu_clock *clock, double *mhz, struct err *err)
{
    const struct driver *cu = clock->cu;
    unsigned long long cycles = PROBE_CYCLES, seen[2] = { 0, 0 };
    void *parameters[] = { &clock->out, &cycles };

    if (driver_check(cu,
                     cu->LaunchKernel(clock->probe, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
                     "cuLaunchKernel of the clock probe", err) < 0 ||
        driver_check(cu, cu->MemcpyDtoH(seen, clock->out, sizeof(seen)), "reading the clock probe",
                     err) < 0)
        return -1;
    if (seen[1] == 0)
        return err_set(err, ERR_DeviceError, "the card's nanosecond timer does not run");
    *mhz = 1e3 * (double)seen[0] / (double)seen[1];
    return 0;
}

bool gpu_clock_is_throttled(const struct gpu_clock *clock)
{
    unsigned long long reasons = 0;

    return clock->nvml_device && nvml.reasons(clock->nvml_device, &reasons) == 0 &&
           (reasons & THROTTLED) != 0;
}
