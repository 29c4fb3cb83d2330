/*
 * Most limits of a made-up device are left as they are, and some of those must
 * follow: who halves the registers of an SM does not mean that a block may have
 * more than all of them. What is written counts as written, and then has to make
 * sense.
 */
#include "cells/device_keys.h"

const struct device_key DEVICE_KEY_ROWS[DEVICE_KEY_COUNT] = {
#define X(key, member, kind, least, most, help)                                                    \
    { #key, kind, offsetof(struct device, member), least, most, help },
    DEVICE_KEYS(X)
#undef X
};

const struct device_key *device_key_find(const char *name)
{
    for (size_t i = 0; i < DEVICE_KEY_COUNT; i++)
        if (strcmp(DEVICE_KEY_ROWS[i].name, name) == 0)
            return &DEVICE_KEY_ROWS[i];
    return NULL;
}

double device_key_get(const struct device *dev, const struct device_key *key)
{
    const char *member = (const char *)dev + key->offset;

    switch (key->kind) {
    case DEVICE_INT64:
        return (double)*(const int64_t *)member;
    case DEVICE_GBS:
        return *(const double *)member;
    default:
        return *(const int *)member;
    }
}

static void set(struct device *dev, const struct device_key *key, double value)
{
    char *member = (char *)dev + key->offset;

    switch (key->kind) {
    case DEVICE_INT64:
        *(int64_t *)member = (int64_t)value;
        break;
    case DEVICE_GBS:
        *(double *)member = value;
        break;
    default:
        *(int *)member = (int)(value + 0.5);
        break;
    }
}

static const struct device_change *find(const struct device_change *changes, size_t count, int key)
{
    for (size_t i = 0; i < count; i++)
        if (changes[i].key == &DEVICE_KEY_ROWS[key])
            return &changes[i];
    return NULL;
}

/* ---- what follows ---- */

/* A made-up SM has no other splits of its cache than what its shared memory allows. */
static void fit_splits(struct device *dev)
{
    int count = 0;

    if (!dev->carveout_count)
        return;
    while (count < dev->carveout_count && dev->carveouts_kb[count] * 1024 < dev->shared_per_sm)
        count++;
    if (count == DEVICE_MAX_CARVEOUTS)
        count--;
    dev->carveouts_kb[count] = dev->shared_per_sm / 1024;
    dev->carveout_count = count + 1;
}

static void at_most(int *limit, int most)
{
    *limit = (int)min_i64(*limit, most);
}

static void follow(struct device *dev, const struct device *base,
                   const struct device_change *changes, size_t count)
{
#define GIVEN(key) (find(changes, count, DEVICE_KEY_##key) != NULL)
    int room = dev->shared_per_sm - dev->shared_reserved;

    if (!GIVEN(warps))
        dev->warps_per_sm = dev->threads_per_sm / WARP;
    else if (!GIVEN(threads))
        dev->threads_per_sm = dev->warps_per_sm * WARP;
    if (!GIVEN(block_registers))
        at_most(&dev->registers_per_block, dev->registers_per_sm);
    if (!GIVEN(register_unit))
        at_most(&dev->register_unit, dev->registers_per_sm);
    if (!GIVEN(block_shared) && (GIVEN(shared) || GIVEN(reserved))) {
        /* Where a block could have all of it, it still can. */
        if (base->shared_per_block_optin == base->shared_per_sm - base->shared_reserved)
            dev->shared_per_block_optin = room;
        at_most(&dev->shared_per_block_optin, room);
    }
    if (!GIVEN(default_shared))
        at_most(&dev->shared_per_block, dev->shared_per_block_optin);
    if (!GIVEN(static_shared))
        at_most(&dev->static_shared_per_block, dev->shared_per_block_optin);
    if (GIVEN(cluster))
        dev->cluster_portable = (int)min_i64(8, dev->cluster_max);
    if (GIVEN(shared))
        fit_splits(dev);
#undef GIVEN
}

/* ---- what makes no sense ---- */

static int check_warps(const struct device *dev, struct err *err)
{
    if (dev->threads_per_sm % WARP)
        return err_set(err, ERR_ValueError,
                       "threads=%d: an SM holds whole warps, a multiple of %d threads; %d is the "
                       "nearest",
                       dev->threads_per_sm, WARP, (dev->threads_per_sm + WARP / 2) / WARP * WARP);
    if (dev->warps_per_sm * WARP != dev->threads_per_sm)
        return err_set(err, ERR_ValueError,
                       "warps=%d: %d threads are %d warps; give one of the two", dev->warps_per_sm,
                       dev->threads_per_sm, dev->threads_per_sm / WARP);
    return 0;
}

/* The change that an error names ("blocks=0: ..."), else the last one, which broke what was well.
 */
static const struct device_change *to_blame(const struct device_change *changes, size_t count,
                                            const char *text)
{
    struct bytes name = { text, strcspn(text, "=") };

    for (size_t i = 0; i < count; i++)
        if (bytes_equal(name, changes[i].key->name))
            return &changes[i];
    return count ? &changes[count - 1] : NULL;
}

static int check_value(const struct device_change *change, struct err *err)
{
    const struct device_key *key = change->key;
    bool is_whole = key->kind == DEVICE_GBS || key->kind == DEVICE_MHZ ||
                    (change->value == (double)(int64_t)change->value);

    if (change->value >= key->least && change->value <= key->most && is_whole)
        return 0;
    return err_set(err, ERR_ValueError, "%s=%.10g: %s, %s%.10g to %.10g", key->name, change->value,
                   key->help, is_whole ? "" : "whole, ", key->least, key->most);
}

int device_make(const struct device *base, const struct device_change *changes, size_t count,
                struct device *out, const struct device_change **wrong, struct err *err)
{
    struct device dev = *base;
    struct err local = { 0 };

    *wrong = NULL;
    for (size_t i = 0; i < count; i++) {
        if (check_value(&changes[i], err) < 0) {
            *wrong = &changes[i];
            return -1;
        }
        set(&dev, changes[i].key, changes[i].value);
    }
    follow(&dev, base, changes, count);
    if (check_warps(&dev, &local) < 0 || device_check(&dev, &local) < 0) {
        *wrong = to_blame(changes, count, local.text);
        return err_set(err, ERR_ValueError, "%s", local.text);
    }
    *out = dev;
    return 0;
}
