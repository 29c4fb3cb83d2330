/*
 * Receives what -fsanitize-coverage=trace-pc reports. Compiled without that option, since a
 * report about the reporter would never end.
 */
#include "tests/fuzz/fuzz.h"

uint8_t coverage_map[COVERAGE_SLOTS];
int coverage_is_on;

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t place = (uintptr_t)__builtin_return_address(0);
    uint8_t *count = &coverage_map[(place ^ place >> 16) % COVERAGE_SLOTS];

    if (coverage_is_on && *count < 255)
        (*count)++;
}
