/*
 * A buffer is a memfd and an address. The memfd never shrinks, so that a worker
 * that maps it cannot be made to touch bytes that are gone. Behind the data lies
 * a bitmap of the bytes that were written, because reading what was never written
 * is the fault that a GPU never reports; it goes once all is written.
 */
#include "cells/buffer.h"

#include "cells/buffer_struct.h"
#include "cells/internal.h"
#include "model/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct buffers {
    struct buffer **list; /* in order of creation */
    size_t count, capacity;
    size_t bytes;          /* of data and bitmaps, all together */
    uint64_t next_address; /* where the next buffer begins */
    struct freed_buffer *freed;
    size_t freed_count, freed_capacity;
};

struct buffers *buffers_new(void)
{
    struct buffers *buffers = calloc(1, sizeof(*buffers));

    if (buffers)
        buffers->next_address = BUFFER_ADDRESS_BASE;
    return buffers;
}

static void buffer_free(struct buffer *buffer)
{
    if (!buffer)
        return;
    if (buffer->data && buffer->data != MAP_FAILED)
        munmap(buffer->data, buffer->mapped);
    if (buffer->fd >= 0)
        close(buffer->fd);
    arena_free(&buffer->arena);
    free(buffer);
}

void buffers_free(struct buffers **buffers)
{
    struct buffers *b = *buffers;

    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++)
        buffer_free(b->list[i]);
    for (size_t i = 0; i < b->freed_count; i++) {
        free((char *)b->freed[i].name);
        free((char *)b->freed[i].where);
    }
    free(b->list);
    free(b->freed);
    free(b);
    *buffers = NULL;
}

/* ---- how much there may be ---- */

/* The limit of the container, where there is one; else SIZE_MAX. */
static size_t container_memory(void)
{
    static const char *const FILES[] = { "/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes" };
    unsigned long long bytes = 0;

    for (size_t i = 0; i < COUNT(FILES); i++) {
        FILE *file = fopen(FILES[i], "re");
        int n = file ? fscanf(file, "%llu", &bytes) : 0;

        if (file)
            fclose(file);
        if (n == 1 && bytes)
            return (size_t)bytes;
    }
    return SIZE_MAX;
}

size_t buffers_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t machine = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 30;
    size_t container = container_memory();

    return (container < machine ? container : machine) / 2;
}

static size_t page_round(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* The bitmap counts as memory too. */
static size_t with_bitmap(size_t size)
{
    return page_round(page_round(size) + (size + 7) / 8);
}

/* "768 MB": sizes in errors. */
static const char *size_text(size_t bytes, char *out, size_t size)
{
    if (bytes >= (size_t)10 << 30)
        snprintf(out, size, "%zu GB", bytes >> 30);
    else if (bytes >= (size_t)10 << 20)
        snprintf(out, size, "%zu MB", bytes >> 20);
    else
        snprintf(out, size, "%zu bytes", bytes);
    return out;
}

static int count_elements(const char *name, const struct element_type *type, int least, int rank,
                          const int64_t *shape, int64_t *count, size_t *size, struct err *err)
{
    int64_t n = 1, bytes;

    if (rank < least || rank > BUFFER_RANK_MAX)
        return err_set(err, ERR_ValueError, "%.60s: a buffer has 1 to %d dimensions, not %d", name,
                       BUFFER_RANK_MAX, rank);
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 1)
            return err_set(err, ERR_ValueError, "%.60s: a dimension of %lld: 1 is the least", name,
                           (long long)shape[i]);
        if (__builtin_mul_overflow(n, shape[i], &n))
            goto too_large;
    }
    if (__builtin_mul_overflow(n, (int64_t)type->bytes, &bytes) || bytes > INT64_MAX / 4)
        goto too_large;
    *count = n;
    *size = (size_t)bytes;
    return 0;
too_large:
    return err_set(err, ERR_ResourceError, "%.60s: more elements than 64 bits count", name);
}

static int check_room(const struct buffers *b, const char *name, size_t size, size_t old,
                      struct err *err)
{
    size_t limit = buffers_limit(), total = b->bytes - old + with_bitmap(size);
    char wanted[32], allowed[32], taken[32];

    if (total > limit) {
        err_set(err, ERR_ResourceError, "%.60s takes %s; buffers may take %s here, %s are taken",
                name, size_text(size, wanted, sizeof(wanted)),
                size_text(limit, allowed, sizeof(allowed)),
                size_text(b->bytes - old, taken, sizeof(taken)));
        return err_next(err, "half of this machine's memory is for buffers; %%who lists them, "
                             "%%reset data frees them");
    }
    if (b->count >= BUFFERS_MAX) {
        err_set(err, ERR_ResourceError, "%.60s: a session has at most %d buffers", name,
                BUFFERS_MAX);
        return err_next(err, "%%reset data frees them");
    }
    if (size + 2 * BUFFER_RED_ZONE > BUFFER_ADDRESS_END - b->next_address)
        return err_set(err, ERR_ResourceError,
                       "%.60s: no addresses are left in this session; restart the kernel", name);
    return 0;
}

/* ---- making ---- */

static int map_memory(struct buffer *buffer, struct err *err)
{
    buffer->defined_offset = page_round(buffer->size);
    buffer->mapped = with_bitmap(buffer->size);
    buffer->fd = memfd_create("warpbook-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (buffer->fd < 0)
        return err_set(err, ERR_ResourceError, "%.60s: no memory file: %s", buffer->name,
                       strerror(errno));
    if (ftruncate(buffer->fd, (off_t)buffer->mapped) < 0 ||
        fcntl(buffer->fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        return err_set(err, ERR_ResourceError, "%.60s: %zu bytes: %s", buffer->name, buffer->size,
                       strerror(errno));
    buffer->data = mmap(NULL, buffer->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
    if (buffer->data == MAP_FAILED)
        return err_set(err, ERR_ResourceError, "%.60s: %zu bytes: %s", buffer->name, buffer->size,
                       strerror(errno));
    return 0;
}

static int describe(struct buffer *buffer, const char *name, const struct element_type *type,
                    int run_count, struct err *err)
{
    buffer->arena = arena_new(0);
    if (!buffer->arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    buffer->name = arena_string(buffer->arena, name);
    buffer->origin = arena_printf(buffer->arena, "made in In[%d]", run_count);
    if (!buffer->name || !buffer->origin)
        return err_set(err, ERR_ResourceError, "out of memory");
    return element_type_copy(buffer->arena, type, &buffer->type, err);
}

static struct buffer *find(const struct session *session, const char *name, bool is_symbol)
{
    const struct buffers *b = session->buffers;

    for (size_t i = 0; i < b->count; i++)
        if (b->list[i]->is_symbol == is_symbol && strcmp(b->list[i]->name, name) == 0)
            return b->list[i];
    return NULL;
}

static int reserve(struct buffers *b, struct err *err)
{
    size_t more = b->capacity ? 2 * b->capacity : 16;
    struct buffer **grown;

    if (b->count < b->capacity)
        return 0;
    grown = realloc(b->list, more * sizeof(*grown));
    if (!grown)
        return err_set(err, ERR_ResourceError, "out of memory");
    b->list = grown;
    b->capacity = more;
    return 0;
}

static void place(struct buffers *b, struct buffer *buffer)
{
    buffer->address = b->next_address;
    b->next_address += (buffer->size + BUFFER_RED_ZONE + 255) / 256 * 256;
    b->bytes += buffer->mapped;
    b->list[b->count++] = buffer;
}

int buffer_prepare(struct session *session, const char *name, const struct element_type *type,
                   int rank, const int64_t *shape, bool is_symbol, struct buffer **out,
                   struct err *err)
{
    struct buffer *old = find(session, name, is_symbol), *buffer = NULL;
    int64_t count = 0;
    size_t size = 0;

    *out = NULL;
    if (count_elements(name, type, is_symbol ? 0 : 1, rank, shape, &count, &size, err) < 0 ||
        check_room(session->buffers, name, size, old ? old->mapped : 0, err) < 0)
        return -1;
    buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return err_set(err, ERR_ResourceError, "out of memory");
    *buffer = (struct buffer){
        .rank = rank, .count = count, .size = size, .fd = -1, .is_symbol = is_symbol
    };
    for (int i = 0; i < BUFFER_RANK_MAX; i++)
        buffer->shape[i] = i < rank ? shape[i] : 1;
    if (describe(buffer, name, type, session->run_count, err) < 0 || map_memory(buffer, err) < 0) {
        buffer_free(buffer);
        return -1;
    }
    *out = buffer;
    return 0;
}

int buffer_commit(struct session *session, struct buffer *take, struct err *err)
{
    struct buffer *old = find(session, take->name, take->is_symbol);
    char how[64];

    if (reserve(session->buffers, err) < 0) {
        buffer_free(take);
        return -1;
    }
    if (old) {
        snprintf(how, sizeof(how), "replaced by a new one in In[%d]", session->run_count);
        buffer_drop(session, old, how);
    }
    if (!take->is_symbol)
        session_remove(session, take->name);
    place(session->buffers, take);
    return 0;
}

void buffer_discard(struct buffer **buffer)
{
    buffer_free(*buffer);
    *buffer = NULL;
}

int buffer_make(struct session *session, const char *name, const struct element_type *type,
                int rank, const int64_t *shape, bool is_symbol, struct buffer **out,
                struct err *err)
{
    *out = NULL;
    if (buffer_prepare(session, name, type, rank, shape, is_symbol, out, err) < 0)
        return -1;
    if (buffer_commit(session, *out, err) == 0)
        return 0;
    *out = NULL;
    return -1;
}

void buffer_set_origin(struct buffer *buffer, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = arena_vprintf(buffer->arena, fmt, args);
    va_end(args);
    if (text)
        buffer->origin = text;
}

/* ---- finding ---- */

struct buffer *buffer_find(struct session *session, const char *name)
{
    struct buffer *buffer = find(session, name, false);

    return buffer ? buffer : find(session, name, true);
}

struct buffer *buffer_find_symbol(struct session *session, const char *name)
{
    return find(session, name, true);
}

size_t buffer_count(const struct session *session)
{
    return session->buffers->count;
}

struct buffer *buffer_at(const struct session *session, size_t i)
{
    return session->buffers->list[i];
}

void buffer_type_text(const struct buffer *buffer, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s", buffer->type.name);

    for (int i = 0; i < buffer->rank && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "[%lld]", (long long)buffer->shape[i]);
}

/* ---- ending ---- */

/* What cannot be remembered for want of memory is forgotten: reports then name no owner. */
static void remember(struct buffers *b, const struct buffer *buffer, const char *how)
{
    struct freed_buffer f = { NULL, buffer->address, buffer->size, NULL };

    if (b->freed_count == FREED_MAX) {
        free((char *)b->freed[0].name);
        free((char *)b->freed[0].where);
        memmove(b->freed, b->freed + 1, --b->freed_count * sizeof(*b->freed));
    }
    if (b->freed_count == b->freed_capacity) {
        size_t more = b->freed_capacity ? 2 * b->freed_capacity : 16;
        struct freed_buffer *grown = realloc(b->freed, more * sizeof(*grown));

        if (!grown)
            return;
        b->freed = grown;
        b->freed_capacity = more;
    }
    f.name = strdup(buffer->name);
    f.where = strdup(how);
    if (f.name && f.where) {
        b->freed[b->freed_count++] = f;
        return;
    }
    free((char *)f.name);
    free((char *)f.where);
}

void buffer_drop(struct session *session, struct buffer *buffer, const char *how)
{
    struct buffers *b = session->buffers;
    size_t i = 0;

    while (i < b->count && b->list[i] != buffer)
        i++;
    if (i == b->count)
        return;
    if (how)
        remember(b, buffer, how);
    b->bytes -= buffer->mapped;
    memmove(b->list + i, b->list + i + 1, (b->count - i - 1) * sizeof(*b->list));
    b->count--;
    buffer_free(buffer);
}

void buffers_drop_all(struct session *session, bool symbols, const char *how)
{
    struct buffers *b = session->buffers;

    for (size_t i = b->count; i-- > 0;)
        if (b->list[i]->is_symbol == symbols)
            buffer_drop(session, b->list[i], how);
}

size_t freed_count(const struct session *session)
{
    return session->buffers->freed_count;
}

const struct freed_buffer *freed_at(const struct session *session, size_t i)
{
    return &session->buffers->freed[i];
}

/* ---- definedness ---- */

uint8_t *buffer_defined(const struct buffer *buffer)
{
    return buffer->defined_offset ? (uint8_t *)buffer->data + buffer->defined_offset : NULL;
}

/* The pages go back to the system; the file keeps its length, as it is sealed. */
static void drop_bitmap(struct buffer *buffer)
{
    int rc =
        fallocate(buffer->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)buffer->defined_offset, (off_t)(buffer->mapped - buffer->defined_offset));

    (void)rc; /* memory that stays is no harm */
    buffer->defined_offset = 0;
}

void buffer_define(struct buffer *buffer, size_t offset, size_t size)
{
    uint8_t *bits = buffer_defined(buffer);
    size_t end = offset + size, at = offset;

    if (!bits)
        return;
    if (offset == 0 && size == buffer->size) {
        drop_bitmap(buffer);
        return;
    }
    for (; at < end && at % 8; at++)
        bits[at / 8] |= (uint8_t)(1U << at % 8);
    memset(bits + at / 8, 0xff, (end - at) / 8);
    for (at += (end - at) / 8 * 8; at < end; at++)
        bits[at / 8] |= (uint8_t)(1U << at % 8);
}

/* The first byte from `at` on that was never written; `end`: there is none. */
static size_t first_undefined(const uint8_t *bits, size_t at, size_t end)
{
    while (at < end) {
        uint64_t word;

        if (at % 8 == 0 && end - at >= 64) {
            memcpy(&word, bits + at / 8, sizeof(word));
            if (word == UINT64_MAX) {
                at += 64;
                continue;
            }
        }
        if (!(bits[at / 8] >> at % 8 & 1))
            return at;
        at++;
    }
    return end;
}

bool buffer_is_defined(const struct buffer *buffer, size_t offset, size_t size)
{
    const uint8_t *bits = buffer_defined(buffer);

    return !bits || first_undefined(bits, offset, offset + size) == offset + size;
}

size_t buffer_count_undefined(const struct buffer *buffer, size_t offset, size_t size)
{
    const uint8_t *bits = buffer_defined(buffer);
    size_t end = offset + size, n = 0;
    uint64_t word;

    for (size_t at = offset; bits && at < end;) {
        if (at % 8 == 0 && end - at >= 64) {
            memcpy(&word, bits + at / 8, sizeof(word));
            n += 64 - (size_t)__builtin_popcountll(word);
            at += 64;
        } else {
            n += !(bits[at / 8] >> at % 8 & 1);
            at++;
        }
    }
    return n;
}

void buffer_settle(struct buffer *buffer)
{
    if (!buffer->defined_offset)
        return;
    /* Bits are only ever set: what was looked at once need not be again. */
    buffer->settled = first_undefined(buffer_defined(buffer), buffer->settled, buffer->size);
    if (buffer->settled == buffer->size)
        drop_bitmap(buffer);
}
