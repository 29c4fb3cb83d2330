/*
 * Frames: the rows of one call by some lanes of a warp. Constants, and what stays
 * the same for a warp through the launch, are written when a frame is made, as
 * nothing stores to them; what depends on the block or the call is written each
 * time.
 */
#include "model/ptx/internal.h"

typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

static void fill(uint8_t *rows, const struct fixed_row *f, uint64_t v)
{
    word32 *narrow = (word32 *)(rows + f->row);
    word64 *wide = (word64 *)(rows + f->row);

    if (f->bytes == 0)
        *narrow = (uint32_t)v;
    else if (f->bytes == 4)
        for (int l = 0; l < WARP; l++)
            narrow[l] = (uint32_t)v;
    else
        for (int l = 0; l < WARP; l++)
            wide[l] = v;
}

/* Threads are numbered x first, then y, then z. */
static uint64_t thread_index(const struct warp *w, int lane, enum special special)
{
    const struct ptx_dim *block = &w->cta->run->launch->block;
    unsigned thread = (unsigned)w->index * WARP + (unsigned)lane;

    switch (special) {
    case SPECIAL_TID_X:
        return thread % block->x;
    case SPECIAL_TID_Y:
        return thread / block->x % block->y;
    default:
        return thread / block->x / block->y;
    }
}

static uint64_t parameter(const struct warp *w, uint64_t value)
{
    const uint8_t *p = w->cta->run->launch->parameters;
    uint64_t v = 0;

    p += (uint32_t)value;
    switch ((enum memory_kind)(value >> 32)) {
    case MEMORY_U8:
        return *p;
    case MEMORY_S8:
        return (uint64_t)(int64_t)(int8_t)*p;
    case MEMORY_U16:
        memcpy(&v, p, 2);
        return v;
    case MEMORY_S16:
        memcpy(&v, p, 2);
        return (uint64_t)(int64_t)(int16_t)v;
    case MEMORY_U32:
        memcpy(&v, p, 4);
        return v;
    case MEMORY_S32:
        memcpy(&v, p, 4);
        return (uint64_t)(int64_t)(int32_t)v;
    case MEMORY_64:
        memcpy(&v, p, 8);
        return v;
    }
    return v;
}

static uint64_t uniform_special(const struct warp *w, const struct frame *frame,
                                const struct fixed_row *f)
{
    const struct run *run = w->cta->run;
    const struct ptx_launch *launch = run->launch;
    int sms = launch->device->sms > 0 ? launch->device->sms : 1;

    switch ((enum special)f->special) {
    case SPECIAL_LOCAL:
        return frame->stack_at + f->value;
    case SPECIAL_PARAM:
        return parameter(w, f->value);
    case SPECIAL_SHARED:
        return (uint32_t)f->value;
    case SPECIAL_NTID_X:
        return launch->block.x;
    case SPECIAL_NTID_Y:
        return launch->block.y;
    case SPECIAL_NTID_Z:
        return launch->block.z;
    case SPECIAL_CTAID_X:
        return w->cta->index.x;
    case SPECIAL_CTAID_Y:
        return w->cta->index.y;
    case SPECIAL_CTAID_Z:
        return w->cta->index.z;
    case SPECIAL_NCTAID_X:
        return launch->grid.x;
    case SPECIAL_NCTAID_Y:
        return launch->grid.y;
    case SPECIAL_NCTAID_Z:
        return launch->grid.z;
    case SPECIAL_WARPID:
        return (uint64_t)w->index;
    case SPECIAL_NWARPID:
        return (uint64_t)launch->device->warps_per_sm;
    case SPECIAL_SMID:
        return (uint64_t)(w->cta->linear % sms);
    case SPECIAL_NSMID:
        return (uint64_t)sms;
    case SPECIAL_DYNAMIC_SMEM:
        return (uint64_t)launch->dynamic_shared_bytes;
    case SPECIAL_TOTAL_SMEM:
        return run->shared_bytes;
    case SPECIAL_ENVREG1:
        return run->workspace >> 32;
    case SPECIAL_ENVREG2:
        return (uint32_t)run->workspace;
    default:
        return f->value;
    }
}

static uint64_t lane_special(const struct warp *w, int lane, enum special special)
{
    uint32_t bit = (uint32_t)1 << lane;

    switch (special) {
    case SPECIAL_LANEID:
        return (uint64_t)lane;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return thread_index(w, lane, special);
    }
}

static bool is_by_lane(enum special special)
{
    return special == SPECIAL_TID_X || special == SPECIAL_TID_Y || special == SPECIAL_TID_Z ||
           special == SPECIAL_LANEID ||
           (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GE);
}

static void fill_special(const struct warp *w, const struct frame *frame, const struct fixed_row *f)
{
    if (!is_by_lane(f->special)) {
        fill(frame->rows, f, uniform_special(w, frame, f));
        return;
    }
    for (int l = 0; l < WARP; l++) {
        uint64_t v = lane_special(w, l, f->special);

        if (f->bytes == 8)
            ((word64 *)(frame->rows + f->row))[l] = v;
        else
            ((word32 *)(frame->rows + f->row))[l] = (uint32_t)v;
    }
}

bool frame_is_changing(enum special special)
{
    return special == SPECIAL_LOCAL || special == SPECIAL_CTAID_X || special == SPECIAL_CTAID_Y ||
           special == SPECIAL_CTAID_Z || special == SPECIAL_SMID;
}

static struct frame *make(struct warp *w, const struct function *f)
{
    struct frame *frame = arena_alloc(w->cta->arena, sizeof *frame);
    uint8_t *rows = arena_alloc(w->cta->arena, f->frame_bytes + 64);

    if (!frame || !rows)
        return NULL;
    frame->rows = (uint8_t *)round_up((int64_t)(intptr_t)rows, 64);
    frame->function = f;
    for (int i = f->changing_count; i < f->fixed_count; i++)
        fill_special(w, frame, &f->fixed[i]);
    return frame;
}

struct frame *frame_open(struct warp *w, const struct function *f, struct frame *caller)
{
    struct frame *frame = w->free_frames[f->index];

    if (frame)
        w->free_frames[f->index] = frame->next_free;
    else
        frame = make(w, f);
    if (!frame)
        return NULL;
    frame->caller = caller;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->stack_at = caller ? caller->stack_at + (uint32_t)caller->function->local_bytes : 0;
    for (int i = 0; i < f->changing_count; i++)
        fill_special(w, frame, &f->fixed[i]);
    if (f->marks_count)
        local_open(frame);
    return frame;
}

void frame_close(struct warp *w, struct frame *frame)
{
    frame->next_free = w->free_frames[frame->function->index];
    w->free_frames[frame->function->index] = frame;
}
