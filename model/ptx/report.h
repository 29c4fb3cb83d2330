/*
 * The report of a fault, row by row: who, where, why, try. Names and numbers come
 * from the launch as it stopped; what is not known is left out.
 */
#ifndef WB_MODEL_PTX_REPORT_H
#define WB_MODEL_PTX_REPORT_H

#include "model/base/buf.h"
#include "model/ptx/internal.h"

enum { REPORT_COLUMNS = 82, REPORT_TEXT = 400 };

/* Threads are numbered x first, then y, then z. */
struct ptx_dim report_thread(const struct cta *cta, int warp, int lane);

/* "12", or "(3,4)" and "(3,4,5)" where the launch has more dimensions; in `out`. */
const char *report_dim(char *out, size_t size, struct ptx_dim at, const struct ptx_dim *shape);
const char *report_block_of(char *out, size_t size, const struct cta *cta);
const char *report_thread_of(char *out, size_t size, const struct warp *w, int lane);

/* "0..3, 7" */
void report_lanes(struct buf *b, uint32_t lanes);

/* "threads 232..255 of block 3 (warp 7, lanes 8..31)" */
void report_threads(struct buf *b, const struct warp *w, uint32_t lanes);

/* "  why     text", wrapped. */
void report_row(struct buf *b, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
void report_who(struct buf *b, const struct warp *w, uint32_t lanes);

/* The functions that the place is in, inlined or called: nothing when it is the kernel's own. */
void report_callers(struct buf *b, const struct warp *w, const struct insn *in);

/* "saxpy": as the user wrote it. */
const char *report_kernel(const struct run *run);

/*
 * Where the user finds an instruction; file NULL where it is not known. Of a function of CUDA's,
 * which has no line or one in a header: the line that calls it.
 */
const struct source_loc *report_loc(const struct cta *cta, const struct insn *in);
const char *report_file(const struct cta *cta, const struct insn *in);

/* From here on `in` is where the frames say that it was called from. */
void report_from(struct cta *cta, const struct frame *frame, const struct insn *in);

/* The instruction stands in what the user wrote: not in a header of CUDA's, nor without a line. */
bool report_is_users(const struct cta *cta, const struct insn *in);
bool report_is_header(const struct cta *cta, const struct insn *in);

/*
 * variable.c: the name of the variable that the register in `row` of a function's frame holds at an
 * instruction, as the debug information has it; in `out`. False: it does not say.
 */
bool report_variable(char *out, size_t size, const struct run *run, const struct function *f,
                     const struct insn *in, uint32_t row);

/* "In[3] line 4", or "PTX line 30"; in `out`. */
const char *report_place(char *out, size_t size, const struct cta *cta, const struct insn *in);

/* "line 4" */
const char *report_line(char *out, size_t size, const struct cta *cta, const struct insn *in);

/* Place and caret of err. */
void report_set_place(const struct cta *cta, const struct insn *in, struct err *err);

/* What is given back of a mangled name: "_ZZ5tiledE4tile" is "tile"; in `out`. */
const char *report_demangle(char *out, size_t size, const char *name);

/* The shared variable that holds the byte, or NULL. */
const struct shared_variable *report_shared(const struct run *run, uint64_t address, int base);

/* The parameter of the kernel at an offset of the blob, -1; and its name, "argument 3" or so. */
int report_parameter(const struct run *run, uint64_t offset);
const char *report_parameter_name(char *out, size_t size, const struct run *run, int parameter);

/* The reason and the remedy of a fault: rows of the report, and fields of the fault. */
void report_why(struct buf *b, struct cta *cta, const char *why, const char *try_);

/* report_memory.c */
int report_memory(struct warp *w, struct err *err);

/* report_race.c: w, w->fault.lanes came second; `other` is who came first. */
struct race_report {
    bool is_shared, is_write_first, is_write_second, is_atomic_first;
    uint64_t address; /* of the byte where they meet, in its space */
    int bytes;
    uint64_t value_first, value_second; /* as they were written or read */
    bool has_values;
    const struct insn *first;
    struct ptx_dim first_block, first_thread;
    int first_warp, first_lane;
    bool is_same_warp, is_same_block;
    int lane; /* of w, that came second */
};
int report_race(struct warp *w, const struct race_report *race, struct err *err);
/* The same inside a warp in lockstep: a warning. EXEC_OK. */
int report_lockstep(struct warp *w, const struct race_report *race);

/* guess.c: what led to an index outside. Texts are "" where nothing fits. */
struct guess {
    char why[REPORT_TEXT], try_[REPORT_TEXT];
};
void guess_index(const struct warp *w, const struct region *r, int unit, struct guess *out);

#endif
