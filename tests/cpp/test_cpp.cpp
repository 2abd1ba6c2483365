/*
 * perhaps.hpp: owning and moving, errors, every form of keys beside single calls, batches that are
 * added whole or not at all, iteration, saving. Compiled as C++17 without exceptions and as C++20
 * with them.
 */
#include <perhaps.hpp>

#include "check.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <filesystem>
#include <ranges>
#include <span>
#endif

namespace {

using u64s = std::vector<std::uint64_t>;
using answers = std::vector<std::uint8_t>;

ph::filter make(ph::kind kind, std::uint64_t items = 10000) {
    ph::want want;
    want.kind = kind;
    want.items = items;
    if (kind != ph::kind::bitmap && kind != ph::kind::table) want.fpr = 0.001;
    return ph::filter::create(want).value();
}

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
static_assert(!std::is_constructible_v<bool, ph::result<bool>> && !std::is_constructible_v<bool, ph::result<unsigned>>);
static_assert(std::is_constructible_v<bool, ph::result<ph::filter>> && std::is_constructible_v<bool, ph::result<void>>);
static_assert(!std::is_copy_constructible_v<ph::filter> && std::is_nothrow_move_constructible_v<ph::filter>);
static_assert(!std::is_copy_constructible_v<ph::file_lock> && std::is_copy_constructible_v<ph::error>);
static_assert(std::is_convertible_v<answers &, ph::span<std::uint8_t>>);
static_assert(!std::is_convertible_v<const answers &, ph::span<std::uint8_t>>);
static_assert(std::is_aggregate_v<ph::want> && sizeof(ph::filter) == sizeof(void *));
#if defined(PERHAPS_WANT) || defined(PERHAPS_OPEN) || defined(PERHAPS_SEAL)
#error "a macro with a compound literal is visible in C++"
#endif
#if __cplusplus >= 202002L
static_assert(std::ranges::input_range<ph::member_range>);
static_assert(is_batch<std::span<const std::uint64_t>> && is_key<std::span<const std::byte>> && !is_key<char8_t>);
static_assert(std::is_convertible_v<std::span<std::uint8_t>, ph::span<std::uint8_t>>);
static_assert(std::is_convertible_v<std::filesystem::path, ph::c_string>);
#endif

/* ---- owning ---- */

void moves() {
    ph::filter a = make(ph::kind::blocked);
    CHECK(*a.add("key"));
    ::perhaps *handle = a.get();
    ph::filter b = std::move(a);
    CHECK(!a && b && b.get() == handle && b.contains("key"));
    ph::filter c = make(ph::kind::bloom);
    c = std::move(b);
    CHECK(!b && c.get() == handle);
    ph::filter &same = c;
    c = std::move(same);
    CHECK(c.get() == handle);
    swap(a, c);
    CHECK(a && !c);
    a.swap(c);
    CHECK(!a && c);

    ph::filter copy = c.clone().value();
    CHECK(copy.equal(c));
    CHECK(*copy.add("other") && copy.contains("other") && !c.contains("other") && !copy.equal(c));

    ::perhaps *given = c.release();
    CHECK(!c && given == handle);
    ph::filter adopted(given);
    CHECK(adopted.contains("key"));
    CHECK(adopted.clear() && !adopted.contains("key"));
    std::vector<ph::filter> several;
    for (int i = 0; i < 10; i++) several.push_back(make(ph::kind::cuckoo, 10));
    several.erase(several.begin());
}

/* ---- errors ---- */

void errors() {
    ph::want nonsense;
    nonsense.items = 100;
    nonsense.fpr = 2;
    auto made = ph::filter::create(nonsense);
    CHECK(!made && !made.has_value() && made.error().code() == ph::errc::invalid);
    std::string sentence = made.error().message();
    CHECK(sentence == ::perhaps_why());
    auto missing = ph::filter::open("/nowhere/at/all.ph");
    CHECK(missing.error().code() == ph::errc::io);
    CHECK(sentence == made.error().message() && sentence != ::perhaps_why()); /* it is a copy */
    ph::error copied = made.error();
    ph::error assigned;
    assigned = copied;
    CHECK(assigned.code() == ph::errc::invalid && sentence == assigned.message() && sentence == copied.message());
    CHECK(ph::plan::of(nonsense).error().code() == ph::errc::invalid);

    ph::filter set = make(ph::kind::blocked);
    CHECK(set.remove("x").error().code() == ph::errc::cannot);
    CHECK(!set.count("x").has_value() && set.count("x").value_or(7u) == 7);
    CHECK(set.add("x").value_or(false) && !set.add("x").value_or(true));
    CHECK(set.merge(make(ph::kind::bloom)).error().code() == ph::errc::mismatch);
    CHECK(make(ph::kind::bitmap).add("text").error().code() == ph::errc::cannot);
    CHECK(ph::filter::open_memory("no image").error().code() != ph::errc::ok);

    std::array<std::uint8_t, 8> short_key{};
    ph::want secret;
    secret.items = 10;
    secret.fpr = 0.1;
    secret.hash = ph::hash::siphash;
    secret.hash_key = short_key;
    CHECK(ph::filter::create(secret).error().code() == ph::errc::invalid);
    CHECK(ph::hasher::create(ph::hash::siphash, 0, short_key).error().code() == ph::errc::invalid);

#ifdef PERHAPS_EXCEPTIONS
    bool refused = false;
    try {
        ph::filter::create(nonsense).value();
    } catch (const std::runtime_error &e) {
        auto *known = dynamic_cast<const ph::exception *>(&e);
        refused = known && known->code() == ph::errc::invalid && sentence == e.what();
    }
    CHECK(refused);
    refused = false;
    try {
        for (ph::digest d : set.members()) CHECK(d != d);
    } catch (const ph::exception &e) {
        refused = e.code() == ph::errc::cannot;
    }
    CHECK(refused);
    int number = 0;
    try {
        (void)set.write([](ph::span<const std::byte>) { throw 42; });
    } catch (int thrown) {
        number = thrown;
    }
    CHECK(number == 42);
#endif
}

/* ---- keys ---- */

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
}

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

/* ---- whole filters ---- */

void members() {
    ph::filter bitmap = make(ph::kind::bitmap);
    const u64s ids = {3, 14, 159, 2653};
    CHECK(*bitmap.add_many(ids) == 4);
    u64s listed;
    for (auto digest : bitmap.members()) listed.push_back(digest.value);
    CHECK(listed == ids);
    CHECK(bitmap.members(15).begin()->value == 159 && bitmap.members(2654).begin() == bitmap.members().end());

    ph::filter table = make(ph::kind::table);
    CHECK(table.members().begin() == table.members().end());
    CHECK(*table.add("a") && *table.add("b"));
    ph::filter other = make(ph::kind::table);
    for (ph::digest d : table.members()) CHECK(*other.add(d));
    CHECK(other.contains("a") && other.contains("b"));
    auto range = table.members();
    CHECK(std::distance(range.begin(), range.end()) == 2);
}

void combining() {
    ph::filter a = make(ph::kind::bitmap), b = make(ph::kind::bitmap);
    CHECK(*a.add_many(u64s{1, 2, 3}) == 3 && *b.add_many(u64s{3, 4}) == 2);
    ph::filter all = a.clone().value(), both = a.clone().value(), rest = a.clone().value(), odd = a.clone().value();
    CHECK(all.merge(b) && *all.contains_many(u64s{1, 2, 3, 4}) == 4);
    CHECK(both.intersect(b) && *both.contains_many(u64s{1, 2, 3, 4}) == 1);
    CHECK(rest.subtract(b) && *rest.contains_many(u64s{1, 2, 3, 4}) == 2);
    CHECK(odd.differ(b) && *odd.contains_many(u64s{1, 2, 3, 4}) == 3 && !odd.contains(3));
}

void looking_in() {
    ph::want want;
    want.needs = ph::ability::remove | ph::ability::count;
    want.items = 1000;
    want.fpr = 0.01;
    ph::plan plan = ph::plan::of(want).value();
    ph::filter f = ph::filter::create(want).value();
    ph::info info = f.info().value();
    CHECK(plan.items == 1000 && plan.fpr <= 0.01 && plan.kind == info.kind && plan.bytes == info.bytes);
    CHECK(ph::has(info.can, want.needs) && !ph::has(info.can, ph::ability::list));
    CHECK(ph::has(info.traits, ph::trait::multiset) && ph::has(ph::traits_of(ph::kind::fuse), ph::trait::sealable));
    CHECK(info.hash == ph::hash::xxh3 && !info.read_only && f.facts()->capacity == info.capacity);

    want = ph::want();
    want.items = 1000;
    want.fpr = 0.01;
    want.shards = 4;
    ph::filter sharded = ph::filter::create(want).value();
    CHECK(sharded.facts()->kind == ph::kind::sharded && sharded.facts()->children == 4);
    CHECK(sharded.child(3)->capacity > 0 && sharded.child_facts(0)->capacity > 0 && !sharded.child(4));
}

void sealing() {
    ph::filter f = make(ph::kind::fuse);
    u64s ids(3000);
    for (std::size_t i = 0; i < ids.size(); i++) ids[i] = i;
    CHECK(*f.add_many(ids) == ids.size() && f.facts()->collecting);
    CHECK(f.contains_many(ids).error().code() == ph::errc::unsealed && f.contains(1));
    ph::seal_options two;
    two.threads = 2;
    CHECK(f.seal(two) && *f.contains_many(ids) == ids.size() && !f.facts()->collecting);
    CHECK(f.add(1).error().code() == ph::errc::sealed);
}

void windows() {
    ph::want want;
    want.items = 100;
    want.fpr = 0.001;
    want.period = 60;
    ph::filter f = ph::filter::create(want).value();
    CHECK(f.advance(1000).has_value() && *f.add("old"));
    CHECK(*f.advance(1200) == 1 && !f.contains("old"));
    std::uint64_t time = 1300;
    auto clock = [&time] { return time; };
    CHECK(f.set_clock(clock) && *f.add("kept"));
    time = 2000;
    CHECK(*f.add("new") && !f.contains("kept") && f.contains("new"));
    CHECK(f.clear_clock());
}

void saving() {
    const std::string path = "test_cpp." + std::to_string(__cplusplus) + ".ph";
    ph::filter f = make(ph::kind::bloom, 100000);
    CHECK(*f.add("saved") && f.save(path));
    ph::filter mapped = ph::filter::open(path).value();
    CHECK(mapped.equal(f) && mapped.info()->read_only && mapped.add("x").error().code() == ph::errc::read_only);

    ph::open_options options;
    options.flags = ph::open_flag::copy | ph::open_flag::no_verify;
    {
        ph::file_lock lock = ph::file_lock::acquire(path).value();
        CHECK(ph::file_lock::acquire(path).error().code() == ph::errc::busy);
        CHECK(f.save(path).error().code() == ph::errc::busy);
        ph::filter changed = ph::filter::open(path, options).value();
        CHECK(*changed.add("locked") && lock.save(changed));
        ph::file_lock moved = std::move(lock);
        CHECK(!lock.get() && moved.get());
    }
    options.flags = ph::open_flag::write;
    ph::filter in_place = ph::filter::open(path.c_str(), options).value();
    CHECK(in_place.contains("locked") && *in_place.add("in place") && in_place.sync());
    in_place = ph::filter();
    CHECK(ph::filter::open(path)->contains("in place"));
    std::remove(path.c_str());

    std::vector<std::byte> written;
    CHECK(f.write([&](ph::span<const std::byte> piece) { written.insert(written.end(), piece.begin(), piece.end()); }));
    CHECK(ph::filter::open_memory(written)->contains("saved"));
    auto stop = [](ph::span<const std::byte>) { return false; };
    CHECK(f.write(stop).error().code() == ph::errc::io);
    ph::span<const std::byte> image = f.image().value();
    CHECK(image.size() == f.facts()->image_bytes);
    CHECK(ph::filter::open_memory({image.data(), image.size()})->equal(f));
}

} // namespace

int main() {
    moves();
    errors();
    single_keys();
    batches(10);
    batches(1000);
    odd_batches();
    whole_or_not_at_all();
    members();
    combining();
    looking_in();
    sealing();
    windows();
    saving();
#if __cplusplus >= 202002L
    ph::filter f = ph::filter::create({.items = 100, .fpr = 0.01}).value();
    CHECK(f.info()->capacity >= 100);
    CHECK(!ph::filter::open("/nowhere", {.flags = ph::open_flag::copy}));
#endif
    std::puts("all good");
}
