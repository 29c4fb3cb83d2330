/*
 * A body as it was written: what body_read.c makes and body.c turns into a stream.
 */
#ifndef WB_MODEL_BODY_TREE_H
#define WB_MODEL_BODY_TREE_H

#include "model/body.h"

enum body_memory { BODY_NONE, BODY_LOAD, BODY_STORE };

/* An instruction. */
struct body_op {
    uint8_t class; /* enum latency_class */
    enum body_memory memory;
    bool is_access;
    enum core_place place_of_data;
    int dep, use; /* distance in instructions, in loads; 0: none */
    int bytes, stride, amount, latency;
    uint32_t mask;
    int loop;                /* the innermost around it */
    int producer, reg;       /* whose result it needs, -1; the register of its own, 0 */
    struct body_place place; /* its name */
};

/* Instructions first..end-1 go round; the whole body is loop 0. */
struct body_loop {
    int first, end, parent; /* -1: none */
};

enum body_kind { BODY_OP, BODY_LOOP, BODY_IF, BODY_SPLIT };

struct body_item {
    enum body_kind kind;
    int first;       /* OP: of tree.ops; else the first item inside, -1: none */
    int other;       /* IF: first item of the else, -1 */
    int count;       /* OP: copies */
    int low, high;   /* LOOP: trips by lane */
    int lanes, ways; /* IF, SPLIT; lanes 0: half */
    uint32_t mask;   /* IF; 0: by lanes */
    int next;        /* item after it, -1 */
};

struct body_tree {
    struct body_op *ops;
    struct body_loop *loops;
    struct body_item *items;
    int op_count, loop_count, item_count;
    int first; /* item */
};

int body_read(const char *text, struct arena *arena, struct body_tree *tree,
              struct body_place *place, struct err *err) MUST_CHECK;

#endif
