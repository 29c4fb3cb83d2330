/*
 * Reading a body: a descent over the characters as they stand, so that every refusal can say which
 * of them it means.
 */
#include "model/base/nearest.h"
#include "model/body_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

static const struct instruction {
    const char *name;
    uint8_t class;
    enum body_memory memory;
} INSTRUCTIONS[] = {
#define X(name, class, memory, help) { name, LAT_##class, BODY_##memory },
    BODY_INSTRUCTIONS(X)
#undef X
};

enum { MAX_ITEMS = 1024, MAX_LOOPS = 256, MAX_KEYS = 9 };

/* ---- Instructions ---- */

static int unknown(struct body_reader *r, struct body_place at, const char *word, const char *what,
                   const char *const *names, size_t count)
{
    struct nearest near = { .wanted = word };

    for (size_t i = 0; i < count; i++)
        nearest_try(&near, names[i]);
    if (near.best)
        return body_text_fail(r, at.start, at.end, ERR_ValueError, "%s is no %s; %s is the nearest",
                              word, what, near.best);
    return body_text_fail(r, at.start, at.end, ERR_ValueError, "%s is no %s", word, what);
}

static int unknown_instruction(struct body_reader *r, struct body_place at, const char *word)
{
    static const char *const NAMES[] = {
#define X(name, class, memory, help) name,
        BODY_INSTRUCTIONS(X)
#undef X
            "use",
        "if",
        "split",
    };

    unknown(r, at, word, "instruction", NAMES, COUNT(NAMES));
    return err_next(r->err, "instructions: use fma iadd imul hfma2 dfma mufu div shfl lds sts ldg "
                            "stg ldl stl atom bar bra mma; groups: (...)*n if split");
}

static int unknown_key(struct body_reader *r, struct body_place at, const char *word)
{
    static const char *const KEYS[] = { "dep",      "hit",   "bytes", "stride", "sectors",
                                        "conflict", "lanes", "mask",  "lat" };

    unknown(r, at, word, "key of an instruction", KEYS, COUNT(KEYS));
    return err_next(r->err, "keys: dep= hit= bytes= stride= sectors= conflict= lanes= mask= lat=; "
                            "';' separates instructions");
}

static int read_hit(struct body_reader *r, struct body_op *op)
{
    static const char *const NAMES[] = { "l1", "l2", "far", "dram" };
    char word[BODY_NAME_SIZE];
    struct body_place at = body_text_word(r, word);

    for (size_t i = 0; i < COUNT(NAMES); i++)
        if (strcmp(word, NAMES[i]) == 0) {
            op->place_of_data = (enum core_place)(CORE_L1 + i);
            op->is_access = true;
            return 0;
        }
    unknown(r, at, word, "place: l1, l2, far or dram", NAMES, COUNT(NAMES));
    return -1;
}

static int read_bytes(struct body_reader *r, struct body_op *op)
{
    size_t start = r->at;

    if (body_text_int(r, "bytes", 1, 16, &op->bytes) < 0)
        return -1;
    if (op->bytes & (op->bytes - 1))
        return body_text_fail(r, start, r->at, ERR_ValueError,
                              "bytes=%d: a lane takes 1, 2, 4, 8 or 16", op->bytes);
    return 0;
}

/* One key of an instruction, its name read already. */
static int read_key(struct body_reader *r, struct body_place at, const char *key,
                    struct body_op *op)
{
    bool is_shared = op->class == LAT_SHARED, is_global = op->memory != BODY_NONE && !is_shared;

    if (strcmp(key, "dep") == 0)
        return body_text_int(r, key, 1, BODY_MAX_OPS, &op->dep);
    if (strcmp(key, "lat") == 0)
        return body_text_int(r, key, 1, 10000, &op->latency);
    if (strcmp(key, "lanes") == 0) {
        int lanes;

        if (body_text_int(r, key, 1, WARP, &lanes) < 0)
            return -1;
        op->mask = lanes == WARP ? ~UINT32_C(0) : (UINT32_C(1) << lanes) - 1;
        return 0;
    }
    if (strcmp(key, "mask") == 0)
        return body_text_mask(r, &op->mask);
    if (strcmp(key, "hit") == 0 && is_global)
        return read_hit(r, op);
    if (strcmp(key, "bytes") == 0 && op->memory != BODY_NONE)
        return read_bytes(r, op);
    if (strcmp(key, "stride") == 0 && op->memory != BODY_NONE)
        return body_text_int(r, key, 0, 65536, &op->stride);
    if (strcmp(key, "sectors") == 0 && is_global)
        return body_text_int(r, key, 1, 128, &op->amount);
    if (strcmp(key, "conflict") == 0 && is_shared)
        return body_text_int(r, key, 1, WARP, &op->amount);
    if (strcmp(key, "hit") && strcmp(key, "bytes") && strcmp(key, "stride") &&
        strcmp(key, "sectors") && strcmp(key, "conflict"))
        return unknown_key(r, at, key);
    return body_text_fail(r, at.start, at.end, ERR_ValueError, "%s= is for %s", key,
                          strcmp(key, "conflict") == 0 ? "lds and sts"
                          : strcmp(key, "hit") == 0 || strcmp(key, "sectors") == 0
                              ? "ldg, stg, ldl, stl and atom"
                              : "loads and stores");
}

static int new_item(struct body_reader *r, enum body_kind kind)
{
    struct body_tree *tree = r->tree;

    if (tree->item_count == MAX_ITEMS)
        return body_text_fail(r, r->at, r->at, ERR_ValueError, "a body has at most %d parts",
                              MAX_ITEMS);
    tree->items[tree->item_count] = (struct body_item){
        .kind = kind, .first = -1, .other = -1, .count = 1, .low = 1, .high = 1, .next = -1
    };
    return tree->item_count++;
}

static int add_ops(struct body_reader *r, int item, const struct body_op *op)
{
    struct body_tree *tree = r->tree;
    int count = tree->items[item].count;

    if (tree->op_count + count > BODY_MAX_OPS)
        return body_text_fail(r, op->place.start, op->place.end, ERR_ValueError,
                              "%d instructions: a body has at most %d; a loop is written (...)*n",
                              tree->op_count + count, BODY_MAX_OPS);
    tree->items[item].first = tree->op_count;
    for (int i = 0; i < count; i++)
        tree->ops[tree->op_count++] = *op;
    return 0;
}

/* Two keys that say the same thing: one of them would be left out without a word. */
static const char *const SAME[][2] = {
    { "lanes", "mask" },     { "sectors", "bytes" },   { "sectors", "stride" },
    { "conflict", "bytes" }, { "conflict", "stride" },
};

static bool says_same(const char *a, const char *b)
{
    for (size_t i = 0; i < COUNT(SAME); i++)
        if ((strcmp(a, SAME[i][0]) == 0 && strcmp(b, SAME[i][1]) == 0) ||
            (strcmp(a, SAME[i][1]) == 0 && strcmp(b, SAME[i][0]) == 0))
            return true;
    return false;
}

/* The keys of this instruction so far, and one more. */
static int check_once(struct body_reader *r, struct body_place at, const char *key,
                      char (*before)[BODY_NAME_SIZE], int *count)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(key, before[i]) == 0)
            return body_text_fail(r, at.start, at.end, ERR_ValueError, "%s= is given twice", key);
        if (says_same(key, before[i]))
            return body_text_fail(r, at.start, at.end, ERR_ValueError,
                                  "%s= and %s= say the same thing: give one of them", before[i],
                                  key);
    }
    if (*count < MAX_KEYS) /* more than there are: one is unknown, and refused as such */
        strcpy(before[(*count)++], key);
    return 0;
}

/* "*8 hit=l1 bytes=16": what follows an instruction's name. */
static int read_rest(struct body_reader *r, struct body_op *op, int *count)
{
    char word[BODY_NAME_SIZE], before[MAX_KEYS][BODY_NAME_SIZE];
    struct body_place at;
    bool is_repeated = false;
    int keys = 0;

    for (;;) {
        char c = body_text_skip(r);

        if (c == '*' && is_repeated)
            return body_text_fail(r, r->at, r->at + 1, ERR_SyntaxError,
                                  "* stands behind a * already: a loop of loops is ((...)*n)*m");
        if (c == '*') {
            r->at++;
            is_repeated = true;
            if (body_text_int(r, "repeats", 1, BODY_MAX_OPS, count) < 0)
                return -1;
        } else if (isalpha((unsigned char)c)) {
            at = body_text_word(r, word);
            if (!body_text_take(r, '=')) {
                r->at = at.start;
                return body_text_unexpected(r, "';' or key=value");
            }
            if (check_once(r, at, word, before, &keys) < 0 || read_key(r, at, word, op) < 0)
                return -1;
        } else {
            return 0;
        }
    }
}

static int read_instruction(struct body_reader *r, struct body_place at, const char *word)
{
    struct body_op op = { .class = LAT_FMA,
                          .bytes = 4,
                          .stride = 1,
                          .mask = ~UINT32_C(0),
                          .loop = r->loop,
                          .producer = -1,
                          .place = at };
    bool is_known = strcmp(word, "use") == 0;
    int item;

    op.use = is_known;
    for (size_t i = 0; i < COUNT(INSTRUCTIONS); i++)
        if (strcmp(word, INSTRUCTIONS[i].name) == 0) {
            op.class = INSTRUCTIONS[i].class;
            op.memory = INSTRUCTIONS[i].memory;
            is_known = true;
        }
    if (!is_known)
        return unknown_instruction(r, at, word);
    if (op.use && body_text_take(r, '=') && body_text_int(r, "use", 1, BODY_MAX_OPS, &op.use) < 0)
        return -1;
    op.place_of_data = op.class == LAT_SHARED ? CORE_SHARED : CORE_DRAM;
    item = new_item(r, BODY_OP);
    if (item < 0 || read_rest(r, &op, &r->tree->items[item].count) < 0)
        return -1;
    /* With a latency of its own and no place it is a wait, not an access. */
    op.is_access |= op.memory != BODY_NONE && !op.latency;
    return add_ops(r, item, &op) < 0 ? -1 : item;
}

/* ---- Groups ---- */

static int read_list(struct body_reader *r, int *first);

static int read_group(struct body_reader *r, int *first)
{
    if (body_text_expect(r, '(', "(") < 0)
        return -1;
    if (++r->depth > BODY_MAX_DEPTH)
        return body_text_fail(r, r->at - 1, r->at, ERR_ValueError, "groups lie at most %d deep",
                              BODY_MAX_DEPTH);
    if (read_list(r, first) < 0 || body_text_expect(r, ')', "; or )") < 0)
        return -1;
    r->depth--;
    return 0;
}

/* "*16" or "*4..8" behind a group. */
static int read_trips(struct body_reader *r, struct body_item *loop)
{
    size_t start;

    if (!body_text_take(r, '*'))
        return 0;
    start = r->at;
    if (body_text_int(r, "trips", 0, BODY_MAX_COUNT, &loop->low) < 0)
        return -1;
    loop->high = loop->low;
    if (!body_text_take(r, '.'))
        return 0;
    if (body_text_expect(r, '.', "..") < 0 ||
        body_text_int(r, "trips", 0, BODY_MAX_COUNT, &loop->high) < 0)
        return -1;
    if (loop->high < loop->low)
        return body_text_fail(r, start, r->at, ERR_ValueError,
                              "trips %d..%d: the first is the lower one", loop->low, loop->high);
    return 0;
}

static int read_loop(struct body_reader *r)
{
    struct body_tree *tree = r->tree;
    int item = new_item(r, BODY_LOOP), outer = r->loop, first;

    if (item < 0)
        return -1;
    if (tree->loop_count == MAX_LOOPS)
        return body_text_fail(r, r->at, r->at, ERR_ValueError, "a body has at most %d loops",
                              MAX_LOOPS);
    r->loop = tree->loop_count++;
    tree->loops[r->loop] = (struct body_loop){ .first = tree->op_count, .parent = outer };
    if (read_group(r, &first) < 0 || read_trips(r, &tree->items[item]) < 0)
        return -1;
    tree->items[item].first = first;
    tree->loops[r->loop].end = tree->op_count;
    r->loop = outer;
    return item;
}

/* "lanes=24" or "mask=0xff" behind if. */
static int read_condition(struct body_reader *r, struct body_item *item)
{
    char word[BODY_NAME_SIZE];
    struct body_place at;

    if (body_text_skip(r) == '(')
        return 0;
    at = body_text_word(r, word);
    if ((strcmp(word, "lanes") != 0 && strcmp(word, "mask") != 0) || !body_text_take(r, '=')) {
        r->at = at.start;
        return body_text_unexpected(r, "lanes=, mask= or (");
    }
    return word[0] == 'l' ? body_text_int(r, word, 1, WARP - 1, &item->lanes)
                          : body_text_mask(r, &item->mask);
}

static int read_if(struct body_reader *r)
{
    int item = new_item(r, BODY_IF), first, other;
    char word[BODY_NAME_SIZE];
    struct body_place at;

    if (item < 0 || read_condition(r, &r->tree->items[item]) < 0 || read_group(r, &first) < 0)
        return -1;
    r->tree->items[item].first = first;
    body_text_skip(r);
    at = body_text_word(r, word);
    if (strcmp(word, "else") != 0) {
        r->at = at.start;
        return item;
    }
    if (read_group(r, &other) < 0)
        return -1;
    r->tree->items[item].other = other;
    return item;
}

static int read_split(struct body_reader *r)
{
    int item = new_item(r, BODY_SPLIT), first;

    if (item < 0 || body_text_expect(r, '=', "=") < 0 ||
        body_text_int(r, "split", 2, WARP, &r->tree->items[item].ways) < 0 ||
        read_group(r, &first) < 0)
        return -1;
    r->tree->items[item].first = first;
    return item;
}

static int read_item(struct body_reader *r)
{
    char word[BODY_NAME_SIZE];
    struct body_place at;

    if (body_text_skip(r) == '(')
        return read_loop(r);
    at = body_text_word(r, word);
    if (!word[0] || isdigit((unsigned char)word[0])) {
        r->at = at.start;
        return body_text_unexpected(r, "an instruction");
    }
    if (strcmp(word, "if") == 0)
        return read_if(r);
    if (strcmp(word, "split") == 0)
        return read_split(r);
    return read_instruction(r, at, word);
}

/* Items up to the end or a closing bracket. */
static int read_list(struct body_reader *r, int *first)
{
    int last = -1;

    *first = -1;
    do {
        int item;

        if (last >= 0 && (body_text_skip(r) == '\0' || body_text_skip(r) == ')'))
            return 0; /* a ';' at the end */
        item = read_item(r);
        if (item < 0)
            return -1;
        *(last < 0 ? first : &r->tree->items[last].next) = item;
        last = item;
    } while (body_text_take(r, ';'));
    return 0;
}

int body_read(const char *text, struct arena *arena, struct body_tree *tree,
              struct body_place *place, struct err *err)
{
    struct body_reader r = { .text = text, .tree = tree, .place = place, .err = err };

    *tree = (struct body_tree){ .ops = arena_array(arena, BODY_MAX_OPS, sizeof *tree->ops),
                                .loops = arena_array(arena, MAX_LOOPS, sizeof *tree->loops),
                                .items = arena_array(arena, MAX_ITEMS, sizeof *tree->items),
                                .loop_count = 1 };
    if (!tree->ops || !tree->loops || !tree->items)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (strlen(text) > BODY_MAX_TEXT)
        return body_text_fail(&r, BODY_MAX_TEXT, BODY_MAX_TEXT, ERR_ValueError,
                              "%zu characters: a body has at most %d", strlen(text), BODY_MAX_TEXT);
    tree->loops[0].parent = -1;
    if (read_list(&r, &tree->first) < 0)
        return -1;
    if (body_text_skip(&r))
        return body_text_unexpected(&r, "';'");
    tree->loops[0].end = tree->op_count;
    return 0;
}
