/*
 * NVML for tests: says that the card throttles for heat as often as FAKE_NVML_THROTTLED
 * says, and no longer. The same library serves as libnvidia-ml.so.1 where a test links it so.
 */
#include <stdlib.h>

#define THERMAL 0x40ull /* nvmlClocksEventReasonHwThermalSlowdown */

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    static int card;

    *device = &card;
    return uuid[0] == 'G' ? 0 : 1; /* "GPU-..." */
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    static int asked;
    const char *times = getenv("FAKE_NVML_THROTTLED");

    (void)device;
    *reasons = times && asked++ < atoi(times) ? THERMAL : 0;
    return 0;
}
