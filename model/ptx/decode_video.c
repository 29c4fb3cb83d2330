/*
 * Decoding of video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad vset,
 * and those of two and four parts. An operand may name a part: %r1.b2, %r1.h10.
 */
#include "model/ptx/decode.h"
#include "model/ptx/video.h"

static const struct {
    const char *name;
    enum video_op op;
    int parts;
} OPS[] = {
    { "vadd", VIDEO_ADD, 1 },          { "vadd2", VIDEO_ADD, 2 },
    { "vadd4", VIDEO_ADD, 4 },         { "vsub", VIDEO_SUB, 1 },
    { "vsub2", VIDEO_SUB, 2 },         { "vsub4", VIDEO_SUB, 4 },
    { "vabsdiff", VIDEO_ABSDIFF, 1 },  { "vabsdiff2", VIDEO_ABSDIFF, 2 },
    { "vabsdiff4", VIDEO_ABSDIFF, 4 }, { "vmin", VIDEO_MIN, 1 },
    { "vmin2", VIDEO_MIN, 2 },         { "vmin4", VIDEO_MIN, 4 },
    { "vmax", VIDEO_MAX, 1 },          { "vmax2", VIDEO_MAX, 2 },
    { "vmax4", VIDEO_MAX, 4 },         { "vavrg2", VIDEO_AVERAGE, 2 },
    { "vavrg4", VIDEO_AVERAGE, 4 },    { "vset", VIDEO_SET, 1 },
    { "vset2", VIDEO_SET, 2 },         { "vset4", VIDEO_SET, 4 },
    { "vshl", VIDEO_SHL, 1 },          { "vshr", VIDEO_SHR, 1 },
    { "vmad", VIDEO_MAD, 1 },
};

static int refuse(struct decoder *d)
{
    return decode_refuse(d, "a video instruction of a form that is not executed");
}

/* .s32 or .u32: only the sign acts. */
static bool read_type(struct bytes part, bool *is_signed)
{
    *is_signed = bytes_equal(part, "s32");
    return *is_signed || bytes_equal(part, "u32");
}

static bool read_modifier(struct bytes part, struct video *v, bool *has_mode)
{
    static const char *const COMPARES[] = { "eq", "ne", "lt", "le", "gt", "ge" };

    for (size_t i = 0; v->op == VIDEO_SET && !*has_mode && i < COUNT(COMPARES); i++)
        if (bytes_equal(part, COMPARES[i])) {
            v->compare = (enum video_compare)i;
            return *has_mode = true;
        }
    if ((v->op == VIDEO_SHL || v->op == VIDEO_SHR) && !*has_mode &&
        (bytes_equal(part, "clamp") || bytes_equal(part, "wrap"))) {
        v->wraps = part.data[0] == 'w';
        return *has_mode = true;
    }
    if (v->op == VIDEO_MAD && !v->shift &&
        (bytes_equal(part, "shr7") || bytes_equal(part, "shr15"))) {
        v->shift = bytes_equal(part, "shr7") ? 7 : 15;
        return true;
    }
    if (bytes_equal(part, "sat") && !v->saturates && v->op != VIDEO_SET)
        return v->saturates = true;
    if (v->second != SECOND_NONE || v->op == VIDEO_MAD)
        return false;
    v->second = bytes_equal(part, "add")   ? SECOND_ADD
                : v->parts > 1             ? SECOND_NONE
                : bytes_equal(part, "min") ? SECOND_MIN
                : bytes_equal(part, "max") ? SECOND_MAX
                                           : SECOND_NONE;
    return v->second != SECOND_NONE;
}

/* "b2" or "h1" of a scalar: its first byte and its bits. False: another form. */
static bool read_selector(struct bytes part, int *byte, int *bits)
{
    int n = part.size == 2 ? part.data[1] - '0' : -1;

    *byte = 0;
    *bits = 32;
    if (!part.size)
        return true;
    *bits = part.data[0] == 'b' ? 8 : 16;
    *byte = n * *bits / 8;
    return (part.data[0] == 'b' && n >= 0 && n < 4) || (part.data[0] == 'h' && n >= 0 && n < 2);
}

/* "h32" or "b7610": for each part, lowest first, which of the parts of a and b. */
static bool read_selectors(struct bytes part, const struct video *v, int first, uint8_t *out)
{
    for (int i = 0; i < v->parts; i++)
        out[i] = (uint8_t)(first + i);
    if (!part.size)
        return true;
    if (part.size != (size_t)v->parts + 1 || part.data[0] != (v->parts == 2 ? 'h' : 'b'))
        return false;
    for (int i = 0; i < v->parts; i++) {
        int n = part.data[v->parts - i] - '0';

        if (n < 0 || n >= 2 * v->parts)
            return false;
        out[i] = (uint8_t)n;
    }
    return true;
}

/* The parts of d that are written: "h1", "b310". */
static bool read_mask(struct bytes part, struct video *v)
{
    v->mask = (uint8_t)((1 << v->parts) - 1);
    if (!part.size)
        return true;
    if (part.data[0] != (v->parts == 2 ? 'h' : 'b') || part.size < 2)
        return false;
    v->mask = 0;
    for (size_t i = 1; i < part.size; i++) {
        int n = part.data[i] - '0';

        if (n < 0 || n >= v->parts || v->mask >> n & 1)
            return false;
        v->mask |= (uint8_t)(1 << n);
    }
    return true;
}

static bool read_parts_of_operands(struct decoder *d, struct video *v)
{
    struct bytes to = decode_operand(d, 0)->part, a = decode_operand(d, 1)->part;
    struct bytes b = decode_operand(d, 2)->part;
    int byte;

    v->merge = -1;
    if (v->parts > 1) {
        v->bits = 32 / v->parts;
        return read_mask(to, v) && read_selectors(a, v, 0, v->select_a) &&
               read_selectors(b, v, v->parts, v->select_b);
    }
    if (!read_selector(to, &byte, &v->bits))
        return false;
    v->merge = to.size ? 8 * byte : -1;
    if (!read_selector(a, &byte, &v->a_bits))
        return false;
    v->select_a[0] = (uint8_t)byte;
    if (!read_selector(b, &byte, &v->b_bits))
        return false;
    v->select_b[0] = (uint8_t)byte;
    return true;
}

/* The register of an operand, whatever part of it is named. */
static bool take_whole_source(struct decoder *d, int i, uint32_t *out)
{
    struct operand o = *decode_operand(d, i);

    o.part.size = 0;
    return take(decode_source(d, &o, 32), out);
}

static struct video *read_opcode(struct decoder *d)
{
    struct video *v = arena_alloc(d->module->arena, sizeof *v);
    struct opcode *o = &d->opcode;
    bool *signs[3], has_mode = false;
    size_t op = 0;
    int types = 0, wanted, at = 1;

    if (!v) {
        err_set(d->err, ERR_ResourceError, "out of memory while the PTX was decoded");
        return NULL;
    }
    while (op < COUNT(OPS) && !is_op(d, OPS[op].name))
        op++;
    if (op == COUNT(OPS)) {
        refuse(d);
        return NULL;
    }
    v->op = OPS[op].op;
    v->parts = OPS[op].parts;
    /* vset has no type of its own: 0 and 1. */
    signs[0] = v->op == VIDEO_SET ? &v->is_a_signed : &v->is_d_signed;
    signs[1] = v->op == VIDEO_SET ? &v->is_b_signed : &v->is_a_signed;
    signs[2] = &v->is_b_signed;
    wanted = v->op == VIDEO_SET ? 2 : 3;
    while (at < o->count && types < wanted && read_type(o->parts[at], signs[types])) {
        at++;
        types++;
    }
    while (at < o->count && read_modifier(o->parts[at], v, &has_mode))
        at++;
    if (at < o->count || types < wanted ||
        has_mode != (v->op == VIDEO_SET || v->op == VIDEO_SHL || v->op == VIDEO_SHR)) {
        refuse(d);
        return NULL;
    }
    return v;
}

int decode_video(struct decoder *d)
{
    struct insn *in = d->insn;
    int operands = d->ast_insn->operand_count;
    struct video *v = read_opcode(d);
    struct operand to;
    bool needs_c;

    if (!v)
        return -1;
    if (operands < 3 || operands > 4 || !read_parts_of_operands(d, v))
        return refuse(d);
    needs_c = v->second != SECOND_NONE || v->op == VIDEO_MAD || v->merge >= 0;
    if ((needs_c && operands == 3) || (v->merge >= 0 && v->second != SECOND_NONE) ||
        (v->parts > 1 && v->saturates && v->second == SECOND_ADD))
        return refuse(d);
    set_exec(in, exec_video, LAT_ALU);
    in->extra = v;
    if (!take_whole_source(d, 1, &in->a) || !take_whole_source(d, 2, &in->b))
        return -1;
    if (operands == 4 ? !take_source(d, 3, 32, &in->c) : !take(decode_constant(d, 4, 0), &in->c))
        return -1;
    to = *decode_operand(d, 0);
    to.part.size = 0;
    return take(decode_destination(d, &to, 32), &in->d) ? 0 : -1;
}
