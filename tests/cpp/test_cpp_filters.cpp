/*
 * Filters of perhaps.hpp: owning and moving, errors, combining, iteration, sealing, windows,
 * saving. Compiled as C++17 without exceptions and as C++20 with them.
 */
#include "check.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#if __cplusplus >= 202002L
#include <filesystem>
#include <ranges>
#include <span>
#endif

namespace {

/* ---- what must compile, and what must not ---- */

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

#ifndef PERHAPS_EXCEPTIONS
/* Without exceptions value() of an error ends the program, with the sentence. */
void aborts() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ph::filter::open("/nowhere/at/all.ph").value();
        _exit(0);
    }
    close(ends[1]);
    std::string printed;
    char buffer[256];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        printed.append(buffer, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(printed.find("perhaps: ") == 0 && printed.find("/nowhere/at/all.ph") != std::string::npos);
}
#endif

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
    ph::overlap overlap = a.overlap(b).value();
    CHECK(overlap.exact && overlap.a == 3 && overlap.b == 2 && overlap.both == 1 && overlap.either == 4);
    CHECK(overlap.jaccard == 0.25 && overlap.jaccard_error == 0 && a.overlap(a)->jaccard == 1);
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
    CHECK(plan.items == 1000 && plan.fpr <= 0.01 && plan.kind == info.kind && plan.bytes == info.bytes &&
          plan.can == info.can && plan.traits == info.traits);
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
    std::vector<std::string> old{"old"};
    std::vector<std::uint8_t> answers(1);
    CHECK(*f.contains_as_of(1000, old, answers) == 1 && answers[0] == 1);
    CHECK(*f.contains_as_of(1200, old, answers) == 0 && answers[0] == 0 && f.contains("old"));
    CHECK(f.facts_as_of(1200)->items == 0 && f.facts_as_of(1000)->items == 1);
    CHECK(*f.advance(1200) == 1 && !f.contains("old"));
    std::uint64_t time = 1300;
    auto clock = [&time] { return time; };
    CHECK(f.set_clock(clock) && *f.add("kept"));
    time = 2000;
    CHECK(*f.add("new") && !f.contains("kept") && f.contains("new"));
    CHECK(f.clear_clock());
}

void saving() {
    const std::string path = "test_cpp_filters." + std::to_string(__cplusplus) + ".ph";
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
#ifndef PERHAPS_EXCEPTIONS
    aborts();
#endif
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
