/* Public calls: the table of kinds, wants and plans. */
#include "plan/plan.h"

#include "base/error.h"
#include "base/sized.h"

#include <string.h>

const struct perhaps_kind_row *perhaps_kind(size_t row) {
    return row < kind_count ? &kinds[row]->row : NULL;
}

const struct perhaps_kind_row *perhaps_file_kind(size_t row) {
    return row < file_kind_count ? &file_kinds[row]->row : NULL;
}

unsigned perhaps_kind_traits(int kind) {
    const struct kind *found = kind_find(kind);
    return found && found->model ? plan_traits(found, found, found->row.can) : 0;
}

int perhaps_want_preset(perhaps_want *want, const char *name) {
    static const struct {
        const char *name;
        double bits_per_key;
        unsigned hashes;
    } presets[] = {{"rough", 4, 3}, {"fair", 8, 6}, {"good", 16, 12}, {"fine", 32, 23}};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(name, presets[i].name) != 0) continue;
        want->kind = PERHAPS_BLOOM;
        want->bits_per_key = presets[i].bits_per_key;
        want->hashes = presets[i].hashes;
        return PERHAPS_OK;
    }
    return fail(PERHAPS_EINVAL, "there is no preset '%s'; the presets are rough, fair, good and fine", name);
}

int perhaps_plan(const perhaps_want *theirs, struct perhaps_plan *shown) {
    perhaps_want want;
    struct plan plan;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = give_sized(shown, &plan.shown, sizeof plan.shown, "plan");
    return rc;
}
