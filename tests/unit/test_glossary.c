/*
 * The words that the first text explains: each has a page, however it is asked
 * for.
 */
#include "tests/unit/cell_harness.h"

#include "cells/glossary.h"

#include <stdio.h>

/* LESSONS.md F51. */
static const char *const WORDS[] = {
    "GPU",
    "CPU",
    "SIMT",
    "SIMD",
    "kernel",
    "thread",
    "warp",
    "lane",
    "block",
    "SM",
    "CC",
    "warp scheduler",
    "issue",
    "resident warp",
    "register",
    "register file",
    "FP32",
    "KB",
    "VRAM",
    "stall",
    "latency hiding",
    "occupancy",
    "shared memory",
    "branch divergence",
    "program counter",
    "ILP",
    "spill",
    "local memory",
    "CUDA",
    "nvcc",
};

static void the_thirty_words_are_explained(void **state)
{
    const struct term *term;

    (void)state;
    assert_int_equal(COUNT(WORDS), 30);
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        term = glossary_find(WORDS[i]);
        if (!term || strlen(term->text) < 60)
            fail_msg("%s", WORDS[i]);
        assert_string_equal(term->name, WORDS[i]);
    }
}

static void help_has_a_page_for_each(void **state)
{
    struct harness *h = *state;
    char code[60];

    for (size_t i = 0; i < COUNT(WORDS); i++) {
        snprintf(code, sizeof(code), "%%help %s", WORDS[i]);
        if (harness_run(h, code) < 0)
            fail_msg("%s: %s", code, h->report.evalue);
        if (!strstr(buf_text(&h->payload), WORDS[i]) && !strstr(buf_text(&h->display), WORDS[i]) &&
            !strstr(buf_text(&h->out), WORDS[i]))
            fail_msg("%s shows another page", code);
    }
}

/* What Shift-Tab shows with the cursor at a place of a comment explains the word. */
static bool is_explained(struct harness *h, const char *word, size_t at)
{
    char code[80], head[40];
    int n = snprintf(code, sizeof(code), "// one %s and another", word);
    struct err err = { 0 };
    json_t *data = NULL;
    const char *text;
    bool found;

    if (session_inspect(h->session, (struct bytes){ code, (size_t)n }, at, 0, &data, &err) < 0)
        fail_msg("%s: %s", word, err.text);
    text = json_string_value(json_object_get(data, "text/plain"));
    snprintf(head, sizeof(head), "%s\n\n  ", word); /* the term's head, the text below it */
    found = text && strstr(text, head);
    json_decref(data);
    return found;
}

static void inspection_explains_each_in_a_sentence(void **state)
{
    enum { START = 7 /* behind "// one " */ };

    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (!is_explained(*state, WORDS[i], START + 1) ||
            !is_explained(*state, WORDS[i], START + strlen(WORDS[i])))
            fail_msg("%s", WORDS[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thirty_words_are_explained),
        cmocka_unit_test(help_has_a_page_for_each),
        cmocka_unit_test(inspection_explains_each_in_a_sentence),
    };

    return cmocka_run_group_tests(tests, harness_set_up, harness_tear_down);
}
