/*
 * Programs for the async layer: a ring of buffers between a loader and a consumer, the same GEMM
 * loop without roles in two orders, an instruction stream that two units share, flash attention
 * with one, three and five kinds of warps, and warps that issue and wait.
 */
#ifndef WB_MODEL_ASYNC_PROGRAMS_H
#define WB_MODEL_ASYNC_PROGRAMS_H

#include "model/async.h"

/* One row makes the enum, the names and the help. */
#define ASYNC_PROGRAMS(X)                                                                          \
    X(RING, "ring", "a loader fills pipe slots, a consumer multiplies and frees them")             \
    X(V1, "v1", "no roles: each step waits for the MMA that it has just issued")                   \
    X(V2, "v2", "no roles: the next MMA is issued before the wait for the last one")               \
    X(STATIC, "static", "one stream: plan cycles of other work between a load and its use")        \
    X(DYNAMIC, "dynamic", "the same work in three roles: loader, user, other")                     \
    X(FFII, "ffii", "one warp in program order: two FP and two INT instructions")                  \
    X(FIFI, "fifi", "the same four in the order that a reordering CPU would find")                 \
    X(FFII_ROLES, "ffii-roles", "two roles: one has the FP, one the INT instructions")             \
    X(ATTENTION_ONE, "attention-one", "flash attention, no roles: multiply, softmax, multiply")    \
    X(ATTENTION, "attention", "flash attention on Hopper: a loader and two consumers")             \
    X(BLACKWELL, "blackwell", "flash attention on Blackwell: load, matmul, softmax, scale, store") \
    X(WARPS, "warps", "pipe warps that issue and wait: the pattern of %simulate")

enum async_program_id {
#define X(id, name, help) ASYNC_##id,
    ASYNC_PROGRAMS(X)
#undef X
        ASYNC_PROGRAM_COUNT
};

/* "ring". Static. */
const char *async_program_name(enum async_program_id id);

/* The program of a name; -1: none. */
int async_program_find(const char *name);

/* Whether a program uses a parameter: "pipe", "int"... steps is every program's. */
bool async_program_uses(enum async_program_id id, const char *param);

/* What the programs are made from; each uses some. Times in cycles. */
struct async_params {
    int pipe;            /* slots of the ring; of warps: how many */
    int steps;           /* K / KTILE: tiles, iterations */
    int groups;          /* of 4 warps that multiply, where a program has one such role; 1..8 */
    int64_t load;        /* latency of a tile's copy; of warps: their wait */
    int64_t tma;         /* that a tile takes the copy engine: bytes / its rate */
    int64_t compute;     /* that a tile's MMA takes the tensor cores; of warps: their issue */
    int64_t softmax;     /* of one tile, on the ALUs */
    int64_t wake;        /* from a token to the next op of who waited for it */
    int64_t plan;        /* other work that the compiler put between a load and its use */
    int64_t jitter;      /* a load takes 0..jitter more */
    int64_t fp, integer; /* cycles between two instructions of the FP and of the INT unit */
    uint64_t seed;
    const uint8_t *waits; /* per step: does the loader wait for its slot? NULL: from pipe on */
};

/*
 * Builds a program (the arena's). params is borrowed until it has run. Fails with ValueError where
 * there is no such program (v2 needs two slots; more steps than slots), or ResourceError.
 */
int async_build(enum async_program_id id, const struct async_params *params, struct arena *arena,
                struct async_program **out, struct err *err) MUST_CHECK;

/*
 * How busy the main engine is in the steady state, by formula:
 *
 *   ring         min(1, P C / (L + C + 2 w), C / T)
 *   warps        min(1, P C / (L + C)): the same ring, with a scheduler for the tensor cores
 *   v1           min(C / (C + w), P C / (L + C + 2 w), C / T)
 *   v2           min(1, (P - 1) C / (L + w), C / T): it asks for a tile once it has the next but
 * one
 *
 * with P slots, L = load + tma, C = compute, w = wake, T = tma. Exact with w = 0; with more, where
 * one of the terms decides by a margin of w, as a wait that finds its token costs nothing. Returns
 * false where there is no formula: with jitter, and for the other programs.
 *
 * Source: docs/lessons.md F18, F155, F160; v2 from its event list, by hand.
 */
bool async_formula(enum async_program_id id, const struct async_params *params, double *busy);

#endif
