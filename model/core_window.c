/*
 * A warp that issues out of order, as CPUs do and GPUs do not: among the next instructions of its
 * stream any whose operands are there may issue, the oldest of several first. Registers are
 * renamed: an instruction waits for the one that makes its operand, never for one that reads or
 * writes the same name. Branches are taken as foretold; nothing passes a barrier.
 */
#include "model/core_internal.h"

static struct waiting_op *op_of(struct window *window, int64_t number)
{
    return &window->ops[number % CORE_MAX_WINDOW];
}

void window_start(struct core *core, struct core_warp *w)
{
    struct window *window = w->window;

    window->head = window->tail = 1;
    window->is_fenced = window->is_at_end = false;
    memset(window->writers, 0, (size_t)core->config.register_count * sizeof *window->writers);
    window_fill(core, w);
}

/* The instruction waits for a register: for whoever makes it, or until it is there. */
static void add_operand(struct core_warp *w, struct waiting_op *entry, int i, uint16_t reg)
{
    struct window *window = w->window;
    int64_t writer = window->writers[reg];

    entry->producers[i] = 0;
    if (writer >= window->head && !op_of(window, writer)->is_issued) {
        entry->producers[i] = writer;
        entry->missing++;
    } else {
        entry->self.ready = due_later(entry->self.ready, w->results[reg]);
    }
}

static void fetch(struct core_warp *w, const struct path *p)
{
    struct window *window = w->window;
    struct waiting_op *entry = op_of(window, window->tail);
    const struct core_op *op = p->next.op;

    *entry = (struct waiting_op){ .self = p->next, .number = window->tail };
    entry->self.ready = due_not_before(p->blocked, w->since);
    for (int i = 0; i < op->read_count; i++)
        add_operand(w, entry, i, op->reads[i]);
    for (int i = 0; i < op->write_count; i++)
        window->writers[op->writes[i]] = window->tail;
    window->is_fenced = op->class == LAT_BARRIER;
    window->tail++;
}

void window_fill(struct core *core, struct core_warp *w)
{
    struct window *window = w->window;

    while (!window->is_at_end && !window->is_fenced &&
           window->tail - window->head < core->config.window) {
        const struct path *p = &w->paths[0];

        if (p->next.op->class == LAT_BARRIER && window->tail > window->head)
            return;
        fetch(w, p);
        window->is_at_end = !warp_fetch(core, w);
    }
}

void window_choose(struct core_warp *w, int64_t cycle)
{
    struct window *window = w->window;
    int64_t best_at = CORE_NEVER;

    for (int64_t n = window->head; n < window->tail; n++) {
        const struct waiting_op *entry = op_of(window, n);
        int64_t at =
            max_i64(due_cycle(entry->self.ready), w->sub->units[entry->self.op->class].free_at);

        if (!entry->is_issued && !entry->missing && max_i64(at, cycle) < best_at) {
            best_at = max_i64(at, cycle);
            w->next = &entry->self;
        }
    }
}

/* Whoever waited for the result knows now when it is there. */
static void announce(struct window *window, int64_t producer, due result)
{
    for (int64_t n = producer + 1; n < window->tail; n++) {
        struct waiting_op *entry = op_of(window, n);

        for (int i = 0; i < entry->self.op->read_count; i++) {
            if (entry->producers[i] != producer)
                continue;
            entry->producers[i] = 0;
            entry->missing--;
            entry->self.ready = due_later(entry->self.ready, result);
        }
    }
}

bool window_issued(struct core *core, struct core_warp *w, due result)
{
    struct window *window = w->window;
    struct waiting_op *entry = (struct waiting_op *)w->next; /* whose first member it is */
    bool was_barrier = entry->self.op->class == LAT_BARRIER;

    entry->is_issued = true;
    for (int i = 0; i < entry->self.op->write_count; i++)
        if (window->writers[entry->self.op->writes[i]] == entry->number)
            w->results[entry->self.op->writes[i]] = result;
    announce(window, entry->number, result);
    while (window->head < window->tail && op_of(window, window->head)->is_issued)
        window->head++;
    if (was_barrier)
        window->is_fenced = false;
    else
        window_fill(core, w);
    return window->head < window->tail || !window->is_at_end;
}
