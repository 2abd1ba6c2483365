/* One filter of two: merge, intersect, subtract and differ. */
#include "filter_target.h"
#include "options/abilities.h"
#include "output/numbers.h"

/* A filter of numbers and one of lines may look alike and yet have no key in common. Kinds of
 * integers have them in common however they were written. Where keys stand in records does not
 * matter: the first filter's recipe is kept. */
static int check_recipes(const struct target *into, const struct target *from) {
    const perhaps_recipe *a = &into->recipe, *b = &from->recipe;
    if ((a->form == b->form && a->ignore_case == b->ignore_case) || into->integers) return FINE;
    char name[32];
    snprintf(name, sizeof name, "%s", recipe_key_name(a));
    return failure(from->name, "its keys are written as %s, those of %s as %s; build both with the same options",
                   recipe_key_name(b), into->name, name);
}

/* Of filters with a fixed number of slots, the union may have no room. */
static int full_failure(const perhaps *into, const perhaps *from, const char *path) {
    struct perhaps_info a, b;
    if (filter_info(into, path, &a) != FINE || filter_info(from, path, &b) != FINE) return TROUBLE;
    return failure(path, "its keys do not all fit into the union; build all of them with -n %llu or more%s",
                   (unsigned long long)(a.items + b.items),
                   a.grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

/* Sizes say more than the words of a layout do. */
static int mismatch_failure(const perhaps *into, const char *first, const perhaps *from, const char *path) {
    struct perhaps_info a = filter_facts(into), b = filter_facts(from);
    char keys[NUMBER_TEXT], bytes[NUMBER_TEXT], first_keys[NUMBER_TEXT], first_bytes[NUMBER_TEXT];
    bool made_alike = a.hash == b.hash && a.seed == b.seed && a.base == b.base && a.children == b.children;
    if (a.kind != b.kind)
        return failure(path, "is a %s filter, %s a %s filter; build both with the same -k", b.kind_name, first,
                       a.kind_name);
    if (!made_alike || a.bytes == b.bytes) return library_failure(path, PERHAPS_EMISMATCH);
    return failure(path,
                   "was made for %s keys in %s bytes, %s for %s keys in %s bytes; build both with the same -n and -p, "
                   "such as -n %llu -p %.1g",
                   group_digits(b.capacity, keys), group_digits(b.bytes, bytes), first,
                   group_digits(a.capacity, first_keys), group_digits(a.bytes, first_bytes),
                   (unsigned long long)(a.capacity > b.capacity ? a.capacity : b.capacity),
                   a.fpr_target < b.fpr_target ? a.fpr_target : b.fpr_target);
}

int filter_combine(struct target *into, struct target *from, enum combination how) {
    static const struct {
        int (*combine)(perhaps *into, const perhaps *from);
        unsigned ability;
    } combinations[] = {
        [MERGE] = {perhaps_merge, PERHAPS_MERGE},
        [INTERSECT] = {perhaps_intersect, PERHAPS_INTERSECT},
        [SUBTRACT] = {perhaps_subtract, PERHAPS_SUBTRACT},
        [DIFFER] = {perhaps_differ, PERHAPS_SUBTRACT},
    };
    perhaps *a = filter_of(into), *b = filter_of(from);
    if (filter_refuse_sealed(b, from->name) != FINE || check_recipes(into, from) != FINE) return TROUBLE;
    int rc = combinations[how].combine(a, b);
    if (rc == PERHAPS_EMISMATCH) return mismatch_failure(a, into->name, b, from->name);
    if (rc == PERHAPS_EFULL) return full_failure(a, b, from->name);
    if (rc == PERHAPS_ECANNOT) return cannot_failure(from->name, combinations[how].ability);
    return rc < 0 ? library_failure(from->name, rc) : FINE;
}
