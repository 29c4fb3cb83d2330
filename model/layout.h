/*
 * Where a thread of a launch is: its number in the block, its warp and lane,
 * its place in the whole grid, and what a boundary test makes of the warps.
 *
 * Source of all of it: CUDA C++ Programming Guide 13.0, "Thread Hierarchy" (x fastest, then y, then
 * z) and "Hardware Implementation, SIMT Architecture" (warps are 32 threads of rising numbers).
 */
#ifndef WB_MODEL_LAYOUT_H
#define WB_MODEL_LAYOUT_H

#include "model/base/base.h"
#include "model/base/err.h"

/* A size (each at least 1) or a place (each at least 0) in up to three dimensions, x fastest. */
struct extent {
    int64_t x, y, z;
};

enum {
    LAYOUT_BLOCK_THREADS = 1024, /* of a block; also the most in x and y */
    LAYOUT_BLOCK_Z = 64,
    LAYOUT_BLOCK_WARPS = LAYOUT_BLOCK_THREADS / WARP,
};
/* Threads of a grid that the calculator takes: all their numbers are exact as doubles too. */
#define LAYOUT_GRID_THREADS ((int64_t)1 << 53)

/* How many places a size has. */
int64_t extent_count(struct extent size);

/* x + y * size.x + z * size.x * size.y, and back. */
int64_t extent_rank(struct extent size, struct extent at);
struct extent extent_place(struct extent size, int64_t rank);

struct layout {
    struct extent block, grid;
    int threads, warps;     /* of a block */
    int idle_lanes;         /* of the last warp of each block */
    double lane_efficiency; /* threads / (32 * warps) */
    int64_t blocks, all_threads, all_warps;
};

/*
 * Cuts a launch into warps. Fails with ValueError for a block above 1,024 threads or 64 in z, and
 * for a grid of more than LAYOUT_GRID_THREADS.
 */
int layout_of(struct extent block, struct extent grid, struct layout *out,
              struct err *err) MUST_CHECK;

/* The lanes of warp 0..warps-1 of a block that have a thread: bit l is lane l. */
uint32_t layout_mask(const struct layout *layout, int warp);

/* What the warps of a grid do at a boundary test. */
struct layout_bounds {
    int64_t inside;         /* threads that pass */
    int64_t whole;          /* warps all of whose threads pass: no divergence */
    int64_t split;          /* warps whose threads disagree */
    int64_t out;            /* warps none of whose threads pass */
    double lane_efficiency; /* inside / (32 * (whole + split)): of the lanes behind the test; 0:
                               none */
};

/*
 * is_linear: the test is i < n.x, with i the number of the thread in the grid (of its block times
 * threads a block, plus its own). Else x < n.x && y < n.y && z < n.z, with x = blockIdx.x *
 * blockDim.x + threadIdx.x and so on. n: each at least 0.
 */
void layout_bounds(const struct layout *layout, struct extent n, bool is_linear,
                   struct layout_bounds *out);

#endif
