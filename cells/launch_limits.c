/*
 * What no GPU would start. The limits are a table, because each is one number of the
 * CUDA C++ Programming Guide ("Technical Specifications per Compute Capability") or of
 * the device's row, and each error says the number, the limit and what to change.
 */
#include "cells/launch_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_GRID_YZ = 65535, MAX_BLOCK_XY = 1024, MAX_BLOCK_Z = 64 };

struct axis {
    const char *name;
    int64_t value, most;
};

static int check_axes(const struct launch_plan *p, struct err *err)
{
    const struct axis axes[] = {
        { "grid x", p->grid.x, INT32_MAX },      { "grid y", p->grid.y, MAX_GRID_YZ },
        { "grid z", p->grid.z, MAX_GRID_YZ },    { "block x", p->block.x, MAX_BLOCK_XY },
        { "block y", p->block.y, MAX_BLOCK_XY }, { "block z", p->block.z, MAX_BLOCK_Z },
    };

    for (size_t i = 0; i < COUNT(axes); i++)
        if (axes[i].value < 1 || axes[i].value > axes[i].most) {
            err_set(err, ERR_LaunchError, "%s is %" PRId64 ": it is 1 to %" PRId64, axes[i].name,
                    axes[i].value, axes[i].most);
            return axes[i].value < 1
                       ? err_next(err, "a grid rounds up: (n + block - 1) / block is never 0 for "
                                       "n above 0")
                       : -1;
        }
    return 0;
}

static int check_threads(const struct launch_plan *p, struct err *err)
{
    if (p->threads <= p->device.device.threads_per_block)
        return 0;
    err_set(err, ERR_LaunchError,
            "a block of %u x %u x %u is %" PRId64 " threads: a block has at most %d", p->block.x,
            p->block.y, p->block.z, p->threads, p->device.device.threads_per_block);
    return err_next(err, "take more blocks of fewer threads");
}

static int check_shared(const struct launch_plan *p, struct err *err)
{
    const struct device *d = &p->device.device;
    int64_t fixed = p->image.resources.static_bytes, total = fixed + p->dynamic_bytes;

    if (total <= d->shared_per_block_optin)
        return 0;
    err_set(err, ERR_LaunchError,
            "%" PRId64 " bytes of shared memory (%" PRId64 " declared + %" PRId64
            " dynamic): a block on %s has at most %d",
            total, fixed, p->dynamic_bytes, d->name, d->shared_per_block_optin);
    return err_next(err, "the third number of <<< >>> is bytes, not elements");
}

/* What the driver calls CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES. */
static int check_registers(const struct launch_plan *p, struct err *err)
{
    const struct device *d = &p->device.device;

    if (p->occupancy.limits[OCCUPANCY_REGISTERS] > 0)
        return 0;
    err_set(err, ERR_LaunchError,
            "too many resources requested: %" PRId64 " threads take %" PRId64
            " registers (%d each), a block has at most %d",
            p->threads, p->occupancy.registers_per_block, p->image.resources.registers,
            d->registers_per_block);
    return err_next(err, "__launch_bounds__(%" PRId64 ") makes the compiler use fewer", p->threads);
}

/* Blocks of a cluster as __cluster_dims__ says, which PTX keeps with the kernel; 1: none. */
static int64_t written_cluster(const struct cuda_image *image)
{
    static const char directive[] = ".reqnctapercluster ";
    const char *end = image->ptx.data + image->ptx.size, *entry, *body, *at;
    char head[300], *rest;
    int64_t size = 1;
    int n = snprintf(head, sizeof(head), ".entry %s(", image->symbol);

    entry = memmem(image->ptx.data, image->ptx.size, head, (size_t)n);
    body = entry ? memchr(entry, '{', (size_t)(end - entry)) : NULL;
    at = body ? memmem(entry, (size_t)(body - entry), directive, sizeof(directive) - 1) : NULL;
    if (!at)
        return 1;
    at += sizeof(directive) - 1;
    for (int64_t axis; (axis = strtoll(at, &rest, 10)) > 0; at = rest + (*rest == ','))
        size *= axis;
    return size;
}

/* Each block by itself: what one wrote to another's shared memory would be lost without a word. */
static int refuse_cluster(const struct launch_plan *p, int64_t size, struct err *err)
{
    if (size <= 1 || p->device.is_gpu)
        return 0;
    err_set(err, ERR_UnsupportedError,
            "a cluster of %" PRId64 " blocks: the interpreter runs each block by itself", size);
    return err_next(err, "launch it without a cluster, or with device=gpu on a card from 9.0 on");
}

static int check_cluster(const struct launch_plan *p, struct err *err)
{
    const struct device *d = &p->device.device;
    int64_t size = (int64_t)p->cluster.x * p->cluster.y * p->cluster.z;

    if (p->cluster.x == 0)
        return refuse_cluster(p, written_cluster(&p->image), err);
    if (d->cluster_max == 0)
        return err_set(err, ERR_LaunchError,
                       "cluster=%" PRId64 ": %s has no clusters; they came with capability 9.0",
                       size, d->name);
    if (size < 1 || size > d->cluster_max)
        return err_set(err, ERR_LaunchError, "a cluster of %" PRId64 " blocks: %s has 1 to %d",
                       size, d->name, d->cluster_max);
    if (p->grid.x % p->cluster.x || p->grid.y % p->cluster.y || p->grid.z % p->cluster.z)
        return err_set(err, ERR_LaunchError,
                       "a grid of %u x %u x %u is no multiple of the cluster %u x %u x %u",
                       p->grid.x, p->grid.y, p->grid.z, p->cluster.x, p->cluster.y, p->cluster.z);
    return refuse_cluster(p, size, err);
}

static int check_cooperative(const struct launch_plan *p, struct err *err)
{
    int64_t resident = (int64_t)p->occupancy.active_blocks * p->device.device.sms;

    if (!p->is_cooperative || p->device.device.sms == 0 || p->blocks <= resident)
        return 0;
    err_set(err, ERR_LaunchError,
            "a cooperative launch of %" PRId64 " blocks: %s holds %" PRId64
            " of them at once (%d on each of %d SMs)",
            p->blocks, p->device.device.name, resident, p->occupancy.active_blocks,
            p->device.device.sms);
    return err_next(err, "let fewer blocks do more: a loop over the data by gridDim.x");
}

int launch_limits_check(struct launch_plan *plan, struct err *err)
{
    struct launch_shape shape = { .regs = plan->image.resources.registers,
                                  .static_bytes = plan->image.resources.static_bytes,
                                  .dynamic_bytes = plan->dynamic_bytes,
                                  .carveout = OCCUPANCY_DEFAULT_CARVEOUT };

    if (check_axes(plan, err) < 0)
        return -1;
    plan->blocks = (int64_t)plan->grid.x * plan->grid.y * plan->grid.z;
    plan->threads = (int64_t)plan->block.x * plan->block.y * plan->block.z;
    if (check_threads(plan, err) < 0 || check_shared(plan, err) < 0 || check_cluster(plan, err) < 0)
        return -1;
    shape.block = (int)plan->threads;
    shape.cluster = (int)(plan->cluster.x * plan->cluster.y * plan->cluster.z);
    if (occupancy_of(&plan->device.device, &shape, &plan->occupancy, err) < 0 ||
        check_registers(plan, err) < 0)
        return -1;
    return check_cooperative(plan, err);
}
