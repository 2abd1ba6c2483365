#include "value.h"

#include <string.h>

enum { PARKED_MOST = 2048, FIRST_ROOM = 1 << 20 };

/* How many values there are of each form. Atomic: values may end in a background thread. */
static uint64_t alive[3];

static void *new_value(size_t size, enum value_form form, const struct reported *reported) {
    struct value *value = try_alloc(size);
    if (!value) return NULL;
    memset(value, 0, size);
    value->form = (uint8_t)form;
    value->reported = *reported;
    __atomic_fetch_add(&alive[form], 1, __ATOMIC_RELAXED);
    return value;
}

struct value_counts value_count(void) {
    return (struct value_counts){.parked = __atomic_load_n(&alive[VALUE_PARKED], __ATOMIC_RELAXED),
                                 .open = __atomic_load_n(&alive[VALUE_OPEN], __ATOMIC_RELAXED),
                                 .loading = __atomic_load_n(&alive[VALUE_LOADING], __ATOMIC_RELAXED)};
}

static const struct open_value *open_of(const struct value *value) {
    return (const struct open_value *)value;
}

static const struct parked_value *parked_of(const struct value *value) {
    return (const struct parked_value *)value;
}

static const struct loading_value *loading_of(const struct value *value) {
    return (const struct loading_value *)value;
}

static void set_flags(struct value *value, const struct perhaps_info *facts) {
    int kind = facts->base ? facts->base : facts->kind;
    value->multiset = facts->traits & PERHAPS_MULTISET;
    value->foreign = kind == PERHAPS_REDIS_BLOOM || kind == PERHAPS_REDIS_CUCKOO;
    value->grows = facts->kind == PERHAPS_GROWING;
    value->fixed = !facts->base && facts->can & PERHAPS_ADD && !(facts->can & (PERHAPS_GROW | PERHAPS_COUNT));
    value->window = facts->kind == PERHAPS_WINDOW;
    value->timed = facts->period != 0;
}

/* ---- parking ---- */

/* Filters with one small array can be parked. So can growing ones with one layer and no limit of
 * bytes: perhaps_grow_layers makes them again. */
static bool can_be_parked(const struct perhaps_info *facts) {
    bool plain = facts->kind == PERHAPS_BLOOM || facts->kind == PERHAPS_BLOCKED || facts->kind == PERHAPS_CUCKOO;
    bool layer = facts->kind == PERHAPS_GROWING && facts->children == 1 && !facts->max_bytes &&
                 (facts->base == PERHAPS_BLOOM || facts->base == PERHAPS_BLOCKED || facts->base == PERHAPS_CUCKOO);
    return (plain || layer) && facts->image_bytes <= PARKED_MOST;
}

static struct value *park(perhaps *layer, const struct perhaps_info *facts, const struct reported *reported) {
    const void *bytes;
    uint64_t length;
    if (perhaps_image(layer, &bytes, &length) < 0) return NULL;
    struct parked_value *parked = new_value(sizeof *parked + (size_t)length, VALUE_PARKED, reported);
    if (!parked) return NULL;
    parked->fpr = facts->fpr_target;
    parked->growth = facts->growth;
    parked->length = (uint32_t)length;
    memcpy(parked->image, bytes, (size_t)length);
    return &parked->value;
}

struct value *value_of_filter(perhaps *filter, const struct reported *reported) {
    struct perhaps_info facts = {.size = sizeof facts};
    struct value *value = NULL;
    perhaps_facts(filter, &facts);
    if (can_be_parked(&facts) && (facts.kind != PERHAPS_GROWING || perhaps_ungrow_layers(&filter) == PERHAPS_OK)) {
        value = park(filter, &facts, reported);
        perhaps_free(filter);
    } else {
        struct open_value *opened = new_value(sizeof *opened, VALUE_OPEN, reported);
        if (opened) opened->filter = filter;
        if (!opened) perhaps_free(filter);
        value = opened ? &opened->value : NULL;
    }
    if (value) set_flags(value, &facts);
    return value;
}

static perhaps *open_parked(const struct value *value, unsigned flags, const perhaps_allocator *memory) {
    const struct parked_value *parked = parked_of(value);
    perhaps_open_options options = PERHAPS_OPEN(.flags = flags | PERHAPS_OPEN_NO_VERIFY, .allocator = memory);
    perhaps *filter;
    return perhaps_open_memory(&filter, parked->image, parked->length, &options) < 0 ? NULL : filter;
}

/* The growing filter of a parked layer, as a copy. */
static perhaps *rebuild(const struct value *value, const perhaps_allocator *memory) {
    const struct parked_value *parked = parked_of(value);
    perhaps *filter = open_parked(value, PERHAPS_OPEN_COPY, memory);
    if (filter && value->grows && perhaps_grow_layers(&filter, parked->fpr, parked->growth, 0) < 0) {
        perhaps_free(filter);
        return NULL;
    }
    return filter;
}

struct value *value_unparked(const struct value *value) {
    perhaps *filter = rebuild(value, &server_memory);
    struct open_value *opened = filter ? new_value(sizeof *opened, VALUE_OPEN, &value->reported) : NULL;
    if (!opened) {
        perhaps_free(filter);
        return NULL;
    }
    opened->value = *value;
    opened->value.form = VALUE_OPEN;
    opened->filter = filter;
    return &opened->value;
}

/* ---- using ---- */

perhaps *value_filter(const struct value *value) {
    return value->form == VALUE_OPEN ? open_of(value)->filter : open_parked(value, PERHAPS_OPEN_WRITE, &command_memory);
}

void value_filter_done(const struct value *value, perhaps *filter, bool changed) {
    if (value->form == VALUE_OPEN) return;
    if (changed) perhaps_sync(filter);
    perhaps_free(filter);
}

perhaps *value_whole(const struct value *value) {
    return value->form == VALUE_OPEN ? open_of(value)->filter : rebuild(value, &sure_memory);
}

uint64_t value_image_bytes(const perhaps *whole) {
    struct perhaps_info facts = {.size = sizeof facts};
    return perhaps_facts(whole, &facts) < 0 ? 0 : facts.image_bytes;
}

void value_whole_done(const struct value *value, perhaps *filter) {
    if (value->form != VALUE_OPEN) perhaps_free(filter);
}

size_t value_memory(const struct value *value) {
    size_t own = RedisModule_MallocSize((void *)(uintptr_t)value);
    if (value->form == VALUE_OPEN) return own + memory_of(open_of(value)->filter);
    uint8_t *bytes = value->form == VALUE_LOADING ? loading_of(value)->bytes : NULL;
    return bytes ? own + RedisModule_MallocSize(bytes) : own;
}

void value_free(struct value *value) {
    if (value->form == VALUE_OPEN) perhaps_free(open_of(value)->filter);
    if (value->form == VALUE_LOADING) RedisModule_Free(loading_of(value)->bytes);
    __atomic_fetch_sub(&alive[value->form], 1, __ATOMIC_RELAXED);
    RedisModule_Free(value);
}

static struct value *copy_open(const struct value *value) {
    perhaps *filter;
    if (perhaps_clone(open_of(value)->filter, &filter) < 0) return NULL;
    return value_of_filter(filter, &value->reported);
}

static struct value *copy_parked(const struct value *value) {
    size_t size = sizeof(struct parked_value) + parked_of(value)->length;
    struct value *copy = new_value(size, VALUE_PARKED, &value->reported);
    if (copy) memcpy(copy, value, size);
    return copy;
}

static struct value *copy_loading(const struct value *value) {
    const struct loading_value *loading = loading_of(value);
    struct value *copy = value_start_loading(loading->kind, loading->total, &value->reported);
    if (copy && !value_load(copy, 0, loading->bytes, (size_t)loading->have)) {
        value_free(copy);
        return NULL;
    }
    return copy;
}

struct value *value_copy(const struct value *value) {
    return value->form == VALUE_OPEN     ? copy_open(value)
           : value->form == VALUE_PARKED ? copy_parked(value)
                                         : copy_loading(value);
}

/* ---- loading in pieces ---- */

struct value *value_start_loading(int kind, uint64_t total, const struct reported *reported) {
    struct loading_value *loading = new_value(sizeof *loading, VALUE_LOADING, reported);
    if (!loading) return NULL;
    loading->kind = kind;
    loading->total = total;
    loading->value.multiset = kind == PERHAPS_REDIS_CUCKOO;
    return &loading->value;
}

/* Memory is taken as bytes come, not as they are announced. */
static bool make_room(struct loading_value *loading, uint64_t end) {
    uint64_t room = loading->room ? loading->room : FIRST_ROOM;
    if (end <= loading->room) return true;
    while (room < end) room *= 2;
    if (room > loading->total) room = loading->total;
    uint8_t *larger = try_alloc((size_t)room);
    if (!larger) return false;
    if (loading->have) memcpy(larger, loading->bytes, (size_t)loading->have);
    RedisModule_Free(loading->bytes);
    loading->bytes = larger;
    loading->room = room;
    return true;
}

bool value_load(struct value *value, uint64_t offset, const void *bytes, size_t length) {
    struct loading_value *loading = (struct loading_value *)value;
    if (!make_room(loading, offset + length)) return false;
    if (length) memcpy(loading->bytes + offset, bytes, length);
    if (offset + length > loading->have) loading->have = offset + length;
    return true;
}

static perhaps *open_loaded(const struct value *value) {
    const struct loading_value *loading = loading_of(value);
    perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY, .allocator = &server_memory);
    perhaps *filter;
    int rc = loading->kind ? perhaps_open_foreign(&filter, loading->kind, loading->bytes, loading->have, &options)
                           : perhaps_open_memory(&filter, loading->bytes, loading->have, &options);
    return rc < 0 ? NULL : filter;
}

#define MADE_WITH(option)                                                                                              \
    "its keys were made with " option ", and the server takes keys as they are; build it without " option

const char *value_unserved(const perhaps *filter) {
    static const char *const reasons[] = {
        [PERHAPS_KEY_BYTES] = NULL,
        [PERHAPS_KEY_HEX] = MADE_WITH("--hex"),
        [PERHAPS_KEY_U64] = MADE_WITH("--key u64"),
        [PERHAPS_KEY_INT32] = MADE_WITH("--key int32"),
        [PERHAPS_KEY_INT64] = MADE_WITH("--key int64"),
        [PERHAPS_KEY_UTF16] = MADE_WITH("--key utf16"),
    };
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    perhaps_facts(filter, &facts);
    perhaps_recipe_of(filter, &recipe);
    if (!(facts.traits & PERHAPS_TAKES_BYTES))
        return "its keys are integers, and the server's are bytes; build another kind";
    return recipe.ignore_case ? MADE_WITH("--ignore-case") : reasons[recipe.form];
}

struct value *value_of_loaded(const struct value *loading, const char **reason) {
    struct value *value = NULL;
    perhaps *filter = open_loaded(loading);
    *reason = perhaps_why();
    if (!filter) return NULL;
    *reason = value_unserved(filter);
    if (*reason) {
        perhaps_free(filter);
    } else {
        value = value_of_filter(filter, &loading->reported);
        *reason = "no memory";
    }
    return value;
}
