/*
 * The characters of a body as a reader meets them: words, signs and numbers, blanks between them
 * passed over. What refuses returns -1 with the place filled, so that a caret can show it.
 */
#ifndef WB_MODEL_BODY_TEXT_H
#define WB_MODEL_BODY_TEXT_H

#include "model/body_tree.h"

enum { BODY_NAME_SIZE = 32 };

struct body_reader {
    const char *text;
    size_t at;
    struct body_tree *tree;
    struct body_place *place;
    int depth, loop;
    struct err *err;
};

/* Fails with a sentence about the characters start..end-1. */
int body_text_fail(struct body_reader *r, size_t start, size_t end, enum err_name name,
                   const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Passes blanks over: the character at hand, '\0' at the end. */
char body_text_skip(struct body_reader *r);

/* Passes c over, where it is at hand; expect fails where it is not, with SyntaxError. */
bool body_text_take(struct body_reader *r, char c);
int body_text_expect(struct body_reader *r, char c, const char *wanted);
int body_text_unexpected(struct body_reader *r, const char *wanted);

/* The word at hand in small letters (BODY_NAME_SIZE of them), "" when there is none; its place. */
struct body_place body_text_word(struct body_reader *r, char *word);

/* A whole number, decimal or 0x...; name is for the message: "conflict=40: conflict is 1 to 32". */
int body_text_number(struct body_reader *r, const char *name, int64_t least, int64_t most,
                     int64_t *out);
int body_text_int(struct body_reader *r, const char *name, int least, int most, int *out);
int body_text_mask(struct body_reader *r, uint32_t *out);

#endif
