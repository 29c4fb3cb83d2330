/*
 * A cell is a sequence of segments: stretches of CUDA C, and the lines that
 * Warpbook itself understands. This file finds the borders. It reads CUDA C just
 * well enough to know when a line stands outside every brace, comment and text.
 */
#ifndef WB_CELLS_SEGMENT_H
#define WB_CELLS_SEGMENT_H

#include "cells/lex.h"

enum segment_kind {
    SEGMENT_CUDA,       /* text: '#' comment lines blanked, line numbers kept */
    SEGMENT_MAGIC,      /* %name ... */
    SEGMENT_CELL_MAGIC, /* %%name ... and body */
    SEGMENT_ASSIGN,     /* n = 1000 */
    SEGMENT_LAUNCH,     /* k<<<1, 32>>>(x); */
    SEGMENT_DIM,        /* dim3 block(16, 16); */
    SEGMENT_SCALAR,     /* int n = 1000; */
    SEGMENT_HOST,       /* cudaDeviceSynchronize(); */
    SEGMENT_HELP,       /* ?name, name? */
    SEGMENT_SHELL,      /* !command */
};

struct segment {
    enum segment_kind kind;
    struct source text;     /* the whole logical line, or the stretch of CUDA C */
    struct source body;     /* SEGMENT_CELL_MAGIC: what follows its line */
    size_t main_at;         /* SEGMENT_CUDA: offset of main( in text; text.size: there is none */
    size_t open_comment_at; /* CUDA: offset of a block comment without end, or text.size */
};

/* How a cell ended; is_complete asks. */
struct segment_state {
    int depth;     /* brackets of CUDA C that are open */
    size_t opened; /* offset of the last one opened */
    bool in_comment, in_raw_text, is_continued;
    bool is_open;       /* the last token of CUDA C ended no declaration */
    bool is_unbalanced; /* a bracket was closed that nothing opened */
    bool line_is_open;  /* a magic line whose bracket or \ wants more */
};

struct segmenter {
    struct source source;
    char *text; /* a copy of the source, in which comment lines are blanked */
    size_t at;
    int line;      /* of the cell, at offset at */
    bool is_first; /* no segment was found yet: %%name may come */
    struct segment_state state;
};

/* arena: for the copy. */
int segmenter_init(struct segmenter *segmenter, struct source source, struct arena *arena,
                   struct err *err) MUST_CHECK;

/* The next segment; *found is false at the end. Fails with SyntaxError for a %%name further down.
 */
int segmenter_next(struct segmenter *segmenter, struct segment *out, bool *found,
                   struct err *err) MUST_CHECK;

#endif
