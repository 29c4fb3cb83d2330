/*
 * What was counted: from counters of blocks of code and of accesses, a host thread each, to the
 * facts of the launch and of its lines.
 */
#include "model/ptx/team.h"

#include <stdlib.h>

static void add_counts(struct counts *to, const struct counts *from, const struct ptx_module *m,
                       int slices)
{
    for (int i = 0; i < m->block_count; i++) {
        to->block_runs[i] += from->block_runs[i];
        to->block_lanes[i] += from->block_lanes[i];
        to->branch_splits[i] += from->branch_splits[i];
    }
    for (int i = 0; i < m->counter_count; i++) {
        struct access_counts *a = &to->accesses[i];
        const struct access_counts *b = &from->accesses[i];

        a->requests += b->requests;
        a->sectors += b->sectors;
        a->passes += b->passes;
        a->best += b->best;
        a->bytes += b->bytes;
        a->space_seen |= b->space_seen;
    }
    for (int i = 0; i < slices; i++)
        to->slices[i] += from->slices[i];
    to->barriers += from->barriers;
}

/* Counts of a sample stand for the grid. */
static int64_t scaled(int64_t v, const struct team *team)
{
    return team->executed == team->blocks ? v
                                          : (int64_t)((__int128)v * team->blocks / team->executed);
}

static void add_access(struct ptx_access_facts *to, const struct access_counts *c,
                       const struct team *team)
{
    to->requests += scaled(c->requests, team);
    to->sectors += scaled(c->sectors, team);
    to->passes += scaled(c->passes, team);
    to->bytes += scaled(c->bytes, team);
}

static void count_memory(struct ptx_facts *facts, struct ptx_line_facts *lines,
                         const struct counts *counts, const struct team *team)
{
    const struct ptx_module *m = team->run->module;

    for (int i = 0; i < m->counter_count; i++) {
        const struct access_counts *c = &counts->accesses[i];
        const struct insn *in = m->counted[i];
        bool is_shared = c->space_seen & 1U << SPACE_SHARED;
        bool is_local = c->space_seen & 1U << SPACE_LOCAL;

        if (!c->requests)
            continue;
        add_access(is_shared                 ? &facts->shared
                   : is_local                ? &facts->local
                   : in->flags & INSN_WRITES ? &facts->global_store
                                             : &facts->global_load,
                   c, team);
        if (is_shared)
            facts->shared_conflicts += scaled(c->passes - c->best, team);
        if (in->flags & INSN_ATOMIC)
            facts->atom += scaled(c->requests, team);
        if (!is_local)
            add_access(is_shared ? &lines[in->line].shared : &lines[in->line].global, c, team);
    }
}

static void count_insn(struct ptx_facts *facts, struct ptx_line_facts *lines, const struct insn *in,
                       int64_t runs, int64_t lanes)
{
    lines[in->line].warp_instructions += runs;
    lines[in->line].thread_instructions += lanes;
    facts->shfl += insn_exec(in) == exec_shfl ? runs : 0;
    facts->vote += insn_exec(in) == exec_vote ? runs : 0;
    facts->calls += in->control == CONTROL_CALL ? runs : 0;
}

static void count_blocks(struct ptx_facts *facts, struct ptx_line_facts *lines,
                         const struct counts *counts, const struct team *team)
{
    const struct ptx_module *m = team->run->module;

    for (int id = 0; id < m->block_count; id++) {
        const struct block *b = m->blocks[id];
        int64_t runs = scaled(counts->block_runs[id], team);
        int64_t lanes = scaled(counts->block_lanes[id], team);
        int64_t splits = scaled(counts->branch_splits[id], team);

        if (!runs)
            continue;
        facts->warp_instructions += runs * b->insn_count;
        facts->thread_instructions += lanes * b->insn_count;
        for (const struct insn *in = b->first; in != b->end; in++)
            count_insn(facts, lines, in, runs, lanes);
        if (!b->control)
            continue;
        count_insn(facts, lines, b->control, runs, lanes);
        if (b->kind != END_BRANCH || b->control->guard_kind == GUARD_NONE)
            continue;
        facts->branches += runs;
        facts->divergent_branches += splits;
        lines[b->control->line].branches += runs;
        lines[b->control->line].divergent_branches += splits;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct ptx_line_facts *x = a, *y = b;
    int by_file = strcmp(x->file, y->file);

    return by_file ? by_file : x->line - y->line;
}

static int collect(struct ptx_facts *facts, const struct team *team, struct arena *arena,
                   struct err *err)
{
    const struct ptx_module *m = team->run->module;
    const struct counts *counts = &team->workers[0].counts;
    struct ptx_line_facts *lines = arena_array(arena, (size_t)m->line_count, sizeof *lines);
    size_t n = 0;

    if (!lines)
        return err_set(err, ERR_ResourceError, "out of memory while the launch was counted");
    for (int i = 0; i < m->line_count; i++) {
        const char *file =
            m->lines[i].file < m->ast.file_count ? m->ast.files[m->lines[i].file] : NULL;

        lines[i].file = file && m->lines[i].line ? file : "";
        lines[i].line = m->lines[i].line;
    }
    facts->blocks = team->blocks;
    facts->warps = team->blocks * team->run->warps_per_block;
    facts->threads = team->blocks * team->run->threads_per_block;
    facts->is_sampled = team->executed != team->blocks;
    facts->barriers = scaled(counts->barriers, team);
    count_blocks(facts, lines, counts, team);
    count_memory(facts, lines, counts, team);
    if (facts->warp_instructions)
        facts->lane_efficiency =
            (double)facts->thread_instructions / ((double)WARP * (double)facts->warp_instructions);
    for (int i = 0; i < m->line_count; i++)
        if (lines[i].warp_instructions)
            lines[n++] = lines[i];
    qsort(lines, n, sizeof *lines, compare_lines);
    facts->lines = lines;
    facts->line_count = n;
    return 0;
}

/* ---- Timing --------------------------------------------------------------------------------- */

/* A parameter, or a part of a struct that is one, points into the buffer. */
static bool is_pointed_to(const struct ptx_launch *l, const struct ptx_buffer *buffer)
{
    int size = l->kernel->parameter_bytes;

    for (int at = 0; at + (int)sizeof(uint64_t) <= size; at += (int)sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, (const char *)l->parameters + at, sizeof word);
        if (word - buffer->address < buffer->size)
            return true;
    }
    return false;
}

/* Of the buffers that the kernel was given; of all when it finds them otherwise. */
static int64_t bytes_of_buffers(const struct ptx_launch *l)
{
    int64_t given = 0, all = 0;

    for (size_t i = 0; i < l->buffer_count; i++) {
        all += (int64_t)l->buffers[i].size;
        given += is_pointed_to(l, &l->buffers[i]) ? (int64_t)l->buffers[i].size : 0;
    }
    return given ? given : all;
}

static int time_launch(const struct team *team, struct worker *workers, struct arena *arena,
                       struct ptx_timing *out, struct err *err)
{
    struct classes all = { .arena = arena };
    struct timing_input input = { .run = team->run,
                                  .classes = &all,
                                  .block_count = (int)team->traced,
                                  .launch_blocks = team->blocks,
                                  .bytes_touched = bytes_of_buffers(team->run->launch) };

    for (int64_t i = 0; i < team->traced; i++) {
        const struct worker *w = &workers[team->trace_owners[i]];
        int merged = team->trace_classes[i] < 0
                         ? -1
                         : classes_merge_block(&all, &w->classes, team->trace_classes[i]);

        if (merged < 0)
            return err_set(err, ERR_ResourceError,
                           "the launch's instruction traces do not fit into the memory limit");
        team->trace_classes[i] = merged;
    }
    input.block_classes = team->trace_classes;
    for (int i = 0; i < team->run->slices; i++) {
        int64_t n = workers[0].counts.slices[i];

        input.atomics_all += n;
        input.atomics_most = max_i64(input.atomics_most, n);
    }
    return timing_estimate(&input, arena, out, err);
}

int64_t count_thread_instructions(const struct team *team)
{
    const struct ptx_module *m = team->run->module;
    int64_t sum = 0;

    for (int i = 0; i < team->worker_count; i++) {
        const struct counts *c = &team->workers[i].counts;

        for (int id = 0; c->block_lanes && id < m->block_count; id++)
            sum += c->block_lanes[id] * m->blocks[id]->insn_count;
    }
    return sum;
}

int count_facts(struct ptx_facts *facts, struct team *team, struct arena *arena, struct err *err)
{
    for (int i = 1; i < team->worker_count; i++)
        if (team->workers[i].is_started)
            add_counts(&team->workers[0].counts, &team->workers[i].counts, team->run->module,
                       team->run->slices);
    if (collect(facts, team, arena, err) < 0)
        return -1;
    if (!team->run->launch->is_timed)
        return 0;
    return time_launch(team, team->workers, arena, &facts->timing, err);
}
