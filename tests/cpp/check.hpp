/* What the tests of perhaps.hpp share. The checks also work without exceptions. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include <perhaps.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using u64s = std::vector<std::uint64_t>;
using answers = std::vector<std::uint8_t>;

#define CHECK(condition)                                                                                               \
    ((condition) ? (void)0                                                                                             \
                 : (std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), std::exit(1)))

inline ph::filter make(ph::kind kind, std::uint64_t items = 10000) {
    ph::want want;
    want.kind = kind;
    want.items = items;
    if (kind != ph::kind::bitmap && kind != ph::kind::table) want.fpr = 0.001;
    return ph::filter::create(want).value();
}

#endif
