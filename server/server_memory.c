#include "server_memory.h"

#include "counts.h"
#include "settings.h"

#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>

void *try_alloc(size_t bytes) {
    return RedisModule_TryAlloc ? RedisModule_TryAlloc(bytes) : RedisModule_Alloc(bytes);
}

/* Large zeroed memory is fresh from the system, and not touched here. A server without TryCalloc
 * ends if Calloc fails: whether there is so much memory is tried before, by an allocation that may
 * fail. */
static void *try_zeroed(size_t bytes) {
    enum { SMALL = 4096 };
    if (RedisModule_TryCalloc) return RedisModule_TryCalloc(1, bytes);
    void *tried = try_alloc(bytes);
    if (tried && bytes <= SMALL) return memset(tried, 0, bytes);
    if (!tried) return NULL;
    RedisModule_Free(tried);
    return RedisModule_Calloc(1, bytes);
}

/* ---- memory aligned to 64 bytes ---- */

/* Smaller pieces lie as the server gives them: for handles and lists alignment gains nothing. */
enum { ALIGNMENT = 64, FAR_SKIP = 8, SMALL_PIECE = 1024 };

static uint8_t *align(void *raw) {
    uint8_t *bytes = raw;
    size_t skip = ALIGNMENT - (uintptr_t)raw % ALIGNMENT;
    bytes[skip - 1] = (uint8_t)skip;
    return bytes + skip;
}

/* For memory that begins further from the raw piece. */
static uint8_t *place(uint8_t *raw, uint32_t skip) {
    raw[skip - 1] = 0;
    memcpy(raw + skip - FAR_SKIP, &skip, sizeof skip);
    return raw + skip;
}

static void *raw_of(void *memory, size_t size) {
    uint8_t *bytes = memory;
    if (size < SMALL_PIECE) return bytes;
    uint32_t skip = bytes[-1];
    if (!skip) memcpy(&skip, bytes - FAR_SKIP, sizeof skip);
    return bytes - skip;
}

/* ---- what is behind a piece ---- */

/* Of large pieces the server's allocator keeps up to a fourth more in reserve, but only as
 * addresses: the pages behind the end are never touched, and take no memory. */
enum { PAGE = 4096, LARGE_PIECE = 16384 };

static size_t behind(void *raw, size_t size) {
    size_t whole = RedisModule_MallocSize(raw), used = (size + ALIGNMENT + PAGE - 1) / PAGE * PAGE;
    return whole > LARGE_PIECE && used < whole ? used : whole;
}

/* ---- huge pages ---- */

enum { HUGE_PAGE = 2 << 20 };

/* Requests huge pages for the part of some memory that can be such, or takes that back. The system
 * may refuse: nothing is lost then. */
static void advise(uint8_t *memory, size_t size, bool huge) {
#ifdef MADV_HUGEPAGE
    size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (size < before + HUGE_PAGE) return;
    madvise(memory + before, (size - before) / HUGE_PAGE * HUGE_PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)memory, (void)size, (void)huge;
#endif
}

/* Whether huge pages were requested. Allocators give multiples of 16, so there is room for both
 * bytes before the memory. */
static bool *is_huge(void *memory) {
    return (bool *)memory - 2;
}

static void *make_ready(void *raw, size_t size) {
    uint8_t *memory = align(raw);
    count_memory((int64_t)behind(raw, size));
    if (size < HUGE_PAGE) return memory;
    *is_huge(memory) = settings.huge_pages;
    if (settings.huge_pages) advise(memory, size, true);
    return memory;
}

enum { FREE_PIECE = 1024 };
struct piece_limit piece_limit = {.most = UINT64_MAX};
uint64_t pieces_taken;

static bool is_beyond_limit(size_t size) {
    bool beyond = size > piece_limit.most && size > FREE_PIECE;
    if (beyond) piece_limit.refused = size;
    return beyond;
}

/* A piece from one of the two functions above. */
static void *take(void *(*from)(size_t bytes), size_t size) {
    if (is_beyond_limit(size)) return NULL;
    __atomic_fetch_add(&pieces_taken, 1, __ATOMIC_RELAXED);
    if (size < SMALL_PIECE) {
        void *small = from(size);
        if (small) count_memory((int64_t)behind(small, size));
        return small;
    }
    void *raw = size <= SIZE_MAX - ALIGNMENT ? from(size + ALIGNMENT) : NULL;
    return raw ? make_ready(raw, size) : NULL;
}

static void *allocate(void *context, size_t size) {
    (void)context;
    return take(try_alloc, size);
}

static void *allocate_zeroed(void *context, size_t size) {
    (void)context;
    return take(try_zeroed, size);
}

/* Whoever gets this memory next did not request huge pages. */
static void release(void *context, void *memory, size_t size) {
    void *raw = raw_of(memory, size);
    (void)context;
    count_memory(-(int64_t)behind(raw, size));
    if (size >= HUGE_PAGE && *is_huge(memory)) advise(memory, size, false);
    RedisModule_Free(raw);
}

/* ---- moving pages ---- */

enum { ENLARGED_FROM = 1 << 20 };

/* Moves pages to addresses that are as far from the beginning of a page; zeros are left behind. To
 * copy a large array would take long, and twice the memory. */
static void move_pages(uint8_t *to, uint8_t *from, size_t size) {
    size_t head = (PAGE - (uintptr_t)from % PAGE) % PAGE, whole = (size - head) / PAGE * PAGE,
           tail = size - head - whole;
    memcpy(to, from, head);
    memcpy(to + head + whole, from + head + whole, tail);
#ifdef MREMAP_DONTUNMAP
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (mremap(from + head, whole, whole, flags, to + head) != MAP_FAILED) return;
    /* The system may have taken the new addresses away before it failed. */
    (void)mmap(to + head, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#endif
    memcpy(to + head, from + head, whole);
}

static void *enlarge(void *context, void *memory, size_t size, size_t larger) {
    if (size < ENLARGED_FROM || larger > SIZE_MAX - ALIGNMENT - PAGE || is_beyond_limit(larger)) return NULL;
    uint8_t *raw = try_zeroed(larger + ALIGNMENT + PAGE);
    if (!raw) return NULL;
    __atomic_fetch_add(&pieces_taken, 1, __ATOMIC_RELAXED);
    count_memory((int64_t)behind(raw, larger));
    size_t ahead = ((uintptr_t)memory - (uintptr_t)raw - ALIGNMENT) % PAGE;
    uint8_t *enlarged = place(raw, (uint32_t)(ALIGNMENT + ahead));
    if (larger >= HUGE_PAGE) *is_huge(enlarged) = settings.huge_pages;
    move_pages(enlarged, memory, size);
    if (settings.huge_pages) advise(enlarged, larger, true);
    release(context, memory, size);
    return enlarged;
}

const perhaps_allocator server_memory = {
    .allocate = allocate, .release = release, .allocate_zeroed = allocate_zeroed, .enlarge = enlarge};

static void *allocate_surely(void *context, size_t size) {
    (void)context;
    if (size >= SMALL_PIECE) return make_ready(RedisModule_Alloc(size + ALIGNMENT), size);
    void *small = RedisModule_Alloc(size);
    count_memory((int64_t)behind(small, size));
    return small;
}

const perhaps_allocator sure_memory = {.allocate = allocate_surely, .release = release};

/* ---- for one command ---- */

/* The main thread unpacks parked filters, one at a time as a rule. Memory for them is taken from a
 * place of their own, piece after piece, and begins anew when all pieces are back. */

enum { COMMAND_ROOM = 48 << 10 };
static alignas(ALIGNMENT) uint8_t command_room[COMMAND_ROOM];
static size_t command_used;
static unsigned command_pieces;

static void *allocate_for_command(void *context, size_t size) {
    if (size > COMMAND_ROOM - command_used) return allocate(context, size);
    if (is_beyond_limit(size)) return NULL;
    void *memory = command_room + command_used;
    command_used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    command_pieces++;
    return memory;
}

static void release_for_command(void *context, void *memory, size_t size) {
    uintptr_t from_start = (uintptr_t)memory - (uintptr_t)command_room;
    if (from_start >= COMMAND_ROOM)
        release(context, memory, size);
    else if (!--command_pieces)
        command_used = 0;
}

const perhaps_allocator command_memory = {.allocate = allocate_for_command, .release = release_for_command};

/* ---- the pieces of a filter ---- */

static void *count_piece(void *context, void *memory, size_t size) {
    *(size_t *)context += behind(raw_of(memory, size), size);
    return NULL;
}

size_t memory_of(perhaps *filter) {
    size_t sum = 0;
    perhaps_relocate(filter, count_piece, &sum);
    return sum;
}

/* The server copies the bytes as they lie. If the new place begins elsewhere within 64 bytes, the
 * content moves to the next multiple of 64. Huge pages are not requested again: large memory is
 * hardly ever moved. */
static void *move_piece(void *context, void *memory, size_t size) {
    size_t skip = (size_t)((uint8_t *)memory - (uint8_t *)raw_of(memory, size));
    uint8_t *raw = RedisModule_DefragAlloc(context, raw_of(memory, size));
    if (!raw || size < SMALL_PIECE) return raw;
    uint8_t *aligned = align(raw);
    if (aligned != raw + skip) memmove(aligned, raw + skip, size);
    if (size >= HUGE_PAGE) *is_huge(aligned) = false;
    return aligned;
}

perhaps *defragment(RedisModuleDefragCtx *ctx, perhaps *filter) {
    return perhaps_relocate(filter, move_piece, ctx);
}
