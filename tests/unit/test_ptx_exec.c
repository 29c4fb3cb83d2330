/*
 * Every form of instruction against values that were worked out by other means:
 * a row gives the operands, and what must come out, as bits. Each row runs with
 * all lanes, with every second lane, and with three lanes, as these are three
 * loops; a lane that does not take part keeps what it had.
 */
#include "tests/unit/ptx_rig.h"

enum { MAX_SOURCES = 3 };

struct form {
    const char *opcode;
    const char *shape; /* result, then sources: h 16, r 32, d 64 bits, p predicate */
    uint64_t source[MAX_SOURCES];
    uint64_t want;
};

/* Bits of a float, spelled as a constant. */
#define F_0      0x00000000
#define F_M0     0x80000000
#define F_1      0x3f800000
#define F_2      0x40000000
#define F_3      0x40400000
#define F_HALF   0x3f000000
#define F_M1     0xbf800000
#define F_M1_5   0xbfc00000
#define F_1_5    0x3fc00000
#define F_2_5    0x40200000
#define F_THIRD  0x3eaaaaab
#define F_INF    0x7f800000
#define F_MINF   0xff800000
#define F_NAN    0x7fffffff
#define F_QNAN   0x7fc12345
#define F_TINY   0x00000001
#define F_MIN    0x00800000
#define F_MAX    0x7f7fffff
#define D_0      0x0000000000000000
#define D_1      0x3ff0000000000000
#define D_2      0x4000000000000000
#define D_3      0x4008000000000000
#define D_M1_5   0xbff8000000000000
#define D_THIRD  0x3fd5555555555555
#define D_2_5    0x4004000000000000
#define D_NAN    0x7ff8000000000000
#define D_INF    0x7ff0000000000000
#define MINUS(v) ((uint64_t)0 - (v))

static const struct form FORMS[] = {
    /* Integer arithmetic. */
    { "add.s32", "rrr", { 0x7fffffff, 1 }, 0x80000000 },
    { "add.u32", "rrr", { 0xffffffff, 2 }, 1 },
    { "add.s64", "ddd", { 0xffffffff, 1 }, 0x100000000 },
    { "add.s16", "hhh", { 0xffff, 2 }, 1 },
    { "add.sat.s32", "rrr", { 0x7fffffff, 5 }, 0x7fffffff },
    { "sub.s32", "rrr", { 3, 5 }, 0xfffffffe },
    { "sub.s64", "ddd", { 3, 5 }, MINUS(2) },
    { "sub.u16", "hhh", { 3, 5 }, 0xfffe },
    { "sub.sat.s32", "rrr", { 0x80000000, 5 }, 0x80000000 },
    { "mul.lo.s32", "rrr", { 0x10001, 0x10001 }, 0x20001 },
    { "mul.lo.s16", "hhh", { 300, 300 }, 90000 & 0xffff },
    { "mul.lo.s64", "ddd", { 0x100000001, 0x100000001 }, 0x200000001 },
    { "mul.hi.s32", "rrr", { 0xffffffff, 2 }, 0xffffffff },
    { "mul.hi.u32", "rrr", { 0xffffffff, 2 }, 1 },
    { "mul.hi.s64", "ddd", { MINUS(1), 2 }, MINUS(1) },
    { "mul.hi.u64", "ddd", { MINUS(1), 2 }, 1 },
    { "mul.hi.u16", "hhh", { 0xffff, 2 }, 1 },
    { "mul.hi.s16", "hhh", { 0xffff, 2 }, 0xffff },
    { "mul.wide.s32", "drr", { 0xffffffff, 3 }, MINUS(3) },
    { "mul.wide.u32", "drr", { 0xffffffff, 3 }, 0x2fffffffd },
    { "mul.wide.s16", "rhh", { 0xffff, 3 }, 0xfffffffd },
    { "mul.wide.u16", "rhh", { 0xffff, 3 }, 0x2fffd },
    { "mad.lo.s32", "rrrr", { 7, 6, 0xffffffff }, 41 },
    { "mad.lo.s64", "dddd", { 7, 6, 1 }, 43 },
    { "mad.hi.u32", "rrrr", { 0xffffffff, 0xffffffff, 5 }, 3 },
    { "mad.hi.s32", "rrrr", { 0xffffffff, 0xffffffff, 5 }, 5 },
    { "mad.wide.s32", "drrd", { 0xffffffff, 3, 10 }, 7 },
    { "mad.wide.u32", "drrd", { 0xffffffff, 3, 10 }, 0x300000007 },
    { "mad.wide.u16", "rhhr", { 0xffff, 2, 1 }, 0x1ffff },
    { "mad.wide.s16", "rhhr", { 0xffff, 2, 1 }, 0xffffffff },
    { "mul24.lo.u32", "rrr", { 0xff000002, 3 }, 6 },
    { "mul24.lo.s32", "rrr", { 0x00ffffff, 3 }, 0xfffffffd },
    { "mul24.hi.u32", "rrr", { 0xffffff, 0xffffff }, 0xfffffe00 },
    { "mul24.hi.s32", "rrr", { 0xffffff, 0x10000 }, 0xffffffff },
    { "sad.u32", "rrrr", { 3, 10, 1 }, 8 },
    { "sad.s32", "rrrr", { 0xfffffffd, 10, 1 }, 14 },
    { "div.s32", "rrr", { 0xfffffff9, 2 }, 0xfffffffd },
    { "div.s32", "rrr", { 0x80000000, 0xffffffff }, 0x80000000 },
    { "div.u32", "rrr", { 0xfffffff9, 2 }, 0x7ffffffc },
    { "div.u32", "rrr", { 5, 0 }, 0xffffffff },
    { "div.s16", "hhh", { 0xfff9, 2 }, 0xfffd },
    { "div.u16", "hhh", { 0xfff9, 2 }, 0x7ffc },
    { "div.s64", "ddd", { MINUS(7), 2 }, MINUS(3) },
    { "div.u64", "ddd", { MINUS(7), 2 }, 0x7ffffffffffffffc },
    { "rem.s32", "rrr", { 0xfffffff9, 4 }, 0xfffffffd },
    { "rem.s32", "rrr", { 0x80000000, 0xffffffff }, 0 },
    { "rem.u32", "rrr", { 7, 4 }, 3 },
    { "rem.s64", "ddd", { MINUS(7), 4 }, MINUS(3) },
    { "rem.u64", "ddd", { 7, 0 }, MINUS(1) },
    { "abs.s32", "rr", { 0xfffffffb }, 5 },
    { "abs.s64", "dd", { MINUS(5) }, 5 },
    { "abs.s16", "hh", { 0xfffb }, 5 },
    { "neg.s32", "rr", { 5 }, 0xfffffffb },
    { "neg.s64", "dd", { 5 }, MINUS(5) },
    { "neg.s16", "hh", { 5 }, 0xfffb },
    { "min.s32", "rrr", { 0xffffffff, 1 }, 0xffffffff },
    { "min.u32", "rrr", { 0xffffffff, 1 }, 1 },
    { "max.s32", "rrr", { 0xffffffff, 1 }, 1 },
    { "max.u32", "rrr", { 0xffffffff, 1 }, 0xffffffff },
    { "min.s64", "ddd", { MINUS(1), 1 }, MINUS(1) },
    { "max.u64", "ddd", { MINUS(1), 1 }, MINUS(1) },
    { "min.s16", "hhh", { 0xffff, 1 }, 0xffff },
    { "max.u16", "hhh", { 0xffff, 1 }, 0xffff },
    { "popc.b32", "rr", { 0xf0f00001 }, 9 },
    { "popc.b64", "rd", { 0xf0f00001f0f00001 }, 18 },
    { "clz.b32", "rr", { 0x00010000 }, 15 },
    { "clz.b32", "rr", { 0 }, 32 },
    { "clz.b64", "rd", { 1 }, 63 },
    { "bfind.u32", "rr", { 0x00010000 }, 16 },
    { "bfind.u32", "rr", { 0 }, 0xffffffff },
    { "bfind.s32", "rr", { 0xfffffffe }, 0 },
    { "bfind.u64", "rd", { 0x100000000 }, 32 },
    { "bfind.shiftamt.u32", "rr", { 0x00010000 }, 15 },
    { "bfind.shiftamt.s64", "rd", { 1 }, 63 },
    { "brev.b32", "rr", { 0x00000003 }, 0xc0000000 },
    { "brev.b64", "dd", { 3 }, 0xc000000000000000 },
    { "bfe.u32", "rrrr", { 0xabcdef12, 8, 8 }, 0xef },
    { "bfe.s32", "rrrr", { 0xabcdef12, 8, 8 }, 0xffffffef },
    { "bfe.s32", "rrrr", { 0x80000000, 28, 8 }, 0xfffffff8 },
    { "bfe.u64", "ddrr", { 0xabcdef1200000000, 40, 8 }, 0xef },
    { "bfe.s64", "ddrr", { 0xabcdef1200000000, 40, 8 }, MINUS(0x11) },
    { "bfe.u32", "rrrr", { 0xffffffff, 3, 0 }, 0 },
    { "bmsk.clamp.b32", "rrr", { 4, 8 }, 0xff0 },
    { "bmsk.wrap.b32", "rrr", { 36, 8 }, 0xff0 },
    /* Logic and shifts. */
    { "and.b32", "rrr", { 0xff00ff00, 0x0ff00ff0 }, 0x0f000f00 },
    { "and.b64", "ddd", { 0xff00ff00ff, 0x0ff00ff00f }, 0x0f000f000f },
    { "and.b16", "hhh", { 0xff00, 0x0ff0 }, 0x0f00 },
    { "or.b32", "rrr", { 0xff00, 0x0ff0 }, 0xfff0 },
    { "or.b64", "ddd", { 0xff00, 0x0ff0 }, 0xfff0 },
    { "or.b16", "hhh", { 0xff00, 0x0ff0 }, 0xfff0 },
    { "xor.b32", "rrr", { 0xff00, 0x0ff0 }, 0xf0f0 },
    { "xor.b64", "ddd", { 0xff00, 0x0ff0 }, 0xf0f0 },
    { "xor.b16", "hhh", { 0xff00, 0x0ff0 }, 0xf0f0 },
    { "not.b32", "rr", { 0xff00 }, 0xffff00ff },
    { "not.b64", "dd", { 0xff00 }, 0xffffffffffff00ff },
    { "not.b16", "hh", { 0xff00 }, 0x00ff },
    { "cnot.b32", "rr", { 0 }, 1 },
    { "cnot.b64", "dd", { 5 }, 0 },
    { "shl.b32", "rrr", { 1, 31 }, 0x80000000 },
    { "shl.b32", "rrr", { 1, 32 }, 0 },
    { "shl.b64", "ddr", { 1, 63 }, 0x8000000000000000 },
    { "shl.b64", "ddr", { 1, 200 }, 0 },
    { "shl.b16", "hhr", { 1, 15 }, 0x8000 },
    { "shl.b16", "hhr", { 1, 16 }, 0 },
    { "shr.u32", "rrr", { 0x80000000, 31 }, 1 },
    { "shr.u32", "rrr", { 0x80000000, 32 }, 0 },
    { "shr.s32", "rrr", { 0x80000000, 40 }, 0xffffffff },
    { "shr.b32", "rrr", { 0x80000000, 4 }, 0x08000000 },
    { "shr.u64", "ddr", { 0x8000000000000000, 63 }, 1 },
    { "shr.s64", "ddr", { 0x8000000000000000, 64 }, MINUS(1) },
    { "shr.u16", "hhr", { 0x8000, 15 }, 1 },
    { "shr.s16", "hhr", { 0x8000, 15 }, 0xffff },
    { "shf.l.wrap.b32", "rrrr", { 0x80000001, 0x00000001, 33 }, 0x00000003 },
    { "shf.l.clamp.b32", "rrrr", { 0x80000001, 0x00000001, 33 }, 0x80000001 },
    { "shf.r.wrap.b32", "rrrr", { 0x80000001, 0x00000001, 1 }, 0xc0000000 },
    { "shf.r.clamp.b32", "rrrr", { 0x80000001, 0x00000007, 40 }, 0x00000007 },
    { "prmt.b32", "rrrr", { 0x33221100, 0x77665544, 0x7410 }, 0x77441100 },
    { "prmt.b32", "rrrr", { 0x00000080, 0, 0x1118 }, 0x000000ff },
    /* Selection, moves, packing. */
    { "selp.b32", "rrrp", { 7, 8, 1 }, 7 },
    { "selp.f32", "rrrp", { 7, 8, 0 }, 8 },
    { "selp.f64", "dddp", { 7, 8, 0 }, 8 },
    { "selp.u16", "hhhp", { 7, 8, 1 }, 7 },
    { "slct.b32.s32", "rrrr", { 7, 8, 0xffffffff }, 8 },
    { "slct.f32.f32", "rrrr", { 7, 8, F_1 }, 7 },
    { "slct.u64.s32", "dddr", { 7, 8, 0 }, 7 },
    { "mov.u32", "rr", { 0xdeadbeef }, 0xdeadbeef },
    { "mov.f64", "dd", { D_THIRD }, D_THIRD },
    { "mov.u16", "hh", { 0xbeef }, 0xbeef },
    { "mov.pred", "pp", { 1 }, 1 },
    { "and.pred", "ppp", { 1, 0 }, 0 },
    { "or.pred", "ppp", { 1, 0 }, 1 },
    { "xor.pred", "ppp", { 1, 1 }, 0 },
    { "not.pred", "pp", { 0 }, 1 },
    { "cvta.global.u64", "dd", { 0x1234 }, 0x1234 },
    { "cvta.to.shared.u64", "dd", { 0x7f4000000010 }, 0x10 },
    { "cvta.shared.u64", "dd", { 0x10 }, 0x7f4000000010 },
    { "cvta.local.u64", "dd", { 0x10 }, 0x7f8000000010 },
    /* Single precision. */
    { "add.f32", "rrr", { F_1, F_2 }, F_3 },
    { "add.rn.f32", "rrr", { F_MAX, F_MAX }, F_INF },
    { "add.f32", "rrr", { F_INF, F_MINF }, F_NAN },
    { "add.f32", "rrr", { F_QNAN, F_1 }, F_NAN },
    { "add.ftz.f32", "rrr", { F_TINY, F_0 }, F_0 },
    { "add.f32", "rrr", { F_TINY, F_0 }, F_TINY },
    { "add.sat.f32", "rrr", { F_1, F_2 }, F_1 },
    { "add.rz.f32", "rrr", { F_1, 0x33ffffff }, F_1 },
    { "add.rp.f32", "rrr", { F_1, F_TINY }, 0x3f800001 },
    { "add.rm.f32", "rrr", { F_1, 0x80000001 }, 0x3f7fffff },
    { "sub.f32", "rrr", { F_3, F_2 }, F_1 },
    { "sub.rp.f32", "rrr", { F_1, 0x80000001 }, 0x3f800001 },
    { "mul.f32", "rrr", { F_1_5, F_2 }, F_3 },
    { "mul.ftz.f32", "rrr", { F_MIN, F_HALF }, F_0 },
    { "mul.f32", "rrr", { F_MIN, F_HALF }, 0x00400000 },
    { "mul.rz.f32", "rrr", { 0x3f800001, 0x3fffffff }, 0x40000000 },
    { "mul.rp.f32", "rrr", { 0x3f800001, 0x3f800001 }, 0x3f800003 },
    { "fma.rn.f32", "rrrr", { 0x3f800001, 0x3f800001, 0xbf800002 }, 0x28800000 },
    { "fma.rn.ftz.f32", "rrrr", { F_MIN, F_HALF, F_0 }, F_0 },
    { "fma.rn.sat.f32", "rrrr", { F_2, F_2, F_1 }, F_1 },
    { "fma.rz.f32", "rrrr", { F_1, F_1, 0xb2800000 }, 0x3f7fffff },
    { "fma.rm.f32", "rrrr", { F_1, F_1, 0x80000001 }, 0x3f7fffff },
    { "fma.rp.f32", "rrrr", { F_1, F_1, F_TINY }, 0x3f800001 },
    { "mad.rn.f32", "rrrr", { F_1_5, F_2, F_M1 }, F_2 },
    { "div.rn.f32", "rrr", { F_1, F_3 }, F_THIRD },
    { "div.rn.f32", "rrr", { F_1, F_0 }, F_INF },
    { "div.rn.f32", "rrr", { F_0, F_0 }, F_NAN },
    { "div.rz.f32", "rrr", { F_1, F_3 }, 0x3eaaaaaa },
    { "div.full.f32", "rrr", { F_3, F_2 }, F_1_5 },
    { "div.approx.f32", "rrr", { F_3, F_2 }, F_1_5 },
    { "neg.f32", "rr", { F_1 }, F_M1 },
    { "abs.f32", "rr", { F_M1 }, F_1 },
    { "abs.ftz.f32", "rr", { 0x80000001 }, F_0 },
    { "min.f32", "rrr", { F_NAN, F_1 }, F_1 },
    { "min.f32", "rrr", { F_0, F_M0 }, F_M0 },
    { "max.f32", "rrr", { F_M0, F_0 }, F_0 },
    { "max.f32", "rrr", { F_1, F_QNAN }, F_1 },
    { "max.f32", "rrr", { F_QNAN, F_QNAN }, F_NAN },
    { "max.NaN.f32", "rrr", { F_QNAN, F_1 }, F_NAN },
    { "rcp.rn.f32", "rr", { F_3 }, F_THIRD },
    { "rcp.approx.ftz.f32", "rr", { F_2 }, F_HALF },
    { "rcp.rz.f32", "rr", { F_3 }, 0x3eaaaaaa },
    { "sqrt.rn.f32", "rr", { F_2 }, 0x3fb504f3 },
    { "sqrt.rn.f32", "rr", { F_M1 }, F_NAN },
    { "sqrt.rp.f32", "rr", { F_2 }, 0x3fb504f4 },
    { "rsqrt.approx.f32", "rr", { 0x40800000 }, F_HALF },
    { "ex2.approx.f32", "rr", { F_3 }, 0x41000000 },
    { "ex2.approx.f32", "rr", { F_HALF }, 0x3fb504f3 },
    { "ex2.approx.ftz.f32", "rr", { 0xc3020000 }, F_0 },
    { "lg2.approx.f32", "rr", { 0x41000000 }, F_3 },
    { "lg2.approx.f32", "rr", { F_0 }, F_MINF },
    { "lg2.approx.f32", "rr", { F_3 }, 0x3fcae00d },
    { "sin.approx.f32", "rr", { F_1 }, 0x3f576aa4 },
    { "cos.approx.f32", "rr", { F_1 }, 0x3f0a5141 },
    { "cos.approx.f32", "rr", { F_0 }, F_1 },
    { "sin.approx.f32", "rr", { F_INF }, F_NAN },
    { "tanh.approx.f32", "rr", { F_1 }, 0x3f42f7d6 },
    { "copysign.f32", "rrr", { F_M0, F_1 }, F_M1 },
    /* Double precision. */
    { "add.f64", "ddd", { D_1, D_2 }, D_3 },
    { "sub.rn.f64", "ddd", { D_3, D_2 }, D_1 },
    { "mul.f64", "ddd", { D_M1_5, D_2 }, 0xc008000000000000 },
    { "fma.rn.f64",
      "dddd",
      { 0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002 },
      0x3970000000000000 },
    { "div.rn.f64", "ddd", { D_1, D_3 }, D_THIRD },
    { "sqrt.rn.f64", "dd", { D_2 }, 0x3ff6a09e667f3bcd },
    { "rcp.rn.f64", "dd", { D_3 }, D_THIRD },
    { "rcp.approx.ftz.f64", "dd", { D_3 }, 0x3fd5555500000000 },
    { "neg.f64", "dd", { D_1 }, 0xbff0000000000000 },
    { "abs.f64", "dd", { D_M1_5 }, 0x3ff8000000000000 },
    { "min.f64", "ddd", { D_NAN, D_1 }, D_1 },
    { "max.f64", "ddd", { D_1, D_2 }, D_2 },
    { "add.rz.f64", "ddd", { D_1, 0x3c9fffffffffffff }, D_1 },
    { "copysign.f64", "ddd", { 0x8000000000000000, D_1 }, 0xbff0000000000000 },
    /* Conversions. */
    { "cvt.s32.s8", "rr", { 0x80 }, 0xffffff80 },
    { "cvt.u32.u8", "rr", { 0x180 }, 0x80 },
    { "cvt.s32.s16", "rh", { 0x8000 }, 0xffff8000 },
    { "cvt.u32.u16", "rh", { 0x8000 }, 0x8000 },
    { "cvt.u16.u32", "hr", { 0x12348000 }, 0x8000 },
    { "cvt.s64.s32", "dr", { 0x80000000 }, 0xffffffff80000000 },
    { "cvt.u64.u32", "dr", { 0x80000000 }, 0x80000000 },
    { "cvt.u32.u64", "rd", { 0x1234567890 }, 0x34567890 },
    { "cvt.s16.s8", "hh", { 0x80 }, 0xff80 },
    { "cvt.u64.u16", "dh", { 0x8000 }, 0x8000 },
    { "cvt.rzi.s32.f32", "rr", { F_M1_5 }, 0xffffffff },
    { "cvt.rni.s32.f32", "rr", { F_2_5 }, 2 },
    { "cvt.rmi.s32.f32", "rr", { F_M1_5 }, 0xfffffffe },
    { "cvt.rpi.s32.f32", "rr", { F_1_5 }, 2 },
    { "cvt.rzi.ftz.s32.f32", "rr", { F_2_5 }, 2 },
    { "cvt.rzi.s32.f32", "rr", { 0x4f800000 }, 0x7fffffff },
    { "cvt.rzi.s32.f32", "rr", { F_QNAN }, 0 },
    { "cvt.rzi.u32.f32", "rr", { F_M1 }, 0 },
    { "cvt.rzi.u32.f32", "rr", { 0x4f800000 }, 0xffffffff },
    { "cvt.rzi.u8.f32", "hr", { 0x43c80000 }, 255 },
    { "cvt.rzi.s64.f32", "dr", { F_M1_5 }, MINUS(1) },
    { "cvt.rzi.s64.f64", "dd", { D_NAN }, 0x8000000000000000 },
    { "cvt.rzi.u64.f64", "dd", { 0x43f0000000000000 }, MINUS(1) },
    { "cvt.rni.u32.f64", "rd", { D_2_5 }, 2 },
    { "cvt.rn.f32.s32", "rr", { 0xffffffff }, F_M1 },
    { "cvt.rn.f32.u32", "rr", { 0xffffffff }, 0x4f800000 },
    { "cvt.rz.f32.u32", "rr", { 0xffffffff }, 0x4f7fffff },
    { "cvt.rp.f32.s32", "rr", { 0x1000001 }, 0x4b800001 },
    { "cvt.rn.f32.s64", "rd", { MINUS(3) }, 0xc0400000 },
    { "cvt.rn.f32.u64", "rd", { MINUS(1) }, 0x5f800000 },
    { "cvt.rn.f32.u16", "rh", { 3 }, F_3 },
    { "cvt.rn.f64.s32", "dr", { 0xffffffff }, 0xbff0000000000000 },
    { "cvt.rn.f64.u64", "dd", { 3 }, D_3 },
    { "cvt.rz.f64.u64", "dd", { MINUS(1) }, 0x43efffffffffffff },
    { "cvt.f64.f32", "dr", { F_1_5 }, 0x3ff8000000000000 },
    { "cvt.rn.f32.f64", "rd", { D_THIRD }, F_THIRD },
    { "cvt.rz.f32.f64", "rd", { D_THIRD }, 0x3eaaaaaa },
    { "cvt.rni.f32.f32", "rr", { F_2_5 }, F_2 },
    { "cvt.rpi.f32.f32", "rr", { F_2_5 }, F_3 },
    { "cvt.rmi.f64.f64", "dd", { D_2_5 }, D_2 },
    { "cvt.sat.f32.f32", "rr", { F_2 }, F_1 },
    { "cvt.ftz.f32.f32", "rr", { F_TINY }, F_0 },
    /* Comparisons; the result is a predicate. */
    { "setp.lt.s32", "prr", { 0xffffffff, 0 }, 1 },
    { "setp.lt.u32", "prr", { 0xffffffff, 0 }, 0 },
    { "setp.ge.s64", "pdd", { 5, 5 }, 1 },
    { "setp.eq.b32", "prr", { 5, 5 }, 1 },
    { "setp.ne.s16", "phh", { 5, 5 }, 0 },
    { "setp.gt.s16", "phh", { 0xffff, 5 }, 0 },
    { "setp.hi.u32", "prr", { 0xffffffff, 5 }, 1 },
    { "setp.ls.u32", "prr", { 5, 5 }, 1 },
    { "setp.lt.f32", "prr", { F_1, F_2 }, 1 },
    { "setp.lt.f32", "prr", { F_NAN, F_2 }, 0 },
    { "setp.ltu.f32", "prr", { F_NAN, F_2 }, 1 },
    { "setp.ne.f32", "prr", { F_NAN, F_2 }, 0 },
    { "setp.neu.f32", "prr", { F_NAN, F_2 }, 1 },
    { "setp.eq.ftz.f32", "prr", { F_TINY, F_0 }, 1 },
    { "setp.eq.f32", "prr", { F_TINY, F_0 }, 0 },
    { "setp.num.f64", "pdd", { D_1, D_NAN }, 0 },
    { "setp.nan.f64", "pdd", { D_1, D_NAN }, 1 },
    { "setp.gt.and.s32", "prrp", { 5, 3, 0 }, 0 },
    { "setp.gt.or.s32", "prrp", { 3, 5, 1 }, 1 },
    { "setp.gt.xor.s32", "prrp", { 5, 3, 1 }, 0 },
    { "set.lt.u32.s32", "rrr", { 1, 2 }, 0xffffffff },
    { "set.gt.f32.f32", "rrr", { F_2, F_1 }, F_1 },
};

static int bits_of(char kind)
{
    return kind == 'h' ? 16 : kind == 'd' ? 64 : 32;
}

static void put_operands(struct buf *b, const struct form *form)
{
    static const char NAMES[] = "abc";

    buf_printf(b, "%s %%%co", form->opcode, form->shape[0]);
    for (size_t i = 1; form->shape[i]; i++)
        buf_printf(b, ", %%%c%c", form->shape[i], NAMES[i - 1]);
    buf_puts(b, ";\n");
}

/* Loads the sources of row n from the first buffer, and stores the result into the second. */
static void put_form(struct buf *b, const struct form *form, size_t n)
{
    static const char NAMES[] = "abc";

    for (size_t i = 1; form->shape[i]; i++) {
        char kind = form->shape[i], name = NAMES[i - 1];
        size_t at = 8 * (MAX_SOURCES * n + i - 1);

        if (kind == 'p')
            buf_printf(b, "ld.global.b32 %%ro, [%%rd1+%zu];\nsetp.ne.s32 %%p%c, %%ro, 0;\n", at,
                       name);
        else
            buf_printf(b, "ld.global.b%d %%%c%c, [%%rd1+%zu];\n", bits_of(kind), kind, name, at);
    }
    put_operands(b, form);
    if (form->shape[0] == 'p')
        buf_printf(b, "selp.b32 %%ro, 1, 0, %%po;\nst.global.b32 [%%rd3+%zu], %%ro;\n", 256 * n);
    else
        buf_printf(b, "st.global.b%d [%%rd3+%zu], %%%co;\n", bits_of(form->shape[0]), 256 * n,
                   form->shape[0]);
}

/* A kernel that runs the rows in lanes that pass a test. */
static void put_kernel(struct buf *b, const char *name, const char *test)
{
    buf_printf(b, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n", name);
    buf_puts(b, ".reg .pred %p, %pa, %pb, %pc, %po;\n.reg .b16 %ha, %hb, %hc, %ho;\n"
                ".reg .b32 %r, %s, %ra, %rb, %rc, %ro;\n.reg .b64 %da, %db, %dc, %do;\n"
                ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
                "mov.u32 %r, %tid.x;\nmul.wide.u32 %rd3, %r, 8;\nadd.s64 %rd3, %rd2, %rd3;\n");
    buf_puts(b, test);
    for (size_t i = 0; i < COUNT(FORMS); i++)
        put_form(b, &FORMS[i], i);
    buf_puts(b, "$end:\nret;\n}\n");
}

static void check_lane(const struct form *form, const char *kernel, int lane, bool takes_part,
                       uint64_t got)
{
    int bits = form->shape[0] == 'p' ? 32 : bits_of(form->shape[0]);
    uint64_t want = takes_part ? form->want : 0;

    if (bits < 64)
        got &= ((uint64_t)1 << bits) - 1;
    if (got != want)
        fail_msg("%s(0x%llx, 0x%llx, 0x%llx) in lane %d of %s: 0x%llx, not 0x%llx", form->opcode,
                 (unsigned long long)form->source[0], (unsigned long long)form->source[1],
                 (unsigned long long)form->source[2], lane, kernel, (unsigned long long)got,
                 (unsigned long long)want);
}

static void forms_give_the_bits_that_they_should(void **state)
{
    static const struct {
        const char *name, *test;
        uint32_t lanes;
    } kernels[] = {
        { "all", "", 0xffffffff },
        { "half", "and.b32 %s, %r, 1;\nsetp.ne.s32 %p, %s, 0;\n@%p bra $end;\n", 0x55555555 },
        { "three", "setp.ge.u32 %p, %r, 3;\n@%p bra $end;\n", 0x7 },
    };
    struct buf text = { 0 };
    struct rig rig;

    (void)state;
    buf_puts(&text, ".version 9.0\n.target sm_80\n.address_size 64\n");
    for (size_t k = 0; k < COUNT(kernels); k++)
        put_kernel(&text, kernels[k].name, kernels[k].test);
    assert_false(text.is_failed);
    for (size_t k = 0; k < COUNT(kernels); k++) {
        uint64_t parameters[2], *in, *out;

        rig_load(&rig, (struct bytes){ text.data, text.size });
        in = rig_buffer(&rig, sizeof(uint64_t) * MAX_SOURCES * COUNT(FORMS), &parameters[0]);
        out = rig_buffer(&rig, 256 * COUNT(FORMS), &parameters[1]);
        for (size_t i = 0; i < COUNT(FORMS); i++)
            memcpy(&in[MAX_SOURCES * i], FORMS[i].source, sizeof FORMS[i].source);
        rig_run(&rig, kernels[k].name, 1, 32, parameters);
        for (size_t i = 0; i < COUNT(FORMS); i++)
            for (int l = 0; l < WARP; l++)
                check_lane(&FORMS[i], kernels[k].name, l, kernels[k].lanes >> l & 1,
                           out[32 * i + (size_t)l]);
        rig_done(&rig);
    }
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_give_the_bits_that_they_should),
    };

    return rig_run_builds(tests, COUNT(tests));
}
