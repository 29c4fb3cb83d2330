/*
 * Divergence by counting: lanes with the same way through the branch are one
 * group, and the groups share one issue slot a cycle. Whatever the order, each
 * group's instructions are issued once, so that the paths add up and never
 * multiply. What the order can change is how much of the waiting is hidden.
 */
#include "model/lanes.h"

#include <assert.h>

static int lowest(uint32_t mask)
{
    return __builtin_ctz(mask);
}

/* The threads of `mask` with the smallest value of all. */
static uint32_t take_smallest(uint32_t mask, const int64_t value[WARP])
{
    int64_t least = value[lowest(mask)];
    uint32_t group = 0;

    for (uint32_t m = mask; m; m &= m - 1)
        least = min_i64(least, value[lowest(m)]);
    for (uint32_t m = mask; m; m &= m - 1)
        group |= (uint32_t)(value[lowest(m)] == least) << lowest(m);
    return group;
}

static void add_stretch(struct lanes_warp *w, struct lanes_stretch s)
{
    if (s.length == 0 || s.passes == 0)
        return;
    w->stretches[w->count++] = s;
    w->passes += s.passes;
    w->issue_slots += s.passes * s.length;
    w->lane_slots += s.passes * s.length * __builtin_popcount(s.mask);
}

void lanes_branch(uint32_t threads, const int64_t key[WARP], const int64_t length[WARP],
                  struct lanes_warp *out)
{
    *out = (struct lanes_warp){ .threads = threads };
    for (uint32_t left = threads, group; left; left &= ~group) {
        group = take_smallest(left, key);
        add_stretch(out, (struct lanes_stretch){ .mask = group,
                                                 .key = key[lowest(group)],
                                                 .length = length[lowest(group)],
                                                 .passes = 1 });
        out->paths++;
    }
    out->is_split = out->paths > 1;
}

/* Each stretch ends where the next threads leave; those that stay go on together. */
void lanes_loop(uint32_t threads, const int64_t trips[WARP], int64_t length, struct lanes_warp *out)
{
    int64_t done = 0;

    *out = (struct lanes_warp){ .threads = threads, .is_loop = true };
    for (uint32_t left = threads, group; left; left &= ~group) {
        group = take_smallest(left, trips);
        add_stretch(out, (struct lanes_stretch){ .mask = left,
                                                 .key = trips[lowest(group)],
                                                 .length = length,
                                                 .passes = trips[lowest(group)] - done });
        done = trips[lowest(group)];
        out->paths++;
    }
    out->is_split = out->paths > 1;
}

void lanes_add(struct lanes_total *total, const struct lanes_warp *warp, int64_t around)
{
    int threads = __builtin_popcount(warp->threads);
    int64_t lane_slots = warp->lane_slots + around * threads;

    if (!threads)
        return;
    total->warps++;
    total->split += warp->is_split;
    total->idle += !warp->issue_slots && !warp->is_split;
    total->uniform += warp->issue_slots && !warp->is_split;
    total->passes += warp->passes;
    total->issue_slots += warp->issue_slots + around;
    total->lane_slots += lane_slots;
    total->undivided_slots += (double)lane_slots / threads;
}

void lanes_finish(struct lanes_total *total)
{
    total->lane_efficiency = 1;
    total->time_ratio = 1;
    if (!total->issue_slots)
        return;
    total->lane_efficiency = (double)total->lane_slots / ((double)total->issue_slots * WARP);
    total->time_ratio = (double)total->issue_slots / total->undivided_slots;
}

/* ---- who issues when ---- */

/* A path between the branch and the join. */
struct walker {
    int64_t passes, left; /* passes still to begin, instructions left of this one */
    int64_t ready;        /* the first cycle in which it may issue */
};

static void note(int8_t *issuer, int64_t most, int64_t from, int64_t to, int who)
{
    for (int64_t c = from; issuer && c < to && c < most; c++)
        issuer[c] = (int8_t)who;
}

/* One after the other: a path issues and waits, then the next one begins. */
static int64_t in_order(const struct lanes_warp *w, int64_t wait, int8_t *issuer, int64_t most)
{
    int64_t now = 0;

    for (int i = 0; i < w->count; i++)
        for (int64_t p = 0; p < w->stretches[i].passes; p++) {
            note(issuer, most, now, now + w->stretches[i].length, i);
            now += w->stretches[i].length;
            note(issuer, most, now, now + wait, -1);
            now += wait;
        }
    return now;
}

static bool is_done(const struct walker *walker)
{
    return !walker->passes && !walker->left;
}

/* The next path in turn, from `from` on, that may issue now; -1: all wait or are done. */
static int next_ready(const struct walker *walkers, int count, int from, int64_t now)
{
    for (int k = 0; k < count; k++) {
        const struct walker *walker = &walkers[(from + k) % count];

        if (!is_done(walker) && walker->ready <= now)
            return (from + k) % count;
    }
    return -1;
}

/* When the first of those that wait may go on; INT64_MAX: all are done. */
static int64_t next_event(const struct walker *walkers, int count)
{
    int64_t first = INT64_MAX;

    for (int i = 0; i < count; i++)
        if (!is_done(&walkers[i]))
            first = min_i64(first, walkers[i].ready);
    return first;
}

/* Issues up to `most` instructions of its pass from cycle `now` on; returns how many. */
static int64_t issue(struct walker *walker, const struct lanes_stretch *stretch,
                     const struct lanes_order *order, int64_t now)
{
    int64_t n;

    if (!walker->left) {
        walker->left = stretch->length;
        walker->passes--;
    }
    n = order->turns ? min_i64(order->turns, walker->left) : walker->left;
    walker->left -= n;
    walker->ready = now + n + (walker->left ? 0 : order->wait);
    return n;
}

static int64_t taking_turns(const struct lanes_warp *w, const struct lanes_order *order,
                            int8_t *issuer, int64_t most)
{
    struct walker walkers[WARP];
    int64_t now = 0, end = 0, n;
    int who = 0;

    for (int i = 0; i < w->count; i++)
        walkers[i] = (struct walker){ .passes = w->stretches[i].passes };
    for (;;) {
        int64_t first = next_event(walkers, w->count);

        if (first == INT64_MAX)
            break;
        if (first > now) {
            note(issuer, most, now, first, -1);
            now = first;
        }
        who = next_ready(walkers, w->count, who, now);
        n = issue(&walkers[who], &w->stretches[who], order, now);
        note(issuer, most, now, now + n, who);
        now += n;
        end = max_i64(end, walkers[who].ready);
        who = (who + 1) % w->count;
    }
    note(issuer, most, now, end, -1);
    return end;
}

int64_t lanes_cycles(const struct lanes_warp *warp, const struct lanes_order *order, int8_t *issuer,
                     int64_t most)
{
    assert(order->wait >= 0 && order->turns >= 0);
    if (!order->is_its || warp->is_loop)
        return in_order(warp, order->wait, issuer, most);
    return taking_turns(warp, order, issuer, most);
}
