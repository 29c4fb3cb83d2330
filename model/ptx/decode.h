/*
 * Shared by the files of the decoder: one function at a time, from names to rows.
 */
#ifndef WB_MODEL_PTX_DECODE_H
#define WB_MODEL_PTX_DECODE_H

#include "model/ptx/internal.h"

enum { MAX_PARTS = 16, NO_ROW = -1, CONSTANT_BUCKETS = 256 };

/* An opcode cut at its dots: "ld", "global", "v2", "f32". */
struct opcode {
    struct bytes parts[MAX_PARTS];
    int count;
};

struct constant {
    struct fixed_row row;
    struct constant *next;
};

struct decoder {
    struct ptx_module *module;
    struct function *f;
    struct ast_function *ast;
    const struct op_table *table;
    int64_t *register_rows; /* by register id; NO_ROW: not used so far */
    bool *is_constant;      /* by register id: a mov of a constant wrote it */
    struct constant *constants[CONSTANT_BUCKETS];
    int constant_count;
    uint32_t frame_bytes;
    uint32_t predicate_row;
    int predicates_used; /* of that row's words */
    uint32_t sink;       /* as wide as 128 bits a lane, and read by nobody */
    int64_t carry;       /* CC.CF, a predicate; NO_ROW: not used so far */

    /* The instruction at hand. */
    const struct ast_insn *ast_insn;
    struct opcode opcode;
    struct insn *insn;
    struct deps *deps;
    struct err *err;
};

/* Fails with UnsupportedError that names the instruction and its lines. */
int decode_refuse(struct decoder *d, const char *why);

/* Fails with ResourceError. */
int decode_fail_memory(struct decoder *d);

/* True when the opcode has the part. */
bool opcode_has(const struct opcode *opcode, const char *part);

/* The type that is the last part; kind TYPE_NONE when there is none. */
struct type opcode_type(const struct opcode *opcode);

/* ---- decode_operand.c: rows and operands ---- */

const struct operand *decode_operand(struct decoder *d, int i); /* NULL: there is none */

/* A row of constant bits in every lane; bytes 4, 8, or 0 for a predicate. NO_ROW: out of memory. */
int64_t decode_constant(struct decoder *d, int bytes, uint64_t value);
int64_t decode_fixed(struct decoder *d, int bytes, enum special special, uint64_t value);

/* The row of a source or destination of so many bits (1: a predicate); negative after an error. */
int64_t decode_source(struct decoder *d, const struct operand *o, int bits);
int64_t decode_destination(struct decoder *d, const struct operand *o, int bits);

void decode_reads(struct decoder *d, uint32_t row);
void decode_writes(struct decoder *d, uint32_t row);

/* Room in the frame, aligned to 64. */
uint32_t decode_room(struct decoder *d, uint32_t bytes);

/* Room for a predicate of its own. */
uint32_t decode_predicate(struct decoder *d);

/* The rows of a .param variable, made on first use. */
struct area decode_area(struct decoder *d, struct symbol *s);

/* Fills a row of the instruction: false after an error. */
static inline bool take(int64_t row, uint32_t *out)
{
    *out = (uint32_t)row;
    return row >= 0;
}

static inline bool take_source(struct decoder *d, int i, int bits, uint32_t *out)
{
    return take(decode_source(d, decode_operand(d, i), bits), out);
}

static inline bool take_destination(struct decoder *d, int i, int bits, uint32_t *out)
{
    return take(decode_destination(d, decode_operand(d, i), bits), out);
}

static inline void set_exec(struct insn *in, exec_fn *fn, enum latency_class latency)
{
    in->full = in->masked = fn;
    in->latency = (uint8_t)latency;
}

static inline bool is_op(const struct decoder *d, const char *name)
{
    return bytes_equal(d->opcode.parts[0], name);
}

/* decode.c: what ops.def has, by its spelling. */
int decode_table(struct decoder *d);

/* decode_move.c; decode_special: the row of a special register. */
int64_t decode_special(struct decoder *d, const struct operand *o, int bits);
int decode_mov(struct decoder *d);
int decode_cvta(struct decoder *d);
int decode_slct(struct decoder *d);

/* decode_compare.c */
int decode_setp(struct decoder *d);
int decode_set(struct decoder *d);
int decode_testp(struct decoder *d);

/* decode_convert.c, decode_carry.c */
int decode_convert(struct decoder *d);
int decode_carry(struct decoder *d);

/* decode_video.c */
int decode_video(struct decoder *d);

/* decode_matrix.c */
int decode_wmma(struct decoder *d);
int decode_mma(struct decoder *d);
int decode_ldmatrix(struct decoder *d);
int decode_stmatrix(struct decoder *d);
int decode_movmatrix(struct decoder *d);

/* decode_misc.c: predicates, bits, exchange between lanes, barriers. */
int decode_logic(struct decoder *d);
int decode_lop3(struct decoder *d);
int decode_bfi(struct decoder *d);
int decode_isspacep(struct decoder *d);

/* decode_sync.c: exchange between lanes, barriers. */
int decode_shfl(struct decoder *d);
int decode_vote(struct decoder *d);
int decode_match(struct decoder *d);
int decode_redux(struct decoder *d);
int decode_elect(struct decoder *d);
int decode_activemask(struct decoder *d);
int decode_barrier(struct decoder *d);

/* decode_async.c */
int decode_cp(struct decoder *d);
int decode_mbarrier(struct decoder *d);

/* decode_memory.c */
int decode_load(struct decoder *d);
int decode_store(struct decoder *d);
int decode_atomic(struct decoder *d);
/* The space that the opcode names, and the address [...] of an access to insn.space. */
enum space decode_space(const struct opcode *opcode);
int decode_address(struct decoder *d, const struct operand *o);
int decode_call(struct decoder *d);

#endif
