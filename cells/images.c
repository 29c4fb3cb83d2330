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
    free(image->options);
    free(image->expression);
    free(image->lowered);
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

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool is_answer_to(const struct image *image, const struct image_request *r)
{
    return image->is_debug == r->is_debug && strcmp(image->arch, r->arch) == 0 &&
           strcmp(image->options, or_empty(r->options)) == 0 &&
           strcmp(image->expression, or_empty(r->expression)) == 0 &&
           bytes_equal(r->source, image->source);
}

static struct image *find(const struct images *images, const struct image_request *request)
{
    for (size_t i = 0; i < IMAGE_SLOTS; i++)
        if (images->slots[i] && is_answer_to(images->slots[i], request))
            return images->slots[i];
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
static struct image *make_image(const struct image_request *request, struct bytes answer)
{
    struct image *image = calloc(1, sizeof(*image));
    struct bytes log = { NULL, 0 }, lowered = { NULL, 0 };
    bool is_whole;

    if (!image)
        return NULL;
    snprintf(image->arch, sizeof(image->arch), "%s", request->arch);
    image->is_debug = request->is_debug;
    image->source = strndup(request->source.data, request->source.size);
    image->options = strdup(or_empty(request->options));
    image->expression = strdup(or_empty(request->expression));
    is_whole = image->source && image->options && image->expression &&
               copy_field(answer, TAG_LOG, &log) && copy_field(answer, TAG_LOWERED, &lowered) &&
               copy_field(answer, TAG_PTX, &image->ptx) &&
               copy_field(answer, TAG_CUBIN, &image->cubin) && read_kernels(answer, image);
    image->log = (char *)(uintptr_t)log.data;
    image->lowered = (char *)(uintptr_t)lowered.data;
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

/* Each line of the options is one. */
static void put_options(struct buf *body, const char *options)
{
    for (const char *at = or_empty(options); *at;) {
        size_t n = strcspn(at, "\n");

        fields_put(body, TAG_OPTION, (struct bytes){ at, n });
        at += n + (at[n] == '\n');
    }
}

static void put_request(struct buf *body, const struct image_request *request)
{
    fields_put(body, TAG_SOURCE, request->source);
    fields_put_text(body, TAG_ARCH, request->arch);
    fields_put_int(body, TAG_IS_DEBUG, request->is_debug);
    put_options(body, request->options);
    if (or_empty(request->expression)[0])
        fields_put_text(body, TAG_EXPRESSION, request->expression);
}

/* What will be asked for next, for the compiler to begin. */
static void put_ahead(struct buf *body, const struct images *images,
                      const struct image_request *request)
{
    struct image_request written = *request;
    struct buf next = { 0 };

    written.arch = request->written_arch;
    written.is_debug = true;
    if (!written.arch || find(images, &written))
        return;
    put_request(&next, &written);
    if (!next.is_failed)
        fields_put(body, TAG_AHEAD, (struct bytes){ buf_text(&next), next.size });
    buf_done(&next);
}

static int ask_compiler(const struct images *images, struct workers *workers,
                        const struct image_request *request, struct image **out, struct err *err)
{
    struct child_message message = { .op = OP_COMPILE }, answer;
    int rc;

    put_request(&message.body, request);
    put_ahead(&message.body, images, request);
    rc = workers_ask(workers, CHILD_COMPILER, &message, &answer, err);
    child_message_done(&message);
    if (rc < 0)
        return -1;
    *out = make_image(request, child_message_body(&answer));
    child_message_done(&answer);
    return *out ? 0 : err_set(err, ERR_ResourceError, "out of memory for compiled code");
}

int image_of(struct images *images, struct workers *workers, const struct image_request *request,
             const struct image **out, struct err *err)
{
    struct image *image = find(images, request);

    if (!image) {
        if (ask_compiler(images, workers, request, &image, err) < 0)
            return -1;
        keep(images, image);
    }
    image->last_use = ++images->uses;
    *out = image;
    return 0;
}

int image_get(struct images *images, struct workers *workers, struct bytes source, const char *arch,
              bool is_debug, const struct image **out, struct err *err)
{
    struct image_request request = { .source = source, .arch = arch, .is_debug = is_debug };

    return image_of(images, workers, &request, out, err);
}

const struct cuda_kernel *image_kernel(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].symbol, name) == 0 ||
            strcmp(image->kernels[i].name, name) == 0)
            return &image->kernels[i];
    return NULL;
}
