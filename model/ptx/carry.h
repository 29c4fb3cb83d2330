/*
 * add.cc addc sub.cc subc mad.cc madc: exec_carry.c runs what decode_carry.c finds.
 */
#ifndef WB_MODEL_PTX_CARRY_H
#define WB_MODEL_PTX_CARRY_H

#include "model/ptx/internal.h"

/* insn.option; row e is CC.CF. */
enum { CARRY_READS = 1 << 0, CARRY_WRITES = 1 << 1 };

exec_fn exec_carry_add32, exec_carry_sub32, exec_carry_mad_lo32, exec_carry_mad_hi_u32,
    exec_carry_mad_hi_s32, exec_carry_add64, exec_carry_sub64, exec_carry_mad_lo64,
    exec_carry_mad_hi_u64, exec_carry_mad_hi_s64;

#endif
