/*
 * The words of CUDA C that completion offers and Shift-Tab explains.
 */
#ifndef WB_CELLS_WORDS_H
#define WB_CELLS_WORDS_H

#include <stddef.h>

struct cuda_word {
    const char *name, *signature, *help;
};

extern const struct cuda_word CUDA_WORDS[];
extern const size_t CUDA_WORD_COUNT;

#endif
