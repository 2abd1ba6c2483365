#include "cmocka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

enum { RAN, FAILED, SKIPPED };

static jmp_buf runner;

void print_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void _fail(const char *file, int line) {
    print_error("%s:%d: failed\n", file, line);
    longjmp(runner, FAILED);
}

void _skip(const char *file, int line) {
    print_error("%s:%d: skipped\n", file, line);
    longjmp(runner, SKIPPED);
}

static int run_one(const struct CMUnitTest *test) {
    static const char *const words[] = {"OK", "FAILED", "SKIPPED"};
    void *state = test->initial_state;
    int outcome = setjmp(runner);
    if (outcome == RAN) test->test_func(&state);
    printf("[ %s ] %s\n", words[outcome], test->name);
    fflush(stdout);
    return outcome == FAILED;
}

int standin_run(const struct CMUnitTest *tests, size_t n, int (*setup)(void **), int (*teardown)(void **)) {
    void *state = NULL;
    int failed = 0;
    if (setup && setup(&state) != 0) return 1;
    for (size_t i = 0; i < n; i++) failed += run_one(&tests[i]);
    if (teardown) teardown(&state);
    return failed;
}
