#include "model/ptx/call.h"

#include "model/ptx/async.h"
#include "model/ptx/shadow.h"
#include "model/ptx/sync.h"

enum { MAX_DEPTH = 4096 /* of calls */ };

/* Copies that nobody waited for are made at last. */
int call_end(struct warp *w, struct group *g)
{
    uint32_t mask = g->mask;
    struct join *outer;

    if (async_finish(w, mask, false) < 0)
        return GROUP_FAULT;
    w->live &= ~mask;
    w->cta->live_threads -= mask_lanes(mask);
    for (struct frame *f = g->frame; f; f = f->caller) {
        f->lanes &= ~mask;
        if (!f->lanes && f->caller)
            frame_close(w, f);
    }
    group_free(w, g);
    for (struct join *j = g->join; j; j = outer) {
        outer = j->outer;
        join_forgo(w, j, mask);
    }
    sync_recheck(w);
    return GROUP_TURN;
}

static void copy_areas(uint8_t *to_rows, const struct area *to, const uint8_t *from_rows,
                       const struct area *from, int count, uint32_t mask)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < to[i].words; k++) {
            uint8_t *d = to_rows + to[i].row + k * ROW32;
            const uint8_t *s = from_rows + from[i].row + k * ROW32;

            if (mask == FULL_MASK)
                memcpy(d, s, ROW32);
            for (uint32_t m = mask == FULL_MASK ? 0 : mask; m; m &= m - 1)
                memcpy(d + 4 * __builtin_ctz(m), s + 4 * __builtin_ctz(m), 4);
        }
}

static int out_of_memory(struct warp *w)
{
    w->fault = (struct fault_site){ .name = ERR_ResourceError, .lanes = w->mask };
    return GROUP_FAULT;
}

static int overflow_stack(struct warp *w, const struct insn *in)
{
    w->fault = (struct fault_site){
        .name = ERR_MemoryFault, .lanes = w->mask, .insn = in, .why = "stack overflow"
    };
    return GROUP_FAULT;
}

/* The function that a lane calls through a pointer; NULL: the value is none. */
static const struct function *called_by(const struct warp *w, const struct insn *in, int lane)
{
    const struct ptx_module *m = w->cta->run->module;
    uint64_t v, index;

    memcpy(&v, w->rows + in->a + 8 * lane, sizeof v);
    index = (v - CODE_WINDOW) / 16 - 1;
    if (v % 16 || index >= (uint64_t)m->ast.function_count || !m->functions[index].is_defined)
        return NULL;
    return &m->functions[index];
}

static bool has_shape(const struct function *f, const struct call *call)
{
    if (f->is_entry || f->parameter_count != call->argument_count ||
        f->result_count != call->result_count)
        return false;
    for (int i = 0; i < f->parameter_count; i++)
        if (f->parameters[i].words != call->arguments[i].words)
            return false;
    for (int i = 0; i < f->result_count; i++)
        if (f->results[i].words != call->results[i].words)
            return false;
    return true;
}

/* Lanes of an indirect call that call another function than the first stay for a turn of their own.
 */
static const struct function *choose_callee(struct warp *w, struct group *g, const struct insn *in)
{
    const struct function *first = called_by(w, in, __builtin_ctz(g->mask));
    uint32_t others = 0;

    for (uint32_t m = g->mask; m; m &= m - 1)
        if (called_by(w, in, __builtin_ctz(m)) != first)
            others |= m & -m;
    if (others)
        group_part(w, g, others)->at = g->block->end;
    if (first && has_shape(first, in->extra))
        return first;
    w->fault = (struct fault_site){ .name = ERR_MemoryFault,
                                    .lanes = g->mask,
                                    .insn = in,
                                    .why = "a call through a pointer to no function" };
    return NULL;
}

int call_enter(struct warp *w, struct group *g)
{
    const struct insn *in = g->block->control;
    const struct call *c = in->extra;
    const struct function *callee = c->callee ? c->callee : choose_callee(w, g, in);
    struct frame *frame;

    if (!callee)
        return GROUP_FAULT;
    if (g->frame->depth == MAX_DEPTH || g->frame->stack_at +
                                                (uint64_t)g->frame->function->local_bytes +
                                                (uint64_t)callee->local_bytes >
                                            w->cta->run->stack_bytes)
        return overflow_stack(w, in);
    frame = frame_open(w, callee, g->frame);
    if (!frame)
        return out_of_memory(w);
    frame->lanes = g->mask;
    shadow_frame(w, frame, g->mask);
    frame->call_block = g->block;
    copy_areas(frame->rows, callee->parameters, g->frame->rows, c->arguments, c->argument_count,
               g->mask);
    if (in->locals)
        local_pass(in, g->frame, frame, g->mask);
    g->frame = frame;
    g->block = &callee->blocks[0];
    g->at = NULL;
    return GROUP_OK;
}

int call_return(struct warp *w, struct group *g)
{
    struct frame *frame = g->frame, *caller = frame->caller;
    const struct block *from = frame->call_block;
    const struct call *c;

    if (!caller)
        return call_end(w, g);
    if (group_is_awaited_at(g, BLOCK_EXIT)) {
        join_arrive(w, g);
        return GROUP_TURN;
    }
    while (g->join && g->join->frame == frame) { /* left by another way than the join */
        struct join *outer = g->join->outer;

        join_forgo(w, g->join, g->mask);
        g->join = outer;
    }
    c = from->control->extra;
    copy_areas(caller->rows, c->results, frame->rows, frame->function->results, c->result_count,
               g->mask);
    if (from->control->locals)
        local_return(from->control, caller, frame, g->mask);
    frame->lanes &= ~g->mask;
    if (!frame->lanes)
        frame_close(w, frame);
    g->frame = caller;
    g->block = &caller->function->blocks[from->next];
    g->at = NULL;
    return GROUP_TURN;
}
