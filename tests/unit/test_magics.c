/*
 * The table of magics: every example runs as it stands, and every row can be
 * explained.
 */
#include "cells/glossary.h"
#include "cells/magic.h"
#include "tests/unit/cell_harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Next to the tests lies the program whose child processes these magics need. */
static const char *program(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

    if (n < 0)
        return NULL;
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    if (!strrchr(path, '/'))
        return NULL;
    strcpy(strrchr(path, '/'), "/warpbook");
    return access(path, X_OK) == 0 ? path : NULL;
}

static bool needs_children(const struct magic *magic)
{
    return strcmp(magic->name, "run") == 0 || strcmp(magic->name, "doctor") == 0;
}

static void every_example_runs_as_it_stands(void **state)
{
    struct session_options options = { .device = "L40S", .self = program() };
    struct err err = { 0 };
    struct harness *h = *state;

    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        const struct magic *magic = MAGICS[i];

        if (needs_children(magic) && !options.self) {
            print_message("[  SKIPPED ] %%%s: build/warpbook is not there\n", magic->name);
            continue;
        }
        session_free(&h->session);
        assert_int_equal(session_new(&options, &h->session, &err), 0);
        h->answer = "12";
        if (harness_run(h, magic->example) < 0) {
            /* A program of NVIDIA's that not every machine has. */
            if (strcmp(magic->name, "sass") == 0 && strstr(h->report.evalue, "nvdisasm")) {
                print_message("[  SKIPPED ] %%sass: there is no nvdisasm\n");
                continue;
            }
            print_message("%s\n", magic->example);
            harness_print_report(h);
            fail_msg("the example of %%%s", magic->name);
        }
        assert_string_equal(buf_text(&h->errs), "");
    }
}

static void every_line_to_try_runs(void **state)
{
    struct harness *h = *state;

    assert_int_equal(GLOSSARY_COUNT, 31);
    for (size_t i = 0; i < GLOSSARY_COUNT; i++) {
        const char *line = GLOSSARY[i].try;

        assert_ptr_equal(glossary_find(GLOSSARY[i].name), &GLOSSARY[i]);
        if (!line || strncmp(line, "%run", 4) == 0)
            continue;
        if (harness_run(h, line) < 0) {
            print_message("%s\n", line);
            harness_print_report(h);
            fail();
        }
    }
}

static void every_row_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        const struct magic *m = MAGICS[i];

        assert_non_null(m->name);
        assert_true(m->summary && strlen(m->summary) <= 80);
        assert_non_null(m->about);
        assert_non_null(m->example);
        assert_non_null(m->run);
        for (size_t k = 0; k < m->param_count; k++) {
            const struct param *p = &m->params[k];

            assert_non_null(p->help);
            assert_true(p->min <= p->max);
            if (p->type == PARAM_CHOICE)
                assert_non_null(p->choices);
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(p->name, m->params[j].name);
        }
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(m->name, MAGICS[j]->name);
    }
}

static void every_magic_has_a_page(void **state)
{
    struct harness *h = *state;
    char cell[64];

    for (size_t i = 0; i < MAGIC_COUNT; i++) {
        snprintf(cell, sizeof(cell), "%%%s?", MAGICS[i]->name);
        assert_prints(h, cell, "");
        assert_non_null(strstr(buf_text(&h->payload), MAGICS[i]->summary));
        snprintf(cell, sizeof(cell), "?%s", MAGICS[i]->name);
        assert_prints(h, cell, "");
        assert_non_null(strstr(buf_text(&h->payload), MAGICS[i]->summary));
        snprintf(cell, sizeof(cell), "%s%s --help", MAGICS[i]->flags & MAGIC_CELL ? "%%" : "%",
                 MAGICS[i]->name);
        assert_prints(h, cell, "");
        assert_non_null(strstr(buf_text(&h->payload), MAGICS[i]->summary));
    }
    assert_prints(h, "%help", "");
    assert_prints(h, "n = 5\nn?", "");
    assert_non_null(strstr(buf_text(&h->payload), "int"));
    assert_fails(h, "%help wrap", "NameError", "warp is the nearest");
    assert_fails(h, "%help zzzzzz", "NameError", "nothing is called zzzzzz");
}

static void the_small_magics_do_what_they_say(void **state)
{
    struct harness *h = *state;

    assert_prints(h, "%echo  a  b # comment", "a  b\n");
    assert_prints(h, "%echo it's ( \"x\" see https://x.y;", "it's ( \"x\" see https://x.y\n");
    assert_prints(h, "%echo -e oops", "");
    assert_string_equal(buf_text(&h->errs), "oops\n");
    assert_prints(h, "%echo", "\n");
    h->answer = "12";
    assert_prints(h, "%input k \"how many? \"\n%print k + 1", "how many? 13\n");
    h->answer = "ab c";
    assert_prints(h, "%input k\n%print k", "ab c\n");
    h->answer = NULL;
    assert_fails(h, "%input k", "UsageError", "nobody can answer");
    assert_prints(h, "%clear", "");
    assert_int_equal(h->clears, 1);
    assert_prints(h, "%reset data", "");
    assert_fails(h, "%print k", "NameError", "no variable is called k");
    assert_prints(h, "x = [1,2]\n%who", "");
    assert_non_null(strstr(buf_text(&h->display), "1 variable, 0 buffers, 0 definitions"));
    assert_prints(h, "%%for i in 1..3\n%print i\n", "1\n2\n3\n");
    assert_prints(h, "%%for s in [\"a\", \"b\"]\n%print s\n", "a\nb\n");
    assert_fails(h, "%%for i in [4,0]\n%print 8 / i\n", "ValueError", "divides by zero");
    assert_fails(h, "%%for i of [4,0]\n%print 8 / i\n", "SyntaxError", "NAME in LIST");
    assert_fails(h, "%%for i in 4\n%print 8 / i\n", "UsageError", "needs a list");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, harness_set_up, harness_tear_down)
    const struct CMUnitTest tests[] = {
        T(every_example_runs_as_it_stands),   T(every_line_to_try_runs),
        T(every_row_says_what_it_is),         T(every_magic_has_a_page),
        T(the_small_magics_do_what_they_say),
    };

    return cmocka_run_group_tests_name("magics", tests, NULL, NULL);
}
