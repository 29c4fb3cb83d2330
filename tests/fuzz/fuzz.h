/*
 * A fuzzer is one file tests/fuzz/fuzz_NAME.c with the one function below. The driver feeds it
 * inputs made from the seeds in tests/data/fuzz/NAME/ and keeps those that reach new code.
 */
#ifndef WB_TESTS_FUZZ_H
#define WB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Feeds one input to the code under test. Returns 0. The name is libFuzzer's, which fits too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the compiler's -fsanitize-coverage=trace-pc reports: a count for each place in the code. */
enum { COVERAGE_SLOTS = 1 << 16 };
extern uint8_t coverage_map[COVERAGE_SLOTS];
extern int coverage_is_on;
void __sanitizer_cov_trace_pc(void);

#endif
