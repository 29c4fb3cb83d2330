/*
 * Matrix instructions: what decode_matrix.c finds and exec_matrix.c runs.
 *
 * A warp holds a matrix in pieces, a few elements a lane: a fragment. Fragments of mma.sync lie as
 * the figures of the PTX ISA say; those of wmma are the same tiles side by side. With g = lane / 4
 * and t = lane % 4, and E elements in a register:
 *
 * A and B   register r holds k = E t .. E t + E - 1, plus 4 E for each further register; the row of
 *           A or column of B is g. A wide side (16 rows) takes registers in pairs: g, then g + 8.
 * C and D   elements 2 t and 2 t + 1 of row g, then of row g + 8
 */
#ifndef WB_MODEL_PTX_MATRIX_H
#define WB_MODEL_PTX_MATRIX_H

#include "model/ptx/internal.h"

enum {
    MATRIX_REGISTERS = 8, /* of one fragment, at most */
    MATRIX_OUTER = 32,    /* rows of A or columns of B */
    MATRIX_K = 64,
};

enum element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1, /* 32 of them are one element of 32 bits */
    ELEMENT_S32,
};

/* A or B. */
struct side {
    enum element element;
    int bits;      /* of an element */
    int outer, k;  /* rows of A, columns of B; and the length of their products */
    bool is_wide;  /* tiles of 16 rows, not of 8 */
    int registers; /* that hold it once */
    int held;      /* registers of the fragment: a multiple, as wmma of halves keeps copies */
    uint32_t rows[MATRIX_REGISTERS];
};

/* C or D. */
struct sum {
    enum element element;
    int registers;
    uint32_t rows[MATRIX_REGISTERS];
};

/* Where lane and register are in the matrices, worked out once. */
struct places {
    uint8_t outer_a[MATRIX_REGISTERS][WARP], k_a[MATRIX_REGISTERS][WARP];
    uint8_t outer_b[MATRIX_REGISTERS][WARP], k_b[MATRIX_REGISTERS][WARP];
    uint8_t row[MATRIX_REGISTERS][WARP], column[MATRIX_REGISTERS][WARP]; /* of element i of C */
};

struct multiply {
    int m, n;
    bool is_turned; /* m8n32: B is the wide side */
    bool saturates, is_and;
    struct side a, b;
    struct sum c, d;
    struct places places;
};

/* wmma.load, wmma.store and ldmatrix, stmatrix. */
enum matrix_part { MATRIX_A, MATRIX_B, MATRIX_C };

struct matrix_move {
    enum matrix_part part;
    struct side side; /* of A and B */
    struct sum sum;   /* of C */
    int m, n;
    bool is_turned;
    bool is_row;        /* elements of a row are neighbours in memory */
    uint32_t address;   /* row of the base */
    bool is_narrow;     /* the base has 32 bits */
    bool has_stride;    /* in row `stride`; otherwise the matrix is dense */
    uint32_t stride;    /* 32 bits, in elements */
    bool is_transposed; /* ldmatrix.trans */
    int count;          /* ldmatrix.x4 */
    /* Loads or stores of one element a lane, through the scratch rows; checks keep them as places.
     */
    struct insn accesses[MEMORY_64 + 1];
    uint32_t at, value; /* scratch rows: addresses, and what is moved */
    int64_t offset;
};

/*
 * What a product is for the tensor cores: the class of the instructions that it becomes (latency
 * class LAT_MMA, LAT_MMA_SHORT or LAT_MMA_F64), and how many. costs.c has what each takes.
 */
enum latency_class matrix_class(const struct multiply *x);
int matrix_instructions(const struct multiply *x);

/* Fills x->places. */
void matrix_find_places(struct multiply *x);

exec_fn exec_multiply, exec_matrix_load, exec_matrix_store, exec_ldmatrix, exec_stmatrix,
    exec_movmatrix;

#endif
