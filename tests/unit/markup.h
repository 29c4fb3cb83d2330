/*
 * A small, strict reader of markup: tags nest, attributes are quoted, entities
 * are the four that Warpbook writes. Enough to prove that no label gets out of
 * its place; both test_svg.c and test_html.c use it.
 */
#ifndef WB_TESTS_MARKUP_H
#define WB_TESTS_MARKUP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MARKUP_DEPTH = 64, MARKUP_NAME = 32 };

static inline bool markup_is_entity(const char *p)
{
    return !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4) || !strncmp(p, "&amp;", 5) ||
           !strncmp(p, "&quot;", 6);
}

static inline size_t markup_name(const char *p, char name[MARKUP_NAME])
{
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");

    snprintf(name, MARKUP_NAME, "%.*s", (int)n, p);
    return n;
}

static inline bool markup_is_void(const char *name)
{
    return !strcmp(name, "br") || !strcmp(name, "img") || !strcmp(name, "input");
}

/* The end of a start tag's attributes ('>' or "/>"), or NULL. */
static inline const char *markup_attributes(const char *p)
{
    char name[MARKUP_NAME];

    for (;;) {
        size_t blanks = strspn(p, " \n");

        p += blanks;
        if (*p == '>' || (*p == '/' && p[1] == '>'))
            return p;
        if (!blanks || !markup_name(p, name))
            return NULL;
        p += markup_name(p, name);
        if (*p != '=')
            continue; /* hidden, checked */
        if (*++p != '"')
            return NULL;
        for (p++; *p != '"'; p++)
            if (!*p || *p == '<' || (*p == '&' && !markup_is_entity(p)))
                return NULL;
        p++;
    }
}

/*
 * NULL when text is well-formed, else where it is not. Void elements of HTML need no end;
 * the content of <style> is skipped.
 */
static inline const char *markup_error(const char *text)
{
    char open[MARKUP_DEPTH][MARKUP_NAME], name[MARKUP_NAME];
    size_t depth = 0;
    const char *p = text, *end;

    while (*p) {
        if (*p == '&' && !markup_is_entity(p))
            return p;
        if (*p == '>' || (unsigned char)*p < ' ') {
            if (*p != '\n')
                return p;
        }
        if (*p != '<') {
            p++;
            continue;
        }
        if (p[1] == '/') {
            size_t n = markup_name(p + 2, name);

            if (!depth || strcmp(open[--depth], name) != 0 || p[2 + n] != '>')
                return p;
            p += n + 3;
            continue;
        }
        end = markup_name(p + 1, name) ? markup_attributes(p + 1 + strlen(name)) : NULL;
        if (!end || depth == MARKUP_DEPTH)
            return p;
        if (*end == '>' && !markup_is_void(name)) {
            memcpy(open[depth++], name, sizeof(name));
            if (!strcmp(name, "style")) {
                end = strstr(end, "</style>");
                if (!end)
                    return p;
                p = end;
                continue;
            }
        }
        p = end + (*end == '/' ? 2 : 1);
    }
    return depth ? p : NULL;
}

static inline size_t markup_count(const char *text, const char *what)
{
    size_t n = 0;

    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

#endif
