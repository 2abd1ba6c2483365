/*
 * C++: perhaps.hpp. The filter is an object, errors are values, and a batch is a vector.
 */
#include <perhaps.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

struct moon {
    std::string name;
    double diameter; /* km */
};

int main() {
    ph::want want; /* in C++20: ph::filter::create({.items = 100, .fpr = 0.001}) */
    want.items = 100;
    want.fpr = 0.001;
    auto made = ph::filter::create(want);
    if (!made) {
        std::cerr << made.error().message() << "\n";
        return 1;
    }
    ph::filter planets = std::move(*made);

    /* value() is for errors that must not happen: it aborts, or throws with PERHAPS_EXCEPTIONS. */
    for (const char *name : {"Venus", "Mars", "Saturn", "Mars"})
        std::cout << name << (planets.add(name).value() ? " is new\n" : " was there\n");

    planets.save("planets.ph").value();
    ph::filter opened = ph::filter::open("planets.ph").value();
    std::cout << "Saturn: " << opened.contains("Saturn") << ", Pluto: " << opened.contains("Pluto") << "\n";
    std::remove("planets.ph");

    /* A batch: the names inside an array of structs, without copying them. */
    const std::vector<moon> moons = {{"Titan", 5149}, {"Phobos", 22}, {"Io", 3643}};
    std::cout << planets.add_many(ph::keys_of(moons, &moon::name)).value() << " moons are new\n";
    std::vector<std::uint8_t> answers(moons.size());
    planets.contains_many(ph::keys_of(moons, &moon::name), answers).value();
    for (std::size_t i = 0; i < moons.size(); i++) std::cout << moons[i].name << ": " << int{answers[i]} << "\n";

    want.fpr = 2;
    auto refused = ph::filter::create(want);
    if (!refused) std::cout << "refused: " << refused.error().message() << "\n";
}
