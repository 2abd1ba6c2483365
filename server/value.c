#include "value.h"

#include <stddef.h>
#include <string.h>

/* The most that is parked: bytes of arrays, and layers. Arrays of multisets are copied for every
 * command, and are smaller. */
enum { PARKED_MOST = 16384, PARKED_COPIED_MOST = 8192, PARKED_LAYERS = 16, HEAD_MOST = 1024, FIRST_ROOM = 1 << 20 };

/* How many values there are of each form. Atomic: values may end in a background thread. */
static uint64_t alive[3];

/* Structs of values, and pieces of parked ones, are as small as the server's own data and are taken
 * in the same way: without memory the server ends. */
static void *new_value(size_t size, enum value_form form, const struct reported *reported) {
    struct value *value = RedisModule_Alloc(size);
    memset(value, 0, size);
    value->form = (uint8_t)form;
    value->reported = *reported;
    __atomic_fetch_add(&alive[form], 1, __ATOMIC_RELAXED);
    count_memory((int64_t)RedisModule_MallocSize(value));
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

static perhaps_packed packed_of(const struct parked_value *parked) {
    return (perhaps_packed){(void *)(uintptr_t)parked->head, parked->head_length, parked->bytes, parked->length};
}

/* ---- totals ---- */

static struct totals totals_of(const struct value *value) {
    struct perhaps_info facts = {.size = sizeof facts};
    if (value->form == VALUE_LOADING) return (struct totals){0};
    if (value->form == VALUE_OPEN) {
        perhaps_facts(open_of(value)->filter, &facts);
    } else {
        /* It may end in a background thread, which has no command_memory. */
        perhaps_packed packed = packed_of(parked_of(value));
        perhaps *filter;
        if (perhaps_unpack(&filter, &packed, &sure_memory) < 0) return (struct totals){0};
        perhaps_facts(filter, &facts);
        perhaps_free(filter);
    }
    return (struct totals){(int64_t)facts.items, facts.children ? facts.children : 1};
}

static struct totals *counted(struct value *value) {
    return &((struct window_value *)value)->counted;
}

void value_recount(struct value *value) {
    if (!value->window) return;
    struct totals now = totals_of(value), *before = counted(value);
    count_change((struct totals){now.items - before->items, now.layers - before->layers});
    *before = now;
}

static void count_in(struct value *value) {
    if (value->window)
        value_recount(value);
    else
        count_change(totals_of(value));
}

static void count_out(struct value *value) {
    struct totals was = value->window ? *counted(value) : totals_of(value);
    count_change((struct totals){-was.items, -was.layers});
}

/* ---- what a filter is ---- */

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

static uint8_t *fresh_bytes(const void *bytes, size_t length) {
    uint8_t *copy = length ? RedisModule_Alloc(length) : NULL;
    if (!copy) return NULL;
    memcpy(copy, bytes, length);
    count_memory((int64_t)RedisModule_MallocSize(copy));
    return copy;
}

static struct value *parked_value(const struct value *like, const perhaps_packed *packed, uint8_t *bytes) {
    struct parked_value *parked =
        new_value(offsetof(struct parked_value, head) + packed->head_length, VALUE_PARKED, &like->reported);
    parked->value = *like;
    parked->value.form = VALUE_PARKED;
    parked->value.unparked = parked->value.replaced = false;
    parked->bytes = bytes;
    parked->length = (uint16_t)packed->length;
    parked->head_length = (uint16_t)packed->head_length;
    memcpy(parked->head, packed->head, packed->head_length);
    return &parked->value;
}

/* Where a filter is packed before it is known how long it becomes. */
struct workbench {
    uint8_t head[HEAD_MOST];
};

static uint8_t bench_bytes[PARKED_MOST];

/* Packs a filter; false if it is too large, or of a kind that cannot be packed. Multisets may be
 * full, and so are unpacked as copies. */
static bool pack(const perhaps *filter, bool multiset, const perhaps_packed *old, struct workbench *bench,
                 perhaps_packed *packed) {
    *packed =
        (perhaps_packed){bench->head, sizeof bench->head, bench_bytes, multiset ? PARKED_COPIED_MOST : PARKED_MOST};
    return perhaps_layers(filter) <= PARKED_LAYERS && perhaps_pack(filter, old, packed) == PERHAPS_OK;
}

static struct value *open_value(const struct value *like, perhaps *filter) {
    size_t size = like->window ? sizeof(struct window_value) : sizeof(struct open_value);
    struct open_value *opened = new_value(size, VALUE_OPEN, &like->reported);
    opened->value = *like;
    opened->value.form = VALUE_OPEN;
    opened->value.replaced = false;
    opened->filter = filter;
    return &opened->value;
}

struct value *value_of_filter(perhaps *filter, const struct reported *reported) {
    struct perhaps_info facts = {.size = sizeof facts};
    struct value like = {.reported = *reported};
    struct workbench bench;
    perhaps_packed packed;
    perhaps_facts(filter, &facts);
    set_flags(&like, &facts);
    bool parks = pack(filter, like.multiset, NULL, &bench, &packed);
    struct value *value =
        parks ? parked_value(&like, &packed, fresh_bytes(packed.bytes, packed.length)) : open_value(&like, filter);
    if (parks) perhaps_free(filter);
    if (like.window)
        count_in(value);
    else
        count_change((struct totals){(int64_t)facts.items, facts.children ? facts.children : 1});
    return value;
}

/* A copy of an unpacked filter, in memory of this allocator, whatever its size. Layers that a
 * failed batch has left behind cannot be packed; a clone does not have them. */
static perhaps *copy_of(const perhaps *filter, const perhaps_allocator *memory) {
    perhaps_packed packed = {0};
    perhaps *copy = NULL, *clone = NULL;
    if (perhaps_pack(filter, NULL, &packed) == PERHAPS_ECANNOT) { /* else it tells the lengths */
        if (perhaps_clone(filter, &clone) < 0) return NULL;
        filter = clone;
        perhaps_pack(filter, NULL, &packed);
    }
    packed.head = RedisModule_Alloc(packed.head_length + packed.length);
    packed.bytes = (uint8_t *)packed.head + packed.head_length;
    if (perhaps_pack(filter, NULL, &packed) == PERHAPS_OK) perhaps_unpack_copy(&copy, &packed, memory);
    RedisModule_Free(packed.head);
    perhaps_free(clone);
    return copy;
}

struct value *value_unparked(const struct value *value, const perhaps *filter) {
    perhaps *copy = copy_of(filter, &server_memory);
    struct value *opened = copy ? open_value(value, copy) : NULL;
    if (opened) opened->unparked = true;
    return opened;
}

/* ---- using ---- */

perhaps *value_filter(const struct value *value) {
    if (value->form == VALUE_OPEN) return open_of(value)->filter;
    perhaps_packed packed = packed_of(parked_of(value));
    perhaps *filter;
    return perhaps_unpack(&filter, &packed, &command_memory) < 0 ? NULL : filter;
}

void value_filter_done(const struct value *value, perhaps *filter) {
    if (value->form != VALUE_OPEN) perhaps_free(filter);
}

/* Puts what was packed anew into the value, where it has room for it. */
static bool fit(struct parked_value *parked, const perhaps_packed *packed) {
    size_t room = RedisModule_MallocSize(parked) - offsetof(struct parked_value, head);
    if (packed->head_length > room) return false;
    memcpy(parked->head, packed->head, packed->head_length);
    parked->head_length = (uint16_t)packed->head_length;
    if (packed->bytes == parked->bytes) return true;
    size_t had = parked->bytes ? RedisModule_MallocSize(parked->bytes) : 0;
    if (packed->length > had || packed->length < had / 2) {
        if (had) count_memory(-(int64_t)had);
        RedisModule_Free(parked->bytes);
        parked->bytes = fresh_bytes(packed->bytes, packed->length);
    } else if (packed->length) {
        memcpy(parked->bytes, packed->bytes, packed->length);
    }
    parked->length = (uint16_t)packed->length;
    return true;
}

static struct value *settled_parked(struct parked_value *parked, const perhaps *filter) {
    struct workbench bench;
    perhaps_packed old = packed_of(parked), packed;
    if (!pack(filter, parked->value.multiset, &old, &bench, &packed)) {
        /* With sure_memory, growing one day would end a server without memory. */
        perhaps *copy = copy_of(filter, &server_memory);
        return open_value(&parked->value, copy ? copy : copy_of(filter, &sure_memory));
    }
    if (fit(parked, &packed)) return &parked->value;
    return parked_value(&parked->value, &packed, fresh_bytes(packed.bytes, packed.length));
}

struct value *value_settled(struct value *value, const perhaps *filter) {
    struct workbench bench;
    perhaps_packed packed;
    if (value->form == VALUE_PARKED) return settled_parked((struct parked_value *)value, filter);
    if (!value->unparked || !pack(filter, value->multiset, NULL, &bench, &packed)) return value;
    return parked_value(value, &packed, fresh_bytes(packed.bytes, packed.length));
}

perhaps *value_whole(const struct value *value) {
    if (value->form == VALUE_OPEN) return open_of(value)->filter;
    perhaps_packed packed = packed_of(parked_of(value));
    perhaps *filter;
    return perhaps_unpack_copy(&filter, &packed, &sure_memory) < 0 ? NULL : filter;
}

uint64_t value_image_bytes(const perhaps *whole) {
    struct perhaps_info facts = {.size = sizeof facts};
    return perhaps_facts(whole, &facts) < 0 ? 0 : facts.image_bytes;
}

void value_whole_done(const struct value *value, perhaps *filter) {
    if (value->form != VALUE_OPEN) perhaps_free(filter);
}

uint64_t value_array_bytes(const struct value *value) {
    struct perhaps_info facts = {.size = sizeof facts};
    if (value->form == VALUE_PARKED) return parked_of(value)->length;
    if (value->form == VALUE_LOADING) return loading_of(value)->total;
    perhaps_facts(open_of(value)->filter, &facts);
    return facts.bytes;
}

/* The piece of memory that a value which is not open has beside its struct, or NULL. */
static uint8_t *bytes_of(const struct value *value) {
    return value->form == VALUE_LOADING ? loading_of(value)->bytes : parked_of(value)->bytes;
}

size_t value_memory(const struct value *value) {
    size_t own = RedisModule_MallocSize((void *)(uintptr_t)value);
    if (value->form == VALUE_OPEN) return own + memory_of(open_of(value)->filter);
    uint8_t *bytes = bytes_of(value);
    return bytes ? own + RedisModule_MallocSize(bytes) : own;
}

void value_free(struct value *value) {
    if (!value->replaced) count_out(value);
    forget_fullest(value);
    count_memory(-(int64_t)RedisModule_MallocSize(value));
    if (value->form == VALUE_OPEN) {
        perhaps_free(open_of(value)->filter);
    } else {
        if (bytes_of(value)) count_memory(-(int64_t)RedisModule_MallocSize(bytes_of(value)));
        RedisModule_Free(bytes_of(value));
    }
    __atomic_fetch_sub(&alive[value->form], 1, __ATOMIC_RELAXED);
    RedisModule_Free(value);
}

static struct value *copy_open(const struct value *value) {
    perhaps *filter;
    if (perhaps_clone(open_of(value)->filter, &filter) < 0) return NULL;
    return value_of_filter(filter, &value->reported);
}

static struct value *copy_parked(const struct value *value) {
    perhaps_packed packed = packed_of(parked_of(value));
    struct value *copy = parked_value(value, &packed, fresh_bytes(packed.bytes, packed.length));
    count_in(copy);
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
    count_memory((int64_t)RedisModule_MallocSize(larger));
    if (loading->bytes) count_memory(-(int64_t)RedisModule_MallocSize(loading->bytes));
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
