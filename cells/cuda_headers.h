/*
 * Headers that CUDA programs include. Device code needs few of them, and some take a second to
 * compile: a header goes into a compilation only when its text uses what the header is for, and
 * always at the same place in the order, so that the compiler's precompiled headers fit.
 */
#ifndef WB_CELLS_CUDA_HEADERS_H
#define WB_CELLS_CUDA_HEADERS_H

#include "model/base/base.h"

#include <stdbool.h>

enum header_kind {
    HEADER_PLAIN,     /* as written; unknown ones too */
    HEADER_ON_DEMAND, /* only with one of its words */
    HEADER_HOST,      /* for the host alone: left out */
};

struct cuda_header {
    enum header_kind kind;
    int rank;          /* its place in the order; unknown ones come last */
    const char *words; /* ON_DEMAND: identifiers that need it, apart by blanks; x* is a prefix */
};

/* "cuda_fp16.h" of `#include <cuda_fp16.h>`; empty when the directive names no file. */
struct bytes cuda_header_name(struct bytes directive);
struct cuda_header cuda_header_find(struct bytes name);

/* Does an identifier ask for the header? */
bool cuda_header_wants(const struct cuda_header *header, struct bytes word);

/* Headers that nvcc's programs have without asking: INFINITY, INT_MAX, uint32_t, std::min, ...
 * Marks those that a word asks for; is_std: of a text that says std. is_wanted has
 * CUDA_IMPLIED_MOST. */
enum { CUDA_IMPLIED_MOST = 24 };
void cuda_implied_want(struct bytes word, bool is_std, bool *is_wanted);

/* The one for the exchange between lanes as it was before Volta. */
#define CUDA_LEGACY_WARP "#include <warpbook/legacy_warp.h>"

/* The i-th as a directive, NULL behind the last. */
const char *cuda_implied_include(size_t i);

/* Does nvcc want the i-th written? Whoever pastes a kernel without its file's head lacks those. */
bool cuda_implied_is_lent(size_t i);

#endif
