/*
 * Video instructions: arithmetic on bytes and words within a register, alone or two and four at
 * once. exec_video.c runs what decode_video.c reads.
 */
#ifndef WB_MODEL_PTX_VIDEO_H
#define WB_MODEL_PTX_VIDEO_H

#include "model/ptx/internal.h"

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_SET,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
};

enum video_second { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };
enum video_compare { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

struct video {
    enum video_op op;
    enum video_second second;
    enum video_compare compare;
    bool is_d_signed, is_a_signed, is_b_signed;
    bool saturates, wraps;
    int shift;           /* of vmad: 7, 15 or 0 */
    int parts;           /* 1, 2 or 4 at once */
    int bits;            /* of a part; scalar: of the result, as d's selector says */
    int a_bits, b_bits;  /* scalar: of the sources */
    uint8_t select_a[4]; /* part i of a: SIMD of a and b together, scalar [0] of a alone */
    uint8_t select_b[4];
    uint8_t mask; /* parts that are written */
    int merge;    /* scalar: the part of d that is written, -1: all of it */
};

exec_fn exec_video;

#endif
