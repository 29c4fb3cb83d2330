/*
 * Both readers look at text that a compiler has accepted, so they need no grammar:
 * parameters end at commas outside all brackets, and PTX has one declaration a line.
 */
#include "cells/cuda_parameters.h"

#include "cells/buffer_struct.h"
#include "cells/cuda_scan.h"
#include "model/base/buf.h"

#include <stdlib.h>

enum { MAX_PARAMETERS = 4096 };

/* ---- a head ---- */

/* Words of a parameter that say nothing of its type's size. */
static bool is_qualifier(struct scan_token t)
{
    static const char *const words[] = { "const",      "volatile",          "__restrict__",
                                         "__restrict", "__grid_constant__", "struct",
                                         "typename",   "restrict",          "register" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (scan_is_word(t, words[i]))
            return true;
    return false;
}

/* Words that a type may consist of besides its last one: `unsigned long long`. */
static bool is_part_of_type(struct scan_token t)
{
    static const char *const words[] = { "unsigned", "signed", "long",   "short", "int",
                                         "char",     "float",  "double", "bool" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (scan_is_word(t, words[i]))
            return true;
    return false;
}

/* One parameter while it is read. */
struct reading {
    const char *start, *type_end; /* type_end: where the name starts, or the parameter ends */
    struct buf base;              /* "unsigned int" */
    struct scan_token last_word;  /* a word that may be the name, not yet in base */
    const char *last_base;        /* behind the base's last token */
    int stars, angles, parens, squares;
    bool has_default, is_array, is_function;
};

static void put_word(struct reading *r, struct bytes word)
{
    size_t n = r->base.size;

    if (n > 0 && r->base.data[n - 1] != ':' && r->base.data[n - 1] != '<' && word.data[0] != ':')
        buf_putc(&r->base, ' ');
    buf_put(&r->base, word.data, word.size);
}

/* The word that was kept back was no name: more of the type follows. */
static void settle_word(struct reading *r)
{
    if (r->last_word.kind == SCAN_WORD)
        put_word(r, r->last_word.text);
    r->last_word.kind = SCAN_END;
}

static void read_token(struct reading *r, struct scan_token t)
{
    if (r->has_default)
        return;
    if (t.kind == SCAN_WORD && is_qualifier(t) && r->angles == 0)
        return;
    if (t.kind == SCAN_WORD && r->angles == 0) {
        settle_word(r);
        if (is_part_of_type(t))
            put_word(r, t.text);
        else
            r->last_word = t;
        return;
    }
    if (scan_is_sign(t, '=') && r->angles == 0) {
        r->has_default = true;
    } else if (scan_is_sign(t, '*') && r->angles == 0) {
        settle_word(r);
        r->stars++;
    } else if (scan_is_sign(t, '[')) {
        r->is_array = true;
    } else if (scan_is_sign(t, '(')) {
        r->is_function = true;
    } else if (scan_is_sign(t, '<') || scan_is_sign(t, ':') || r->angles > 0) {
        settle_word(r);
        put_word(r, t.text);
        r->angles += scan_is_sign(t, '<') - scan_is_sign(t, '>');
    }
}

static bool is_type_alone(const struct reading *r)
{
    return r->base.size == 0 || r->base.data[r->base.size - 1] == ':';
}

static char *single_blanks(struct arena *arena, const char *from, const char *to)
{
    char *text = arena_copy(arena, from, (size_t)(to - from));
    size_t n = 0;

    for (const char *p = text; p && *p; p++) {
        bool is_blank_here = strchr(" \t\r\n", *p) != NULL;

        if (!is_blank_here)
            text[n++] = *p;
        else if (n > 0 && text[n - 1] != ' ')
            text[n++] = ' ';
    }
    while (n > 0 && text[n - 1] == ' ')
        n--;
    if (text)
        text[n] = '\0';
    return text;
}

static int finish_parameter(struct arena *arena, struct reading *r, const char *end,
                            struct cuda_parameter *out, bool *all_known)
{
    struct element_type type;
    const char *base;
    int levels;

    if (is_type_alone(r)) /* `void k(P)`: the only word is the type */
        settle_word(r);
    if (r->last_word.kind == SCAN_WORD) {
        out->name = arena_copy(arena, r->last_word.text.data, r->last_word.text.size);
        r->type_end = r->last_word.text.data;
    } else {
        out->name = "";
        r->type_end = end;
    }
    out->type = single_blanks(arena, r->start, r->type_end);
    base = arena_copy(arena, buf_text(&r->base), r->base.size);
    if (!out->name || !out->type || !base || r->base.is_failed)
        return -1;
    levels = r->stars + r->is_array;
    out->base = base;
    out->levels = levels;
    out->is_pointer = levels > 0 || r->is_function;
    out->pointee = !out->is_pointer ? "" : levels > 1 ? arena_printf(arena, "%s *", base) : base;
    out->lanes = 1;
    out->kind = SCALAR_STRUCT;
    if (levels > 1 || r->is_function) { /* a pointer to pointers */
        out->kind = SCALAR_ULONG;
        out->bytes = out->align = 8;
    } else if (strcmp(base, "void") == 0 && levels == 1) {
        out->kind = SCALAR_UCHAR;
    } else if (element_type_builtin(base, &type)) {
        out->kind = type.kind;
        out->lanes = type.lanes;
        out->bytes = type.bytes;
        out->align = type.align;
    } else {
        *all_known = false;
    }
    return out->pointee ? 0 : -1;
}

/* Behind the parenthesis that opens the parameters: the last ones at the top of a head. */
static const char *find_open(const char *head)
{
    const char *end = head + strlen(head), *close = end;
    int depth = 0;

    while (close > head && close[-1] != ')')
        close--;
    for (const char *p = close; p > head; p--) {
        depth += (p[-1] == ')') - (p[-1] == '(');
        if (depth == 0)
            return p;
    }
    return NULL;
}

int cuda_read_parameters(struct arena *arena, const char *head, struct cuda_parameter **list,
                         size_t *count, bool *all_known, struct err *err)
{
    const char *open = find_open(head);
    struct scanner s = { open, head + strlen(head), false };
    struct reading r = { .start = open };
    struct scan_token t = { SCAN_END, { "", 0 } };
    int depth = 0, rc = 0;

    *list = NULL;
    *count = 0;
    *all_known = true;
    if (!open)
        return 0;
    *list = arena_array(arena, 1, sizeof(**list));
    for (size_t capacity = 1; *list && rc == 0;) {
        t = scan_next(&s);
        if (t.kind == SCAN_END)
            break;
        bool is_end = scan_is_sign(t, ')') && depth == 0;
        bool is_comma = scan_is_sign(t, ',') && depth == 0 && r.angles == 0;

        if (!is_end && !is_comma) {
            depth += (scan_is_sign(t, '(') || scan_is_sign(t, '[') || scan_is_sign(t, '{')) -
                     (scan_is_sign(t, ')') || scan_is_sign(t, ']') || scan_is_sign(t, '}'));
            read_token(&r, t);
            continue;
        }
        if (r.base.size == 0 && r.last_word.kind == SCAN_END && is_end && *count == 0)
            break; /* () */
        if (*count == capacity) {
            struct cuda_parameter *more = arena_array(arena, capacity * 2, sizeof(*more));

            if (more)
                memcpy(more, *list, capacity * sizeof(*more));
            *list = more;
            capacity *= 2;
        }
        rc = *list && *count < MAX_PARAMETERS
                 ? finish_parameter(arena, &r, t.text.data, &(*list)[(*count)++], all_known)
                 : -1;
        buf_done(&r.base);
        r = (struct reading){ .start = t.text.data + 1 };
        if (is_end)
            break;
    }
    buf_done(&r.base);
    /* k(void) has none. */
    if (rc == 0 && *list && *count == 1 && strcmp((*list)[0].type, "void") == 0)
        *count = 0;
    return rc == 0 && *list ? 0
                            : err_set(err, ERR_ResourceError, "out of memory for the parameters");
}

/* ---- PTX ---- */

static size_t type_bytes(struct bytes type)
{
    int bits = 0;

    for (size_t i = 0; i < type.size; i++)
        if (type.data[i] >= '0' && type.data[i] <= '9')
            bits = bits * 10 + type.data[i] - '0';
    return (size_t)bits / 8;
}

/* The next word of a line: up to a blank; what a bracket holds stays with it. */
static struct bytes next_word(const char **at, const char *end)
{
    const char *p = *at, *start;

    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    start = p;
    while (p < end && *p != ' ' && *p != '\t' && *p != '\n' && *p != ',')
        p++;
    *at = p;
    return (struct bytes){ start, (size_t)(p - start) };
}

/* `.align 8 .b8 name[24]` behind its space: size, alignment and the name. */
static bool read_declarator(const char *at, const char *end, struct bytes *name, size_t *bytes,
                            size_t *align)
{
    struct bytes word = next_word(&at, end);
    const char *bracket;

    *align = 0;
    *bytes = 0;
    while (word.size > 0 && word.data[0] == '.') {
        if (bytes_equal(word, ".align")) {
            word = next_word(&at, end);
            *align = (size_t)atoi(word.data);
        } else if (bytes_equal(word, ".attribute(.managed)") || bytes_equal(word, ".ptr") ||
                   bytes_equal(word, ".global")) {
            /* says where a pointer points, or how it is kept */
        } else {
            *bytes = type_bytes(word);
        }
        word = next_word(&at, end);
    }
    while (word.size > 0 && (word.data[word.size - 1] == ';' || word.data[word.size - 1] == ')'))
        word.size--;
    bracket = memchr(word.data, '[', word.size);
    *name = word;
    if (bracket) {
        name->size = (size_t)(bracket - word.data);
        *bytes *= (size_t)strtoull(bracket + 1, NULL, 10);
    }
    if (*align == 0)
        *align = *bytes ? *bytes : 1;
    return name->size > 0 && *bytes > 0;
}

static const char *find_entry(const char *from, const char *end, struct bytes *symbol)
{
    const char *at = memmem(from, (size_t)(end - from), ".entry ", 7), *stop;

    if (!at)
        return NULL;
    at += 7;
    stop = at;
    while (stop < end && *stop != '(' && *stop != '\n' && *stop != ' ')
        stop++;
    *symbol = (struct bytes){ at, (size_t)(stop - at) };
    return stop;
}

void cuda_each_entry(struct bytes ptx, void (*each)(void *arg, struct bytes symbol), void *arg)
{
    const char *at = ptx.data, *end = ptx.data + ptx.size;
    struct bytes symbol;

    while ((at = find_entry(at, end, &symbol)))
        each(arg, symbol);
}

int cuda_ptx_parameters(struct bytes ptx, const char *symbol, struct ptx_parameter *out,
                        size_t capacity)
{
    const char *at = ptx.data, *end = ptx.data + ptx.size, *stop;
    struct bytes found, name;
    int n = 0;

    do {
        at = find_entry(at, end, &found);
        if (!at)
            return -1;
    } while (!bytes_equal(found, symbol));
    if (at >= end || *at != '(')
        return 0;
    stop = memchr(at, '{', (size_t)(end - at));
    for (; (at = memmem(at, (size_t)((stop ? stop : end) - at), ".param ", 7)); n++) {
        struct ptx_parameter p = { 0 };
        const char *line = memchr(at, '\n', (size_t)(end - at));

        at += 7;
        if (read_declarator(at, line ? line : end, &name, &p.bytes, &p.align) &&
            (size_t)n < capacity)
            out[n] = p;
    }
    return n;
}

/* Takes a word off the front of a line when it is there. */
static bool take(const char **at, const char *end, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(end - *at) < n || memcmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

bool cuda_next_variable(struct bytes ptx, const char **at, struct ptx_variable *out)
{
    const char *end = ptx.data + ptx.size;

    while (*at < end) {
        const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
        size_t align;

        stop = stop ? stop : end;
        *at = stop < end ? stop + 1 : end;
        if (take(&line, stop, ".visible ") || take(&line, stop, ".weak ")) {}
        out->is_constant = take(&line, stop, ".const ");
        if ((out->is_constant || take(&line, stop, ".global ")) &&
            read_declarator(line, stop, &out->linked, &out->bytes, &align))
            return true;
    }
    return false;
}
