/* The history: what is asked for comes back, and the file survives its writers. */
#include "jupyter-kernel/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/warpbook-history-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/deep/history.jsonl", folder);
    return 0;
}

static int tear_down(void **state)
{
    char parent[64];

    (void)state;
    unlink(path);
    snprintf(parent, sizeof(parent), "%s/deep", folder);
    rmdir(parent);
    return rmdir(folder);
}

static struct history *open_history(const char *file)
{
    struct history *history = NULL;
    struct err err = { 0 };

    assert_int_equal(history_new(file, &history, &err), 0);
    return history;
}

static void add(struct history *history, int64_t line, const char *input)
{
    history_add_input(history, line, bytes_of(input));
}

/* Takes json and compares it as text. */
static void expect(json_t *json, const char *want)
{
    char *text = json_dumps(json, JSON_COMPACT);

    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    json_decref(json);
}

static void the_last_lines_come_oldest_first(void **state)
{
    struct history *history = open_history(NULL);

    (void)state;
    expect(history_tail(history, 3, false), "[]");
    add(history, 1, "a");
    add(history, 2, "b");
    add(history, 3, "c");
    expect(history_tail(history, 2, false), "[[1,2,\"b\"],[1,3,\"c\"]]");
    expect(history_tail(history, 0, false), "[]");
    expect(history_tail(history, 99, false), "[[1,1,\"a\"],[1,2,\"b\"],[1,3,\"c\"]]");
    history_free(&history);
    assert_null(history);
}

static void outputs_come_when_asked_for(void **state)
{
    struct history *history = open_history(path);

    (void)state;
    add(history, 1, "%score 1");
    history_add_output(history, 1, "1");
    add(history, 2, "b");
    expect(history_tail(history, 2, true), "[[1,1,[\"%score 1\",\"1\"]],[1,2,[\"b\",null]]]");
    history_free(&history);
    history = open_history(path);
    expect(history_tail(history, 2, true), "[[1,1,[\"%score 1\",\"1\"]],[1,2,[\"b\",null]]]");
    history_free(&history);
}

static void sessions_that_share_a_file_have_numbers_of_their_own(void **state)
{
    struct history *first = open_history(path), *second = open_history(path);

    (void)state;
    add(first, 1, "a");
    add(second, 1, "b");
    add(first, 2, "c");
    expect(history_tail(second, 9, false), "[[1,1,\"a\"],[1,2,\"c\"],[2,1,\"b\"]]");
    expect(history_range(second, 0, 0, 0, false), "[[2,1,\"b\"]]");
    expect(history_range(second, -1, 2, 0, false), "[[1,2,\"c\"]]");
    expect(history_range(second, 1, 1, 2, false), "[[1,1,\"a\"]]");
    expect(history_range(second, 7, 0, 0, false), "[]");
    history_free(&first);
    history_free(&second);
}

static void search_takes_globs(void **state)
{
    static const struct {
        const char *pattern, *found;
    } cases[] = {
        { "*", "[[1,1,\"%echo a\"],[1,2,\"\xC3\xA4\"],[1,3,\"%echo b\"],[1,4,\"%echo a\"]]" },
        { "%echo *", "[[1,1,\"%echo a\"],[1,3,\"%echo b\"],[1,4,\"%echo a\"]]" },
        { "*b", "[[1,3,\"%echo b\"]]" },
        { "?", "[[1,2,\"\xC3\xA4\"]]" },
        { "%echo ?", "[[1,1,\"%echo a\"],[1,3,\"%echo b\"],[1,4,\"%echo a\"]]" },
        { "%e*o*a", "[[1,1,\"%echo a\"],[1,4,\"%echo a\"]]" },
        { "echo", "[]" },
        { "", "[]" },
        { "**?*", "[[1,1,\"%echo a\"],[1,2,\"\xC3\xA4\"],[1,3,\"%echo b\"],[1,4,\"%echo a\"]]" },
    };
    struct history *history = open_history(NULL);

    (void)state;
    add(history, 1, "%echo a");
    add(history, 2, "\xC3\xA4");
    add(history, 3, "%echo b");
    add(history, 4, "%echo a");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(history_search(history, bytes_of(cases[i].pattern), 0, false, false),
               cases[i].found);
    expect(history_search(history, bytes_of("%echo*"), 0, true, false),
           "[[1,3,\"%echo b\"],[1,4,\"%echo a\"]]");
    expect(history_search(history, bytes_of("%echo*"), 2, false, false),
           "[[1,3,\"%echo b\"],[1,4,\"%echo a\"]]");
    expect(history_search(history, bytes_of("%echo*"), 1, true, false), "[[1,4,\"%echo a\"]]");
    history_free(&history);
}

static void a_torn_line_costs_only_itself(void **state)
{
    struct history *history = open_history(path);
    FILE *file;

    (void)state;
    add(history, 1, "a");
    history_free(&history);
    file = fopen(path, "a");
    assert_non_null(file);
    fputs("{\"session\":1,\"line\":2,\"inp", file);
    fclose(file);
    history = open_history(path);
    add(history, 1, "b");
    expect(history_tail(history, 9, false), "[[1,1,\"a\"],[2,1,\"b\"]]");
    history_free(&history);
    history = open_history(path);
    expect(history_tail(history, 9, false), "[[1,1,\"a\"],[2,1,\"b\"]]");
    history_free(&history);
}

static void only_the_owner_may_read_the_file(void **state)
{
    struct history *history = open_history(path);
    struct stat info;

    (void)state;
    add(history, 1, "secret");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    history_free(&history);
}

static void a_file_that_cannot_be_written_leaves_the_memory(void **state)
{
    struct history *history = open_history("/proc/none/history.jsonl");

    (void)state;
    add(history, 1, "a");
    add(history, 2, "b");
    expect(history_tail(history, 9, false), "[[1,1,\"a\"],[1,2,\"b\"]]");
    history_free(&history);
}

static void zeros_newlines_and_quotes_survive(void **state)
{
    struct history *history = open_history(path);

    (void)state;
    history_add_input(history, 1, (struct bytes){ "a\0\n\"\xF0\x9F\x98\x80", 8 });
    history_free(&history);
    history = open_history(path);
    expect(history_tail(history, 1, false), "[[1,1,\"a\\u0000\\n\\\"\xF0\x9F\x98\x80\"]]");
    history_free(&history);
}

static void the_environment_says_where_the_file_is(void **state)
{
    char *found;

    (void)state;
    setenv("WARPBOOK_HISTORY", "off", 1);
    assert_null(history_default_path());
    setenv("WARPBOOK_HISTORY", "", 1);
    assert_null(history_default_path());
    setenv("WARPBOOK_HISTORY", "/x/y", 1);
    found = history_default_path();
    assert_string_equal(found, "/x/y");
    free(found);
    unsetenv("WARPBOOK_HISTORY");
    setenv("XDG_DATA_HOME", "/data", 1);
    found = history_default_path();
    assert_string_equal(found, "/data/warpbook/history.jsonl");
    free(found);
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/x", 1);
    found = history_default_path();
    assert_string_equal(found, "/home/x/.local/share/warpbook/history.jsonl");
    free(found);
}

int main(void)
{
#define ON_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_lines_come_oldest_first),
        ON_FILE(outputs_come_when_asked_for),
        ON_FILE(sessions_that_share_a_file_have_numbers_of_their_own),
        cmocka_unit_test(search_takes_globs),
        ON_FILE(a_torn_line_costs_only_itself),
        ON_FILE(only_the_owner_may_read_the_file),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_the_memory),
        ON_FILE(zeros_newlines_and_quotes_survive),
        cmocka_unit_test(the_environment_says_where_the_file_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
