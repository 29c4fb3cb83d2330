/*
 * The words of the field, each in two or three plain sentences: what Shift-Tab
 * and %help say of warp, stall or coalescing.
 */
#ifndef WB_CELLS_GLOSSARY_H
#define WB_CELLS_GLOSSARY_H

#include <stddef.h>

struct term {
    const char *name; /* "warp", "block slot" */
    const char *also; /* other spellings, separated by commas; or NULL */
    const char *text;
    const char *try; /* a line that shows it, or NULL */
};

extern const struct term GLOSSARY[];
extern const size_t GLOSSARY_COUNT;

/* By name or other spelling; case, blanks, '-' and '_' do not count. NULL: unknown. */
const struct term *glossary_find(const char *name);

#endif
