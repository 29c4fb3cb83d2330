/*
 * A conversion as decode_convert.c found it and exec_convert.c runs it.
 */
#ifndef WB_MODEL_PTX_CONVERT_H
#define WB_MODEL_PTX_CONVERT_H

#include "model/ptx/internal.h"
#include "model/ptx/soft.h"

struct conversion {
    const struct soft_format *from, *to;
    enum soft_rounding rounding;
    int flags;          /* SOFT_... */
    bool is_integral;   /* float to float, rounded to an integral value */
    bool is_pair;       /* two numbers in the result */
    bool from_pair;     /* and in one source; otherwise a is the upper one and b the lower */
    bool is_wide_from;  /* the source register has 64 bits */
    int register_bits;  /* of the result */
    uint64_t from_mask; /* the bits of one number in the source */
};

exec_fn exec_convert, exec_convert_pack;

#endif
