/*
 * %save writes a buffer as a .npy file, which NumPy and %buffer read. What was never
 * written is no data: such a buffer is refused with the first such element.
 */
#include "cells/buffer_value.h"
#include "cells/cell.h"
#include "cells/file.h"
#include "cells/internal.h"
#include "cells/magics.h"
#include "cells/npy.h"

#include <stdio.h>

enum { CHUNK = 1 << 16 /* elements between two looks at an interrupt */ };

/* "y" of y.npy: the buffer when a file alone is named. */
static const char *stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);

    return n > 4 && strcmp(name + n - 4, ".npy") == 0 ? arena_copy(arena, name, n - 4) : NULL;
}

static int find(struct call *call, const char **path, struct value *place, struct err *err)
{
    const char *what = call_text(call, "what"), *file = call_text(call, "file");
    const char *name = file ? NULL : stem(call->arena, what);
    struct source source = call_source(call, "what");
    int rc;

    if (!file && !name) {
        call_fail(call, "what", err, ERR_UsageError,
                  "%%save needs a file's name that ends in .npy");
        return err_next(err, "such as: %%save y.npy, or %%save y results.npy");
    }
    *path = file ? file : what;
    if (name)
        source.text = bytes_of(name);
    rc = expr_eval_source(call->session, source, call->arena, place, err);
    if (rc == 0 && place->type != VALUE_BUFFER)
        rc = place->type == VALUE_NULL
                 ? call_fail(call, "what", err, ERR_NameError, "no buffer is called %s",
                             text_show(call->arena, source.text, 60))
                 : call_fail(call, "what", err, ERR_UsageError, "%s is %s, not a buffer",
                             text_show(call->arena, source.text, 60), value_a_type(place->type));
    return rc;
}

/* Elements of [begin, end) that were not written whole; the first of all goes to *first. */
static int64_t count_missing(const struct buffer *b, size_t start, int64_t begin, int64_t end,
                             int64_t *first)
{
    size_t size = b->type.bytes, bytes = (size_t)(end - begin) * size;
    size_t undefined = buffer_count_undefined(b, start + (size_t)begin * size, bytes);
    int64_t missing = 0;

    if (undefined == 0)
        return 0;
    if (undefined == bytes) {
        *first = *first < 0 ? begin : *first;
        return end - begin;
    }
    for (int64_t i = begin; i < end; i++) {
        if (buffer_is_defined(b, start + (size_t)i * size, size))
            continue;
        *first = *first < 0 ? i : *first;
        missing++;
    }
    return missing;
}

static int check_written(const struct call *call, const struct value *place, struct err *err)
{
    const struct buffer *b = place->buffer.buffer;
    size_t start = buffer_value_offset(place, 0);
    int64_t shape[BUFFER_RANK_MAX], n = buffer_value_elements(place), missing = 0, first = -1;
    int rank = buffer_value_shape(place, shape);

    for (int64_t i = 0; buffer_defined(b) && i < n; i += CHUNK) {
        if (call_check_stop(call, err) < 0)
            return -1;
        missing += count_missing(b, start, i, min_i64(i + CHUNK, n), &first);
    }
    if (!missing)
        return 0;
    call_fail(call, "what", err, ERR_ValueError,
              "%s%s was never written (%lld of %lld elements were not)",
              buffer_value_name(call->arena, place),
              buffer_index_text(call->arena, rank, shape, first), (long long)missing, (long long)n);
    return err_next(err, "launch the kernel that writes it, or fill it with %%buffer");
}

/* bf16 has no name in NumPy; every one of them is a float. */
static int widen(struct call *call, const struct value *place, struct bytes *data, struct err *err)
{
    int64_t n = buffer_value_elements(place) * buffer_value_type(place)->lanes;
    const char *from = (const char *)place->buffer.buffer->data + buffer_value_offset(place, 0);
    uint32_t *to = arena_array(call->arena, (size_t)n, sizeof(*to));
    uint16_t bits;

    if (!to)
        return err_set(err, ERR_ResourceError, "%s as floats does not fit in the cell's memory",
                       place->buffer.buffer->name);
    for (int64_t i = 0; i < n; i++) {
        memcpy(&bits, from + 2 * i, sizeof(bits));
        to[i] = (uint32_t)bits << 16;
    }
    *data = (struct bytes){ (const char *)to, (size_t)n * sizeof(*to) };
    return 0;
}

static int run(struct call *call, struct err *err)
{
    const struct element_type *type;
    struct value place;
    const char *path = NULL;
    char header[512], kind[80];
    int64_t shape[BUFFER_RANK_MAX + 1];
    int rank;
    struct bytes parts[2];
    bool is_bf16;

    if (find(call, &path, &place, err) < 0)
        return -1;
    type = buffer_value_type(&place);
    rank = buffer_value_shape(&place, shape);
    if (type->layout) {
        call_fail(call, "what", err, ERR_UnsupportedError,
                  "%s has elements of type %s: a .npy file holds plain numbers",
                  place.buffer.buffer->name, type->name);
        return err_next(err, "one member at a time: %%buffer part = %s.%s, then %%save part.npy",
                        place.buffer.buffer->name, type->layout->members[0].name);
    }
    if (check_written(call, &place, err) < 0)
        return -1;
    is_bf16 = type->kind == SCALAR_BF16;
    parts[1] =
        (struct bytes){ (const char *)place.buffer.buffer->data + buffer_value_offset(&place, 0),
                        (size_t)buffer_value_elements(&place) * type->bytes };
    if (is_bf16 && widen(call, &place, &parts[1], err) < 0)
        return -1;
    if (type->lanes > 1) /* float4 x[8] is 8 by 4 */
        shape[rank++] = type->lanes;
    parts[0] = (struct bytes){ header, npy_header(is_bf16 ? SCALAR_FLOAT : type->kind, rank, shape,
                                                  header) };
    if (file_write_parts(path, parts, 2, err) < 0)
        return call_mark(call, err);
    snprintf(kind, sizeof(kind), "%s", is_bf16 ? "float32, which holds bf16 exactly" : type->name);
    sink_printf(call->sink, STREAM_STDOUT, "%s  %s, %zu bytes\n", path, kind,
                parts[0].size + parts[1].size);
    return 0;
}

static const struct param PARAMS[] = {
    { .name = "what",
      .type = PARAM_TEXT,
      .flags = PARAM_POSITIONAL | PARAM_REQUIRED,
      .help = "a buffer, or the buffer's name with .npy behind it" },
    { .name = "file",
      .type = PARAM_TEXT,
      .flags = PARAM_POSITIONAL,
      .help = "the file to write; relative to the notebook's folder" },
};

const struct magic MAGIC_SAVE = {
    .name = "save",
    .flags = MAGIC_SILENT,
    .summary = "writes a buffer as a .npy file: %save y.npy",
    .about = "%save y.npy writes the buffer y; %save y results.npy names the file. np.load in "
             "Python and %buffer y = results.npy read it. Vectors become a last dimension; bf16, "
             "which NumPy has not, is written as float32, exactly.",
    .example = "%buffer float y[16] = iota\n"
               "%save y /tmp/y.npy\n"
               "%buffer z = /tmp/y.npy",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = run,
};
