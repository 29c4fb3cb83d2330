/*
 * What the files of %run share: run.c reads the call, run_view.c words a lesson's rungs;
 * run_experiment.c runs an experiment, run_sweep.c words it, run_sweep_fields.c and _figure.c are
 * what their names say.
 */
#ifndef WB_CELLS_MAGICS_RUN_H
#define WB_CELLS_MAGICS_RUN_H

#include "cells/experiment_run.h"
#include "cells/lesson_run.h"

/* Fills fields, view and figure of a result from what was found. Fails with ResourceError. */
int run_fill_result(struct result *result, const struct call *call, const struct lesson_run *run,
                    struct err *err) MUST_CHECK;

/* The same for an experiment. */
int run_fill_sweep(struct result *result, const struct experiment_run *run,
                   struct err *err) MUST_CHECK;

/* Parts of it. The fields take the conclusion from the view, the figure too. */
int run_set_sweep_fields(struct result *result, const struct experiment_run *run,
                         struct err *err) MUST_CHECK;
void run_add_sweep_figure(struct result *result, const struct experiment_run *run);

/* The value of a key in words; whether there are curves; whether the model misses its goal. */
const char *run_key_text(struct result *r, const struct experiment_key *key, int64_t value);
bool run_has_curves(const struct experiment_run *run);
bool run_is_off(const struct experiment_run *run);

/* `%run NAME` of an experiment: reads its keys, runs it, takes the result. */
int run_experiment(struct call *call, const struct experiment *experiment,
                   struct err *err) MUST_CHECK;

/* device=gpu measures, device=NAME models; without it the session's card does both. */
int run_choose_device(const struct call *call, struct session_device *device, bool *use_gpu,
                      bool *use_model, struct err *err) MUST_CHECK;

/* "H200 gpu:0 and its model", "L40S (model, cc 8.9)". */
const char *run_device_text(struct result *r, const struct session_device *device, bool use_gpu,
                            bool use_model);

#endif
