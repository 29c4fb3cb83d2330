/*
 * Runs instructions that touch registers which may have no value (locals.c).
 *
 * Moves copy the marks of their lanes, everything else that writes a register clears them, and
 * everything else that reads one without a value is a fault. What CUDA's headers or its
 * mathematical functions do with an argument is told at the call in the user's code.
 */
#include "model/ptx/report.h"

typedef uint32_t __attribute__((may_alias)) word32;

static word32 *word_at(const struct frame *frame, uint32_t at)
{
    return (word32 *)(frame->rows + at);
}

void local_open(const struct frame *frame)
{
    const struct function *f = frame->function;
    uint8_t *marks = frame->rows + f->marks;

    memset(marks, 0xff, (size_t)f->unset_marks * sizeof(word32));
    memset(marks + (size_t)f->unset_marks * sizeof(word32), 0,
           (size_t)(f->marks_count - f->unset_marks) * sizeof(word32));
}

static void put(word32 *mark, uint32_t bits, uint32_t mask)
{
    *mark = (*mark & ~mask) | (bits & mask);
}

void local_pass(const struct insn *call, const struct frame *caller, const struct frame *callee,
                uint32_t mask)
{
    const struct local_use *use = call->locals;

    for (int i = 0; i < use->argument_count; i++)
        put(word_at(callee, use->arguments[i].to), *word_at(caller, use->arguments[i].from), mask);
}

void local_return(const struct insn *call, const struct frame *caller, const struct frame *callee,
                  uint32_t mask)
{
    const struct local_use *use = call->locals;

    for (int i = 0; i < use->result_count; i++)
        put(word_at(caller, use->results[i].to), *word_at(callee, use->results[i].from), mask);
}

/* EXEC_OK in CUDA's own headers, which leave open what they do not use. */
static int fail(struct warp *w, const struct insn *in, uint32_t lanes, uint32_t row)
{
    const struct insn *at = in;

    for (const struct frame *f = w->frame; !at->loc && f->caller; f = f->caller)
        at = f->call_block->control;
    if (!report_is_users(w->cta, at))
        return EXEC_OK;
    w->fault = (struct fault_site){ .name = ERR_MemoryFault,
                                    .lanes = lanes,
                                    .bytes = 4,
                                    .insn = at,
                                    .reason = REASON_LOCAL,
                                    .row = row };
    return EXEC_FAULT;
}

static int look(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct local_use *use = in->locals;

    for (int i = 0; i < use->read_count; i++) {
        uint32_t unset = *(word32 *)(w->rows + use->reads[i].mark) & mask;

        if (unset && fail(w, in, unset, use->reads[i].row) < 0)
            return EXEC_FAULT;
    }
    return EXEC_OK;
}

/* The mark of a row among what the instruction reads; 0: it always has a value. */
static uint32_t mark_of(const struct warp *w, const struct local_use *use, uint32_t row)
{
    for (int i = 0; i < use->read_count; i++)
        if (use->reads[i].row == row)
            return *(word32 *)(w->rows + use->reads[i].mark);
    return 0;
}

static int track(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct local_use *use = in->locals;
    uint32_t unset = 0;

    if (!(w->cta->run->launch->checks & PTX_CHECK_LOCALS))
        return EXEC_OK;
    if (use->kind == LOCAL_LOOKS && look(w, in, mask) < 0)
        return EXEC_FAULT;
    if (use->kind == LOCAL_MOVES)
        for (int i = 0; i < use->read_count; i++)
            unset |= *(word32 *)(w->rows + use->reads[i].mark);
    if (use->kind == LOCAL_SELECTS) {
        uint32_t p = *(word32 *)(w->rows + in->c), chosen = mark_of(w, use, in->c) & mask;

        if (chosen && fail(w, in, chosen, in->c) < 0)
            return EXEC_FAULT;
        unset = (p & mark_of(w, use, in->a)) | (~p & mark_of(w, use, in->b));
    }
    for (int i = 0; i < use->write_count; i++)
        put((word32 *)(w->rows + use->writes[i].mark), unset, mask);
    return EXEC_OK;
}

int exec_local_full(struct warp *w, const struct insn *in, uint32_t mask)
{
    return track(w, in, mask) < 0 ? EXEC_FAULT : in->locals->full(w, in, mask);
}

int exec_local_masked(struct warp *w, const struct insn *in, uint32_t mask)
{
    return track(w, in, mask) < 0 ? EXEC_FAULT : in->locals->masked(w, in, mask);
}

int local_branch(struct warp *w, const struct insn *in, uint32_t mask)
{
    return w->cta->run->launch->checks & PTX_CHECK_LOCALS ? look(w, in, mask) : EXEC_OK;
}
