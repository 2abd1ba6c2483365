/* What the tests of perhaps.hpp share: checks that also work without exceptions. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                                               \
    ((condition) ? (void)0                                                                                             \
                 : (std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), std::exit(1)))

#endif
