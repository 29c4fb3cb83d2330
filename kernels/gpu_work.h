/*
 * One request on its way through the card: what was loaded for it, its launches, and what is
 * measured. Private to the gpu_*.c files, which are its stations: load, start and wait, time.
 */
#ifndef WB_KERNELS_GPU_WORK_H
#define WB_KERNELS_GPU_WORK_H

#include "kernels/driver.h"
#include "kernels/gpu_clock.h"
#include "kernels/launch.h"

struct gpu_buffer {
    cu_address address, pristine; /* pristine: what a repeat starts from; 0 when read-only */
    bool is_module;               /* a device variable: its memory is the module's */
};

struct gpu_launch {
    const struct launch *launch;
    cu_function function;
    void *parameters;
    size_t parameter_bytes;
    int inner;      /* launches in one sample */
    double once_us; /* of a launch that is not timed: one sample, 0 for none */
    double *samples_us, *clocks_mhz;
    cu_graph graph; /* LAUNCH_BY_GRAPH: of graph_launches in a row; NULL: not made yet */
    cu_graph_exec graph_exec;
    int graph_launches;
};

struct gpu_work {
    const struct driver *cu;
    const struct launch_request *request;
    struct gpu_buffer *buffers;
    cu_module *modules;
    struct gpu_launch *launches;
    cu_event start, stop;
    cu_stream stream; /* that launches go to: NULL, the default one, but while one is captured */
    cu_address flush; /* written to push everything else out of the cache */
    size_t flush_bytes;
    bool has_symbols;
    bool is_stuck; /* a kernel does not end: the process must */
    struct gpu_clock clock;
    bool has_clock;
    int good, rejected; /* repeats that count, and that were thrown away */
    double copy_gbs;    /* 0: not measured */
};

/* driver_check for this work's driver. */
int gpu_check(const struct gpu_work *w, cu_result code, const char *what, struct err *err);
int gpu_no_memory(struct err *err);

/* Monotonic. */
int64_t gpu_now_ms(void);

/* As written in the cell, else as linked. */
const char *gpu_launch_name(const struct gpu_launch *launch);

/* ---- gpu_load.c ---- */

/* Loads code and buffers, prepares the launches. uuid: the card's, 16 bytes. */
int gpu_load(struct gpu_work *w, const unsigned char *uuid, struct err *err) MUST_CHECK;

/* Gives everything back that gpu_load took, however far it came. */
void gpu_unload(struct gpu_work *w);

/* ---- gpu_start.c ---- */

/* Starts a launch and does not wait. */
int gpu_start(struct gpu_work *w, struct gpu_launch *launch, struct err *err) MUST_CHECK;

/*
 * Waits for an event, hearing a stop. Fails with what the kernel did wrong, or Interrupted. A
 * kernel that does not end soon after a stop cannot be stopped: w->is_stuck is then set, and its
 * process has to end.
 */
int gpu_wait(struct gpu_work *w, cu_event event, const struct gpu_launch *launch,
             struct err *err) MUST_CHECK;

/* ---- gpu_way.c ---- */

/*
 * Makes ready what gpu_way_start starts without delay: the graph of so many launches. Nothing for
 * launches in a stream. Fails with DeviceError.
 */
int gpu_way_prepare(struct gpu_work *w, struct gpu_launch *launch, int count,
                    struct err *err) MUST_CHECK;

/* Starts `count` launches in the launch's way (launch.h) and does not wait. */
int gpu_way_start(struct gpu_work *w, struct gpu_launch *launch, int count,
                  struct err *err) MUST_CHECK;

void gpu_way_done(struct gpu_work *w, struct gpu_launch *launch);

/* ---- gpu_time.c ---- */

/* Fills samples_us and clocks_mhz of every launch, good and rejected. */
int gpu_time(struct gpu_work *w, struct err *err) MUST_CHECK;

/* ---- gpu_copy.c ---- */

/* Fills copy_gbs; leaves it 0 where there is no room for a copy that says something. */
int gpu_time_copy(struct gpu_work *w, struct err *err) MUST_CHECK;

#endif
