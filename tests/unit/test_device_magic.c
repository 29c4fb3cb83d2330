/*
 * %device and %devices as a cell sees them: devices that are made up on a line
 * or in a file, and what is refused, with the place where it was written.
 */
#include "tests/unit/cell_harness.h"

#include "cells/device_file.h"
#include "cells/figure.h"
#include "cells/file.h"
#include "cells/magics/device.h"

#include <stdio.h>
#include <unistd.h>

static void textbook_devices_can_be_made_up(void **state)
{
    static const struct {
        const char *line;
        int blocks, warps; /* of %occupancy block=256 regs=32 */
    } cases[] = {
        { "threads=2048 blocks=32", 8, 64 },
        { "threads=1536 blocks=4", 4, 32 },
        { "threads=1536 blocks=8 registers=16K", 2, 16 },
        { "threads=2048 blocks=16 registers=64K", 8, 64 },
        { "warps=32 blocks=4", 4, 32 },
        { "threads=512 blocks=8 registers=8K", 1, 8 },
        { "threads=2048 blocks=32 shared=96K from=A100", 8, 64 },
        { "threads=768 blocks=8 partitions=1 registers=8192", 1, 8 },
    };
    char code[300];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(code, sizeof(code),
                 "%%device L40S\n%%device toy %s\n%%occupancy block=256 regs=32\n"
                 "%%check _.active_blocks == %d\n%%check _.active_warps == %d",
                 cases[i].line, cases[i].blocks, cases[i].warps);
        harness_must_run(*state, code);
    }
}

static void what_is_not_given_is_taken_from_the_base_or_follows(void **state)
{
    static const char *const cells[] = {
        "%device toy threads=1024 from=A100\n%check _.sms == 108\n%check _.warps_per_sm == 32",
        "%device H200\n%device toy blocks=4\n%check _.sms == 132\n%check _.blocks_per_sm == 4",
        "%device toy from=L40S warps=40\n%check _.threads_per_sm == 1280",
        "%device toy from=L40S registers=16K\n%check _.registers_per_block == 16384",
        "%device toy from=L40S shared=200K\n%check _.shared_per_block_optin == 199 * 1024",
        "%device toy from=L40S shared=16K\n%check _.shared_per_block == 15 * 1024\n"
        "%check _.carveouts_kb == [0, 8, 16]",
        "%device toy from=L40S clock=1.98GHz bandwidth=3.2TB/s l2=50M sms=1\n"
        "%check _.clock_mhz == 1980\n%check _.bandwidth_gbs == 3200\n%check _.l2_bytes == 50M",
        "%device toy from=L40S clock=1500 bandwidth=900\n%check _.clock_mhz == 1500\n"
        "%check _.bandwidth_gbs == 900",
        "%device toy from=L40S memory_latency=400\n%check _.latencies.memory.least == 400\n"
        "%check _.latencies.memory.sources == 0\n%check _.latencies.l2.least == 222",
        "%device toy from=L40S\n%check _.name == \"toy\"\n%check _.warps_per_sm == 48",
    };

    harness_passes(*state, cells, COUNT(cells));
}

/* LESSONS.md F11, F127. */
static void latencies_are_fields_with_their_sources(void **state)
{
    static const char *const cells[] = {
        "%device H200\n%check _.latencies.fma.least == 4\n%check _.latencies.memory.most == 700\n"
        "%check _.latencies.l2.sources == 5\n%check _.latencies.shared.most == 30",
        "%device cc=8.9\n%check _.latencies.memory.least == 589",
        "%devices show=latency\n%check _.published[0].source == \"Jia et al., arXiv 1804.06826\"\n"
        "%check _.published[0].quantity == \"fma\"",
        "%devices limits",
    };

    harness_passes(*state, cells, COUNT(cells));
    harness_must_run(*state, "%device L40S\n%device");
    assert_non_null(strstr(buf_text(&((struct harness *)*state)->display), "  unknown "));
    /* No number is no zero: */
    assert_int_equal(harness_run(*state, "%device L40S\n%check _.latencies.double.least == 0"), -1);
}

static void one_device_shows_its_latencies_in_a_screen(void **state)
{
    struct harness *h = *state;
    const char *text;
    size_t lines = 0;

    harness_must_run(h, "%device L40S\n%devices show=latency device=H200");
    text = strstr(buf_text(&h->display), "GPUs and");
    if (!text)
        text = strstr(buf_text(&h->result), "GPUs and");
    assert_non_null(text);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_in_range(lines, 20, 50);
    assert_non_null(strstr(text, "on H200"));
    assert_non_null(strstr(text, "load from the card's memory"));
    assert_non_null(strstr(text, "482..700"));
    harness_must_run(h, "%device slow from=L40S fma_latency=24\n%devices show=latency");
    assert_non_null(strstr(buf_text(&h->display), "invented"));
}

static const struct figure_thing *thing_of(const struct figure_thing *things, size_t n,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(things[i].name, name) == 0)
            return &things[i];
    return NULL;
}

static size_t marks_of(const struct figure_thing *things, size_t n, const char *name)
{
    const struct figure_thing *thing = thing_of(things, n, name);

    return thing ? thing->marks : SIZE_MAX;
}

/* LESSONS.md F7. An L40S has 2 FP64 lanes for 4 partitions: they belong to none of them. */
static void the_floor_plan_counts_what_each_partition_has(void **state)
{
    static const struct {
        const char *device;
        size_t partitions, warps, fp32, int32, fp64; /* SIZE_MAX: not in a partition */
    } cases[] = {
        { "L40S", 4, 12, 32, 16, SIZE_MAX }, { "H200", 4, 16, 32, 16, 16 },
        { "A100", 4, 16, 16, 16, 8 },        { "P100", 2, 32, 32, 0, 0 },
        { "cc 12.0", 4, 12, 32, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct result *result = result_new("device", 1);
        const struct figure_plan *plan;

        device_add_plan(result, device_find(cases[i].device));
        plan = &result->figure->first->plan;
        assert_int_equal(plan->part_count, cases[i].partitions);
        assert_int_equal(marks_of(plan->things, plan->thing_count, "room for warps"),
                         cases[i].warps);
        assert_int_equal(marks_of(plan->things, plan->thing_count, "FP32 lanes"), cases[i].fp32);
        assert_int_equal(marks_of(plan->things, plan->thing_count, "INT32 lanes"), cases[i].int32);
        assert_int_equal(marks_of(plan->things, plan->thing_count, "FP64 lanes"), cases[i].fp64);
        if (cases[i].fp64 == SIZE_MAX)
            assert_int_equal(marks_of(plan->shared, plan->shared_count, "FP64 lanes"), 2);
        result_release(&result);
    }
}

static void the_floor_plan_says_what_is_unknown(void **state)
{
    struct result *result = result_new("device", 1);
    const struct figure_plan *plan;

    (void)state;
    device_add_plan(result, device_find("P100"));
    plan = &result->figure->first->plan;
    assert_string_equal(thing_of(plan->things, plan->thing_count, "INT32 lanes")->note, "unknown");
    assert_null(thing_of(plan->things, plan->thing_count, "tensor cores"));
    result_release(&result);
}

/* 30 warps for 7 schedulers: a part has a number with decimals, and no marks. */
static void a_made_up_device_has_a_floor_plan(void **state)
{
    struct harness *h = *state;

    harness_must_run(h, "%device toy from=L40S partitions=2 warps=32 fp32=64 registers=8K");
    assert_non_null(strstr(buf_text(&h->display),
                           "An SM of toy has 2 partitions of 1 scheduler, 16 KB of registers, 32 "
                           "FP32 lanes and\nroom for 16 warps."));
    assert_non_null(strstr(buf_text(&h->display), "2 x 16 KB = 32 KB = 8,192 of 32 bits"));
    harness_must_run(h, "%device odd from=L40S partitions=7 warps=30");
    assert_non_null(strstr(buf_text(&h->display), "7 x 4.286 = 30 = 960 threads"));
}

static void impossible_devices_are_refused_where_they_are_written(void **state)
{
    static const struct {
        const char *code, *ename, *evalue;
    } cases[] = {
        { "%device toy threads=100", "ValueError", "threads=100: an SM holds whole warps" },
        { "%device toy threads=1536 warps=40", "ValueError",
          "warps=40: 1536 threads are 48 warps" },
        { "%device toy blocks=0", "ValueError", "blocks=0: blocks is 1 to 256" },
        { "%device toy blocks=many", "NameError", "many" },
        { "%device toy block_registers=128K", "ValueError", "block_registers=131072: " },
        { "%device toy block_shared=200K", "ValueError", "block_shared=204800: " },
        { "%device toy reserved=200K", "ValueError", "reserved=204800: " },
        { "%device toy shared=1K", "ValueError",
          "reserved=1024: bytes that the system keeps of a" },
        { "%device toy clock=500kHz", "ValueError", "clock=500kHz: clock is 1 to 100000 (MHz" },
        { "%device toy clock=3GB/s", "UsageError", "clock=3GB/s: not in this unit (MHz" },
        { "%device toy bloks=4", "UsageError", "bloks" },
        { "%device threads=1536", "UsageError", "a made-up device needs a name" },
        { "%device L40S threads=1536", "ValueError", "L40S is a device already" },
        { "%device toy from=L40X", "NameError", "no device is called L40X" },
        { "%device 4toy threads=64", "", "" },
        { "%device file=\"no/such.device\"", "FileError", "no/such.device" },
        { "%device file=\"/dev/zero\"", "FileError", "/dev/zero is no plain file" },
        { "%device file=\"-\"", "FileError", "-: No such file" },
        { "%device L40S save=\"no/such/folder/x\"", "FileError", "no/such/folder/x" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct harness *h = *state;

        harness_must_run(h, "%device L40S");
        if (harness_run(h, cases[i].code) == 0)
            fail_msg("%s passed", cases[i].code);
        if (!strstr(h->report.ename, cases[i].ename) || !strstr(h->report.evalue, cases[i].evalue))
            fail_msg("%s: %s: %s", cases[i].code, h->report.ename, h->report.evalue);
        harness_must_run(h,
                         "%device\n%check _.name == \"L40S\""); /* the session's is still there */
    }
}

/* ---- files ---- */

static void write_file(const char *path, const char *text)
{
    struct err err = { 0 };

    if (file_write(path, bytes_of(text), &err) < 0)
        fail_msg("%s", err.text);
}

static void a_file_makes_a_device(void **state)
{
    char path[] = "/tmp/warpbook-device-XXXXXX", code[400];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    write_file(path, "# from a textbook\nname = pocket\nfrom = A100  # an SM of 2,048 threads\n\n"
                     "threads=1536\r\n  blocks = 4\nclock = 1.5 GHz\nbandwidth = 1.2TB/s\n"
                     "shared = 64K\nmemory_latency = 400");
    snprintf(
        code, sizeof(code),
        "%%device file=\"%s\"\n%%check _.name == \"pocket\"\n%%check _.threads_per_sm == 1536\n"
        "%%check _.blocks_per_sm == 4\n%%check _.sms == 108\n%%check _.clock_mhz == 1500\n"
        "%%check _.bandwidth_gbs == 1200\n%%check _.shared_per_sm == 64K\n"
        "%%check _.latencies.memory.most == 400",
        path);
    harness_must_run(*state, code);
    harness_must_run(*state, "%occupancy device=pocket block=512\n%check _.max_warps == 48");
    snprintf(code, sizeof(code),
             "%%device other file=\"%s\" blocks=8\n%%check _.name == \"other\"\n"
             "%%check _.blocks_per_sm == 8\n%%check _.threads_per_sm == 1536",
             path);
    harness_must_run(*state, code);
    unlink(path);
}

static void what_is_saved_reads_back(void **state)
{
    char path[] = "/tmp/warpbook-device-XXXXXX", code[500];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        snprintf(code, sizeof(code),
                 "%%device \"%s\" save=\"%s\"\na = %%device \"%s\"\nb = %%device copy file=\"%s\"\n"
                 "%%check a.threads_per_sm == b.threads_per_sm && a.shared_per_sm == "
                 "b.shared_per_sm\n"
                 "%%check a.registers_per_block == b.registers_per_block && a.cc_major == "
                 "b.cc_major\n"
                 "%%check a.shared_per_block_optin == b.shared_per_block_optin\n"
                 "%%check a.cluster_max == b.cluster_max",
                 DEVICES[i].name, path, DEVICES[i].name, path);
        harness_must_run(*state, code);
        if (DEVICES[i].sms)
            harness_must_run(*state, "%check a.sms == b.sms && a.clock_mhz == b.clock_mhz");
    }
    unlink(path);
}

static void a_faulty_file_names_its_line_and_shows_it(void **state)
{
    static const struct {
        const char *text, *ename, *evalue, *shown;
    } cases[] = {
        { "threads = 1536\nbloks = 4\n", "UsageError",
          "line 2: no limit is called bloks; blocks is the nearest", "bloks = 4" },
        { "blocks = 0\n", "ValueError", "line 1: blocks=0: ", "blocks = 0" },
        { "blocks = 4.5\n", "ValueError", "line 1: blocks=4.5: ", "4.5" },
        { "blocks = many\n", "ValueError", "line 1: blocks=many is no number", "many" },
        { "blocks =\n", "ValueError", "line 1: blocks= is no number", "blocks =" },
        { "blocks = 0x10\n", "ValueError", "is no number", "0x10" },
        { "blocks = 4 GHz\n", "ValueError", "is no number", "4 GHz" },
        { "blocks = 4\n\nblocks = 5\n", "UsageError", "line 3: blocks stands in line 1 already",
          "blocks = 5" },
        { "blocks\n", "UsageError", "line 1: a line is `name = value`", "blocks" },
        { "= 4\n", "UsageError", "line 1: no limit is called", "= 4" },
        { "threads = 1536\nwarps = 40\n", "ValueError", "line 2: warps=40: ", "warps = 40" },
        { "from = L40X\n", "NameError", "line 1: no device is called L40X", "from = L40X" },
        { "name = a\nname = b\n", "UsageError", "line 2: ", "name = b" },
        { "name = L40S\n", "ValueError", "L40S is a device already", "" },
        { "clock = 1e99\n", "ValueError", "line 1: clock=", "1e99" },
    };
    char path[] = "/tmp/warpbook-device-XXXXXX", code[100];
    int fd = mkstemp(path);
    struct harness *h = *state;

    assert_true(fd >= 0);
    close(fd);
    snprintf(code, sizeof(code), "%%device file=\"%s\"", path);
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool is_shown = !*cases[i].shown;

        write_file(path, cases[i].text);
        if (harness_run(h, code) == 0)
            fail_msg("\"%s\" passed", cases[i].text);
        if (strcmp(h->report.ename, cases[i].ename) != 0 ||
            !strstr(h->report.evalue, cases[i].evalue))
            fail_msg("\"%s\": %s: %s", cases[i].text, h->report.ename, h->report.evalue);
        for (size_t k = 0; k < h->report.traceback_lines; k++)
            is_shown |= strstr(h->report.traceback[k], cases[i].shown) != NULL;
        assert_true(is_shown);
    }
    unlink(path);
}

static void the_docs_name_every_key(void **state)
{
    struct buf docs = { 0 };
    struct err err = { 0 };
    char word[40];

    (void)state;
    assert_int_equal(file_read("docs/devices.md", &docs, &err), 0);
    for (size_t i = 0; i < DEVICE_KEY_COUNT; i++) {
        snprintf(word, sizeof(word), "%s", DEVICE_KEY_ROWS[i].name);
        if (!strstr(strstr(buf_text(&docs), "Keys: `name from"), word))
            fail_msg("docs/devices.md lacks %s", word);
    }
    buf_done(&docs);
}

static void any_bytes_as_a_file_are_refused_or_read(void **state)
{
    struct arena *arena = arena_new(0);
    struct device_file file;
    char text[200];
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        static const char letters[] = "threads=blocks 0123456789.KMGHz/s#\n\r\t\0\xff-";
        struct err err = { 0 };
        size_t n = (size_t)round % sizeof(text);

        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 16) % sizeof(letters)];
        }
        if (device_file_read(arena, "x.device", (struct bytes){ text, n }, &file, &err) == 0)
            assert_true(file.count <= DEVICE_KEY_COUNT);
        else
            assert_true(err.name == ERR_UsageError || err.name == ERR_ValueError ||
                        err.name == ERR_FileError);
        err_done(&err);
    }
    arena_free(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(textbook_devices_can_be_made_up),
        cmocka_unit_test(what_is_not_given_is_taken_from_the_base_or_follows),
        cmocka_unit_test(latencies_are_fields_with_their_sources),
        cmocka_unit_test(one_device_shows_its_latencies_in_a_screen),
        cmocka_unit_test(the_floor_plan_counts_what_each_partition_has),
        cmocka_unit_test(the_floor_plan_says_what_is_unknown),
        cmocka_unit_test(a_made_up_device_has_a_floor_plan),
        cmocka_unit_test(impossible_devices_are_refused_where_they_are_written),
        cmocka_unit_test(a_file_makes_a_device),
        cmocka_unit_test(what_is_saved_reads_back),
        cmocka_unit_test(a_faulty_file_names_its_line_and_shows_it),
        cmocka_unit_test(the_docs_name_every_key),
        cmocka_unit_test(any_bytes_as_a_file_are_refused_or_read),
    };

    return cmocka_run_group_tests(tests, harness_set_up, harness_tear_down);
}
