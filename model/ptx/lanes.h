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
#include "model/ptx/numbers.h"

/* Rows hold 16-bit and narrower values in cells of 32 bits. A cell may be read as another type. */
typedef uint32_t __attribute__((may_alias)) cell_u32;
typedef uint64_t __attribute__((may_alias)) cell_u64;
typedef float __attribute__((may_alias)) cell_f32;
typedef double __attribute__((may_alias)) cell_f64;

/* For each type T: the cell, the C type of a value, and the cell of a result. */
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
#define CAT(a, b)      CAT_(a, b)
#define CAT_(a, b)     a##b

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

#define OP1(id, spelling, lat, TD, TA, expr)                                                       \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d);                                               \
           const CELL_##TA *A = ROW_OF(TA, in->a), LANE1(TD, TA, expr))
#define OP2(id, spelling, lat, TD, TA, TB, expr)                                                   \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d); const CELL_##TA *A = ROW_OF(TA, in->a);       \
           const CELL_##TB *B = ROW_OF(TB, in->b), LANE2(TD, TA, TB, expr))
#define OP3(id, spelling, lat, TD, TA, TB, TC, expr)                                               \
    DEFINE(id, TD, CELL_##TD *D = ROW_OF(TD, in->d); const CELL_##TA *A = ROW_OF(TA, in->a);       \
           const CELL_##TB *B = ROW_OF(TB, in->b); THIRD_##TC(TC), LANE3(TD, TA, TB, TC, expr))
#define CMP(id, spelling, T, expr)                                                                 \
    static uint32_t CAT(cmp_, id)(const void *rows_a, const void *rows_b)                          \
    {                                                                                              \
        const CELL_##T *A = rows_a, *B = rows_b;                                                   \
        uint32_t bits = 0;                                                                         \
                                                                                                   \
        for (int l = 0; l < WARP; l++) {                                                           \
            VALUE_##T a = TAKE(T, A), b = TAKE(T, B);                                              \
            bits |= (uint32_t)(expr) << l;                                                         \
        }                                                                                          \
        return bits;                                                                               \
    }
#include "model/ptx/ops.def"
#undef OP1
#undef OP2
#undef OP3
#undef CMP

#define OP1(id, spelling, lat, TD, TA, expr)                                                       \
    { spelling, CAT(id, _full), CAT(id, _masked), lat, 1, BITS_##TD, BITS_##TA, 0, 0 },
#define OP2(id, spelling, lat, TD, TA, TB, expr)                                                   \
    { spelling, CAT(id, _full), CAT(id, _masked), lat, 2, BITS_##TD, BITS_##TA, BITS_##TB, 0 },
#define OP3(id, spelling, lat, TD, TA, TB, TC, expr)                                               \
    {                                                                                              \
        spelling,  CAT(id, _full), CAT(id, _masked), lat,      3,                                  \
        BITS_##TD, BITS_##TA,      BITS_##TB,        BITS_##TC                                     \
    },
#define CMP(id, spelling, T, expr)
static const struct op ops[] = {
#include "model/ptx/ops.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef CMP

#define OP1(...)
#define OP2(...)
#define OP3(...)
#define CMP(id, spelling, T, expr) { spelling, CAT(cmp_, id) },
static const struct comparison comparisons[] = {
#include "model/ptx/ops.def"
};

#include "model/ptx/lanes_memory.h"

const struct op_table OPS_TABLE = { ops,       COUNT(ops), comparisons, COUNT(comparisons),
                                    load_full, store_full };
