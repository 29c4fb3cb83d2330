#include "model/ptx/shadow.h"
int race_new(struct cta *cta)
{
    (void)cta;
    return 0;
}
void race_block(struct cta *cta)
{
    (void)cta;
}
int race_access(struct warp *w, const struct insn *in, const struct access *a, uint32_t mask)
{
    (void)w, (void)in, (void)a, (void)mask;
    return EXEC_OK;
}
