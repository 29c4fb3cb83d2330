/*
 * One lane, one generic address: the host memory behind it.
 *
 * Loads and stores do this for a whole warp at a time (exec_memory.c). What is done for one lane,
 * such as reading the text of a printf or copying 16 bytes behind the lane's back, asks here.
 */
#include "model/ptx/access.h"

struct ptx_dim cta_thread(const struct cta *cta, int warp, int lane)
{
    const struct ptx_dim *block = &cta->run->launch->block;
    unsigned thread = (unsigned)warp * WARP + (unsigned)lane;

    return (struct ptx_dim){ thread % block->x, thread / block->x % block->y,
                             thread / block->x / block->y };
}

static uint8_t *in_window(uint8_t *data, uint64_t size, uint64_t at, size_t *room)
{
    if (at >= size)
        return NULL;
    *room = (size_t)(size - at);
    return data + at;
}

/* The host memory behind it, and how many bytes of it lie there in a row; NULL: there is none. */
static uint8_t *address_at(const struct warp *w, int lane, uint64_t address, bool is_write,
                           size_t *room)
{
    const struct run *run = w->cta->run;
    const struct ptx_launch *launch = run->launch;
    const struct region *r;

    *room = 0;
    switch (address_space(address)) {
    case SPACE_SHARED:
        return in_window(w->cta->shared, run->shared_bytes, address - SHARED_WINDOW, room);
    case SPACE_LOCAL:
        address -= LOCAL_WINDOW;
        if (address >= run->stack_bytes)
            return NULL;
        *room = 16 - address % 16; /* the next piece is another lane's */
        return w->local + access_private(address, lane);
    case SPACE_PARAM: /* const in the launch: is_write is refused before it is handed out */
        return is_write ? NULL
                        : in_window((uint8_t *)(uintptr_t)launch->parameters,
                                    (uint64_t)launch->kernel->parameter_bytes,
                                    address - PARAM_WINDOW, room);
    default:
        r = region_find(run, address);
        if (!r || address >= r->end || r->is_freed || (is_write && r->is_read_only))
            return NULL;
        return in_window(r->data, r->end - r->start, address - r->start, room);
    }
}

bool address_read(const struct warp *w, int lane, uint64_t address, void *out, size_t size)
{
    uint8_t *to = out;

    while (size) {
        size_t room, n;
        const uint8_t *from = address_at(w, lane, address, false, &room);

        if (!from)
            return false;
        n = room < size ? room : size;
        memcpy(to, from, n);
        to += n;
        address += n;
        size -= n;
    }
    return true;
}

bool address_read_text(const struct warp *w, int lane, uint64_t address, struct buf *out)
{
    for (;;) {
        size_t room;
        const char *from = (const char *)address_at(w, lane, address, false, &room);
        const char *end = from ? memchr(from, '\0', room) : NULL;

        if (!from || out->size > PTX_PRINT_LIMIT)
            return false;
        buf_put(out, from, end ? (size_t)(end - from) : room);
        if (end)
            return true;
        /* A buffer ends where it ends, even if another one starts there. */
        if (address_space(address) != SPACE_LOCAL)
            return false;
        address += room;
    }
}
