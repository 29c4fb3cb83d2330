/*
 * One instruction over many operands: a kernel whose thread t loads row t of a table, executes the
 * instruction and stores what it gives. Shared by the tests of families of instructions.
 */
#ifndef WB_TESTS_UNIT_PTX_FORMS_H
#define WB_TESTS_UNIT_PTX_FORMS_H

#include "tests/unit/ptx_rig.h"

enum { FORM_SOURCES = 4, FORM_BLOCK = 128, FORM_ROWS_MAX = 16384 };

struct form_row {
    uint64_t source[FORM_SOURCES];
    uint64_t got;
};

static inline int form_bits(char kind)
{
    return kind == 'h' ? 16 : kind == 'd' ? 64 : 32;
}

/*
 * The text of a kernel for "opcode": shape has the result, then the sources: h 16, r 32, d 64 bits,
 * p predicate. A result is stored with 64 bits, zero-extended.
 */
static inline void form_put(struct buf *b, const char *opcode, const char *shape, int count)
{
    static const char NAMES[] = "abce";
    char to = shape[0];

    buf_puts(b, ".version 9.0\n.target sm_90\n.address_size 64\n"
                ".visible .entry k(.param .u64 table)\n{\n"
                ".reg .pred %pa, %pb, %pc, %pe, %po, %p;\n.reg .b16 %ha, %hb, %hc, %he, %ho;\n"
                ".reg .b32 %r<4>, %ra, %rb, %rc, %re, %ro;\n"
                ".reg .b64 %da, %db, %dc, %de, %do, %rd<4>;\n"
                "ld.param.u64 %rd1, [table];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n");
    buf_printf(b, "mad.lo.s32 %%r1, %%r2, %d, %%r1;\nsetp.ge.s32 %%p, %%r1, %d;\n@%%p bra $end;\n",
               FORM_BLOCK, count);
    buf_printf(b, "mul.wide.s32 %%rd2, %%r1, %zu;\nadd.s64 %%rd1, %%rd1, %%rd2;\n",
               sizeof(struct form_row));
    for (size_t i = 1; shape[i]; i++) {
        char kind = shape[i], name = NAMES[i - 1];

        if (kind == 'p')
            buf_printf(b, "ld.global.b32 %%r3, [%%rd1+%zu];\nsetp.ne.s32 %%p%c, %%r3, 0;\n",
                       8 * (i - 1), name);
        else
            buf_printf(b, "ld.global.b%d %%%c%c, [%%rd1+%zu];\n", form_bits(kind), kind, name,
                       8 * (i - 1));
    }
    buf_printf(b, "%s %%%co", opcode, to);
    for (size_t i = 1; shape[i]; i++)
        buf_printf(b, ", %%%c%c", shape[i], NAMES[i - 1]);
    buf_puts(b, ";\n");
    if (to == 'p')
        buf_puts(b, "selp.b64 %do, 1, 0, %po;\n");
    else if (to != 'd')
        buf_printf(b, "cvt.u64.u%d %%do, %%%co;\n", form_bits(to), to);
    buf_printf(b, "st.global.b64 [%%rd1+%zu], %%do;\n$end:\nret;\n}\n",
               offsetof(struct form_row, got));
}

/* Fills `got` of every row. */
static inline void form_run(const char *opcode, const char *shape, struct form_row *rows, int count)
{
    struct buf text = { 0 };
    struct rig rig;
    uint64_t address;
    void *table;

    form_put(&text, opcode, shape, count);
    assert_false(text.is_failed);
    rig_load(&rig, (struct bytes){ text.data, text.size });
    table = rig_buffer(&rig, (size_t)count * sizeof *rows, &address);
    memcpy(table, rows, (size_t)count * sizeof *rows);
    rig_run(&rig, "k", (unsigned)(count + FORM_BLOCK - 1) / FORM_BLOCK, FORM_BLOCK, &address);
    memcpy(rows, table, (size_t)count * sizeof *rows);
    rig_done(&rig);
    buf_done(&text);
}

/* Whether a text with this instruction is refused when it is loaded. */
static inline bool form_is_refused(const char *opcode, const char *shape)
{
    struct ptx_module *module = NULL;
    struct buf text = { 0 };
    struct err err = { 0 };
    bool is_refused;

    form_put(&text, opcode, shape, 1);
    is_refused = ptx_module_load((struct bytes){ text.data, text.size }, &module, &err) < 0 &&
                 err.name == ERR_UnsupportedError;
    ptx_module_free(&module);
    err_done(&err);
    buf_done(&text);
    return is_refused;
}

/* SplitMix64: every run of a test has the same numbers. */
static inline uint64_t form_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

#endif
