/*
 * Reading is one pass that counts and one that fills; nothing in the message is
 * used before its size was compared. A buffer is mapped MAP_PRIVATE: the kernel's
 * writes land in copies of the touched pages, which is what makes "as before"
 * free when a launch fails.
 */
#include "kernels/launch.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_BUFFERS = 4096, MAX_ARGUMENT = 4096 };

static int damaged(struct err *err, const char *what)
{
    return err_set(err, ERR_InternalError, "a launch request with a damaged %s", what);
}

static size_t count_tag(struct bytes body, unsigned tag)
{
    struct field_reader reader = { body, false };
    struct field_item item;
    size_t n = 0;

    while (fields_next(&reader, &item))
        n += item.tag == tag;
    return n;
}

/* Copies a fixed-size row out of a field. */
static bool copy_row(struct bytes data, void *row, size_t size)
{
    if (data.size < size)
        return false;
    memcpy(row, data.data, size);
    return true;
}

static int read_arguments(struct arena *arena, struct bytes record, struct launch *out,
                          struct err *err)
{
    struct field_reader reader = { record, false };
    size_t n = count_tag(record, TAG_ARGUMENT) + count_tag(record, TAG_POINTER);
    struct launch_argument *list = arena_array(arena, n, sizeof(*list));
    struct field_item item;

    if (!list)
        return err_set(err, ERR_ResourceError, "out of memory for the arguments of a launch");
    out->arguments = list;
    while (fields_next(&reader, &item)) {
        struct launch_argument *a = &list[out->argument_count];

        if (item.tag != TAG_ARGUMENT && item.tag != TAG_POINTER)
            continue;
        a->is_pointer = item.tag == TAG_POINTER;
        a->value = item.data;
        if (a->is_pointer && !copy_row(item.data, &a->address, sizeof(a->address)))
            return damaged(err, "pointer");
        if (item.data.size == 0 || item.data.size > MAX_ARGUMENT)
            return damaged(err, "argument");
        out->argument_count++;
    }
    return reader.is_bad ? damaged(err, "launch") : 0;
}

static int read_launch(struct launch_request *r, struct bytes record, struct launch *out,
                       struct err *err)
{
    struct bytes data;

    if (!fields_find(record, TAG_SHAPE, 0, &data) ||
        !copy_row(data, &out->shape, sizeof(out->shape)) || out->shape.module >= r->module_count)
        return damaged(err, "shape");
    if (!fields_find(record, TAG_SYMBOL, 0, &data))
        return damaged(err, "kernel name");
    out->symbol = arena_copy(r->arena, data.data, data.size);
    if (!out->symbol)
        return err_set(err, ERR_ResourceError, "out of memory for a launch");
    return read_arguments(r->arena, record, out, err);
}

static int map_buffer(struct launch_request *r, const struct child_message *message,
                      struct bytes data, struct launch_memory *out, struct err *err)
{
    struct launch_buffer *row = &out->row;
    struct stat file;

    if (!copy_row(data, row, sizeof(*row)) || row->fd >= message->fd_count)
        return damaged(err, "buffer");
    out->fd = message->fds[row->fd];
    out->name = arena_copy(r->arena, data.data + sizeof(*row), data.size - sizeof(*row));
    if (!out->name)
        return err_set(err, ERR_ResourceError, "out of memory for a buffer's name");
    if (fstat(out->fd, &file) < 0 || row->size == 0 || row->offset > (uint64_t)file.st_size ||
        row->size > (uint64_t)file.st_size - row->offset || row->address % 256 != 0 ||
        row->address + row->size < row->address)
        return damaged(err, "buffer");
    out->mapping =
        mmap(NULL, row->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, out->fd, (off_t)row->offset);
    if (out->mapping == MAP_FAILED) {
        out->mapping = NULL;
        return err_set(err, ERR_ResourceError, "buffer %s: %llu bytes cannot be mapped: %s",
                       out->name, (unsigned long long)row->size, strerror(errno));
    }
    out->data = out->mapping;
    return 0;
}

/* A copy: the driver wants machine code aligned and text terminated, a message promises neither. */
static int take_image(struct arena *arena, struct bytes data, struct bytes *out, struct err *err)
{
    *out = (struct bytes){ arena_copy(arena, data.data, data.size), data.size };
    return out->data ? 0 : err_set(err, ERR_ResourceError, "out of memory for a module");
}

/* Allocates the three lists for what the body holds. */
static int make_room(struct launch_request *r, struct bytes body, struct bytes **modules,
                     struct launch **launches, struct err *err)
{
    size_t buffers = count_tag(body, TAG_BUFFER);

    if (buffers > MAX_BUFFERS)
        return err_set(err, ERR_ResourceError, "%zu buffers in a launch: at most %d", buffers,
                       MAX_BUFFERS);
    *modules = arena_array(r->arena, count_tag(body, TAG_MODULE), sizeof(**modules));
    *launches = arena_array(r->arena, count_tag(body, TAG_LAUNCH), sizeof(**launches));
    r->buffers = arena_array(r->arena, buffers, sizeof(*r->buffers));
    if (!*modules || !*launches || !r->buffers)
        return err_set(err, ERR_ResourceError, "out of memory for a launch");
    r->modules = *modules;
    r->launches = *launches;
    r->module_count = count_tag(body, TAG_MODULE);
    return 0;
}

static int read_all(struct launch_request *r, const struct child_message *message, struct err *err)
{
    struct field_reader reader = { child_message_body(message), false };
    struct bytes *modules = NULL;
    struct launch *launches = NULL;
    struct field_item item;
    size_t module = 0;
    int rc;

    if (make_room(r, reader.left, &modules, &launches, err) < 0)
        return -1;
    while (fields_next(&reader, &item)) {
        rc = 0;
        if (item.tag == TAG_PROBE)
            rc = take_image(r->arena, item.data, &r->probe, err);
        else if (item.tag == TAG_MODULE)
            rc = take_image(r->arena, item.data, &modules[module++], err);
        else if (item.tag == TAG_BUFFER)
            rc = map_buffer(r, message, item.data, &r->buffers[r->buffer_count++], err);
        else if (item.tag == TAG_LAUNCH)
            rc = read_launch(r, item.data, &launches[r->launch_count++], err);
        else if (item.tag == TAG_OPTIONS && !copy_row(item.data, &r->options, sizeof(r->options)))
            rc = damaged(err, "list of options");
        else if (item.tag == TAG_MODEL_DEVICE) {
            if (!copy_row(item.data, &r->device, sizeof(r->device)))
                return damaged(err, "device");
            r->device.name = "device";
            r->has_device = true;
        }
        if (rc < 0)
            return -1;
    }
    return reader.is_bad ? damaged(err, "end") : 0;
}

int launch_request_read(const struct child_message *message, struct launch_request *out,
                        struct err *err)
{
    struct launch_request r = { .arena = arena_new(0) };

    if (!r.arena)
        return err_set(err, ERR_ResourceError, "out of memory for a launch");
    if (read_all(&r, message, err) < 0) {
        launch_request_done(&r);
        return -1;
    }
    *out = r;
    return 0;
}

int launch_request_write_back(const struct launch_request *request, struct err *err)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        const struct launch_memory *b = &request->buffers[i];
        void *shared;

        if (b->row.is_read_only)
            continue;
        shared = mmap(NULL, b->row.size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd,
                      (off_t)b->row.offset);
        if (shared == MAP_FAILED)
            return err_set(err, ERR_ResourceError, "buffer %s cannot be written back: %s", b->name,
                           strerror(errno));
        memcpy(shared, b->data, b->row.size);
        munmap(shared, b->row.size);
    }
    return 0;
}

void launch_request_done(struct launch_request *request)
{
    for (size_t i = 0; i < request->buffer_count; i++)
        if (request->buffers[i].mapping)
            munmap(request->buffers[i].mapping, request->buffers[i].row.size);
    arena_free(&request->arena);
    *request = (struct launch_request){ 0 };
}

int launch_buffer_at(const struct launch_request *request, uint64_t address)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        const struct launch_buffer *row = &request->buffers[i].row;

        if (address >= row->address && address - row->address <= row->size)
            return (int)i;
    }
    return -1;
}

static uint64_t real_address(const struct launch_request *request, uint64_t address,
                             const uint64_t *addresses)
{
    int i = addresses ? launch_buffer_at(request, address) : -1;

    /* An address in no buffer is passed as it is: null, or the kernel's own fault. */
    return i < 0 ? address : addresses[i] + (address - request->buffers[i].row.address);
}

void *launch_parameters(const struct launch_request *request, const struct launch *launch,
                        const uint64_t *addresses, size_t *size, struct err *err)
{
    size_t capacity = 16, at = 0;
    char *blob;

    for (size_t i = 0; i < launch->argument_count; i++)
        capacity += launch->arguments[i].value.size + 16;
    blob = arena_alloc(request->arena, capacity);
    if (!blob) {
        err_set(err, ERR_ResourceError, "out of memory for the arguments of %s", launch->symbol);
        return NULL;
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        const struct launch_argument *a = &launch->arguments[i];
        uint64_t address;
        size_t align = 1;

        while (align < a->value.size && align < 16)
            align *= 2;
        at = (size_t)round_up((int64_t)at, (int64_t)align);
        if (a->is_pointer) {
            address = real_address(request, a->address, addresses);
            memcpy(blob + at, &address, sizeof(address));
        } else {
            memcpy(blob + at, a->value.data, a->value.size);
        }
        at += a->value.size;
    }
    *size = at;
    return blob;
}

void launch_put_module(struct buf *body, struct bytes image)
{
    fields_put(body, TAG_MODULE, image);
}

void launch_put_buffer(struct buf *body, const struct launch_buffer *row, const char *name)
{
    size_t begin = fields_begin(body, TAG_BUFFER);

    buf_put(body, (const char *)row, sizeof(*row));
    buf_puts(body, name);
    fields_end(body, begin);
}

void launch_put_options(struct buf *body, const struct launch_options *options)
{
    fields_put(body, TAG_OPTIONS, (struct bytes){ (const char *)options, sizeof(*options) });
}

void launch_put_device(struct buf *body, const struct device *device)
{
    struct device copy = *device;

    copy.name = NULL;
    fields_put(body, TAG_MODEL_DEVICE, (struct bytes){ (const char *)&copy, sizeof(copy) });
}

size_t launch_begin(struct buf *body, const struct launch_config *shape, const char *symbol)
{
    size_t begin = fields_begin(body, TAG_LAUNCH);

    fields_put(body, TAG_SHAPE, (struct bytes){ (const char *)shape, sizeof(*shape) });
    fields_put_text(body, TAG_SYMBOL, symbol);
    return begin;
}

void launch_put_pointer(struct buf *body, uint64_t address)
{
    fields_put_int(body, TAG_POINTER, (int64_t)address);
}

void launch_put_value(struct buf *body, const void *value, size_t size)
{
    fields_put(body, TAG_ARGUMENT, (struct bytes){ value, size });
}

void launch_end(struct buf *body, size_t begin)
{
    fields_end(body, begin);
}
