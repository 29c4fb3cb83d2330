/*
 * libcuda is looked for by its name alone: the linker's search knows where the
 * driver's installation put it.
 */
#include "kernels/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct driver driver;
static bool is_open;

int driver_check(const struct driver *cu, cu_result code, const char *what, struct err *err)
{
    const char *name = "unknown error", *text = "";

    if (code == CU_OK)
        return 0;
    cu->GetErrorName(code, &name);
    cu->GetErrorString(code, &text);
    return err_set(err, ERR_DeviceError, "%s: %s (%s, %d)", what, text ? text : "",
                   name ? name : "", code);
}

static int find_functions(void *library, struct err *err)
{
#define X(name, symbol, parameters)                                                                \
    *(void **)&driver.name = dlsym(library, symbol);                                               \
    if (!driver.name)                                                                              \
        return err_set(err, ERR_DeviceError, "the NVIDIA driver has no function %s", symbol);
    DRIVER_FUNCTIONS(X)
#undef X
#define X(name, symbol, parameters) *(void **)&driver.name = dlsym(library, symbol);
    DRIVER_OPTIONAL(X)
#undef X
    *(void **)&driver.LaunchKernelEx = dlsym(library, "cuLaunchKernelEx");
    return 0;
}

void driver_uuid_text(const unsigned char uuid[16], char out[DRIVER_UUID])
{
    int n = snprintf(out, DRIVER_UUID, "GPU-");

    for (int i = 0; i < 16; i++)
        n += snprintf(out + n, (size_t)(DRIVER_UUID - n), "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* What cuInit answers where no GPU can be used, in our words. */
static int explain_init(cu_result code, struct err *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    if (code == CU_NO_DEVICE && visible)
        return err_set(err, ERR_DeviceError,
                       "the NVIDIA driver shows no GPU: CUDA_VISIBLE_DEVICES=\"%.40s\" hides them",
                       visible);
    if (code == CU_NO_DEVICE)
        return err_set(err, ERR_DeviceError,
                       "the NVIDIA driver is here, but no GPU that it can use");
    return driver_check(&driver, code, "the NVIDIA driver does not start", err);
}

static int open_library(struct err *err)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return err_set(err, ERR_DeviceError, "no NVIDIA driver (libcuda.so.1) on this machine");
    if (find_functions(library, err) < 0 || explain_init(driver.Init(0), err) < 0)
        return -1;
    return driver_check(&driver, driver.DriverGetVersion(&driver.version), "cuDriverGetVersion",
                        err);
}

const struct driver *driver_open(struct err *err)
{
    if (!is_open && open_library(err) < 0) {
        err_next(err, "use device=model, or a name such as device=L40S: the interpreter runs it");
        return NULL;
    }
    is_open = true;
    return &driver;
}
