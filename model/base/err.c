/*
 * Errors are values: filled where the cause is known, carried up untouched,
 * and worded for the user once. Keeping the first cause and dropping later
 * ones is what lets clean-up code fail without hiding why it runs.
 */
#include "model/base/err.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const char *const SPELLINGS[ERR_COUNT] = {
    "",
#define X(name) #name,
    ERR_NAMES(X)
#undef X
};
/* clang-format on */

/* vsnprintf may cut inside a UTF-8 character; step back to the last whole one. */
static void trim_utf8(char *text, size_t capacity)
{
    size_t n = strlen(text);
    size_t at = n, need;
    unsigned char lead;

    if (n + 1 < capacity)
        return;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
        at--;
    if (at == 0)
        return;
    lead = (unsigned char)text[at - 1];
    need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (at - 1 + need > n)
        text[at - 1] = '\0';
}

int err_setv(struct err *e, enum err_name name, const char *fmt, va_list args)
{
    if (!e || e->name != ERR_none)
        return -1;
    e->name = name;
    vsnprintf(e->text, sizeof(e->text), fmt, args);
    trim_utf8(e->text, sizeof(e->text));
    return -1;
}

int err_set(struct err *e, enum err_name name, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_setv(e, name, fmt, args);
    va_end(args);
    return -1;
}

int err_next(struct err *e, const char *fmt, ...)
{
    va_list args;

    if (!e || e->next[0])
        return -1;
    va_start(args, fmt);
    vsnprintf(e->next, sizeof(e->next), fmt, args);
    va_end(args);
    trim_utf8(e->next, sizeof(e->next));
    return -1;
}

int err_at(struct err *e, int line, int column, int length)
{
    if (!e || e->line)
        return -1;
    e->line = line;
    e->column = column;
    e->length = length;
    return -1;
}

int err_take_detail(struct err *e, char *detail)
{
    if (!e || e->detail)
        free(detail);
    else
        e->detail = detail;
    return -1;
}

void err_done(struct err *e)
{
    free(e->detail);
    *e = (struct err){ 0 };
}

const char *err_spelling(enum err_name name)
{
    return (unsigned)name < ERR_COUNT ? SPELLINGS[name] : "InternalError";
}

enum err_name err_from_spelling(const char *spelling)
{
    for (int i = 1; i < ERR_COUNT; i++)
        if (strcmp(SPELLINGS[i], spelling) == 0)
            return (enum err_name)i;
    return ERR_none;
}
