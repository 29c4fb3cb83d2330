/*
 * Tokens of magic lines and expressions. The lexer reads the cell's own bytes
 * where they stand, so that every token knows its line and column and an error
 * can put its caret under what the user wrote.
 */
#ifndef WB_CELLS_LEX_H
#define WB_CELLS_LEX_H

#include "model/base/arena.h"
#include "model/base/base.h"
#include "model/base/err.h"

#include <stdbool.h>

/* A piece of a cell and where it starts in the cell (1-based; column in bytes). Borrowed. */
struct source {
    struct bytes text;
    int line, column;
};

void source_place(const struct source *source, size_t offset, int *line, int *column);

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name */
    TOKEN_INT,    /* i */
    TOKEN_FLOAT,  /* f */
    TOKEN_STRING, /* text, escapes resolved */
    TOKEN_OP,     /* op */
};

/* Operators of one character are that character; the longer ones are these. */
enum token_op {
    OP_EQ = 256, /* == */
    OP_NE,       /* != */
    OP_LE,
    OP_GE,
    OP_AND,       /* && */
    OP_OR,        /* || */
    OP_SHL,       /* << */
    OP_SHR,       /* >> */
    OP_RANGE,     /* .. */
    OP_ARROW,     /* -> */
    OP_TOLERANCE, /* +- or the sign for it */
    OP_LAUNCH,    /* <<< */
};

enum number_unit {
    NUMBER_PLAIN,
    NUMBER_PERCENT, /* f is the fraction: 50% is 0.5 */
    NUMBER_TIME,    /* f in seconds */
    NUMBER_RATE,    /* f in bytes a second */
    NUMBER_FLOPS,   /* f in operations a second */
    NUMBER_HERTZ,   /* f in Hz */
};

struct token {
    enum token_kind kind;
    int op;
    enum number_unit unit;
    int64_t i;
    double f;
    struct bytes text; /* WORD: in the source; STRING: in the arena */
    size_t start, end; /* offsets in the source */
    bool blank_before; /* a blank, or the start of the source, stands before it */
};

struct lexer {
    struct source source;
    struct arena *arena; /* strings go here */
    size_t at;           /* offset of the next byte to read */
    size_t last_end;     /* end of the last token taken */
    size_t code_at;      /* no ';' before this offset ends the line */
    struct token ahead;
    bool has_ahead;
};

void lexer_init(struct lexer *lexer, struct source source, struct arena *arena);

/*
 * The next token, without or with taking it. Fails with SyntaxError, caret included.
 * A ';' at the end and comments (// or # after a blank) read as the end.
 */
int lexer_peek(struct lexer *lexer, struct token *out, struct err *err) MUST_CHECK;
int lexer_next(struct lexer *lexer, struct token *out, struct err *err) MUST_CHECK;

/* Takes the next token when it is this operator; *taken says whether it was. */
int lexer_take_op(struct lexer *lexer, int op, bool *taken, struct err *err) MUST_CHECK;

/*
 * The next bytes up to a blank, comma, ';' at the end or closing bracket, whatever they
 * spell: two-level, gpu:1, cc=8.9. A string in quotes is unquoted. kind is WORD or STRING,
 * or END when nothing is left.
 */
int lexer_word(struct lexer *lexer, struct token *out, struct err *err) MUST_CHECK;

/* Moves behind blanks and comments; the token ahead is forgotten. True when something is left. */
bool lexer_skip(struct lexer *lexer);

/* Moves to an offset; the token ahead is forgotten. */
void lexer_seek(struct lexer *lexer, size_t offset);

/* Sets err's place to bytes start..end of the source. Returns -1. */
int lexer_fail_at(const struct lexer *lexer, size_t start, size_t end, struct err *err,
                  enum err_name name, const char *fmt, ...) PRINTF_LIKE(6, 7);
int lexer_mark(const struct lexer *lexer, size_t start, size_t end, struct err *err);

/* "=" or "the end of the line": how an error names a token. At most about 40 bytes. */
const char *token_show(const struct lexer *lexer, const struct token *token);

/* A piece of user text fit for an error's sentence: one line, cut to max bytes at a character. */
const char *text_show(struct arena *arena, struct bytes text, size_t max);

/* Where the comment and the ';' at the end of a magic line begin: the length without them. */
size_t line_strip(struct bytes line);

bool is_name_start(char c);
bool is_name_char(char c);
bool is_blank(char c);

#endif
