/*
 * What the parser makes of a PTX text: functions as lists of instructions whose
 * operands point to symbols. It knows the grammar of PTX and no instruction.
 */
#ifndef WB_MODEL_PTX_PARSE_H
#define WB_MODEL_PTX_PARSE_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdbool.h>

/* State spaces of a variable or an access. */
enum space {
    SPACE_GENERIC,
    SPACE_REG,
    SPACE_GLOBAL,
    SPACE_CONST,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
};

/* Fundamental types: what a name says, and how many bits it has. */
enum type_kind {
    TYPE_NONE,
    TYPE_BITS,
    TYPE_UNSIGNED,
    TYPE_SIGNED,
    TYPE_FLOAT,
    TYPE_HALVES, /* two floats of 16 bits */
    TYPE_PRED
};

struct type {
    enum type_kind kind;
    int bits;         /* 1 for a predicate */
    const char *name; /* "u32"; static */
};

/* The type of a name without its dot; kind TYPE_NONE when it is none. */
struct type type_of(struct bytes name);

enum symbol_kind {
    SYMBOL_REGISTER,
    SYMBOL_VARIABLE,
    SYMBOL_LABEL,
    SYMBOL_FUNCTION,
    SYMBOL_PROTOTYPE
};

struct symbol {
    const char *name;
    enum symbol_kind kind;
    enum space space;
    struct type type;

    /* Registers: `%r<9>` is one symbol of 9; ids are unique within the function. */
    int first_id, count;

    /* Variables. */
    size_t size, align; /* bytes; size 0: `extern __shared__` */
    bool is_extern;
    uint64_t address;               /* of the module's or the shared variable; set by the layout */
    int shared_index;               /* of a shared variable, plus 1; set by the layout */
    uint8_t *initial;               /* size bytes, NULL: zeros */
    struct relocation *relocations; /* addresses within initial */

    int label_at;              /* SYMBOL_LABEL: index of an instruction; -1 while unknown */
    struct ast_function *body; /* SYMBOL_FUNCTION */

    struct symbol *next_in_bucket, *next_in_scope, *next; /* next: of the module's variables */
};

/* The address of `to` plus addend is stored at offset in an initial value. */
struct relocation {
    size_t offset;
    int bytes;
    const struct symbol *to;
    int64_t addend;
    bool is_generic;
    struct relocation *next;
};

enum operand_kind {
    OPERAND_REGISTER, /* symbol and index */
    OPERAND_SPECIAL,  /* text: "%tid.x" */
    OPERAND_INT,
    OPERAND_F32,
    OPERAND_F64,
    OPERAND_SYMBOL,  /* its address plus value; a label or function also */
    OPERAND_ADDRESS, /* [items[0] + value]; items NULL: [value] */
    OPERAND_VECTOR,  /* {a, b, ...} */
    OPERAND_LIST,    /* (a, b, ...) of a call */
    OPERAND_PAIR,    /* p|q */
    OPERAND_SINK,    /* _ */
};

struct operand {
    enum operand_kind kind;
    bool is_negated; /* !p */
    struct symbol *symbol;
    int index;      /* of a register in its range */
    uint64_t value; /* number, bits of a float, or offset */
    struct bytes text;
    struct bytes part; /* of a register, in a video instruction: "b2" of %r1.b2 */
    struct operand *items;
    int count;
};

enum { AST_MAX_OPERANDS = 8, AST_MAX_ITEMS = 256 };

struct ast_insn {
    struct bytes opcode; /* "ld.global.f32"; borrowed from the module's copy of the text */
    struct operand *operands;
    int operand_count;
    struct symbol *guard; /* @p, or NULL */
    int guard_index;
    bool is_guard_negated;
    int loc;        /* index into ast_module.locs; 0: unknown */
    int ptx_line;   /* 1-based */
    int used_bytes; /* by `.pragma "used_bytes_mask"`: a bit a byte of a load; 0: all */
};

struct ast_function {
    const char *name;
    bool is_entry, is_defined;
    struct symbol **parameters, **results;
    int parameter_count, result_count;
    struct ast_insn *insns;
    int insn_count, insn_capacity;
    int register_count;
    struct symbol *variables; /* local, shared and param variables of the body */
    int max_threads;
    int index; /* of the function in the module */
    int line;  /* 1-based, of the PTX text */
    struct ast_function *next;
};

/* A place in the source. Of inlined code it is the line that the user's own file has. */
struct source_loc {
    int file; /* index into ast_module.files */
    int line, column;
    int at_file, at_line, at_column; /* where it was inlined; at_line 0: it was not */
    int in_file, in_line, in_column; /* the place in a header that it stands for; in_line 0: none */
    struct bytes function;           /* label of the name of the inlined function, and bytes */
    int function_skip;               /* to skip from there */
};

struct ast_module {
    struct bytes text; /* the arena's copy, from which all names are borrowed */
    struct symbol *variables, **variables_tail; /* of the module, in order */
    struct ast_function *functions, **functions_tail;
    int function_count;
    struct source_loc *locs; /* [0] is unknown */
    int loc_count, loc_capacity;
    const char **files; /* by .file number; NULL where there is none */
    bool *is_header;    /* by .file number: of CUDA's own */
    int file_count;
    int target;    /* 80 of sm_80 */
    bool is_debug; /* `.target sm_80, debug`: made by -G */
};

/*
 * Parses a text into a module whose memory is the arena's. Fails with SyntaxError naming the PTX
 * line, UnsupportedError, or ResourceError.
 */
int ptx_parse(struct bytes text, struct arena *arena, struct ast_module *out,
              struct err *err) MUST_CHECK;

/* Fails with an error that names a PTX line and, where known, the line of the source. */
int ptx_fail(const struct ast_module *module, enum err_name name, int loc, int ptx_line,
             struct err *err, const char *fmt, ...) PRINTF_LIKE(6, 7);

#endif
