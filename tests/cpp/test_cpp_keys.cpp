/*
 * Keys of perhaps.hpp: what is a key and what is none, every form of batch beside single calls, and
 * batches that are added whole or not at all. Compiled as C++17 without exceptions and as C++20
 * with them.
 */
#include "check.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#if __cplusplus >= 202002L
#include <span>
#endif

/* Arrays that are allocated with std::nothrow, as the header's are, fail on demand. */
static bool no_memory;

void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
    return no_memory ? nullptr : std::malloc(size);
}
void *operator new[](std::size_t size) {
    void *memory = std::malloc(size ? size : 1);
    if (!memory) std::abort();
    return memory;
}
void operator delete[](void *memory) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

/* ---- what must compile, and what must not ---- */

template <class K> constexpr bool is_key = std::is_constructible_v<ph::key, K>;
template <class K> constexpr bool is_batch = std::is_convertible_v<K, ph::keys>;
static_assert(is_key<const char *> && is_key<const char (&)[4]> && is_key<std::string> && is_key<std::string_view>);
static_assert(is_key<int> && is_key<unsigned> && is_key<std::uint64_t> && is_key<std::size_t> && is_key<std::uint8_t>);
static_assert(is_key<std::vector<std::byte>> && is_key<std::array<unsigned char, 16>> && is_key<ph::digest>);
static_assert(!is_key<char> && !is_key<wchar_t> && !is_key<char16_t> && !is_key<bool> && !is_key<double>);
static_assert(!is_key<std::nullptr_t> && !is_key<int *> && !is_key<void *> && !is_key<std::vector<int>>);
static_assert(is_batch<u64s> && is_batch<std::vector<std::string>> && is_batch<std::vector<ph::digest>>);
static_assert(is_batch<std::array<std::string_view, 2>> && is_batch<const char *const (&)[2]>);
static_assert(!is_batch<std::vector<int>> && !is_batch<std::string> && !is_batch<std::vector<double>>);
#if __cplusplus >= 202002L
static_assert(is_batch<std::span<const std::uint64_t>> && is_key<std::span<const std::byte>> && !is_key<char8_t>);
#endif

/* ---- single keys ---- */

void single_keys() {
    ph::filter f = make(ph::kind::cuckoo);
    const std::string text = "text";
    const std::vector<unsigned char> bytes = {'t', 'e', 'x', 't'};
    const unsigned char array[] = {'t', 'e', 'x', 't'};
    CHECK(*f.add("text") && f.contains(text) && f.contains(std::string_view(text)) && f.contains(bytes));
    CHECK(f.contains({"text and more", 4}) && f.contains(text.c_str()) && f.contains(array));
    CHECK(*f.count(text) == 1 && *f.add(bytes) && *f.count(text) == 2 && !*f.add_absent(text));
    CHECK(*f.remove(text) && *f.remove("text") && !*f.remove("text") && !f.contains("text"));
    CHECK(f.contains("") == false && *f.add("") && f.contains(std::string_view()) && f.contains({nullptr, 0}));

    CHECK(*f.add(42) && f.contains(42u) && f.contains(std::uint64_t{42}) && !f.contains("42"));
    CHECK(*f.add(0) && f.contains(std::uint8_t{0}) && ::perhaps_contains_u64(f.get(), 0) == 1);
    CHECK(*f.add(-1) && f.contains(UINT64_MAX) && f.contains(std::int8_t{-1}));

    ph::hasher hash = f.hasher();
    CHECK(*f.add("hashed") && f.contains(hash("hashed")) && f.contains(hash(42)));
    CHECK(hash(ph::digest{5}) == ph::digest{5} && hash(5) != ph::digest{5});
    CHECK(ph::hasher::create().value()("x") == hash("x"));
    CHECK(ph::hasher::create(ph::hash::xxh3, 1).value()("x") != hash("x"));

    /* An empty secret key is none, whatever its data() is. */
    std::vector<std::uint8_t> empty;
    empty.reserve(1);
    CHECK(ph::hasher::create(ph::hash::xxh3, 0, empty).value()("x") == hash("x"));
    CHECK(!ph::hasher::create(ph::hash::siphash, 0, empty));
}

/* ---- batches ---- */

struct record {
    char tag;
    std::uint64_t id;
    std::string name;
    std::array<std::byte, 5> address;
    unsigned char code[3];
    ph::digest digest;
};

std::vector<record> records(std::size_t n) {
    std::vector<record> made(n);
    for (std::size_t i = 0; i < n; i++) {
        record &r = made[i];
        r.tag = 'r';
        r.id = i * 977;
        r.name = "name" + std::to_string(i);
        for (std::byte &b : r.address) b = static_cast<std::byte>(i >> 3);
        std::memcpy(r.code, &i, sizeof r.code);
        r.digest.value = (i + 1) * 0x9e3779b97f4a7c15u;
    }
    return made;
}

/* A batch makes the filter that single calls make, with the same answers, also from queries. */
template <class Single> void batch_is(const ph::keys &batch, std::size_t n, Single key) {
    ph::filter many = make(ph::kind::blocked);
    ph::filter one = make(ph::kind::blocked);
    answers got(n), wanted(n);
    CHECK(batch.size() == n);
    for (std::size_t i = 0; i < n; i++) wanted[i] = *one.add(key(i)) ? 1 : 0;
    auto added = static_cast<std::uint64_t>(std::count(wanted.begin(), wanted.end(), 1));
    CHECK(*many.add_many(batch, got) == added && got == wanted && many.equal(one));
    CHECK(*many.add_many(batch) == 0 && *many.contains_many(batch) == n);
    CHECK(*many.contains_many(batch, got) == n && std::count(got.begin(), got.end(), 1) == static_cast<long>(n));
    CHECK(*many.contains_parallel(batch, 2) == n && *many.contains_parallel(batch, got, 2) == n);
    ph::filter parallel = make(ph::kind::blocked);
    CHECK(parallel.add_parallel(batch, 2).has_value() && parallel.equal(one));

    ph::filter counting = make(ph::kind::cuckoo);
    u64s counts(n);
    CHECK(*counting.add_many(batch) == n && *counting.count_many(batch, counts) == n);
    for (std::size_t i = 0; i < n; i++) CHECK(counts[i] == *counting.count(key(i)));
    CHECK(*counting.remove_many(batch, got) == n && *counting.remove_many(batch) == 0);

    std::vector<ph::digest> digests(n);
    CHECK(one.hasher().many(batch, digests));
    for (std::size_t i = 0; i < n; i++) CHECK(digests[i] == one.hasher()(key(i)));

    answers less(n - 1);
    CHECK(many.add_many(batch, less).error().code() == ph::errc::invalid);
    CHECK(many.contains_many(batch, answers()).error().code() == ph::errc::invalid);
    CHECK(many.count_many(batch, u64s(n + 1)).error().code() == ph::errc::invalid);
    CHECK(one.hasher().many(batch, ph::span<ph::digest>()).error().code() == ph::errc::invalid);
}

void batches(std::size_t n) {
    std::vector<record> r = records(n);
    u64s ids;
    std::vector<ph::digest> digests;
    std::vector<std::string> names;
    std::string buffer;
    std::vector<std::uint32_t> offsets = {0};
    u64s wide = {0};
    for (const record &one : r) {
        ids.push_back(one.id);
        digests.push_back(one.digest);
        names.push_back(one.name);
        buffer += one.name;
        offsets.push_back(static_cast<std::uint32_t>(buffer.size()));
        wide.push_back(buffer.size());
    }
    std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<const char *> pointers;
    for (const std::string &name : names) pointers.push_back(name.c_str());
    auto id = [&](std::size_t i) { return ids[i]; };
    auto name = [&](std::size_t i) { return views[i]; };

    batch_is(ids, n, id);
    batch_is(ph::span<const std::uint64_t>(ids.data(), n), n, id);
    batch_is(digests, n, [&](std::size_t i) { return digests[i]; });
    batch_is(names, n, name);
    batch_is(views, n, name);
    batch_is(pointers, n, name);
    batch_is(ph::keys::packed(buffer, offsets), n, name);
    batch_is(ph::keys::packed(buffer, wide), n, name);
    batch_is(ph::keys::fixed(ids.data(), 8, n), n, [&](std::size_t i) { return ph::key(&ids[i], 8); });
    batch_is(ph::keys::fixed(ids.data(), 2, n, 8), n, [&](std::size_t i) { return ph::key(&ids[i], 2); });
    batch_is(ph::keys_of(r, &record::id), n, id);
    batch_is(ph::keys_of(r, &record::name), n, name);
    batch_is(ph::keys_of(r, &record::address), n, [&](std::size_t i) { return ph::key(r[i].address); });
    batch_is(ph::keys_of(r, &record::code), n, [&](std::size_t i) { return ph::key(r[i].code); });
    batch_is(ph::keys_of(r, &record::digest), n, [&](std::size_t i) { return digests[i]; });
}

void odd_batches() {
    ph::filter f = make(ph::kind::blocked);
    CHECK(*f.add_many(u64s()) == 0 && *f.add_many(std::vector<std::string>()) == 0);
    CHECK(*f.add_many(ph::keys_of(std::vector<record>(), &record::id)) == 0);
    CHECK(*f.add_many(ph::keys::packed("", ph::span<const std::uint32_t>())) == 0);
    answers none;
    CHECK(*f.contains_many(u64s(), none) == 0);
    std::array<std::uint32_t, 3> beyond = {0, 2, 9};
    std::array<std::uint32_t, 3> falling = {0, 9, 2};
    CHECK(f.add_many(ph::keys::packed("eightlet", beyond)).error().code() == ph::errc::invalid);
    CHECK(f.add_many(ph::keys::packed("eightlet", falling)).error().code() == ph::errc::invalid);
    std::vector<std::string_view> empty(100);
    CHECK(*f.add_many(empty) == 1 && f.contains(""));
}

/* A batch that does not fit is not added at all, also one of text, which is gathered first. */
void whole_or_not_at_all() {
    ph::want want;
    want.kind = ph::kind::cuckoo;
    want.items = 1000;
    want.fpr = 0.001;
    want.grow = ph::grow::never;
    ph::filter f = ph::filter::create(want).value();
    CHECK(*f.add("first"));
    std::vector<std::string> names;
    for (int i = 0; i < 5000; i++) names.push_back("key " + std::to_string(i));
    answers got(names.size());
    auto added = f.add_many(names, got);
    CHECK(!added.has_value() && added.error().code() == ph::errc::full);
    CHECK(f.contains("first") && f.info()->items == 1 && *f.contains_many(names) < 30);
    u64s ids(5000);
    for (std::size_t i = 0; i < ids.size(); i++) ids[i] = i;
    CHECK(f.add_many(ids).error().code() == ph::errc::full && f.info()->items == 1);
    names.resize(500);
    CHECK(*f.add_many(names) == 500 && *f.contains_many(names) == 500);
}

void without_memory() {
    ph::filter f = make(ph::kind::blocked);
    std::vector<std::string> names(100, "name");
    u64s ids(100, 7);
    no_memory = true;
    auto added = f.add_many(names);
    CHECK(added.error().code() == ph::errc::no_memory);
    CHECK(std::strcmp(added.error().message(), ::perhaps_strerror(PERHAPS_ENOMEM)) == 0);
    CHECK(f.remove("x").error().code() == ph::errc::cannot && *f.add_many(ids) == 1);
    names.resize(10);
    CHECK(!f.contains("name") && *f.add_many(names) == 1);
    no_memory = false;
}

} // namespace

int main() {
    single_keys();
    batches(10);
    batches(1000);
    odd_batches();
    whole_or_not_at_all();
    without_memory();
    std::puts("all good");
}
