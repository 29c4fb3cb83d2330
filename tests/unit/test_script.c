/* How a script falls into cells. */
#include "cells/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void lines_that_hold_just_two_percent_signs_separate_cells(void **state)
{
    static const struct {
        const char *text, *cells[4];
    } cases[] = {
        { "", { "" } },
        { "a", { "a" } },
        { "a\nb\n", { "a\nb\n" } },
        { "a\n%%\nb", { "a\n", "b" } },
        { "a\n%% \t\r\nb\n%%", { "a\n", "b\n", "" } },
        { "%%\n%%\n", { "", "", "" } },
        { "%%grade\n x %%\n%%%\n", { "%%grade\n x %%\n%%%\n" } },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bytes rest = bytes_of(cases[i].text), cell;
        size_t n = 0;

        while (script_next_cell(&rest, &cell)) {
            assert_non_null(cases[i].cells[n]);
            assert_true(bytes_equal(cell, cases[i].cells[n]));
            n++;
        }
        assert_null(cases[i].cells[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_hold_just_two_percent_signs_separate_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
