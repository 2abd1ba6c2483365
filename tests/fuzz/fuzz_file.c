/* Any bytes as a file of another program, whose kind has the name FILE_KIND: refused, or a filter
 * that works and is written back as it was. A target for each. */
#include "fuzz.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

static int kind_number(void) {
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (strcmp(perhaps_file_kind(row)->name, FILE_KIND) == 0) return perhaps_file_kind(row)->kind;
    promise(false, "there is a kind " FILE_KIND);
    return PERHAPS_ANY;
}

/* The header may be written more simply than it was. */
static void write_and_read(const perhaps *f, int kind) {
    size_t length, again_length;
    perhaps *again;
    uint8_t *file = image_of(f, &length);
    promise(perhaps_open_memory(&again, file, length, &PERHAPS_OPEN(.kind = kind)) == PERHAPS_OK,
            "what was written opens");
    promise(perhaps_equal(f, again) == 1, "and is the same");
    uint8_t *again_file = image_of(again, &again_length);
    promise(length == again_length && memcmp(file, again_file, length) == 0, "and is written in the same way");
    perhaps_free(again);
    free(again_file);
    free(file);
}

static void add_and_fold(const perhaps *f, int kind) {
    perhaps *copy;
    struct perhaps_info info = {.size = sizeof info};
    promise(perhaps_clone(f, &copy) == PERHAPS_OK && perhaps_facts(f, &info) == PERHAPS_OK, "a filter can be cloned");
    for (uint64_t i = 0; i < 50; i++) promise(perhaps_add_u64(copy, i << i) >= 0, "a copy can be added to");
    int rc = perhaps_fold(copy, info.bytes / 2);
    promise(rc == 1 || rc == PERHAPS_ECANNOT || rc == PERHAPS_ERANGE, "what can be folded is");
    for (uint64_t i = 0; i < 50; i++) promise(perhaps_contains_u64(copy, i << i) == 1, "what was added is found");
    write_and_read(copy, kind);
    perhaps_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned ways[] = {0, PERHAPS_OPEN_COPY};
    int kind = kind_number();
    for (size_t i = 0; i < 4; i++) {
        perhaps *f = NULL;
        perhaps_open_options how = PERHAPS_OPEN(.flags = ways[i % 2], .kind = i < 2 ? kind : PERHAPS_ANY);
        int rc = perhaps_open_memory(&f, data, size, &how);
        promise((rc == PERHAPS_OK) == (f != NULL), "a filter comes with success and only then");
        promise(rc == PERHAPS_OK || perhaps_why()[0], "a refusal has a reason");
        if (f && i < 2) write_and_read(f, kind);
        if (f && i < 2) add_and_fold(f, kind);
        if (f) use(f);
        perhaps_free(f);
    }
    return 0;
}
