/*
 * Little's law by itself: two of its terms were given, the third is the answer.
 */
#include "cells/magics/little.h"

#include "cells/internal.h"
#include "cells/render/text.h"

static const char *number(struct result *result, double v)
{
    char text[TEXT_NUMBER];

    return result_text(result, "%s", text_number(text, v));
}

/* Which term is asked for: the one that was not given. */
static int read_law(const struct call *call, struct little_law *law, enum little_term *unknown,
                    struct err *err)
{
    static const char *const names[] = { "concurrency", "latency", "throughput" };
    double *const terms[] = { &law->concurrency, &law->latency, &law->throughput };
    int missing = 0;

    for (int i = 0; i < (int)COUNT(names); i++) {
        const struct arg *arg = call_arg(call, names[i]);

        if (arg->is_sweep)
            return call_fail(call, names[i], err, ERR_UsageError,
                             "the law alone takes one latency, not a range");
        if (arg->is_given) {
            *terms[i] = call_float(call, names[i]);
        } else {
            *unknown = (enum little_term)i;
            missing++;
        }
    }
    if (missing != 1)
        return call_fail(call, call_given(call, "concurrency") ? "concurrency" : "throughput", err,
                         ERR_UsageError, "two of concurrency= latency= throughput= give the third");
    return little_solve(law, *unknown, err);
}

static const char *answer_text(struct result *result, const struct little_law *law,
                               enum little_term unknown)
{
    const char *n = number(result, law->concurrency), *l = number(result, law->latency),
               *t = number(result, law->throughput);

    if (unknown == LITTLE_CONCURRENCY)
        return result_text(result, "%s must be in flight: %s cycles x %s a cycle.", n, l, t);
    if (unknown == LITTLE_LATENCY)
        return result_text(result, "Each takes %s cycles: %s in flight / %s a cycle.", l, n, t);
    return result_text(result, "%s finish a cycle: %s in flight / %s cycles each.", t, n, l);
}

static void add_facts(struct result *result, const struct little_law *law)
{
    struct view_block *block = view_add_facts(result, 3);

    if (!block)
        return;
    block->names[0] = "more";
    block->texts[0] = result_text(result,
                                  "every further %s in flight let one more finish a cycle, until "
                                  "a unit is full",
                                  number(result, law->latency));
    block->names[1] = "fewer";
    block->texts[1] =
        result_text(result, "half as many, %s, finish %s a cycle",
                    number(result, law->concurrency / 2), number(result, law->throughput / 2));
    block->names[2] = "slower";
    block->texts[2] =
        result_text(result, "at twice the latency the same %s a cycle need %s",
                    number(result, law->throughput), number(result, law->concurrency * 2));
}

/* Throughput against what is under way: a line through 0, of slope 1 / latency. */
static void add_figure(struct result *result, const struct little_law *law)
{
    const double x[] = { 0, 2 * law->concurrency }, y[] = { 0, 2 * law->throughput };
    struct figure *figure = figure_new(result, "Little's law: throughput = concurrency / latency",
                                       "A straight line from zero: throughput over how many are "
                                       "under way at once.",
                                       result->view.answer);
    struct panel *panel =
        figure_add_lines(figure, NULL, (struct figure_axis){ .label = "under way at once" },
                         (struct figure_axis){ .label = "finish a cycle" });

    panel_add_series(panel, result_text(result, "latency %s cycles", number(result, law->latency)),
                     x, y, COUNT(x));
    panel_highlight(panel, law->concurrency,
                    result_text(result, "%s: %s a cycle", number(result, law->concurrency),
                                number(result, law->throughput)));
}

int little_show_law(struct result *result, const struct call *call, struct err *err)
{
    struct little_law law = { 0 };
    enum little_term unknown = LITTLE_CONCURRENCY;
    json_t *fields;
    int rc;

    if (read_law(call, &law, &unknown, err) < 0)
        return -1;
    fields = json_pack("{s:f, s:f, s:f}", "concurrency", law.concurrency, "latency", law.latency,
                       "throughput", law.throughput);
    rc = json_object_update(result->fields, fields);
    json_decref(fields);
    if (rc < 0)
        return err_set(err, ERR_ResourceError, "out of memory");
    result->view.answer = answer_text(result, &law, unknown);
    result->view.origin = result_text(result, "Little's law   %s",
                                      call_parameters_text(call, "what ilp bytes_per_thread alpha "
                                                                 "queue"));
    add_facts(result, &law);
    result->view.closing = "Next: %little device=H200 asks how many bytes fill its memory.";
    add_figure(result, &law);
    return 0;
}
