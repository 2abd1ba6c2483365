// A program that uses the installed perhaps.hpp, from C++17 on, with exceptions or without.
// Exits 0 if it works.
#include <perhaps.hpp>

#include <string>
#include <vector>

struct record {
    int kind;
    std::string name;
};

static bool refused(const ph::want &want) {
#ifdef PERHAPS_EXCEPTIONS
    try {
        ph::filter::create(want).value();
        return false;
    } catch (const ph::exception &e) {
        return e.code() == ph::errc::invalid;
    }
#else
    return ph::filter::create(want).error().code() == ph::errc::invalid;
#endif
}

int main() {
#if __cplusplus >= 202002L
    ph::want want{.kind = ph::kind::table, .items = 100};
#else
    ph::want want;
    want.kind = ph::kind::table;
    want.items = 100;
#endif
    ph::filter f = ph::filter::create(want).value();
    const std::vector<record> records = {{1, "one"}, {2, "two"}};
    bool good = f.add_many(ph::keys_of(records, &record::name)).value_or(0u) == 2 && f.contains("one");
    good = good && f.add(42).value() && f.contains(42) && !f.contains(43);
    int members = 0;
    for (ph::digest digest : f.members()) members += f.contains(digest);
    want.fpr = 2;
    return good && members == 3 && refused(want) ? 0 : 1;
}
