/* What a misspelt name may have been meant to be. */
#include "options.h"

#include <string.h>

enum { LONGEST = 20 };

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters must be changed, put in, left out or swapped with the next (the optimal string
 * alignment distance): three rows of the usual table. SIZE_MAX if a name is longer than ours. */
static size_t edit_distance(const char *a, const char *b) {
    size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = least_of(before[j - 1] + (a[i - 1] != b[j - 1]), least_of(before[j], row[j - 1]) + 1);
            if (swapped) row[j] = least_of(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* Two letters of a name may be wrong, but not all of it. Of those that are equally near, one with
 * the same first letter: that is seldom the wrong one. */
const char *likelier(const char *name, const char *likely, const char *candidate) {
    size_t least = likely ? edit_distance(name, likely) : least_of(3, strlen(name));
    size_t distance = edit_distance(name, candidate);
    bool same_start = likely && *likely != *name && *candidate == *name;
    return distance < least || (distance == least && same_start) ? candidate : likely;
}
