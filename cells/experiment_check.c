/*
 * A result counts when every word is what the host computes. Words that hold the poison were not
 * run, where the model ran a part of the blocks; anywhere else they are wrong.
 */
#include "cells/experiment_internal.h"

#include "kernels/lessons.h"

#include <math.h>
#include <stdlib.h>

static float float_of(uint32_t bits)
{
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Written so that a NaN on either side is wrong. */
static bool is_right(uint32_t got, uint32_t want, double tolerance)
{
    if (tolerance == 0)
        return got == want;
    return fabs((double)float_of(got) - (double)float_of(want)) <= tolerance;
}

static void check_words(struct experiment_outcome *o, const uint32_t *got, const uint32_t *want,
                        double tolerance, bool is_sampled)
{
    o->checked = 0;
    for (int64_t k = 0; k < o->launch.out_words; k++) {
        if (is_sampled && lesson_is_poison(got[k]))
            continue;
        o->checked++;
        if (is_right(got[k], want[k], tolerance))
            continue;
        if (o->wrong++ == 0) {
            o->first = k;
            o->got = got[k];
            o->want = want[k];
        }
    }
    o->is_correct = o->wrong == 0 && o->checked > 0;
    o->is_checked = true;
}

int experiment_check_all(struct experiment_work *w, bool is_model, struct err *err)
{
    const struct experiment *e = w->run->experiment;

    for (size_t i = 0; i < w->run->count; i++) {
        struct experiment_outcome *o = &w->run->points[i];
        uint32_t *want;

        if (!experiment_takes_part(o, o->is_checked))
            continue;
        if (call_check_stop(w->call, err) < 0)
            return -1;
        want = malloc((size_t)max_i64(o->launch.out_words, 1) * sizeof(*want));
        if (!want)
            return experiment_no_memory(err);
        e->reference(&o->point, &o->launch, w->in.data, want);
        check_words(o, experiment_out_of(w, i), want, e->tolerance,
                    is_model && o->launch.model_blocks > 0);
        free(want);
    }
    return 0;
}
