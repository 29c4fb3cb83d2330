/*
 * What a kernel prints: the formats of C's printf over the arguments that the compiler stored, and
 * the order in which the text leaves.
 *
 * A GPU writes its records into a buffer that the host formats after the launch; here a record is
 * formatted when the lane gets there, by the same host library. Blocks print into texts of their
 * own, which leave in the order of blocks, whoever ran them: a launch prints the same bytes with
 * any number of host threads.
 */
#include "model/ptx/print.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- One record ----------------------------------------------------------------------------- */

enum { NONE = INT_MIN };

/* The parts of a conversion: %-8.3lld */
struct conversion {
    char flags[8];
    int width, precision; /* NONE, or below 0 only from a '*' */
    int bytes;            /* of an integer as it is formatted: 1, 2, 4, 8 */
    char type;
};

/* Arguments lie one after the other, each at a multiple of its size. */
struct arguments {
    const struct warp *w;
    int lane;
    uint64_t address, at;
    uint64_t bad; /* an address that cannot be read */
    int count;    /* taken so far */
};

static bool read_argument(struct arguments *a, int bytes, uint64_t *out)
{
    *out = 0;
    a->at = (uint64_t)round_up((int64_t)a->at, bytes);
    if (!address_read(a->w, a->lane, a->address + a->at, out, (size_t)bytes)) {
        a->bad = a->address + a->at;
        return false;
    }
    a->at += (uint64_t)bytes;
    a->count++;
    return true;
}

static const char *parse_number(const char *p, const char *end, int *out)
{
    int64_t v = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = min_i64(v * 10 + (*p - '0'), PTX_PRINT_LIMIT);
    *out = (int)v;
    return p;
}

static const char *parse_star(const char *p, const char *end, struct arguments *a, int *out)
{
    uint64_t v;

    if (p < end && *p == '*') {
        if (!read_argument(a, 4, &v))
            return NULL;
        *out = (int)max_i64(min_i64((int32_t)v, PTX_PRINT_LIMIT), -PTX_PRINT_LIMIT);
        return p + 1;
    }
    return p < end && *p >= '0' && *p <= '9' ? parse_number(p, end, out) : p;
}

/* h, hh, l, ll and their like: a long has 8 bytes on the device. */
static const char *parse_length(const char *p, const char *end, struct conversion *c)
{
    c->bytes = 4;
    while (p < end && *p && strchr("hlLqjzt", *p)) {
        c->bytes = *p == 'h' ? (c->bytes == 2 ? 1 : 2) : 8;
        p++;
    }
    return p;
}

/* From behind the '%'. NULL: an argument cannot be read; type 0: this is no conversion. */
static const char *parse_conversion(const char *p, const char *end, struct arguments *a,
                                    struct conversion *c)
{
    size_t flags = 0;

    *c = (struct conversion){ .width = NONE, .precision = NONE };
    for (; p < end && *p && strchr("-+ #0", *p); p++)
        if (flags < sizeof c->flags - 3 && !strchr(c->flags, *p))
            c->flags[flags++] = *p;
    p = parse_star(p, end, a, &c->width);
    if (!p)
        return NULL;
    if (c->width < 0 && c->width != NONE) { /* from a '*': to the left */
        c->flags[flags] = '-';
        c->width = -c->width;
    }
    if (p < end && *p == '.') {
        c->precision = 0;
        p = parse_star(p + 1, end, a, &c->precision);
        if (!p)
            return NULL;
    }
    p = parse_length(p, end, c);
    if (p == end || !*p || !strchr("diouxXcspeEfFgGaA%", *p))
        return p;
    c->type = *p;
    return p + 1;
}

static void spell(const struct conversion *c, const char *length, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%%%s", c->flags);

    if (c->width >= 0)
        n += (size_t)snprintf(out + n, size - n, "%d", c->width);
    if (c->precision >= 0)
        n += (size_t)snprintf(out + n, size - n, ".%d", c->precision);
    snprintf(out + n, size - n, "%s%c", length, c->type);
}

/* The spelling is made by spell() from parsed parts: the type fits what is passed. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_integer(struct buf *out, const struct conversion *c, uint64_t v)
{
    bool is_signed = c->type == 'd' || c->type == 'i';
    char spelling[48];

    if (c->bytes == 1)
        v = is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
    else if (c->bytes == 2)
        v = is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
    else if (c->bytes == 4)
        v = is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
    spell(c, "ll", spelling, sizeof spelling);
    buf_printf(out, spelling, (long long)v);
}

/* A zero byte is printed as one, so the character goes in by hand. */
static void put_character(struct buf *out, const struct conversion *c, int v)
{
    size_t pad = c->width > 1 ? (size_t)c->width - 1 : 0;
    bool is_left = strchr(c->flags, '-');

    if (!is_left)
        buf_fill(out, ' ', pad);
    buf_putc(out, (char)v);
    if (is_left)
        buf_fill(out, ' ', pad);
}

static void put_double(struct buf *out, const struct conversion *c, uint64_t v)
{
    char spelling[48];
    double d;

    memcpy(&d, &v, sizeof d);
    spell(c, "", spelling, sizeof spelling);
    buf_printf(out, spelling, d);
}

static void put_pointer(struct buf *out, const struct conversion *c, uint64_t v)
{
    char spelling[48];

    spell(c, "", spelling, sizeof spelling);
    buf_printf(out, spelling, (void *)(uintptr_t)v);
}

static void put_string(struct buf *out, const struct conversion *c, const char *text)
{
    char spelling[48];

    spell(c, "", spelling, sizeof spelling);
    buf_printf(out, spelling, text);
}
#pragma GCC diagnostic pop

static bool put_text(struct buf *out, const struct conversion *c, struct arguments *a,
                     uint64_t address)
{
    struct buf text = { 0 };
    bool is_ok = true;

    if (address)
        is_ok = address_read_text(a->w, a->lane, address, &text);
    if (is_ok)
        put_string(out, c, address ? buf_text(&text) : "(null)");
    else
        a->bad = address;
    buf_done(&text);
    return is_ok;
}

static bool put_conversion(struct buf *out, const struct conversion *c, struct arguments *a)
{
    uint64_t v;

    if (c->type == '%') {
        buf_putc(out, '%');
        return true;
    }
    if (!read_argument(a,
                       strchr("diouxX", c->type) ? (c->bytes == 8 ? 8 : 4)
                       : c->type == 'c'          ? 4
                                                 : 8,
                       &v))
        return false;
    if (c->type == 'c') {
        put_character(out, c, (int)v);
    } else if (c->type == 's') {
        return put_text(out, c, a, v);
    } else if (c->type == 'p') {
        put_pointer(out, c, v);
    } else if (strchr("diouxX", c->type)) {
        put_integer(out, c, v);
    } else {
        put_double(out, c, v);
    }
    return true;
}

static bool put_record(struct buf *out, const char *p, const char *end, struct arguments *a)
{
    while (p < end) {
        const char *percent = memchr(p, '%', (size_t)(end - p)), *next;
        struct conversion c;

        buf_put(out, p, (size_t)((percent ? percent : end) - p));
        if (!percent)
            break;
        next = parse_conversion(percent + 1, end, a, &c);
        if (!next || (c.type && !put_conversion(out, &c, a)))
            return false;
        if (!c.type) /* no conversion: it stands for itself */
            buf_put(out, percent, (size_t)(next - percent));
        p = next;
    }
    return true;
}

int print_format(const struct warp *w, int lane, uint64_t format, uint64_t arguments,
                 struct buf *out, uint64_t *bad)
{
    struct arguments a = { .w = w, .lane = lane, .address = arguments };
    struct buf text = { 0 };
    bool is_ok;

    if (!format)
        return -1;
    is_ok = address_read_text(w, lane, format, &text);
    if (!is_ok)
        a.bad = format;
    else
        is_ok = put_record(out, buf_text(&text), buf_text(&text) + text.size, &a);
    buf_done(&text);
    *bad = a.bad;
    return is_ok ? a.count : -1;
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* Places from..to-1 are done, and this is what they printed. */
struct span {
    int64_t from, to;
    struct buf text;
    struct span *next;
};

void print_queue_init(struct print_queue *q, const struct ptx_launch *launch)
{
    *q = (struct print_queue){ .launch = launch, .stop = INT64_MAX };
    pthread_mutex_init(&q->lock, NULL);
}

void print_queue_done(struct print_queue *q)
{
    while (q->spans) {
        struct span *next = q->spans->next;

        buf_done(&q->spans->text);
        free(q->spans);
        q->spans = next;
    }
    pthread_mutex_destroy(&q->lock);
}

/* Whole lines while there is room; the rest is counted. */
static void emit(struct print_queue *q, const char *text, size_t size)
{
    size_t room = (size_t)(PTX_PRINT_LIMIT - q->bytes), n = size;

    if (q->is_full || size > room) {
        const char *end = q->is_full || !room ? NULL : memrchr(text, '\n', room);

        q->is_full = true;
        n = end ? (size_t)(end - text) + 1 : 0;
        q->lost += (int64_t)(size - n);
    }
    q->bytes += (int64_t)n;
    if (n && q->launch->print)
        q->launch->print(q->launch->print_context, text, n);
}

static void emit_front(struct print_queue *q)
{
    while (q->spans && q->spans->from == q->next) {
        struct span *first = q->spans;

        emit(q, buf_text(&first->text), first->text.size);
        q->next = first->to;
        q->spans = first->next;
        buf_done(&first->text);
        free(first);
    }
}

/* What was done behind a place that failed. */
static void drop_behind(struct print_queue *q, int64_t place)
{
    struct span **at = &q->spans;

    while (*at && (*at)->from < place)
        at = &(*at)->next;
    while (*at) {
        struct span *next = (*at)->next;

        buf_done(&(*at)->text);
        free(*at);
        *at = next;
    }
}

/* Neighbours become one, so the list is about as long as there are host threads. */
static bool insert(struct print_queue *q, int64_t place, const struct buf *text)
{
    struct span **at = &q->spans, *s = NULL;

    while (*at && (*at)->to <= place) {
        s = *at;
        if (s->to == place)
            break;
        at = &s->next;
        s = NULL;
    }
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s)
            return false;
        *s = (struct span){ .from = place, .to = place, .next = *at };
        *at = s;
    }
    buf_put(&s->text, buf_text(text), text->size);
    s->to = place + 1;
    if (s->next && s->next->from == s->to) {
        struct span *next = s->next;

        buf_put(&s->text, buf_text(&next->text), next->text.size);
        s->to = next->to;
        s->next = next->next;
        buf_done(&next->text);
        free(next);
    }
    return !s->text.is_failed;
}

int print_place(struct print_queue *q, int64_t place, struct printed *printed, bool is_last)
{
    bool is_ok = true;

    pthread_mutex_lock(&q->lock);
    if (place <= q->stop) {
        if (is_last) {
            q->stop = place;
            drop_behind(q, place);
        }
        q->lost += printed->lost;
        is_ok = insert(q, place, &printed->text);
        emit_front(q);
    }
    pthread_mutex_unlock(&q->lock);
    buf_cut(&printed->text, 0);
    printed->lost = 0;
    return is_ok ? 0 : -1;
}

void print_add(struct printed *printed, const struct buf *record)
{
    if (printed->text.size + record->size > PTX_PRINT_LIMIT)
        printed->lost += (int64_t)record->size;
    else
        buf_put(&printed->text, buf_text(record), record->size);
}
