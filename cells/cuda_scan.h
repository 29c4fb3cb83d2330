/*
 * The tokens of CUDA C, as far as it takes to find where things end and what they
 * are called: words, literals, directives, and single characters.
 */
#ifndef WB_CELLS_CUDA_SCAN_H
#define WB_CELLS_CUDA_SCAN_H

#include "model/base/base.h"

#include <stdbool.h>

enum scan_kind {
    SCAN_END,
    SCAN_WORD,
    SCAN_NUMBER,
    SCAN_TEXT,      /* a string or character literal, raw ones too */
    SCAN_DIRECTIVE, /* from # to the end of its last line */
    SCAN_SIGN,      /* one character */
};

struct scan_token {
    enum scan_kind kind;
    struct bytes text; /* borrowed from what is scanned */
};

/* Start from { text, text + size, true }. */
struct scanner {
    const char *at, *end;
    bool is_line_start; /* only blanks since the line began: a # is a directive */
};

/* The next token behind blanks and comments; SCAN_END at the end, again and again. */
struct scan_token scan_next(struct scanner *s);
bool scan_is_sign(struct scan_token t, char c);
bool scan_is_word(struct scan_token t, const char *word);

/*
 * The next identifier of a text, those inside directives included; false at its end. directive
 * starts empty, { text, text, false }, and holds the directive that is being read.
 */
bool scan_identifier(struct scanner *s, struct scanner *directive, struct bytes *out);

/* The text without the blanks at both ends. */
struct bytes scan_trimmed(struct bytes text);

#endif
