/*
 * A mix becomes a body by dealing instructions out: each takes its turn when it is furthest behind
 * its share, so that they lie as evenly as whole instructions can.
 */
#include "model/body.h"

#include "model/base/buf.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_PARTS = 16, WHOLE = 100 };

struct part {
    char name[24], place[8]; /* "ldg", "l2" */
    int percent, dealt;
};

static int mix_fail(struct body_place *place, size_t start, size_t end, struct err *err,
                    enum err_name name, const char *text)
{
    *place = (struct body_place){ start, end > start ? end : start + 1 };
    return err_set(err, name, "%s", text);
}

static size_t copy_word(const char *text, size_t at, char *out, size_t size)
{
    size_t n = 0;

    for (; isalnum((unsigned char)text[at]); at++)
        if (n < size - 1)
            out[n++] = text[at];
    out[n] = '\0';
    return at;
}

/* "ldg.l2=10%" at *at. */
static int read_part(const char *mix, size_t *at, struct part *part, struct body_place *place,
                     struct err *err)
{
    size_t start = *at, number;
    char *end;
    long percent;

    *at = copy_word(mix, *at, part->name, sizeof part->name);
    if (*at == start)
        return mix_fail(place, start, start + 1, err, ERR_SyntaxError,
                        "an instruction with its share is expected, such as fma=60%");
    if (mix[*at] == '.')
        *at = copy_word(mix, *at + 1, part->place, sizeof part->place);
    if (mix[*at] != '=')
        return mix_fail(place, start, *at, err, ERR_SyntaxError,
                        "a share such as =60% is expected");
    number = *at + 1;
    percent = strtol(mix + number, &end, 10);
    if (end == mix + number || *end == '.' || percent < 1 || percent > WHOLE) {
        size_t length = strcspn(mix + number, " ,%");

        *place = (struct body_place){ start, number + length };
        return err_set(err, ERR_ValueError,
                       "%s=%.*s%%: a share is 1%% to 100%%, a whole number; %ld%% is the nearest",
                       part->name, (int)min_i64((int64_t)length, 20), mix + number,
                       percent < 1       ? 1L
                       : percent > WHOLE ? (long)WHOLE
                                         : percent);
    }
    part->percent = (int)percent;
    *at = (size_t)(end - mix) + (*end == '%');
    return 0;
}

static int common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The part that is furthest behind its share before instruction i. */
static struct part *next_part(struct part *parts, int count, int i)
{
    struct part *best = &parts[0];

    for (int k = 1; k < count; k++)
        if (parts[k].percent * (i + 1) - parts[k].dealt * WHOLE >
            best->percent * (i + 1) - best->dealt * WHOLE)
            best = &parts[k];
    return best;
}

static const char *deal(struct part *parts, int count, int length, struct arena *arena)
{
    struct buf out = { 0 };
    const char *text;

    for (int i = 0; i < length; i++) {
        struct part *part = next_part(parts, count, i);

        part->dealt++;
        buf_printf(&out, i ? "; %s dep=1" : "%s dep=1", part->name);
        if (part->place[0])
            buf_printf(&out, " hit=%s", part->place);
    }
    text = arena_string(arena, buf_text(&out));
    buf_done(&out);
    return text;
}

int body_from_mix(const char *mix, struct arena *arena, const char **text, struct body_place *place,
                  struct err *err)
{
    struct part parts[MAX_PARTS] = { 0 };
    int count = 0, sum = 0, unit = WHOLE;

    for (size_t at = strspn(mix, " ,"); mix[at]; at += strspn(mix + at, " ,")) {
        if (count == MAX_PARTS)
            return mix_fail(place, at, at + 1, err, ERR_ValueError, "a mix has at most 16 parts");
        if (read_part(mix, &at, &parts[count], place, err) < 0)
            return -1;
        sum += parts[count].percent;
        unit = common_divisor(unit, parts[count++].percent);
    }
    *place = (struct body_place){ 0, strlen(mix) };
    if (sum != WHOLE)
        return err_set(err, ERR_ValueError, "the shares of the mix sum to %d %%, not 100", sum);
    *text = deal(parts, count, WHOLE / unit, arena);
    return *text ? 0 : err_set(err, ERR_ResourceError, "out of memory");
}
