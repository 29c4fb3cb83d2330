/*
 * A few dozen slots and the least recently used one goes. A source is compared as
 * a whole: no hash, no collision.
 */
#include "cells/images.h"

#include "cells/cuda_source.h"

#include <stdio.h>
#include <stdlib.h>

enum { OLDEST_CC = 75 }; /* CUDA 13.0, NVRTC user guide, "Supported Compile Options" */

static void image_free(struct image *image)
{
    if (!image)
        return;
    free(image->source);
    free(image->log);
    free((void *)(uintptr_t)image->ptx.data);
    free((void *)(uintptr_t)image->cubin.data);
    free(image->kernels);
    free(image);
}

void images_done(struct images *images)
{
    for (size_t i = 0; i < IMAGE_SLOTS; i++)
        image_free(images->slots[i]);
    *images = (struct images){ .uses = 0 };
}

void image_arch(const struct device *device, char *out, size_t capacity)
{
    int cc = device->cc_major * 10 + device->cc_minor;

    out[0] = '\0';
    if (cc >= OLDEST_CC)
        snprintf(out, capacity, "sm_%d", cc);
}

static struct image *find(const struct images *images, struct bytes source, const char *arch,
                          bool is_debug)
{
    for (size_t i = 0; i < IMAGE_SLOTS; i++) {
        struct image *image = images->slots[i];

        if (image && image->is_debug == is_debug && strcmp(image->arch, arch) == 0 &&
            bytes_equal(source, image->source))
            return image;
    }
    return NULL;
}

/* A terminated copy of a field; an empty one when it is missing. false: out of memory. */
static bool copy_field(struct bytes body, unsigned tag, struct bytes *out)
{
    struct bytes data = { "", 0 };
    char *copy;

    fields_find(body, tag, 0, &data);
    copy = malloc(data.size + 1);
    if (!copy)
        return false;
    memcpy(copy, data.data, data.size);
    copy[data.size] = '\0';
    *out = (struct bytes){ copy, data.size };
    return true;
}

static void read_kernel(struct bytes record, struct cuda_kernel *k)
{
    struct bytes name = { "", 0 };

    fields_find(record, TAG_NAME, 0, &name);
    snprintf(k->symbol, sizeof(k->symbol), "%.*s", (int)name.size, name.data);
    cuda_plain_name(k->symbol, k->name, sizeof(k->name));
    k->registers = (int)fields_int(record, TAG_REGISTERS, 0);
    k->static_bytes = (int)fields_int(record, TAG_STATIC_BYTES, 0);
    k->stack_bytes = (int)fields_int(record, TAG_STACK_BYTES, 0);
    k->spill_store_bytes = (int)fields_int(record, TAG_SPILL_STORE_BYTES, 0);
    k->spill_load_bytes = (int)fields_int(record, TAG_SPILL_LOAD_BYTES, 0);
}

static bool read_kernels(struct bytes body, struct image *image)
{
    struct bytes record;
    size_t n = 0;

    while (fields_find(body, TAG_KERNEL, n, &record))
        n++;
    image->kernels = calloc(n + 1, sizeof(*image->kernels));
    if (!image->kernels)
        return false;
    for (size_t i = 0; i < n && fields_find(body, TAG_KERNEL, i, &record); i++)
        read_kernel(record, &image->kernels[image->kernel_count++]);
    return true;
}

/* The answer as an image; NULL when out of memory. */
static struct image *make_image(struct bytes source, const char *arch, bool is_debug,
                                struct bytes answer)
{
    struct image *image = calloc(1, sizeof(*image));
    struct bytes log = { NULL, 0 };
    bool is_whole;

    if (!image)
        return NULL;
    snprintf(image->arch, sizeof(image->arch), "%s", arch);
    image->is_debug = is_debug;
    image->source = strndup(source.data, source.size);
    is_whole = image->source && copy_field(answer, TAG_LOG, &log) &&
               copy_field(answer, TAG_PTX, &image->ptx) &&
               copy_field(answer, TAG_CUBIN, &image->cubin) && read_kernels(answer, image);
    image->log = (char *)(uintptr_t)log.data;
    if (!is_whole) {
        image_free(image);
        return NULL;
    }
    return image;
}

static void keep(struct images *images, struct image *image)
{
    size_t oldest = 0;

    for (size_t i = 0; i < IMAGE_SLOTS; i++) {
        if (!images->slots[i]) {
            oldest = i;
            break;
        }
        if (images->slots[i]->last_use < images->slots[oldest]->last_use)
            oldest = i;
    }
    image_free(images->slots[oldest]);
    images->slots[oldest] = image;
}

int image_get(struct images *images, struct workers *workers, struct bytes source, const char *arch,
              bool is_debug, const struct image **out, struct err *err)
{
    struct child_message request = { .op = OP_COMPILE }, answer;
    struct image *image = find(images, source, arch, is_debug);
    int rc;

    if (!image) {
        fields_put(&request.body, TAG_SOURCE, source);
        fields_put_text(&request.body, TAG_ARCH, arch);
        fields_put_int(&request.body, TAG_IS_DEBUG, is_debug);
        rc = workers_ask(workers, CHILD_COMPILER, &request, &answer, err);
        child_message_done(&request);
        if (rc < 0)
            return -1;
        image = make_image(source, arch, is_debug, child_message_body(&answer));
        child_message_done(&answer);
        if (!image)
            return err_set(err, ERR_ResourceError, "out of memory for compiled code");
        keep(images, image);
    }
    image->last_use = ++images->uses;
    *out = image;
    return 0;
}

const struct cuda_kernel *image_kernel(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].symbol, name) == 0 ||
            strcmp(image->kernels[i].name, name) == 0)
            return &image->kernels[i];
    return NULL;
}
