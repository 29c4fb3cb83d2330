/*
 * What the driver says of its cards, under the names that cudaDeviceProp gives
 * them, and the choice of the card on which launches run.
 */
#include "kernels/gpu.h"

#include "kernels/driver.h"
#include "kernels/gpu_attributes.h"
#include "kernels/gpu_run.h"

/* A driver that is older than an attribute does not know it: left out, not 0. */
static void put_attribute(const struct driver *cu, cu_device device,
                          const struct gpu_attribute_row *row, struct buf *body)
{
    int values[GPU_ATTRIBUTE_NUMBERS];
    size_t begin;

    for (int i = 0; i < row->count; i++)
        if (cu->DeviceGetAttribute(&values[i], row->numbers[i], device) != CU_OK)
            return;
    begin = fields_begin(body, TAG_ATTRIBUTE);
    fields_put_text(body, TAG_GROUP, row->group);
    fields_put_text(body, TAG_NAME, row->name);
    fields_put_text(body, TAG_UNIT, row->unit);
    for (int i = 0; i < row->count; i++)
        fields_put_int(body, TAG_VALUE, values[i]);
    fields_end(body, begin);
}

static int put_card(const struct driver *cu, int index, struct buf *body, struct err *err)
{
    unsigned char uuid[16] = { 0 };
    char name[256] = "", text[DRIVER_UUID];
    size_t memory = 0, card;
    cu_device device;

    if (driver_check(cu, cu->DeviceGet(&device, index), "cuDeviceGet", err) < 0 ||
        driver_check(cu, cu->DeviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName",
                     err) < 0 ||
        driver_check(cu, cu->DeviceTotalMem(&memory, device), "cuDeviceTotalMem", err) < 0 ||
        driver_check(cu, cu->DeviceGetUuid(uuid, device), "cuDeviceGetUuid", err) < 0)
        return -1;
    card = fields_begin(body, TAG_CARD);
    fields_put_text(body, TAG_NAME, name);
    driver_uuid_text(uuid, text);
    fields_put_text(body, TAG_UUID, text);
    fields_put_int(body, TAG_MEMORY_BYTES, (int64_t)memory);
    for (size_t i = 0; i < GPU_ATTRIBUTE_COUNT; i++)
        put_attribute(cu, device, &GPU_ATTRIBUTES[i], body);
    fields_end(body, card);
    return 0;
}

static int serve_devices(const struct driver *cu, struct buf *body, struct err *err)
{
    int count = 0;

    if (driver_check(cu, cu->DeviceGetCount(&count), "cuDeviceGetCount", err) < 0)
        return -1;
    fields_put_int(body, TAG_DRIVER, cu->version);
    for (int i = 0; i < count; i++)
        if (put_card(cu, i, body, err) < 0)
            return -1;
    return 0;
}

/*
 * Makes the card's primary context current. It lives until another card is asked for, or as long
 * as the process: one context takes some hundred megabytes of a card that others use too.
 */
static int use_card(const struct driver *cu, int index, unsigned char *uuid, struct err *err)
{
    static cu_device held;
    static bool is_held;
    cu_context context;
    cu_device device;

    if (driver_check(cu, cu->DeviceGet(&device, index), "cuDeviceGet", err) < 0 ||
        driver_check(cu, cu->DeviceGetUuid(uuid, device), "cuDeviceGetUuid", err) < 0)
        return -1;
    if (is_held && held == device)
        return 0;
    if (is_held)
        cu->DevicePrimaryCtxRelease(held);
    is_held = false;
    if (driver_check(cu, cu->DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain",
                     err) < 0)
        return -1;
    if (driver_check(cu, cu->CtxSetCurrent(context), "cuCtxSetCurrent", err) < 0) {
        cu->DevicePrimaryCtxRelease(device);
        return -1;
    }
    held = device;
    is_held = true;
    return 0;
}

static int serve_run(const struct driver *cu, const struct child_message *message,
                     struct buf *answer, struct err *err)
{
    struct launch_request request;
    unsigned char uuid[16];
    bool is_broken = false;
    int rc;

    if (launch_request_read(message, &request, err) < 0)
        return -1;
    rc = use_card(cu, request.options.gpu_index, uuid, err);
    if (rc == 0)
        rc = gpu_run(cu, uuid, &request, answer, &is_broken, err);
    fields_put_int(answer, TAG_IS_BROKEN, is_broken);
    child_must_end = child_must_end || is_broken;
    launch_request_done(&request);
    return rc;
}

int gpu_serve(const struct child_message *request, struct child_message *answer, struct err *err)
{
    const struct driver *cu = driver_open(err);

    if (!cu)
        return -1;
    if (request->op == OP_DEVICES)
        return serve_devices(cu, &answer->body, err);
    if (request->op == OP_RUN)
        return serve_run(cu, request, &answer->body, err);
    return err_set(err, ERR_InternalError, "the GPU process has no request %u", request->op);
}
