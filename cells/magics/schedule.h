/*
 * What the files of %schedule share: one launch with the device that runs it and what became of
 * it, that as a picture, and its readers: one launch block by block, the same on a card, a sweep.
 */
#ifndef WB_CELLS_MAGICS_SCHEDULE_H
#define WB_CELLS_MAGICS_SCHEDULE_H

#include "cells/figure.h"
#include "cells/sweep.h"
#include "model/grid.h"
#include "model/occupancy.h"

/* Up to so many places have a row each; more: a row an SM. */
enum { SCHEDULE_SLOT_ROWS = 20 };

/* What stays say, beside what is drawn of them; the last three are a card's alone. */
struct schedule_measured {
    int64_t replace_cycles; /* median: from a block's end to the next one's start there; -1: none */
    int sms_used;
    int64_t strangers; /* threads that ran on another SM than their block's first */
    double clock_mhz, time_us;
};

struct schedule {
    struct session_device device;
    bool is_on_card; /* device=gpu: it runs there, too */
    struct launch_shape shape;
    struct occupancy occ; /* all 0 when per_sm= says how many blocks an SM holds */
    struct grid grid;
    struct grid_waves waves;
    struct grid_run run;
    const struct grid_block *stays; /* measured: every block, in order; NULL: as the model says */
    struct schedule_measured measured;
    int64_t span; /* cycles that a picture shows; 0: as many as it takes */
};

/* cost= at a point of the sweep, for all blocks of the grid; its list of costs is the arena's. */
int schedule_read_cost(const struct sweep *sweep, size_t i, struct grid *grid, struct arena *arena,
                       struct err *err) MUST_CHECK;

/* Visits every block in order: as measured, or as the model runs them. Fails as grid_run does. */
int schedule_visit(const struct call *call, const struct schedule *s, grid_visit *visit, void *data,
                   struct err *err) MUST_CHECK;

/*
 * schedule_gpu.c: the same launch on a card: every block takes the cycles that the model gives it.
 * *measured and *modelled are that launch with stays, in cycles from the first block's first one,
 * so that both can be laid side by side. Fails as workers_ask does, with ValueError for what no
 * card can, and with LaunchError when it holds another number of blocks on an SM than the model.
 */
int schedule_measure(struct call *call, const struct schedule *plan, struct schedule *measured,
                     struct schedule *modelled, struct err *err) MUST_CHECK;

/* In us; 0 when the device's clock is unknown. */
double schedule_time_us(const struct schedule *s, int64_t cycles);

/* SMs that placed and ended their blocks in the same cycles. */
struct schedule_class {
    int first, last, count;
    int64_t blocks, end, busy;
};

struct schedule_history {
    uint64_t hash[GRID_MAX_SMS]; /* of (slot, placed, end) of its blocks, in order */
    int64_t blocks[GRID_MAX_SMS], end[GRID_MAX_SMS], busy[GRID_MAX_SMS];
    struct schedule_class classes[GRID_MAX_SMS];
    int class_count;
    int64_t replaced, replaced_at; /* the first block that took another one's place; -1: none */
    int replaced_sm;
    int64_t places;
};

/* The first cycle of each column stands for the column. */
struct schedule_picture {
    const struct schedule *s;
    int64_t step; /* cycles of a column */
    size_t columns, rows;
    bool is_by_slot;          /* a row a place, else a row an SM */
    int row_of[GRID_MAX_SMS]; /* the first row of an SM that stands for its class; -1 */
    int64_t *rounds;          /* per row: blocks so far */
    uint8_t *marks;           /* rows * columns */
    int32_t *numbers;         /* rows * columns: who runs, or how many; -1: nobody */
    int64_t *resident;        /* per column */
    json_t *blocks;           /* the first ones, or NULL */
    int failed;
};

/* Runs the launch and finds the SMs that do the same. *out is the call's arena's. */
int schedule_read_history(const struct call *call, const struct schedule *s,
                          struct schedule_history **out, struct err *err) MUST_CHECK;

/*
 * Runs it once more and draws it into at most so many columns and rows. *out is the call's
 * arena's; its list of blocks, which is there with lists_blocks, the caller's.
 */
int schedule_draw(const struct call *call, const struct schedule *s,
                  const struct schedule_history *h, size_t columns, size_t most_rows,
                  bool lists_blocks, struct schedule_picture **out, struct err *err) MUST_CHECK;

/* "SM 3", "SM 0..75", "SM 0 +51"; the result's arena. */
const char *schedule_class_name(struct result *result, const struct schedule_class *c);

/* The picture as lines of text; as a Gantt panel; and how many blocks are resident. */
void schedule_add_lines(struct result *result, const char *ruler, const struct schedule_picture *p,
                        const struct schedule_history *h);
void schedule_add_gantt(struct figure *figure, const char *title, const struct schedule_picture *p,
                        const struct schedule_history *h);

/* Each picture with its name is a line of the panel. */
struct schedule_named {
    const char *name;
    const struct schedule_picture *picture;
};
void schedule_add_resident(struct figure *figure, const struct schedule_named *pictures,
                           size_t count, struct arena *arena);

/* Fields, view and figure of one launch. origin: where the numbers come from. */
int schedule_show_one(struct result *result, const struct call *call, const struct schedule *s,
                      const char *origin, struct err *err) MUST_CHECK;

/* The same of a launch that a card ran, with the model's beside it. */
int schedule_show_measured(struct result *result, const struct call *call,
                           const struct schedule *measured, const struct schedule *modelled,
                           const char *origin, struct err *err) MUST_CHECK;

/* What the model says, for the field of that name. New reference, or NULL. */
json_t *schedule_modelled_json(const struct schedule *s);

/* The fields of one launch; p, whose list of blocks goes into them, shows it. */
int schedule_set_fields(struct result *result, const struct schedule *s, struct schedule_picture *p,
                        const struct schedule_history *h, struct err *err) MUST_CHECK;

/* The same of all launches of a sweep. */
int schedule_show_sweep(struct result *result, const struct sweep *sweep,
                        const struct schedule *schedules, const char *origin,
                        struct err *err) MUST_CHECK;

/* Texts are the result's. "12,288"; "3.23 us"; "80.2 %"; " = 3.23 us", "" without a clock. */
const char *schedule_count(struct result *result, int64_t v);
const char *schedule_percent(struct result *result, double fraction);
const char *schedule_time(struct result *result, const struct schedule *s, int64_t cycles);

#endif
