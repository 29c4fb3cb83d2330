/*
 * Where to look first. Each rule knows one way in which a launch is worse than it has
 * to be, and names the line that costs most by it; the first rule that applies wins,
 * dearest first.
 */
#include "cells/internal.h"
#include "cells/magics/launch.h"
#include "cells/render/text.h"

/* What a rule found. */
struct finding {
    size_t line;
    double share; /* of the whole launch's, 0..1 */
};

/* A sector is 32 bytes: what the lanes asked for, if every byte of it were used. */
static double best_sectors(const struct ptx_access_facts *a)
{
    double best = (double)a->bytes / 32;

    return best > (double)a->requests ? best : (double)a->requests;
}

static const char *percent(struct result *r, double fraction)
{
    char text[TEXT_NUMBER];

    /* Whole ones: a hint needs no digit more. */
    return result_text(r, "%s", text_percent(text, (double)(int)(fraction * 100 + 0.5) / 100));
}

static const char *times(struct result *r, double v)
{
    return v >= 9.95 || v - (int)v < 0.05 ? result_text(r, "%.0f", v) : result_text(r, "%.1f", v);
}

/* The name of a line: "line 6", or with its file where that is another cell's or a header. */
static const char *line_name(struct result *r, const struct ptx_facts *facts, size_t i)
{
    const struct ptx_line_facts *l = &facts->lines[i];

    for (size_t k = 0; k < facts->line_count; k++)
        if (strcmp(facts->lines[k].file, l->file) != 0)
            return result_text(r, "%.40s line %d", l->file, l->line);
    return result_text(r, "line %d", l->line);
}

static struct launch_hint shared_conflicts(struct result *r, const struct ptx_facts *facts)
{
    struct launch_hint hint = { NULL, SIZE_MAX };
    int64_t best = facts->shared.passes - facts->shared_conflicts, worst = 0;

    if (facts->shared_conflicts * 2 < best)
        return hint;
    for (size_t i = 0; i < facts->line_count; i++)
        if (facts->lines[i].line > 0 && facts->lines[i].shared.passes > worst) {
            worst = facts->lines[i].shared.passes;
            hint.line = i;
        }
    if (hint.line == SIZE_MAX)
        return hint;
    hint.text =
        result_text(r, "Look at %s: its shared accesses take %s passes each, %s of all passes.",
                    line_name(r, facts, hint.line),
                    times(r, launch_per_request(&facts->lines[hint.line].shared, worst)),
                    percent(r, (double)worst / (double)facts->shared.passes));
    return hint;
}

static struct launch_hint scattered(struct result *r, const struct ptx_facts *facts)
{
    struct launch_hint hint = { NULL, SIZE_MAX };
    double waste = 0, sectors = 0, best = 0;

    for (size_t i = 0; i < facts->line_count; i++) {
        const struct ptx_access_facts *a = &facts->lines[i].global;
        double extra = (double)a->sectors - best_sectors(a);

        sectors += (double)a->sectors;
        best += a->requests ? best_sectors(a) : 0;
        if (facts->lines[i].line > 0 && extra > waste) {
            waste = extra;
            hint.line = i;
        }
    }
    if (hint.line == SIZE_MAX || sectors < 1.5 * best)
        return (struct launch_hint){ NULL, SIZE_MAX };
    {
        const struct ptx_access_facts *a = &facts->lines[hint.line].global;

        hint.text = result_text(
            r, "Look at %s: its accesses take %s sectors a request (best %s), %s of all sectors.",
            line_name(r, facts, hint.line), times(r, launch_per_request(a, a->sectors)),
            times(r, best_sectors(a) / (double)a->requests),
            percent(r, (double)a->sectors / sectors));
    }
    return hint;
}

static struct launch_hint divergence(struct result *r, const struct ptx_facts *facts)
{
    struct launch_hint hint = { NULL, SIZE_MAX };
    int64_t splits = 0;

    if (facts->divergent_branches == 0 || facts->lane_efficiency > 0.9)
        return hint;
    for (size_t i = 0; i < facts->line_count; i++)
        if (facts->lines[i].line > 0 && facts->lines[i].divergent_branches > splits) {
            splits = facts->lines[i].divergent_branches;
            hint.line = i;
        }
    if (hint.line == SIZE_MAX)
        return hint;
    hint.text =
        result_text(r, "Look at %s: its branch splits %s of the warps; %s of all lanes work.",
                    line_name(r, facts, hint.line),
                    percent(r, (double)splits / (double)facts->lines[hint.line].branches),
                    percent(r, facts->lane_efficiency));
    return hint;
}

static const char *shape_hint(struct result *r, const struct launch_point *p)
{
    int64_t rest = p->plan.threads % WARP;
    int sms = p->plan.device.device.sms;

    if (rest && p->plan.blocks > 1)
        return result_text(r,
                           "A block of %lld leaves %lld lanes of its last warp idle: take a "
                           "multiple of 32.",
                           (long long)p->plan.threads, (long long)(WARP - rest));
    if (sms > 0 && p->plan.blocks < sms)
        return result_text(r, "%lld of %d SMs work: a larger grid costs hardly more time.",
                           (long long)p->plan.blocks, sms);
    return NULL;
}

struct launch_hint launch_find_hint(struct result *result, const struct launch_point *point)
{
    static struct launch_hint (*const RULES[])(struct result *, const struct ptx_facts *) = {
        shared_conflicts,
        scattered,
        divergence,
    };
    struct launch_hint hint = { NULL, SIZE_MAX };

    for (size_t i = 0; i < COUNT(RULES) && !hint.text && point->outcome.has_facts; i++)
        hint = RULES[i](result, &point->outcome.facts);
    if (!hint.text)
        hint = (struct launch_hint){ shape_hint(result, point), SIZE_MAX };
    return hint;
}
