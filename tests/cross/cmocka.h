/*
 * The few names of cmocka that the tests use, for machines that are only emulated and have no
 * cmocka package. A failed check jumps back to the runner, which prints a line per test and counts.
 * Native builds use the real cmocka.
 */
#ifndef PERHAPS_CROSS_CMOCKA_H
#define PERHAPS_CROSS_CMOCKA_H

#include <stddef.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(function)                                                                                     \
    { #function, function, NULL, NULL, NULL }
#define cmocka_run_group_tests(tests, setup, teardown)                                                                 \
    standin_run((tests), sizeof(tests) / sizeof *(tests), (setup), (teardown))
#define skip() _skip(__FILE__, __LINE__)

__attribute__((format(printf, 1, 2))) void print_error(const char *format, ...);
__attribute__((noreturn)) void _fail(const char *file, int line);
__attribute__((noreturn)) void _skip(const char *file, int line);
int standin_run(const struct CMUnitTest *tests, size_t n, int (*setup)(void **), int (*teardown)(void **));

#endif
