/*
 * The lane loops: ops.def made into functions, three loops an instruction.
 *
 * full      every live lane takes part: a plain loop that the compiler turns into vectors
 * masked    the same loop, and lanes outside the mask keep what they have
 * sparse    four lanes or fewer: lane by lane (inside the masked form)
 *
 * This file is included once for each build (exec_baseline.c, exec_avx2.c), which names its table
 * and its fused multiply-add. A loop reads and writes its own lane only, so a destination that is
 * also a source is harmless; `ivdep` says so to the compiler.
 */
#include "model/ptx/half.h"

/* Rows hold 16-bit and narrower values in cells of 32 bits. A cell may be read as another type. */
typedef uint32_t __attribute__((may_alias)) cell_u32;
typedef uint64_t __attribute__((may_alias)) cell_u64;
typedef float __attribute__((may_alias)) cell_f32;
typedef double __attribute__((may_alias)) cell_f64;

/* For each type T: the cell, the C type of a value, and the cell of a result. */
#ifndef OPS_FILE
#define OPS_FILE "model/ptx/ops.def"
#endif

#define CELL_u8        cell_u32
#define CELL_s8        cell_u32
#define CELL_u16       cell_u32
#define CELL_s16       cell_u32
#define CELL_u32       cell_u32
#define CELL_s32       cell_u32
#define CELL_u64       cell_u64
#define CELL_s64       cell_u64
#define CELL_f32       cell_f32
#define CELL_f64       cell_f64
#define CELL_z32       cell_f32
#define VALUE_u8       uint8_t
#define VALUE_s8       int8_t
#define VALUE_u16      uint16_t
#define VALUE_s16      int16_t
#define VALUE_u32      uint32_t
#define VALUE_s32      int32_t
#define VALUE_u64      uint64_t
#define VALUE_s64      int64_t
#define VALUE_f32      float
#define VALUE_f64      double
#define VALUE_z32      float
#define STORE_u8(v)    ((uint32_t)(uint8_t)(v))
#define STORE_s8(v)    ((uint32_t)(int32_t)(int8_t)(v))
#define STORE_u16(v)   ((uint32_t)(uint16_t)(v))
#define STORE_s16(v)   ((uint32_t)(uint16_t)(v))
#define STORE_u32(v)   ((uint32_t)(v))
#define STORE_s32(v)   ((uint32_t)(v))
#define STORE_u64(v)   ((uint64_t)(v))
#define STORE_s64(v)   ((uint64_t)(v))
#define STORE_f32(v)   ((float)(v))
#define STORE_f64(v)   ((double)(v))
#define STORE_z32(v)   FTZ((float)(v))
#define BITS_u8        32
#define BITS_s8        32
#define BITS_u16       16
#define BITS_s16       16
#define BITS_u32       32
#define BITS_s32       32
#define BITS_u64       64
#define BITS_s64       64
#define BITS_f32       32
#define BITS_f64       64
#define BITS_z32       32
#define TAKE_u8(row)   ((VALUE_u8)(row)[l])
#define TAKE_s8(row)   ((VALUE_s8)(row)[l])
#define TAKE_u16(row)  ((VALUE_u16)(row)[l])
#define TAKE_s16(row)  ((VALUE_s16)(row)[l])
#define TAKE_u32(row)  ((VALUE_u32)(row)[l])
#define TAKE_s32(row)  ((VALUE_s32)(row)[l])
#define TAKE_u64(row)  ((VALUE_u64)(row)[l])
#define TAKE_s64(row)  ((VALUE_s64)(row)[l])
#define TAKE_f32(row)  ((VALUE_f32)(row)[l])
#define TAKE_f64(row)  ((VALUE_f64)(row)[l])
#define TAKE_z32(row)  FTZ((row)[l])
#define TAKE_pred(row) ((row)[0] >> l & 1)
#define VALUE_pred     uint32_t
#define CELL_pred      cell_u32
#define BITS_pred      1
#define LANES_32(w)    (w)->lanes32
#define LANES_16(w)    (w)->lanes32
#define LANES_64(w)    (w)->lanes64

/* Values of 16 bits are floats while a lane computes: f16, z16 (f16 with .ftz), b16 (bf16). */
#define CELL_f16      cell_u32
#define CELL_z16      cell_u32
#define CELL_b16      cell_u32
#define CELL_f16h     cell_u32
#define CELL_z16h     cell_u32
#define CELL_b16h     cell_u32
#define VALUE_f16     float
#define VALUE_z16     float
#define VALUE_b16     float
#define VALUE_f16h    float
#define VALUE_z16h    float
#define VALUE_b16h    float
#define STORE_f16(v)  f16_of_f32(v)
#define STORE_z16(v)  ftz_f16(f16_of_f32(v))
#define STORE_b16(v)  bf16_of_f32(v)
#define BITS_f16      16
#define BITS_z16      16
#define BITS_b16      16
#define OPEN_f16(h)   f32_of_f16(h)
#define OPEN_z16(h)   f32_of_f16(ftz_f16(h))
#define OPEN_b16(h)   f32_of_bf16(h)
#define OPEN_u16(h)   ((uint16_t)(h))
#define OPEN_s16(h)   ((int16_t)(uint16_t)(h))
#define TAKE_f16(row) OPEN_f16((row)[l] & 0xffffU)
#define TAKE_z16(row) OPEN_z16((row)[l] & 0xffffU)
#define TAKE_b16(row) OPEN_b16((row)[l] & 0xffffU)
/* The upper half of a register of two. */
#define TAKE_f16h(row) OPEN_f16((row)[l] >> 16)
#define TAKE_z16h(row) OPEN_z16((row)[l] >> 16)
#define TAKE_b16h(row) OPEN_b16((row)[l] >> 16)

#define CAT(a, b)  CAT_(a, b)
#define CAT_(a, b) a##b

/* The third source. A predicate is read once: its bits are not a row. */
#define THIRD_u16(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_s16(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_u32(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_s32(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_u64(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_s64(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_f32(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_f64(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_z32(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_f16(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_z16(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_b16(T)  const CELL_##T *C = ROW_OF(T, in->c)
#define THIRD_pred(T) const uint32_t C[1] = { *ROW_OF(T, in->c) }

enum { SPARSE_LANES = 4 };

#define ROW_OF(T, off) ((CELL_##T *)(void *)(w->rows + (off)))
#define TAKE(T, row)   TAKE_##T(row)

/* One lane of an instruction of one, two or three sources. */
#define LANE1(TD, TA, expr)                                                                        \
    VALUE_##TA a = TAKE(TA, A);                                                                    \
    CELL_##TD v = STORE_##TD(expr);
#define LANE2(TD, TA, TB, expr)                                                                    \
    VALUE_##TA a = TAKE(TA, A);                                                                    \
    VALUE_##TB b = TAKE(TB, B);                                                                    \
    CELL_##TD v = STORE_##TD(expr);
#define LANE3(TD, TA, TB, TC, expr)                                                                \
    VALUE_##TA a = TAKE(TA, A);                                                                    \
    VALUE_##TB b = TAKE(TB, B);                                                                    \
    VALUE_##TC c = TAKE(TC, C);                                                                    \
    CELL_##TD v = STORE_##TD(expr);

/* One lane of two halves: the lower, then the upper. */
#define HALF_OF1(T, at, expr)                                                                      \
    {                                                                                              \
        VALUE_##T a = OPEN_##T(A[l] >> at & 0xffffU);                                              \
        v |= (uint32_t)(uint16_t)STORE_##T(expr) << at;                                            \
    }
#define HALF_OF2(T, at, expr)                                                                      \
    {                                                                                              \
        VALUE_##T a = OPEN_##T(A[l] >> at & 0xffffU), b = OPEN_##T(B[l] >> at & 0xffffU);          \
        v |= (uint32_t)(uint16_t)STORE_##T(expr) << at;                                            \
    }
#define HALF_OF3(T, at, expr)                                                                      \
    {                                                                                              \
        VALUE_##T a = OPEN_##T(A[l] >> at & 0xffffU), b = OPEN_##T(B[l] >> at & 0xffffU);          \
        VALUE_##T c = OPEN_##T(C[l] >> at & 0xffffU);                                              \
        v |= (uint32_t)(uint16_t)STORE_##T(expr) << at;                                            \
    }
#define HALVES(half, T, expr)                                                                      \
    uint32_t v = 0;                                                                                \
    half(T, 0, expr) half(T, 16, expr)

#ifdef OPS_IS_SPARSE
#define FULL_OF(id)   CAT(id, _sparse)
#define MASKED_OF(id) CAT(id, _sparse)
#define DEFINE(id, TD, ROWS, LANE)                                                                 \
    static int CAT(id, _sparse)(struct warp * w, const struct insn *in, uint32_t mask)             \
    {                                                                                              \
        ROWS;                                                                                      \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            LANE;                                                                                  \
            D[l] = v;                                                                              \
        }                                                                                          \
        return EXEC_OK;                                                                            \
    }
#else
#define FULL_OF(id)   CAT(id, _full)
#define MASKED_OF(id) CAT(id, _masked)
#define DEFINE(id, TD, ROWS, LANE)                                                                 \
    static int CAT(id, _full)(struct warp * w, const struct insn *in, uint32_t mask)               \
    {                                                                                              \
        ROWS;                                                                                      \
        (void)mask;                                                                                \
        _Pragma("GCC ivdep") for (int l = 0; l < WARP; l++)                                        \
        {                                                                                          \
            LANE;                                                                                  \
            D[l] = v;                                                                              \
        }                                                                                          \
        return EXEC_OK;                                                                            \
    }                                                                                              \
    static int CAT(id, _masked)(struct warp * w, const struct insn *in, uint32_t mask)             \
    {                                                                                              \
        ROWS;                                                                                      \
        if (__builtin_popcount(mask) <= SPARSE_LANES || w->expanded != mask) {                     \
            for (uint32_t m = mask; m; m &= m - 1) {                                               \
                int l = __builtin_ctz(m);                                                          \
                LANE;                                                                              \
                D[l] = v;                                                                          \
            }                                                                                      \
            return EXEC_OK;                                                                        \
        }                                                                                          \
        _Pragma("GCC ivdep") for (int l = 0; l < WARP; l++)                                        \
        {                                                                                          \
            LANE;                                                                                  \
            D[l] = CAT(LANES_, BITS_##TD)(w)[l] ? v : D[l];                                        \
        }                                                                                          \
        return EXEC_OK;                                                                            \
    }
#endif

#define OP1(id, spelling, lat, TD, TA, expr)                                                       \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d);                                               \
           const CELL_##TA *A = ROW_OF(TA, in->a), LANE1(TD, TA, expr))
#define OP2(id, spelling, lat, TD, TA, TB, expr)                                                   \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d); const CELL_##TA *A = ROW_OF(TA, in->a);       \
           const CELL_##TB *B = ROW_OF(TB, in->b), LANE2(TD, TA, TB, expr))
#define OP3(id, spelling, lat, TD, TA, TB, TC, expr)                                               \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d); const CELL_##TA *A = ROW_OF(TA, in->a);       \
           const CELL_##TB *B = ROW_OF(TB, in->b); THIRD_##TC(TC), LANE3(TD, TA, TB, TC, expr))
#define PAIR1(id, spelling, lat, T, expr)                                                          \
    DEFINE(id, u32, cell_u32 *D = ROW_OF(u32, in->d);                                              \
           const cell_u32 *A = ROW_OF(u32, in->a), HALVES(HALF_OF1, T, expr))
#define PAIR2(id, spelling, lat, T, expr)                                                          \
    DEFINE(id, u32, cell_u32 *D = ROW_OF(u32, in->d); const cell_u32 *A = ROW_OF(u32, in->a);      \
           const cell_u32 *B = ROW_OF(u32, in->b), HALVES(HALF_OF2, T, expr))
#define PAIR3(id, spelling, lat, T, expr)                                                          \
    DEFINE(id, u32, cell_u32 *D = ROW_OF(u32, in->d); const cell_u32 *A = ROW_OF(u32, in->a);      \
           const cell_u32 *B = ROW_OF(u32, in->b);                                                 \
           const cell_u32 *C = ROW_OF(u32, in->c), HALVES(HALF_OF3, T, expr))
#define CMP(id, spelling, T, expr)                                                                 \
    static uint32_t CAT(cmp_, id)(const void *rows_a, const void *rows_b)                          \
    {                                                                                              \
        const CELL_##T *A = rows_a, *B = rows_b;                                                   \
        uint32_t bits = 0;                                                                         \
                                                                                                   \
        for (int l = 0; l < WARP; l++) {                                                           \
            VALUE_##T a = TAKE(T, A), b = TAKE(T, B);                                              \
            (void)b; /* of testp */                                                                \
            bits |= (uint32_t)(expr) << l;                                                         \
        }                                                                                          \
        return bits;                                                                               \
    }
#include OPS_FILE
#undef OP1
#undef OP2
#undef OP3
#undef PAIR1
#undef PAIR2
#undef PAIR3
#undef CMP

#define PAIR1(id, spelling, lat, T, expr) OP1(id, spelling, lat, u32, u32, expr)
#define PAIR2(id, spelling, lat, T, expr) OP2(id, spelling, lat, u32, u32, u32, expr)
#define PAIR3(id, spelling, lat, T, expr) OP3(id, spelling, lat, u32, u32, u32, u32, expr)
#define OP1(id, spelling, lat, TD, TA, expr)                                                       \
    { spelling, FULL_OF(id), MASKED_OF(id), lat, 1, BITS_##TD, BITS_##TA, 0, 0 },
#define OP2(id, spelling, lat, TD, TA, TB, expr)                                                   \
    { spelling, FULL_OF(id), MASKED_OF(id), lat, 2, BITS_##TD, BITS_##TA, BITS_##TB, 0 },
#define OP3(id, spelling, lat, TD, TA, TB, TC, expr)                                               \
    { spelling, FULL_OF(id), MASKED_OF(id), lat, 3, BITS_##TD, BITS_##TA, BITS_##TB, BITS_##TC },
#define CMP(id, spelling, T, expr)
static const struct op ops[] = {
#include OPS_FILE
};
#undef OP1
#undef OP2
#undef OP3
#undef PAIR1
#undef PAIR2
#undef PAIR3
#undef CMP

#define PAIR1(...)
#define PAIR2(...)
#define PAIR3(...)
#define OP1(...)
#define OP2(...)
#define OP3(...)
#define CMP(id, spelling, T, expr) { spelling, CAT(cmp_, id) },
static const struct comparison comparisons[] = {
#include OPS_FILE
};

#ifdef OPS_IS_SPARSE
#define load_full    NULL
#define store_full   NULL
#define shuffle_full NULL
#else
#include "model/ptx/lanes_memory.h"
#include "model/ptx/lanes_shuffle.h"
#endif

const struct op_table OPS_TABLE = { ops,       COUNT(ops), comparisons, COUNT(comparisons),
                                    load_full, store_full, shuffle_full };
