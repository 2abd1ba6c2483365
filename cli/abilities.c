#include "abilities.h"

#include <perhaps.h>

#include <stdio.h>
#include <string.h>

/* Name i belongs to the bit 1 << i of enum perhaps_ability. */
static const char *const names[] = {"add", "remove", "count", "merge", "intersect"};

enum { ABILITIES = sizeof names / sizeof *names };

const char *ability_name(size_t i) {
    return i < ABILITIES ? names[i] : NULL;
}

const char *abilities_text(unsigned abilities, const char *between, char *buffer, size_t size) {
    size_t used = 0;
    *buffer = 0;
    for (size_t i = 0; i < ABILITIES && used < size; i++) {
        if (!(abilities >> i & 1)) continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? between : "", names[i]);
    }
    return buffer;
}

bool abilities_parse(const char *text, unsigned *abilities) {
    *abilities = 0;
    do {
        size_t length = strcspn(text, ","), i = 0;
        while (i < ABILITIES && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0)) i++;
        if (i == ABILITIES) return false;
        *abilities |= 1u << i;
        text += length;
    } while (*text++ == ',');
    return true;
}

const char *kinds_sentence(char *buffer, size_t size) {
    size_t used = 0;
    char can[100];
    *buffer = 0;
    for (size_t row = 0; perhaps_kind(row) && used < size; row++) {
        abilities_text(perhaps_kind(row)->can, ", ", can, sizeof can);
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s can %s", row ? "; " : "", perhaps_kind(row)->name, can);
    }
    return buffer;
}
