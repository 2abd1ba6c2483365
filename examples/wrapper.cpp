/*
 * C++: a class that owns a filter. Errors become exceptions, the destructor frees, moving moves.
 */
#include <perhaps.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

class Filter {
  public:
    Filter(std::uint64_t items, double fpr) {
        perhaps_want want;
        perhaps_want_init(&want);
        want.items = items;
        want.fpr = fpr;
        perhaps *f;
        check(perhaps_create(&f, &want));
        handle_.reset(f);
    }

    static Filter open(const std::string &path) {
        perhaps *f;
        check(perhaps_open(&f, path.c_str(), nullptr));
        return Filter(f);
    }

    /* True if the key is new. */
    bool add(std::string_view key) {
        return check(perhaps_add(handle_.get(), key.data(), key.size())) == 1;
    }

    /* False: definitely not there. */
    bool contains(std::string_view key) const {
        return perhaps_contains(handle_.get(), key.data(), key.size()) != 0;
    }

    void save(const std::string &path) const {
        check(perhaps_save(handle_.get(), path.c_str()));
    }

  private:
    struct Free {
        void operator()(perhaps *f) const {
            perhaps_free(f);
        }
    };
    std::unique_ptr<perhaps, Free> handle_;

    explicit Filter(perhaps *f) : handle_(f) {
    }

    static int check(int rc) {
        if (rc < 0) throw std::runtime_error(perhaps_why());
        return rc;
    }
};

int main() {
    Filter planets(100, 0.001);
    for (auto name : {"Venus", "Mars", "Saturn", "Mars"})
        std::cout << name << (planets.add(name) ? " is new\n" : " was there\n");

    planets.save("planets.ph");
    Filter opened = Filter::open("planets.ph");
    std::cout << "Saturn: " << opened.contains("Saturn") << ", Pluto: " << opened.contains("Pluto") << "\n";
    std::remove("planets.ph");

    try {
        Filter nonsense(100, 2.0);
    } catch (const std::runtime_error &error) {
        std::cout << "refused: " << error.what() << "\n";
    }
}
