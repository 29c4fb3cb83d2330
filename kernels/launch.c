/*
 * Reading is one pass that counts and one that fills; nothing in the message is
 * used before its size was compared.
 */
#include "kernels/launch.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_BUFFERS = 4096, MAX_ARGUMENT = 1 << 15 };

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

/* A text of a record in the arena; NULL when it is not there. */
static const char *read_text(struct arena *arena, struct bytes record, unsigned tag)
{
    struct bytes data;

    return fields_find(record, tag, 0, &data) ? arena_copy(arena, data.data, data.size) : NULL;
}

/* A value follows its alignment; a pointer is its own. */
static int read_argument(const struct field_item *item, struct launch_argument *out,
                         struct err *err)
{
    out->is_pointer = item->tag == TAG_POINTER;
    out->value = item->data;
    out->align = sizeof(uint64_t);
    if (out->is_pointer)
        return copy_row(item->data, &out->address, sizeof(out->address)) ? 0
                                                                         : damaged(err, "pointer");
    if (!copy_row(item->data, &out->align, sizeof(out->align)) ||
        item->data.size == sizeof(out->align) || item->data.size > MAX_ARGUMENT ||
        out->align == 0 || out->align > 256 || (out->align & (out->align - 1)) != 0)
        return damaged(err, "argument");
    out->value.data += sizeof(out->align);
    out->value.size -= sizeof(out->align);
    return 0;
}

static int read_pointer_at(struct bytes data, struct launch_argument *out)
{
    int64_t at;

    if (!copy_row(data, &at, sizeof(at)) || at < 0 || at > MAX_ARGUMENT ||
        (size_t)at + sizeof(uint64_t) > out->value.size ||
        out->pointer_count == LAUNCH_MOST_POINTERS)
        return -1;
    out->pointers[out->pointer_count++] = (uint32_t)at;
    return 0;
}

static int read_arguments(struct arena *arena, struct bytes record, struct launch *out,
                          struct err *err)
{
    struct field_reader reader = { record, false };
    size_t n = count_tag(record, TAG_ARGUMENT) + count_tag(record, TAG_POINTER);
    struct launch_argument *list = arena_array(arena, n, sizeof(*list));
    const char **names = arena_array(arena, count_tag(record, TAG_PARAMETER), sizeof(*names));
    struct field_item item;

    if (!list || !names)
        return err_set(err, ERR_ResourceError, "out of memory for the arguments of a launch");
    out->arguments = list;
    out->parameters = names;
    while (fields_next(&reader, &item)) {
        if (item.tag == TAG_PARAMETER) {
            names[out->parameter_count] = arena_copy(arena, item.data.data, item.data.size);
            if (!names[out->parameter_count++])
                return err_set(err, ERR_ResourceError, "out of memory for a launch");
        }
        if (item.tag == TAG_POINTER_AT &&
            (out->argument_count == 0 ||
             read_pointer_at(item.data, &list[out->argument_count - 1]) < 0))
            return damaged(err, "pointer");
        if (item.tag != TAG_ARGUMENT && item.tag != TAG_POINTER)
            continue;
        if (read_argument(&item, &list[out->argument_count++], err) < 0)
            return -1;
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
    out->symbol = read_text(r->arena, record, TAG_SYMBOL);
    out->display = read_text(r->arena, record, TAG_DISPLAY);
    if (!out->symbol)
        return err_set(err, ERR_ResourceError, "out of memory for a launch");
    return read_arguments(r->arena, record, out, err);
}

/* A stretch of a file of so many bytes. */
static bool is_inside(uint64_t offset, uint64_t size, off_t file_size)
{
    return size > 0 && offset <= (uint64_t)file_size && size <= (uint64_t)file_size - offset;
}

static int check_row(const struct launch_buffer *row, const struct child_message *message,
                     struct err *err)
{
    struct stat file;

    if (row->size == 0 || row->address % 256 != 0 || row->address + row->size < row->address)
        return damaged(err, "buffer");
    if (row->flags & LAUNCH_IS_FREED)
        return 0;
    if (row->fd >= message->fd_count || fstat(message->fds[row->fd], &file) < 0 ||
        !is_inside(row->offset, row->size, file.st_size) ||
        (row->defined_offset && !is_inside(row->defined_offset, (row->size + 7) / 8, file.st_size)))
        return damaged(err, "buffer");
    return 0;
}

static int map_buffer(struct launch_request *r, const struct child_message *message,
                      struct bytes record, struct launch_memory *out, struct err *err)
{
    struct launch_buffer *row = &out->row;
    struct bytes data;

    if (!fields_find(record, TAG_ROW, 0, &data) || !copy_row(data, row, sizeof(*row)))
        return damaged(err, "buffer");
    out->texts = (struct launch_buffer_texts){ .name = read_text(r->arena, record, TAG_NAME),
                                               .linked = read_text(r->arena, record, TAG_SYMBOL),
                                               .element = read_text(r->arena, record, TAG_ELEMENT),
                                               .origin = read_text(r->arena, record, TAG_ORIGIN),
                                               .freed = read_text(r->arena, record, TAG_FREED) };
    if (!out->texts.name)
        out->texts.name = "buffer";
    if (!out->texts.linked)
        out->texts.linked = out->texts.name;
    if (check_row(row, message, err) < 0)
        return -1;
    atomic_init(&out->is_written, true);
    if (row->flags & LAUNCH_IS_FREED)
        return 0;
    out->fd = message->fds[row->fd];
    out->data = launch_map(out->fd, row->offset, row->size, out->texts.name, err);
    if (!out->data)
        return -1;
    if (!row->defined_offset)
        return 0;
    out->defined =
        launch_map(out->fd, row->defined_offset, (row->size + 7) / 8, out->texts.name, err);
    return out->defined ? 0 : -1;
}

static int map_status(struct launch_request *r, const struct child_message *message,
                      struct bytes data, struct err *err)
{
    struct stat file;
    int64_t number;
    void *at;

    if (!copy_row(data, &number, sizeof(number)) || number < 0 ||
        (size_t)number >= message->fd_count || fstat(message->fds[number], &file) < 0 ||
        file.st_size < (off_t)sizeof(struct launch_status))
        return damaged(err, "status page");
    at = mmap(NULL, sizeof(struct launch_status), PROT_READ | PROT_WRITE, MAP_SHARED,
              message->fds[number], 0);
    if (at == MAP_FAILED)
        return err_set(err, ERR_ResourceError, "the status page of a launch cannot be mapped: %s",
                       strerror(errno));
    r->status = at;
    return 0;
}

/* A copy: the driver wants machine code aligned and text terminated, a message promises neither. */
static int take_image(struct arena *arena, struct bytes data, struct bytes *out, struct err *err)
{
    *out = (struct bytes){ arena_copy(arena, data.data, data.size), data.size };
    return out->data ? 0 : err_set(err, ERR_ResourceError, "out of memory for a module");
}

/* The lists of a request, filled while its fields are read. */
struct lists {
    struct launch_module *modules;
    struct launch *launches;
    size_t modules_read;
};

static int make_room(struct launch_request *r, struct bytes body, struct lists *lists,
                     struct err *err)
{
    size_t buffers = count_tag(body, TAG_BUFFER);

    if (buffers > MAX_BUFFERS)
        return err_set(err, ERR_ResourceError, "%zu buffers in a launch: at most %d", buffers,
                       MAX_BUFFERS);
    r->module_count = count_tag(body, TAG_MODULE);
    lists->modules = arena_array(r->arena, r->module_count, sizeof(*lists->modules));
    lists->launches = arena_array(r->arena, count_tag(body, TAG_LAUNCH), sizeof(*lists->launches));
    r->buffers = arena_array(r->arena, buffers, sizeof(*r->buffers));
    if (!lists->modules || !lists->launches || !r->buffers)
        return err_set(err, ERR_ResourceError, "out of memory for a launch");
    r->modules = lists->modules;
    r->launches = lists->launches;
    return 0;
}

static int read_device(struct launch_request *r, struct bytes data, struct err *err)
{
    if (!copy_row(data, &r->device, sizeof(r->device)))
        return damaged(err, "device");
    r->device.name = "device";
    r->has_device = true;
    return 0;
}

static int read_field(struct launch_request *r, const struct child_message *message,
                      const struct field_item *item, struct lists *lists, struct err *err)
{
    switch (item->tag) {
    case TAG_PROBE:
        return take_image(r->arena, item->data, &r->probe, err);
    case TAG_MODULE:
        return take_image(r->arena, item->data, &lists->modules[lists->modules_read++].image, err);
    case TAG_MODULE_ID:
        if (lists->modules_read == 0 ||
            !copy_row(item->data, &lists->modules[lists->modules_read - 1].id, sizeof(uint64_t)))
            return damaged(err, "module number");
        return 0;
    case TAG_BUFFER:
        return map_buffer(r, message, item->data, &r->buffers[r->buffer_count++], err);
    case TAG_LAUNCH:
        return read_launch(r, item->data, &lists->launches[r->launch_count++], err);
    case TAG_OPTIONS:
        return copy_row(item->data, &r->options, sizeof(r->options))
                   ? 0
                   : damaged(err, "list of options");
    case TAG_MODEL_DEVICE:
        return read_device(r, item->data, err);
    case TAG_STATUS:
        return map_status(r, message, item->data, err);
    default:
        return 0;
    }
}

static int read_all(struct launch_request *r, const struct child_message *message, struct err *err)
{
    struct bytes body = child_message_body(message);
    struct field_reader reader = { body, false };
    struct lists lists = { 0 };
    struct field_item item;
    const char *name;

    if (make_room(r, body, &lists, err) < 0)
        return -1;
    while (fields_next(&reader, &item))
        if (read_field(r, message, &item, &lists, err) < 0)
            return -1;
    name = read_text(r->arena, body, TAG_DEVICE_NAME);
    if (name)
        r->device.name = name;
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
        const struct launch_buffer *row = &b->row;

        if ((row->flags & LAUNCH_READ_ONLY) || !b->data || !atomic_load(&b->is_written))
            continue;
        if (launch_map_write_back(b->fd, row->offset, row->size, b->data, b->texts.name, err) < 0)
            return -1;
        if (b->defined && launch_map_write_back(b->fd, row->defined_offset, (row->size + 7) / 8,
                                                b->defined, b->texts.name, err) < 0)
            return -1;
    }
    return 0;
}

void launch_request_restore(const struct launch_request *request)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        const struct launch_memory *b = &request->buffers[i];

        launch_map_restore(b->data, b->row.offset, b->row.size);
        launch_map_restore(b->defined, b->row.defined_offset, (b->row.size + 7) / 8);
    }
}

void launch_request_done(struct launch_request *request)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        struct launch_memory *b = &request->buffers[i];

        launch_unmap(b->data, b->row.offset, b->row.size);
        launch_unmap(b->defined, b->row.defined_offset, (b->row.size + 7) / 8);
    }
    if (request->status)
        munmap(request->status, sizeof(*request->status));
    arena_free(&request->arena);
    *request = (struct launch_request){ 0 };
}

int launch_buffer_at(const struct launch_request *request, uint64_t address)
{
    for (size_t i = 0; i < request->buffer_count; i++) {
        const struct launch_buffer *row = &request->buffers[i].row;

        if (!(row->flags & LAUNCH_IS_SYMBOL) && address >= row->address &&
            address - row->address <= row->size)
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
        capacity += launch->arguments[i].value.size + launch->arguments[i].align;
    blob = arena_alloc(request->arena, capacity);
    if (!blob) {
        err_set(err, ERR_ResourceError, "out of memory for the arguments of %s", launch->symbol);
        return NULL;
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        const struct launch_argument *a = &launch->arguments[i];
        uint64_t address;

        at = (size_t)round_up((int64_t)at, (int64_t)a->align);
        if (a->is_pointer) {
            address = real_address(request, a->address, addresses);
            memcpy(blob + at, &address, sizeof(address));
        } else {
            memcpy(blob + at, a->value.data, a->value.size);
        }
        for (size_t k = 0; k < a->pointer_count; k++) {
            memcpy(&address, blob + at + a->pointers[k], sizeof(address));
            address = real_address(request, address, addresses);
            memcpy(blob + at + a->pointers[k], &address, sizeof(address));
        }
        at += a->value.size;
    }
    *size = at;
    return blob;
}

void launch_put_module(struct buf *body, struct bytes image, uint64_t id)
{
    fields_put(body, TAG_MODULE, image);
    fields_put_int(body, TAG_MODULE_ID, (int64_t)id);
}

void launch_put_buffer(struct buf *body, const struct launch_buffer *row,
                       const struct launch_buffer_texts *texts)
{
    size_t begin = fields_begin(body, TAG_BUFFER);

    fields_put(body, TAG_ROW, (struct bytes){ (const char *)row, sizeof(*row) });
    fields_put_text(body, TAG_NAME, texts->name);
    fields_put_text(body, TAG_SYMBOL, texts->linked);
    fields_put_text(body, TAG_ELEMENT, texts->element);
    fields_put_text(body, TAG_ORIGIN, texts->origin);
    fields_put_text(body, TAG_FREED, texts->freed);
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
    fields_put_text(body, TAG_DEVICE_NAME, device->name);
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

void launch_put_value(struct buf *body, const void *value, size_t size, size_t align)
{
    size_t begin = fields_begin(body, TAG_ARGUMENT);
    uint32_t word = (uint32_t)align;

    buf_put(body, (const char *)&word, sizeof(word));
    buf_put(body, value, size);
    fields_end(body, begin);
}

void launch_put_pointer_at(struct buf *body, size_t offset)
{
    fields_put_int(body, TAG_POINTER_AT, (int64_t)offset);
}

void launch_end(struct buf *body, size_t begin)
{
    fields_end(body, begin);
}
