/*
 * A body becomes a tree of instructions and groups (body_read.c), and the tree a stream: straight
 * code is a block, a loop of straight code a step with a count, and where lanes part there is a
 * fork with a stream for each path. Only instructions whose result somebody needs get a register.
 */
#include "model/body.h"
#include "model/body_tree.h"

#include "model/memory.h"

/* No loop is longer: straight code repeated, and a piece of code for every other round. */
static const int64_t MOST_TIMES = (int64_t)BODY_MAX_COUNT * BODY_MAX_STEPS;

/* What a stream under construction has so far; it becomes arrays of the arena at its end. */
struct growing {
    void *data;
    int count, capacity;
};

struct making {
    struct arena *arena;
    const struct costs *costs;
    const struct body_tree *tree;
    int ilp;
    struct growing blocks, accesses, forks, streams; /* of the whole body */
    struct body *body;
    int64_t emitted; /* instructions */
    bool is_out_of_memory, is_too_long;
};

/* A stream and the block that instructions go to. */
struct path_maker {
    struct growing steps, ops;
    int first_access;
    int most_below; /* paths that are open at once in one of its forks */
};

/* Room for one more element, zeroed; NULL: out of memory, which the end asks for. */
static void *append(struct making *m, struct growing *g, size_t size)
{
    if (g->count == g->capacity) {
        int larger = g->capacity ? 2 * g->capacity : 16;
        void *data = arena_array(m->arena, (size_t)larger, size);

        if (!data) {
            m->is_out_of_memory = true;
            return NULL;
        }
        if (g->count)
            memcpy(data, g->data, (size_t)g->count * size);
        g->data = data;
        g->capacity = larger;
    }
    return (char *)g->data + (size_t)g->count++ * size;
}

/* ---- Who needs whose result ----------------------------------------------------------------- */

static bool is_load(const struct body_op *op)
{
    return op->memory == BODY_LOAD;
}

/* The d-th instruction before op i, round its innermost loop. */
static int before(const struct body_tree *tree, int i, int d)
{
    const struct body_loop *loop = &tree->loops[tree->ops[i].loop];
    int length = loop->end - loop->first;

    return loop->first + ((i - loop->first - d) % length + length) % length;
}

/* The n-th load before op i: in its loop, then in the loops around it; -1: there is none. */
static int load_before(const struct body_tree *tree, int i, int n)
{
    int from = i, to = i;

    for (int l = tree->ops[i].loop; l >= 0; l = tree->loops[l].parent) {
        const struct body_loop *loop = &tree->loops[l];

        for (int k = from - 1; k >= loop->first; k--)
            if (is_load(&tree->ops[k]) && --n == 0)
                return k;
        for (int k = loop->end - 1; k >= to; k--)
            if (is_load(&tree->ops[k]) && --n == 0)
                return k;
        from = loop->first;
        to = loop->end;
    }
    return -1;
}

/* Numbers the results that somebody reads; a register for each chain. */
static int find_producers(struct making *m, struct body_place *place, struct err *err)
{
    const struct body_tree *tree = m->tree;
    int next = 1;

    for (int i = 0; i < tree->op_count; i++) {
        struct body_op *op = &tree->ops[i];

        op->producer = op->dep   ? before(tree, i, op->dep)
                       : op->use ? load_before(tree, i, op->use)
                                 : -1;
        if (op->use && op->producer < 0) {
            *place = op->place;
            return err_set(err, ERR_ValueError, "use=%d: the body has no %s before it", op->use,
                           op->use > 1 ? "so many loads" : "load");
        }
        if (op->producer >= 0 && !tree->ops[op->producer].reg) {
            tree->ops[op->producer].reg = next;
            next += m->ilp;
        }
    }
    m->body->register_count = next;
    return 0;
}

/* ---- Instructions --------------------------------------------------------------------------- */

/* Sectors or passes of an access by the lanes of mask. */
static int amount_of(const struct body_op *op, uint32_t mask)
{
    uint64_t address[WARP];

    if (op->amount)
        return op->amount;
    for (int l = 0; l < WARP; l++)
        address[l] = (uint64_t)l * (uint64_t)op->stride * (uint64_t)op->bytes;
    return op->place_of_data == CORE_SHARED ? memory_passes(address, mask, op->bytes)
                                            : memory_sectors(address, mask, op->bytes);
}

static void count_op(struct making *m, const struct core_op *op, int64_t times)
{
    const struct class_cost *cost = &m->costs->classes[op->class];

    m->body->instructions += times;
    m->body->lanes += times * op->lanes;
    m->body->unit_cycles[op->class] += times * cost->interval * cost->slots;
}

static void emit_op(struct making *m, struct path_maker *p, const struct body_op *from,
                    uint32_t mask, int64_t times)
{
    mask &= from->mask;
    m->is_too_long |= (m->emitted += m->ilp) > BODY_MAX_EMITTED;
    for (int chain = 0; mask && chain < m->ilp; chain++) {
        struct core_op *op = append(m, &p->ops, sizeof *op);

        if (!op)
            return;
        *op = (struct core_op){ .class = from->class,
                                .is_access = from->is_access,
                                .lanes = (uint8_t)__builtin_popcount(mask),
                                .latency = (uint16_t)from->latency,
                                .read_count = from->producer >= 0,
                                .write_count = from->reg > 0 };
        if (from->producer >= 0)
            op->reads[0] = (uint16_t)(m->tree->ops[from->producer].reg + chain);
        if (from->reg)
            op->writes[0] = (uint16_t)(from->reg + chain);
        if (from->is_access) {
            core_access *access = append(m, &m->accesses, sizeof *access);

            if (access)
                *access = core_access_of(from->place_of_data, amount_of(from, mask));
        }
        count_op(m, op, times);
        m->body->has_barrier |= op->class == LAT_BARRIER;
    }
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* What was emitted since the last step becomes one, `repeat` times. */
static void close_block(struct making *m, struct path_maker *p, int repeat)
{
    struct core_block *block;
    struct core_step *step;

    if (p->ops.count) {
        block = append(m, &m->blocks, sizeof *block);
        step = append(m, &p->steps, sizeof *step);
        if (!block || !step)
            return;
        *block = (struct core_block){ p->ops.data, p->ops.count };
        *step = (struct core_step){ .block = m->blocks.count - 1,
                                    .repeat = repeat,
                                    .access = p->first_access,
                                    .accesses = m->accesses.count - p->first_access };
    }
    p->ops = (struct growing){ 0 };
    p->first_access = m->accesses.count;
}

static void emit_list(struct making *m, struct path_maker *p, int first, uint32_t mask,
                      int64_t times);

/* The steps behind `from` once more, `count` times. */
static void copy_rounds(struct making *m, struct path_maker *p, int from, int64_t count)
{
    int n = p->steps.count - from;

    if (p->steps.count + count * n > BODY_MAX_STEPS) {
        m->is_too_long = true;
        return;
    }
    for (int64_t i = 0; i < count * n; i++) {
        struct core_step *step = append(m, &p->steps, sizeof *step);

        if (step)
            *step = ((struct core_step *)p->steps.data)[from + i % n];
    }
}

/* The body of a loop, `count` times by the same lanes. */
static void emit_rounds(struct making *m, struct path_maker *p, const struct body_item *loop,
                        uint32_t mask, int count, int64_t times)
{
    int from;

    if (count <= 0 || !mask)
        return;
    if (times > MOST_TIMES / count) {
        m->is_too_long = true;
        return;
    }
    close_block(m, p, 1);
    from = p->steps.count;
    emit_list(m, p, loop->first, mask, times * count);
    if (p->steps.count == from) { /* straight code */
        close_block(m, p, count);
        return;
    }
    close_block(m, p, 1);
    copy_rounds(m, p, from, count - 1);
}

/* The lanes of mask that are at least `from` trips in. */
static uint32_t lanes_with_trips(uint32_t mask, int low, int high, int from)
{
    uint32_t still = 0;
    int rank = 0;

    for (int l = 0; l < WARP; l++)
        if (mask >> l & 1)
            still |= (uint32_t)(low + rank++ % (high - low + 1) > from) << l;
    return still;
}

static void emit_loop(struct making *m, struct path_maker *p, const struct body_item *loop,
                      uint32_t mask, int64_t times)
{
    emit_rounds(m, p, loop, mask, loop->low, times);
    for (int round = loop->low; round < loop->high && !m->is_too_long; round++)
        emit_rounds(m, p, loop, lanes_with_trips(mask, loop->low, loop->high, round), 1, times);
}

/* ---- Paths ---------------------------------------------------------------------------------- */

/* The first n lanes of a mask. */
static uint32_t first_lanes(uint32_t mask, int n)
{
    uint32_t out = 0;

    for (int l = 0; l < WARP && n > 0; l++)
        if (mask >> l & 1) {
            out |= UINT32_C(1) << l;
            n--;
        }
    return out;
}

/* *most gets the paths that are open at once, itself and those of its forks; 0: it is empty. */
static bool make_path(struct making *m, int first, uint32_t mask, int64_t times,
                      struct core_stream *out, int *most)
{
    struct path_maker p = { .first_access = m->accesses.count };

    if (mask && first >= 0)
        emit_list(m, &p, first, mask, times);
    close_block(m, &p, 1);
    *out = (struct core_stream){ .steps = p.steps.data, .step_count = p.steps.count };
    *most = p.steps.count > 0 ? 1 + p.most_below : 0;
    return p.steps.count > 0;
}

/* Which lanes take which list of a group. */
static int share_lanes(const struct body_item *item, uint32_t mask, uint32_t *masks, int *firsts)
{
    int lanes = __builtin_popcount(mask), n = 0;

    if (item->kind == BODY_IF) {
        masks[0] = item->mask ? mask & item->mask
                              : first_lanes(mask, item->lanes ? item->lanes : (lanes + 1) / 2);
        masks[1] = mask & ~masks[0];
        firsts[0] = item->first;
        firsts[1] = item->other;
        return 2;
    }
    for (uint32_t rest = mask; rest && n < item->ways; n++) {
        int left = item->ways - n;

        masks[n] = first_lanes(rest, (__builtin_popcount(rest) + left - 1) / left);
        firsts[n] = item->first;
        rest &= ~masks[n];
    }
    return n;
}

static void emit_fork(struct making *m, struct path_maker *p, const struct body_item *item,
                      uint32_t mask, int64_t times)
{
    struct core_stream *paths = arena_array(m->arena, WARP, sizeof *paths);
    uint32_t masks[WARP];
    int firsts[WARP], n = share_lanes(item, mask, masks, firsts), count = 0, open = 0;
    struct core_fork *fork;
    struct core_step *step;

    close_block(m, p, 1);
    if (!paths) {
        m->is_out_of_memory = true;
        return;
    }
    for (int i = 0; i < n; i++) {
        int most;

        count += make_path(m, firsts[i], masks[i], times, &paths[count], &most);
        open += most;
    }
    p->most_below = (int)max_i64(p->most_below, open);
    p->first_access = m->accesses.count;
    if (!count)
        return;
    fork = append(m, &m->forks, sizeof *fork);
    step = append(m, &p->steps, sizeof *step);
    if (!fork || !step)
        return;
    *fork = (struct core_fork){ paths, count };
    *step = (struct core_step){ .block = -m->forks.count, .repeat = 1 };
    m->body->has_forks = true;
}

static void emit_list(struct making *m, struct path_maker *p, int first, uint32_t mask,
                      int64_t times)
{
    for (int i = first; i >= 0 && !m->is_too_long && !m->is_out_of_memory;
         i = m->tree->items[i].next) {
        const struct body_item *item = &m->tree->items[i];

        if (item->kind == BODY_OP)
            for (int k = 0; k < item->count; k++)
                emit_op(m, p, &m->tree->ops[item->first + k], mask, times);
        else if (item->kind == BODY_LOOP)
            emit_loop(m, p, item, mask, times);
        else
            emit_fork(m, p, item, mask, times);
    }
}

/* Paths were made while the arrays grew: now they know where those are. */
static void settle_paths(const struct making *m)
{
    const struct core_fork *forks = m->forks.data;

    for (int i = 0; i < m->forks.count; i++)
        for (int k = 0; k < forks[i].count; k++) {
            struct core_stream *path = (struct core_stream *)&forks[i].paths[k];

            path->accesses = m->accesses.data;
            path->forks = m->forks.data;
        }
}

/* An instruction whose unit the device does not have. */
static int check_units(const struct making *m, struct body_place *place, struct err *err)
{
    for (int i = 0; i < m->tree->op_count; i++) {
        const struct body_op *op = &m->tree->ops[i];

        if (m->costs->classes[op->class].interval)
            continue;
        *place = op->place;
        return err_set(err, ERR_ValueError,
                       "this device has no tensor cores: those of compute capability 7.0 are the "
                       "first");
    }
    return 0;
}

int body_parse(const char *text, int ilp, const struct costs *costs, struct arena *arena,
               struct body *out, struct body_place *place, struct err *err)
{
    struct body_tree tree;
    struct making m = { .arena = arena, .costs = costs, .tree = &tree, .ilp = ilp, .body = out };
    int paths;

    *out = (struct body){ 0 };
    *place = (struct body_place){ 0 };
    if (body_read(text, arena, &tree, place, err) < 0)
        return -1;
    if (check_units(&m, place, err) < 0 || find_producers(&m, place, err) < 0)
        return -1;
    make_path(&m, tree.first, ~UINT32_C(0), 1, &out->stream, &paths);
    *place = (struct body_place){ 0, strlen(text) };
    if (m.is_out_of_memory)
        return err_set(err, ERR_ResourceError, "the body does not fit in memory");
    if (m.is_too_long)
        return err_set(
            err, ERR_ValueError,
            "one round has more than %d pieces of straight code, or %d instructions with "
            "a round for each lane that differs",
            BODY_MAX_STEPS, BODY_MAX_EMITTED);
    if (paths > CORE_MAX_PATHS)
        return err_set(err, ERR_ValueError,
                       "lanes part into %d paths at once: a warp has at most %d, those that wait "
                       "for others included",
                       paths, CORE_MAX_PATHS);
    if (!out->instructions)
        return err_set(err, ERR_ValueError, "the body has no instruction that any lane executes");
    settle_paths(&m);
    out->stream.accesses = m.accesses.data;
    out->stream.forks = m.forks.data;
    out->stream.is_endless = true;
    out->blocks = m.blocks.data;
    return 0;
}
