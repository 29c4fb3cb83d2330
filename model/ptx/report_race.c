/*
 * Reports of races: who met whom, where, with which values, and what would order them.
 */
#include "model/ptx/report.h"
#include "model/ptx/warning.h"

#include <inttypes.h>
#include <stdio.h>

struct words {
    const struct warp *w;
    const struct race_report *race;
    char first_line[48], second_line[48], place[96];
    char name[64];       /* "tile[3]" */
    const char *element; /* "int": what the buffer holds, or NULL */
    char first[128];     /* "thread 5" */
    char second[128];
};

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/*
 * How the bits of a value are meant: as the buffer's elements, or as the instruction says. Loads
 * and stores of PTX know no sign: a .u32 near 2^32 is an int below 0 more often than a large
 * number.
 */
enum meaning {
    MEANS_SIGNED,
    MEANS_UNSIGNED,
    MEANS_FLOAT,
};

static enum meaning meaning_of(const char *element, const char *type, uint64_t v, int bytes)
{
    uint32_t low = (uint32_t)v;

    if (element && (ends(element, "float") || ends(element, "double")))
        return MEANS_FLOAT;
    if (element)
        return element[0] == 'u' || ends(element, "size_t") ? MEANS_UNSIGNED : MEANS_SIGNED;
    if (ends(type, ".f32") || ends(type, ".f64"))
        return MEANS_FLOAT;
    if (bytes == 4 && low > 0x30000000U && low < 0xf0000000U && low >> 23 != 0x1ff)
        return MEANS_FLOAT; /* .u32 of what is a float */
    return bytes == 4 ? MEANS_SIGNED : MEANS_UNSIGNED;
}

/* The low bytes of v with their sign. */
static int64_t signed_of(uint64_t v, int bytes)
{
    int unused = 64 - 8 * bytes;

    return bytes < 8 ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

/* "1.5", "-31". element: the type of the buffer's elements, or NULL. */
static void put_value(char *out, size_t size, uint64_t v, const struct insn *in, int bytes,
                      const char *element)
{
    enum meaning meaning = meaning_of(element, in->spelling, v, bytes);
    uint32_t low = (uint32_t)v;
    double wide;
    float narrow;

    memcpy(&wide, &v, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    if (meaning == MEANS_FLOAT && (bytes == 4 || bytes == 8))
        snprintf(out, size, "%g", bytes == 8 ? wide : (double)narrow);
    else if (meaning == MEANS_SIGNED)
        snprintf(out, size, "%" PRId64, signed_of(v, bytes));
    else
        snprintf(out, size, "%" PRIu64, bytes >= 8 ? v : v & ((UINT64_C(1) << 8 * bytes) - 1));
}

static void name_shared(struct words *t)
{
    const struct race_report *race = t->race;
    const struct run *run = t->w->cta->run;
    const struct shared_variable *v = report_shared(run, race->address, t->w->fault.insn->base);
    char name[48] = "shared memory";
    uint64_t at = race->address;

    if (v) {
        report_demangle(name, sizeof name, v->name);
        at -= v->address;
    }
    if (v && v->size && (int)v->size <= race->bytes)
        snprintf(t->name, sizeof t->name, "%s", name);
    else
        snprintf(t->name, sizeof t->name, "%s[%" PRIu64 "]", name, at / (uint64_t)race->bytes);
}

static void name_global(struct words *t)
{
    const struct run *run = t->w->cta->run;
    const struct region *r = region_find(run, t->race->address);
    const struct ptx_buffer *b = r && r->buffer >= 0 ? &run->launch->buffers[r->buffer] : NULL;
    int unit = b && b->element_bytes > 0 ? b->element_bytes : t->race->bytes;
    struct ptx_fault *f = t->w->cta->fault;
    char name[48];

    t->element = b ? b->element_type : NULL;
    if (!r) {
        snprintf(t->name, sizeof t->name, "0x%" PRIx64, t->race->address);
        return;
    }
    f->buffer = r->buffer;
    f->index = (int64_t)((t->race->address - r->start) / (uint64_t)unit);
    report_demangle(name, sizeof name, r->name ? r->name : "a buffer");
    if ((int64_t)(r->end - r->start) <= unit)
        snprintf(t->name, sizeof t->name, "%s", name);
    else
        snprintf(t->name, sizeof t->name, "%s[%" PRId64 "]", name, f->index);
}

static void name_threads(struct words *t)
{
    const struct ptx_launch *l = t->w->cta->run->launch;
    char thread[48], block[48];

    report_dim(thread, sizeof thread, t->race->first_thread, &l->block);
    if (t->race->is_same_block)
        snprintf(t->first, sizeof t->first, "thread %s", thread);
    else
        snprintf(t->first, sizeof t->first, "thread %s of block %s", thread,
                 report_dim(block, sizeof block, t->race->first_block, &l->grid));
    report_thread_of(thread, sizeof thread, t->w, t->race->lane);
    if (t->race->is_same_block)
        snprintf(t->second, sizeof t->second, "thread %s", thread);
    else
        snprintf(t->second, sizeof t->second, "thread %s of block %s", thread,
                 report_block_of(block, sizeof block, t->w->cta));
}

static void find_words(struct words *t, const struct warp *w, const struct race_report *race)
{
    *t = (struct words){ .w = w, .race = race };
    report_line(t->first_line, sizeof t->first_line, w->cta, race->first);
    report_line(t->second_line, sizeof t->second_line, w->cta, w->fault.insn);
    report_place(t->place, sizeof t->place, w->cta, w->fault.insn);
    if (race->is_shared)
        name_shared(t);
    else
        name_global(t);
    name_threads(t);
}

static const char *verb(bool is_write)
{
    return is_write ? "writes" : "reads";
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void put_parties(struct buf *b, const struct words *t)
{
    const struct race_report *race = t->race;

    report_row(b, "who", "%s (warp %d, lane %d) %s %s in %s; %s (warp %d, lane %d) %s it in %s",
               t->first, race->first_warp, race->first_lane, verb(race->is_write_first), t->name,
               t->first_line, t->second, t->w->index, race->lane, verb(race->is_write_second),
               t->second_line);
}

static void put_values(struct buf *b, const struct words *t)
{
    const struct race_report *race = t->race;
    char before[48], after[48];

    if (!race->has_values)
        return;
    put_value(before, sizeof before, race->value_first, race->first, race->bytes, t->element);
    put_value(after, sizeof after, race->value_second, t->w->fault.insn, race->bytes, t->element);
    if (race->is_write_second && !strcmp(before, after))
        return;
    if (race->is_write_first && race->is_write_second)
        report_row(b, "values", "%s writes %s, %s writes %s: which one stays is open", t->first,
                   before, t->second, after);
    else if (race->is_write_second)
        report_row(b, "values", "%s read %s; after the write it reads %s", t->first, before, after);
    else
        report_row(b, "values", "%s reads %s; before the write it reads something else", t->second,
                   after);
}

/* The line that comes first in the source, and the other. */
static void order_lines(const struct words *t, const char **low, const char **high)
{
    int a = report_loc(t->w->cta, t->race->first)->line;
    int b = report_loc(t->w->cta, t->w->fault.insn)->line;

    *low = a <= b ? t->first_line : t->second_line;
    *high = a <= b ? t->second_line : t->first_line;
}

static void explain_shared(struct buf *b, struct words *t)
{
    const struct race_report *race = t->race;
    const char *low, *high;
    char why[REPORT_TEXT], try_[REPORT_TEXT];
    bool is_same_line;

    order_lines(t, &low, &high);
    is_same_line = !strcmp(low, high);
    if (race->is_same_warp && is_same_line && !(race->is_write_first && race->is_write_second)) {
        snprintf(why, sizeof why,
                 "lanes of one warp read and write %s in %s with no __syncwarp() between: since "
                 "Volta they do not wait for each other by themselves",
                 t->name, low);
        if (strchr(t->name, '['))
            snprintf(try_, sizeof try_,
                     "%s between reading and writing: v = %s; ...; atomicAdd(&%s, ...) where "
                     "several add to it",
                     t->w->cta->run->warps_per_block > 1 ? "__syncthreads()" : "__syncwarp()",
                     t->name, t->name);
        else
            snprintf(try_, sizeof try_, "atomicAdd(&%s, ...) in %s", t->name, low);
    } else if (race->is_same_warp && is_same_line) {
        snprintf(why, sizeof why,
                 "several lanes of one warp store to %s at once, with different "
                 "values",
                 t->name);
        snprintf(try_, sizeof try_, "an atomic (atomicAdd, atomicMax) in %s, or one element a lane",
                 low);
    } else if (race->is_same_warp) {
        snprintf(why, sizeof why,
                 "missing __syncwarp() between %s and %s: since Volta the lanes of a warp do not "
                 "wait for each other by themselves",
                 low, high);
        if (t->w->cta->run->warps_per_block > 1)
            snprintf(
                try_, sizeof try_,
                "__syncthreads() after %s; __syncwarp() does where only lanes of one warp meet",
                low);
        else
            snprintf(try_, sizeof try_, "__syncwarp() after %s", low);
    } else if (is_same_line) {
        snprintf(why, sizeof why,
                 "both happen in %s, in no fixed order: += and its like read, add and write, and "
                 "updates get lost; in a loop, one turn meets the next",
                 low);
        snprintf(try_, sizeof try_, "atomicAdd for a sum of all, or __syncthreads() between turns");
    } else {
        snprintf(why, sizeof why,
                 "missing __syncthreads() between %s and %s: warps of a block run in no fixed "
                 "order, so either may come first",
                 low, high);
        snprintf(try_, sizeof try_, "__syncthreads() after %s", low);
    }
    report_why(b, t->w->cta, why, try_);
}

static void explain_global(struct buf *b, struct words *t)
{
    const struct race_report *race = t->race;
    const char *low, *high;
    char why[REPORT_TEXT], try_[REPORT_TEXT];
    bool is_same_line, is_sum;

    order_lines(t, &low, &high);
    is_same_line = !strcmp(low, high);
    is_sum =
        (race->is_write_first && race->is_write_second) || (is_same_line && !strchr(t->name, '['));
    if (is_same_line && race->is_same_block && !is_sum) {
        snprintf(
            why, sizeof why,
            "the warps of a block run in no fixed order and at the same time: += loses updates "
            "of others, and a neighbour may be read before or after its change");
        snprintf(try_, sizeof try_,
                 "atomicAdd(&%s, ...) for a sum; a neighbour is read into a variable before a "
                 "__syncthreads() and %s writes after it",
                 t->name, low);
    } else if (is_sum) {
        snprintf(why, sizeof why,
                 "%s run in no fixed order and at the same time: += reads, adds and writes, and "
                 "updates of others get lost",
                 race->is_same_block ? "the warps of a block" : "blocks");
        snprintf(try_, sizeof try_,
                 "atomicAdd(&%s, ...) in %s, or one element a block and a second launch that adds "
                 "them",
                 t->name, low);
    } else if (race->is_same_block) {
        snprintf(why, sizeof why,
                 "no __syncthreads() between %s and %s orders the threads of a block", low, high);
        snprintf(try_, sizeof try_, "__syncthreads() after %s, or an atomic", low);
    } else {
        snprintf(why, sizeof why,
                 "blocks run in no fixed order: %s may read %s before or after the other block "
                 "wrote it",
                 race->is_write_second ? t->first : t->second, t->name);
        snprintf(try_, sizeof try_,
                 "a second launch for %s, two buffers (read one, write the "
                 "other), or grid.sync() in a cooperative launch",
                 high);
    }
    report_why(b, t->w->cta, why, try_);
}

/* ---- Reports -------------------------------------------------------------------------------- */

static void fill_party(struct warp *w, const struct race_report *race)
{
    struct ptx_fault *f = w->cta->fault;

    f->value = race->value_second;
    f->other = (struct ptx_party){ .is_known = true,
                                   .file = report_file(w->cta, race->first),
                                   .line = report_loc(w->cta, race->first)->line,
                                   .ptx_line = race->first->ptx_line,
                                   .instruction = race->first->spelling,
                                   .block = race->first_block,
                                   .thread = race->first_thread,
                                   .warp = race->first_warp,
                                   .lanes = (uint32_t)1 << race->first_lane,
                                   .is_write = race->is_write_first,
                                   .is_atomic = race->is_atomic_first,
                                   .value = race->value_first };
}

int report_race(struct warp *w, const struct race_report *race, struct err *err)
{
    const char *kernel = report_kernel(w->cta->run);
    struct buf report = { 0 };
    struct words t;

    find_words(&t, w, race);
    fill_party(w, race);
    if (race->is_write_first && race->is_write_second)
        err_set(err, ERR_RaceFault, "%s: %s and %s both write %s, in no fixed order (%s)", kernel,
                t.first, t.second, t.name, t.place);
    else
        err_set(err, ERR_RaceFault, "%s: %s reads %s while %s writes it, in no fixed order (%s)",
                kernel, race->is_write_second ? t.first : t.second, t.name,
                race->is_write_second ? t.second : t.first, t.place);
    report_set_place(w->cta, w->fault.insn, err);
    put_parties(&report, &t);
    report_callers(&report, w, w->fault.insn);
    put_values(&report, &t);
    if (race->is_shared)
        explain_shared(&report, &t);
    else
        explain_global(&report, &t);
    if (w->cta->fault->try_)
        err_next(err, "%s", w->cta->fault->try_);
    if (err)
        err_take_detail(err, buf_take(&report));
    buf_done(&report);
    return -1;
}

int report_lockstep(struct warp *w, const struct race_report *race)
{
    warning_note(w, PTX_WARNING_WARP_RACE, w->fault.insn, race->first, 1U << race->lane);
    w->fault = (struct fault_site){ .name = ERR_none };
    return EXEC_OK;
}
