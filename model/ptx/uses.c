/*
 * Which loads only copy: what they read is stored again and nothing else is done with it.
 *
 * A copy of a struct takes its padding along, which never had a value. So a value counts as used
 * only where it is computed with, compared, or made an address of. Method: start from the rows that
 * such instructions read; a row that a move reads is used when the row it writes is.
 */
#include "model/ptx/access.h"

enum { SLOT_BYTES = 4, FIELD_REACH = 16 };

static bool is_move(const struct insn *in)
{
    return !strncmp(in->spelling, "mov.", 4) || !strncmp(in->spelling, "st.param.", 9) ||
           !strncmp(in->spelling, "ld.param.", 9);
}

static bool is_used(const bool *used, const struct insn *in)
{
    for (int k = 0; k < in->deps->write_count; k++)
        if (used[in->deps->writes[k] / SLOT_BYTES])
            return true;
    return false;
}

static bool use(bool *used, uint32_t row)
{
    bool has_changed = !used[row / SLOT_BYTES];

    used[row / SLOT_BYTES] = true;
    return has_changed;
}

/* Rows that an instruction looks at; a store looks at its address only. */
static bool use_sources(bool *used, const struct insn *in)
{
    bool has_changed = false;

    if (!strncmp(in->spelling, "st.param.", 9) && in->full != exec_param_store)
        return used[in->d / SLOT_BYTES] && use(used, in->a);
    if (in->full == exec_store || (in->flags & INSN_WRITES && !(in->flags & INSN_ATOMIC)))
        return use(used, in->a);
    if (is_move(in) && in->deps->write_count && !is_used(used, in))
        return false;
    for (int k = 0; k < in->deps->read_count; k++)
        has_changed |= use(used, in->deps->reads[k]);
    return has_changed;
}

/* A number that a call takes or gives is used: who knows for what. A struct is copied. */
static void use_areas(bool *used, const struct area *areas, int count)
{
    for (int i = 0; i < count; i++)
        if (areas[i].words == 1)
            use(used, areas[i].row);
}

static void use_arguments(bool *used, const struct insn *in)
{
    const struct call *call = in->extra;

    if (in->control == CONTROL_CALL)
        use_areas(used, call->arguments, call->argument_count);
}

/* Loads one after the other, of the same line and from the same pointer: the parts of a struct. */
static bool is_beside(const struct insn *in, const struct insn *other)
{
    return other->checks & CHECK_COPY && other->loc == in->loc && other->a == in->a &&
           other->offset != in->offset;
}

static void mark_members(struct function *f)
{
    for (int i = 0; i < f->insn_count; i++) {
        struct insn *in = &f->insns[i];

        if (in->checks & CHECK_COPY && (in->vector > 1 || (i > 0 && is_beside(in, in - 1)) ||
                                        (i + 1 < f->insn_count && is_beside(in, in + 1))))
            in->checks |= CHECK_MEMBER;
    }
}

static bool is_field_op(const struct insn *in)
{
    return !strncmp(in->spelling, "and.b", 5) || !strncmp(in->spelling, "or.b", 4) ||
           !strncmp(in->spelling, "bfi.b", 5) || !strncmp(in->spelling, "mov.", 4);
}

static bool reads_any(const struct insn *in, const uint32_t *rows, int count)
{
    for (int k = 0; k < in->deps->read_count; k++)
        for (int i = 0; i < count; i++)
            if (in->deps->reads[k] == rows[i])
                return true;
    return false;
}

/*
 * The first value of a bit field: the word around it is read, masked, and stored where it was. The
 * bits beside the field stay without a value.
 */
static bool sets_field(const struct insn *load, const struct insn *end)
{
    uint32_t rows[FIELD_REACH] = { load->rows[0] };
    int count = 1;

    for (const struct insn *in = load + 1; in < end && in - load < FIELD_REACH; in++) {
        if (in->control != CONTROL_NONE)
            return false;
        if (in->flags & INSN_WRITES && in->a == load->a && in->offset == load->offset)
            return count > 1 && in->rows[0] == rows[count - 1];
        if (is_field_op(in) && reads_any(in, rows, count))
            rows[count++] = in->d;
    }
    return false;
}

/* Of a vector, the code may look at some members only: a float4 whose w nobody set or wants. */
static void find_used_bytes(const bool *used, struct insn *in)
{
    unsigned bytes = (unsigned)ACCESS_KIND_BYTES[in->memory], member = (1U << bytes) - 1, mask = 0;

    for (int i = 0; i < in->vector; i++)
        if (used[in->rows[i] / SLOT_BYTES])
            mask |= member << bytes * (unsigned)i;
    in->used_bytes = (uint16_t)mask;
}

int uses_find(struct function *f, struct err *err)
{
    struct arena *scratch = arena_new(0);
    bool *used = scratch ? arena_array(scratch, f->frame_bytes / SLOT_BYTES + 1, 1) : NULL;
    bool has_changed = true;

    if (!used) {
        arena_free(&scratch);
        return err_set(err, ERR_ResourceError, "out of memory while the PTX was decoded");
    }
    for (int i = 0; i < f->insn_count; i++)
        use_arguments(used, &f->insns[i]);
    if (!f->is_entry)
        use_areas(used, f->results, f->result_count);
    while (has_changed) {
        has_changed = false;
        for (int i = f->insn_count - 1; i >= 0; i--)
            has_changed |= use_sources(used, &f->insns[i]);
    }
    for (int i = 0; i < f->insn_count; i++) {
        struct insn *in = &f->insns[i];

        if (in->counter >= 0 && !(in->flags & INSN_WRITES) && !is_used(used, in))
            in->checks |= CHECK_COPY;
        if (in->counter >= 0 && !(in->flags & INSN_WRITES) &&
            sets_field(in, f->insns + f->insn_count))
            in->checks |= CHECK_FIELD;
        if (in->counter >= 0 && insn_exec(in) == exec_load && in->vector > 1 && !in->used_bytes &&
            ACCESS_KIND_BYTES[in->memory] * in->vector <= 16)
            find_used_bytes(used, in);
    }
    mark_members(f);
    arena_free(&scratch);
    return 0;
}
