/* Ways to write memory other than by a store: matrices, copies beside the threads, the heap. */
#include "tests/unit/ptx_rig.h"

struct call {
    uint64_t out;
    int n;
};

static void what_is_written_in_any_way_has_a_value_and_may_race(void **state)
{
    static const struct {
        const char *kernel;
        enum err_name name;
        const char *text; /* NULL: right */
    } cases[] = {
        { "wmma_shared_ok", 0, NULL },
        { "wmma_shared_bad", ERR_RaceFault, "reads tile[255] while thread 31 writes it" },
        { "wmma_half_bad", ERR_MemoryFault, "which no thread of the block wrote" },
        { "wmma_global_ok", 0, NULL },
        { "ldmatrix_ok", 0, NULL },
        { "ldmatrix_bad", ERR_MemoryFault, "reads tile[28], which no thread of the block wrote" },
        { "ldmatrix_race_bad", ERR_RaceFault, "reads tile[0] while thread 32 writes it" },
        { "heap_ok", 0, NULL },
        { "heap_bad", ERR_MemoryFault, "which was never written" },
        { "memset_ok", 0, NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct call p = { .n = 3 };
        struct rig rig;
        uint8_t bits[512] = { 0 };
        int rc;

        rig_load_sample(&rig, "writers.opt");
        rig_buffer(&rig, 4096, &p.out);
        rig.buffers[0].name = "out";
        if (!strcmp(cases[i].kernel, "wmma_global_ok"))
            rig.buffers[0].defined = bits;
        rc = rig_try(&rig, cases[i].kernel, 1, 64, &p);
        if (rc != (cases[i].text ? -1 : 0) ||
            (cases[i].text &&
             (rig.err.name != cases[i].name || !strstr(rig.err.text, cases[i].text))))
            fail_msg("%s: %d %s", cases[i].kernel, rc, rc < 0 ? rig.err.text : "");
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_in_any_way_has_a_value_and_may_race),
    };

    return rig_run_builds(tests, COUNT(tests));
}
