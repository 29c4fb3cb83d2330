/*
 * Until cells/cuda.c is pushed: a session without a compiler, so that the other
 * rooms can link. Goes with its first push.
 */
#include "cells/cuda.h"

#include <stdlib.h>

#define UNTIL_THEN __attribute__((weak))

struct cuda {
    int count;
};

UNTIL_THEN struct cuda *cuda_new(void)
{
    return calloc(1, sizeof(struct cuda));
}

UNTIL_THEN void cuda_free(struct cuda **cuda)
{
    free(*cuda);
    *cuda = NULL;
}

UNTIL_THEN void cuda_reset(struct cuda *cuda)
{
    (void)cuda;
}

UNTIL_THEN int cuda_run_segment(struct session *session, struct bytes source, int first_line,
                                struct sink *sink, struct err *err)
{
    (void)session;
    (void)source;
    (void)sink;
    err_set(err, ERR_UnsupportedError, "no compiler in this build");
    return err_at(err, first_line, 1, 1);
}

UNTIL_THEN size_t cuda_name_count(const struct cuda *cuda)
{
    (void)cuda;
    return 0;
}

UNTIL_THEN struct cuda_name cuda_name_at(const struct cuda *cuda, size_t i)
{
    (void)cuda;
    (void)i;
    return (struct cuda_name){ "", CUDA_KERNEL, "", 0 };
}

UNTIL_THEN bool cuda_constant_text(const struct cuda *cuda, const char *name, struct bytes *text)
{
    (void)cuda;
    (void)name;
    (void)text;
    return false;
}
