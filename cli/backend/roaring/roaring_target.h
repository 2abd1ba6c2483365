/* A Roaring bitmap in a file, as the target of a command. */
#ifndef CLI_BACKEND_ROARING_ROARING_TARGET_H
#define CLI_BACKEND_ROARING_ROARING_TARGET_H

#include "backend/backend.h"
#include "ids.h"
#include "output/output_file.h"

struct roaring_target {
    struct target target;
    struct ids ids;
    uint64_t bytes;       /* of the file */
    struct output output; /* of a set that is created or combined */
    perhaps_lock *lock;   /* of a file that is changed and replaced */
};

static inline struct roaring_target *roaring_of(const struct target *target) {
    return (struct roaring_target *)(uintptr_t)target;
}

int roaring_print_info(struct target *target, bool as_json);

#endif
