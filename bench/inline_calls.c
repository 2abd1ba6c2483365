#include "inline_calls.h"

#include <perhaps_inline.h>

int view_is_inline(perhaps *f) {
    perhaps_view view;
    perhaps_view_of(f, &view);
    return view.form != PERHAPS_VIEW_CALL;
}

void contains_inline(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    perhaps_view view;
    perhaps_view_of(f, &view);
    for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_view_contains_u64(&view, keys[i]);
}

void add_inline(perhaps *f, const uint64_t *keys, size_t n) {
    perhaps_view view;
    perhaps_view_of(f, &view);
    for (size_t i = 0; i < n; i++) (void)perhaps_view_add_u64(&view, keys[i]);
}
