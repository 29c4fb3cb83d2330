/*
 * Memory and warps know one dimension: a block of any shape is a row of threads,
 * x fastest, and the row is cut into 32s. What does not fill the last piece
 * stays idle for as long as the block lives.
 *
 * A boundary test looks at up to 2^53 threads, but only few kinds of blocks
 * differ: in each dimension those inside, the one that the limit cuts, and those
 * outside. So 27 kinds are counted, not the blocks.
 */
#include "model/layout.h"

int64_t extent_count(struct extent size)
{
    return size.x * size.y * size.z;
}

int64_t extent_rank(struct extent size, struct extent at)
{
    return at.x + size.x * (at.y + size.y * at.z);
}

struct extent extent_place(struct extent size, int64_t rank)
{
    return (struct extent){ rank % size.x, rank / size.x % size.y, rank / size.x / size.y };
}

static int check_block(struct extent block, struct err *err)
{
    /* Compared one by one first: a product of three large sizes could wrap. */
    if (block.x > LAYOUT_BLOCK_THREADS || block.y > LAYOUT_BLOCK_THREADS)
        return err_set(err, ERR_ValueError,
                       "a block of (%lld,%lld,%lld) threads: x and y are at most %d",
                       (long long)block.x, (long long)block.y, (long long)block.z,
                       LAYOUT_BLOCK_THREADS);
    if (block.z > LAYOUT_BLOCK_Z)
        return err_set(err, ERR_ValueError, "a block of (%lld,%lld,%lld) threads: z is at most %d",
                       (long long)block.x, (long long)block.y, (long long)block.z, LAYOUT_BLOCK_Z);
    if (extent_count(block) > LAYOUT_BLOCK_THREADS)
        return err_set(err, ERR_ValueError,
                       "a block of (%lld,%lld,%lld) has %lld threads; %d are allowed",
                       (long long)block.x, (long long)block.y, (long long)block.z,
                       (long long)extent_count(block), LAYOUT_BLOCK_THREADS);
    return 0;
}

static int check_grid(struct extent grid, int threads, struct err *err)
{
    int64_t blocks;

    if (__builtin_mul_overflow(grid.x, grid.y, &blocks) ||
        __builtin_mul_overflow(blocks, grid.z, &blocks) || blocks > LAYOUT_GRID_THREADS / threads)
        return err_set(err, ERR_ValueError,
                       "a grid of (%lld,%lld,%lld) blocks has more than 2^53 threads",
                       (long long)grid.x, (long long)grid.y, (long long)grid.z);
    return 0;
}

int layout_of(struct extent block, struct extent grid, struct layout *out, struct err *err)
{
    int threads;

    if (check_block(block, err) < 0)
        return -1;
    threads = (int)extent_count(block);
    if (check_grid(grid, threads, err) < 0)
        return -1;
    *out = (struct layout){ .block = block,
                            .grid = grid,
                            .threads = threads,
                            .warps = (int)ceil_div(threads, WARP),
                            .blocks = extent_count(grid) };
    out->idle_lanes = out->warps * WARP - threads;
    out->lane_efficiency = (double)threads / (out->warps * WARP);
    out->all_threads = out->blocks * threads;
    out->all_warps = out->blocks * out->warps;
    return 0;
}

uint32_t layout_mask(const struct layout *layout, int warp)
{
    int left = layout->threads - warp * WARP;

    return left >= WARP ? UINT32_MAX : (uint32_t)((1ULL << left) - 1);
}

/* ---- the boundary test ---- */

/* The blocks of one dimension by how many of their threads lie below the limit. */
struct kind {
    int64_t blocks, inside;
};

enum { KINDS = 3 };

static void kinds_of(int64_t blocks, int64_t threads, int64_t n, struct kind out[KINDS])
{
    int64_t whole = min_i64(blocks, n / threads), cut = whole < blocks && n % threads != 0;

    out[0] = (struct kind){ whole, threads };
    out[1] = (struct kind){ cut, n % threads };
    out[2] = (struct kind){ blocks - whole - cut, 0 };
}

/* Adds the warps of `blocks` blocks whose threads below `inside` in each dimension pass. */
static void add_blocks(const struct layout *layout, int64_t blocks, struct extent inside,
                       struct layout_bounds *out)
{
    int passing[LAYOUT_BLOCK_WARPS] = { 0 };

    if (!blocks)
        return;
    for (int rank = 0; rank < layout->threads; rank++) {
        struct extent at = extent_place(layout->block, rank);

        passing[rank / WARP] += at.x < inside.x && at.y < inside.y && at.z < inside.z;
    }
    for (int w = 0; w < layout->warps; w++) {
        out->inside += blocks * passing[w];
        if (passing[w] == __builtin_popcount(layout_mask(layout, w)))
            out->whole += blocks;
        else if (passing[w])
            out->split += blocks;
        else
            out->out += blocks;
    }
}

/* The same threads and blocks in a row. */
static struct layout flat(const struct layout *layout)
{
    struct layout row = *layout;

    row.block = (struct extent){ layout->threads, 1, 1 };
    row.grid = (struct extent){ layout->blocks, 1, 1 };
    return row;
}

void layout_bounds(const struct layout *layout, struct extent n, bool is_linear,
                   struct layout_bounds *out)
{
    struct layout shape = is_linear ? flat(layout) : *layout;
    struct kind x[KINDS], y[KINDS], z[KINDS];
    int64_t warps;

    *out = (struct layout_bounds){ 0 };
    kinds_of(shape.grid.x, shape.block.x, n.x, x);
    kinds_of(shape.grid.y, shape.block.y, is_linear ? 1 : n.y, y);
    kinds_of(shape.grid.z, shape.block.z, is_linear ? 1 : n.z, z);
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++)
            for (int k = 0; k < KINDS; k++)
                add_blocks(&shape, x[i].blocks * y[j].blocks * z[k].blocks,
                           (struct extent){ x[i].inside, y[j].inside, z[k].inside }, out);
    warps = out->whole + out->split;
    out->lane_efficiency = warps ? (double)out->inside / ((double)warps * WARP) : 0;
}
