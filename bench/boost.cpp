// The real filters of Boost.Bloom beside those of ours that stand for them (multi_block.c,
// bulk_bloom.c): to see that these are as fast. Built where Boost is installed, for AVX2.
#include <boost/bloom.hpp>

#include <cstring>
#include <new>

extern "C" {
#include "rivals.h"
}

namespace {

// Huge pages, as all have.
template <class T> struct huge_pages {
    using value_type = T;
    huge_pages() = default;
    template <class U> huge_pages(const huge_pages<U> &) {
    }
    T *allocate(std::size_t n) {
        void *memory = machine_memory(n * sizeof(T));
        if (!memory) throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t n) {
        machine_release(memory, n * sizeof(T));
    }
    template <class U> bool operator==(const huge_pages<U> &) const {
        return true;
    }
    template <class U> bool operator!=(const huge_pages<U> &) const {
        return false;
    }
};

template <std::size_t K, class Subfilter>
using filter =
    boost::bloom::filter<std::uint64_t, K, Subfilter, 0, boost::hash<std::uint64_t>, huge_pages<unsigned char>>;

// The calls of a rival; rivals.h says what they do.
template <class Filter> struct calls {
    static Filter &of(rival_filter *r) {
        return *static_cast<Filter *>(r->memory);
    }

    // As in cells.c: random words, where adding all members would take too long.
    static int open(rival_filter *r, uint64_t bytes, uint64_t members) try {
        auto *made = new Filter(bytes * 8);
        r->memory = made;
        if (members <= MOST_REAL_MEMBERS) return 0;
        auto array = made->array();
        for (std::size_t i = 0; i + sizeof(uint64_t) <= array.size(); i += sizeof(uint64_t)) {
            uint64_t word = key_number(~(uint64_t)i);
            std::memcpy(array.data() + i, &word, sizeof word);
        }
        return 0;
    } catch (const std::bad_alloc &) {
        return -1;
    }

    static void close(rival_filter *r) {
        delete &of(r);
    }

    static void contains_many(rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
        of(r).may_contain(keys, keys + n, [&](const uint64_t &, bool found) { *answers++ = found; });
    }

    static void contains(rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
        const Filter &filter = of(r);
        for (size_t i = 0; i < n; i++) answers[i] = filter.may_contain(keys[i]);
    }

    static void add_many(rival_filter *r, const uint64_t *keys, size_t n, uint8_t *) {
        of(r).insert(keys, keys + n);
    }

    static void add(rival_filter *r, const uint64_t *keys, size_t n, uint8_t *) {
        Filter &filter = of(r);
        for (size_t i = 0; i < n; i++) filter.insert(keys[i]);
    }

    static constexpr rival make(const char *name, const rival &kept) {
        rival made = {};
        made.name = name;
        made.kept = &kept;
        made.open = open;
        made.close = close;
        made.calls[OP_CONTAINS_MANY] = contains_many;
        made.calls[OP_CONTAINS] = contains;
        made.calls[OP_ADD_MANY] = add_many;
        made.calls[OP_ADD] = add;
        return made;
    }
};

using block_32 = calls<filter<1, boost::bloom::fast_multiblock32<8>>>;
using block_64 = calls<filter<1, boost::bloom::fast_multiblock64<8>>>;
using classic = calls<filter<7, boost::bloom::block<unsigned char, 1>>>;

} // namespace

constexpr rival boost_multi_block_32 = block_32::make("Boost fast_multiblock32", multi_block_32);
constexpr rival boost_multi_block_64 = block_64::make("Boost fast_multiblock64", multi_block_64);
constexpr rival boost_bloom = classic::make("Boost filter", bulk_bloom);
