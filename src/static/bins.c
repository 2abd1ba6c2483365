#include "static/bins.h"

#include "base/memory.h"
#include "base/temp_file.h"
#include "base/error.h"

#include <string.h>

enum { BLOCK_KEYS = 2048, SLAB_BLOCKS = 128 };
#define BLOCK_BYTES (UINT64_C(8) * BLOCK_KEYS)
#define SLAB_BYTES  (BLOCK_BYTES * SLAB_BLOCKS)

/* ---- making and freeing ---- */

static int no_memory(void) {
    return fail(PERHAPS_ENOMEM,
                "no memory for the keys collected so far; with a smaller max_scratch they are kept in a file");
}

int bins_make(struct bins **made, const perhaps_allocator *allocator, uint64_t max_bytes, const char *folder) {
    struct bins *bins = memory_zeroed(allocator, sizeof *bins);
    if (!bins) return no_memory();
    if (!folder) folder = ".";
    bins->allocator = *allocator;
    bins->fd = -1;
    bins->max_bytes = max_bytes && max_bytes < SCRATCH_MIN ? SCRATCH_MIN : max_bytes;
    bins->pending = memory_get(allocator, PENDING * sizeof *bins->pending);
    bins->folder_bytes = strlen(folder) + 1;
    bins->folder = memory_get(allocator, bins->folder_bytes);
    if (!bins->pending || !bins->folder) {
        bins_free(bins);
        return no_memory();
    }
    memcpy(bins->folder, folder, bins->folder_bytes);
    *made = bins;
    return PERHAPS_OK;
}

void bins_free(struct bins *bins) {
    if (!bins) return;
    perhaps_allocator copy = bins->allocator, *allocator = &copy;
    for (unsigned i = 0; i < BINS; i++) {
        memory_release(allocator, bins->bin[i].extent, bins->bin[i].extent_room * sizeof(struct extent));
        memory_release(allocator, bins->bin[i].block, bins->bin[i].block_room * sizeof(uint64_t *));
    }
    for (size_t i = 0; i < bins->slabs; i++) memory_release(allocator, bins->slab[i], SLAB_BYTES);
    memory_release(allocator, bins->slab, bins->slab_room * sizeof *bins->slab);
    memory_release(allocator, bins->spare, bins->spare_room * sizeof *bins->spare);
    memory_release(allocator, bins->pending, PENDING * sizeof *bins->pending);
    memory_release(allocator, bins->folder, bins->folder_bytes);
    scratch_close(bins->fd);
    memory_release(allocator, bins, sizeof *bins);
}

/* ---- lists that grow ---- */

/* Makes room for `wanted` entries of `bytes` each. */
static int make_room(const perhaps_allocator *allocator, void *list, size_t *room, size_t wanted, size_t bytes) {
    if (wanted <= *room) return PERHAPS_OK;
    size_t larger = *room ? 2 * *room : 16;
    while (larger < wanted) larger *= 2;
    void *old, *grown = memory_zeroed(allocator, larger * bytes);
    if (!grown) return no_memory();
    memcpy(&old, list, sizeof old);
    if (*room) memcpy(grown, old, *room * bytes);
    memory_release(allocator, old, *room * bytes);
    memcpy(list, &grown, sizeof grown);
    *room = larger;
    return PERHAPS_OK;
}

/* ---- blocks ---- */

static int add_slab(struct bins *bins) {
    int rc = make_room(&bins->allocator, &bins->slab, &bins->slab_room, bins->slabs + 1, sizeof *bins->slab);
    if (rc == PERHAPS_OK)
        rc = make_room(&bins->allocator, &bins->spare, &bins->spare_room, (bins->slabs + 1) * SLAB_BLOCKS,
                       sizeof *bins->spare);
    uint64_t *slab = rc == PERHAPS_OK ? memory_get(&bins->allocator, SLAB_BYTES) : NULL;
    if (!slab) return no_memory();
    bins->slab[bins->slabs++] = slab;
    for (unsigned i = SLAB_BLOCKS; i > 0; i--) bins->spare[bins->spares++] = slab + (i - 1) * BLOCK_KEYS;
    return PERHAPS_OK;
}

static uint64_t last_filled(const struct bins *bins, unsigned i) {
    return BLOCK_KEYS - (uint64_t)(bins->end[i] - bins->at[i]);
}

static uint64_t in_blocks(const struct bins *bins, unsigned i) {
    return bins->bin[i].blocks ? (bins->bin[i].blocks - 1) * (uint64_t)BLOCK_KEYS + last_filled(bins, i) : 0;
}

uint64_t bin_keys(const struct bins *bins, unsigned bin) {
    return bins->bin[bin].in_file + in_blocks(bins, bin);
}

static void set_free_part(struct bins *bins, unsigned i, uint64_t filled) {
    const struct bin *bin = &bins->bin[i];
    bins->at[i] = bin->blocks ? bin->block[bin->blocks - 1] + filled : NULL;
    bins->end[i] = bin->blocks ? bin->block[bin->blocks - 1] + BLOCK_KEYS : NULL;
}

static void give_back_block(struct bins *bins, struct bin *bin) {
    bins->spare[bins->spares++] = bin->block[--bin->blocks];
}

/* ---- the file ---- */

/* Writes a bin's blocks to the file as one extent. A failure leaves the bin as it was. */
static int spill_bin(struct bins *bins, unsigned i) {
    struct bin *bin = &bins->bin[i];
    uint64_t offset = bins->file_end, in_memory = in_blocks(bins, i);
    int rc = make_room(&bins->allocator, &bin->extent, &bin->extent_room, bin->extents + 1, sizeof *bin->extent);
    for (size_t j = 0; rc == PERHAPS_OK && j < bin->blocks; j++) {
        uint64_t bytes = 8 * (j + 1 < bin->blocks ? BLOCK_KEYS : last_filled(bins, i));
        rc = scratch_write(bins->fd, bins->folder, offset, bin->block[j], bytes);
        offset += bytes;
    }
    if (rc < 0) return rc;
    bin->extent[bin->extents++] = (struct extent){bins->file_end, in_memory};
    bin->in_file += in_memory;
    bins->file_end = offset;
    while (bin->blocks) give_back_block(bins, bin);
    set_free_part(bins, i, 0);
    return PERHAPS_OK;
}

static int spill(struct bins *bins) {
    int rc = bins->fd < 0 ? scratch_open(bins->folder, &bins->fd) : PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && i < BINS; i++) {
        if (bins->bin[i].blocks) rc = spill_bin(bins, i);
    }
    return rc;
}

/* ---- adding ---- */

static bool may_add_slab(const struct bins *bins) {
    return !bins->max_bytes || (bins->slabs + 1) * SLAB_BYTES <= bins->max_bytes;
}

/* Relaxed: the spare blocks were there before the threads began, and each takes another one. */
static int take_block(struct bins *bins, unsigned i) {
    struct bin *bin = &bins->bin[i];
    int rc = make_room(&bins->allocator, &bin->block, &bin->block_room, bin->blocks + 1, sizeof *bin->block);
    if (rc < 0) return rc;
    bin->block[bin->blocks++] = bins->spare[__atomic_sub_fetch(&bins->spares, 1, __ATOMIC_RELAXED)];
    set_free_part(bins, i, 0);
    return PERHAPS_OK;
}

static int add_block(struct bins *bins, unsigned i) {
    int rc = bins->spares || may_add_slab(bins) ? PERHAPS_OK : spill(bins);
    if (rc == PERHAPS_OK && !bins->spares) rc = add_slab(bins);
    return rc < 0 ? rc : take_block(bins, i);
}

int bins_flush(struct bins *bins) {
    uint64_t done;
    int rc = PERHAPS_OK;
    for (done = 0; done < bins->pended; done++) {
        uint64_t key = bins->pending[done];
        unsigned bin = (unsigned)(key >> (64 - BIN_BITS));
        if (__builtin_expect(bins->at[bin] == bins->end[bin], 0) && (rc = add_block(bins, bin)) < 0) break;
        *bins->at[bin]++ = key;
    }
    bins->pended -= done;
    memmove(bins->pending, bins->pending + done, (size_t)bins->pended * sizeof *bins->pending);
    return rc;
}

bool bins_reserve(struct bins *bins, uint64_t n) {
    while (bins->spares < n / BLOCK_KEYS + BINS) {
        if (!may_add_slab(bins) || add_slab(bins) < 0) return false;
    }
    return true;
}

int bins_put(struct bins *bins, unsigned bin, const uint64_t *keys, size_t n) {
    while (n) {
        int rc = bins->at[bin] == bins->end[bin] ? take_block(bins, bin) : PERHAPS_OK;
        if (rc < 0) return rc;
        size_t room = (size_t)(bins->end[bin] - bins->at[bin]), some = n < room ? n : room;
        memcpy(bins->at[bin], keys, some * sizeof *keys);
        bins->at[bin] += some;
        keys += some;
        n -= some;
    }
    return PERHAPS_OK;
}

/* ---- batches ---- */

int bins_begin(struct bins *bins, uint64_t n) {
    bins->marked = n > PENDING - bins->pended;
    if (!bins->marked) return PERHAPS_OK;
    int rc = bins_flush(bins);
    for (unsigned i = 0; i < BINS; i++) bins->mark[i] = bin_keys(bins, i);
    bins->marked = rc == PERHAPS_OK;
    return rc;
}

static void cut_blocks(struct bins *bins, unsigned i, uint64_t keys) {
    struct bin *bin = &bins->bin[i];
    while (bin->blocks && bin_keys(bins, i) > keys) {
        uint64_t filled = last_filled(bins, i), beyond = bin_keys(bins, i) - keys;
        if (beyond >= filled) give_back_block(bins, bin);
        set_free_part(bins, i, beyond >= filled ? BLOCK_KEYS : filled - beyond);
    }
}

static void cut_extents(struct bin *bin, uint64_t keys) {
    while (bin->in_file > keys) {
        struct extent *last = &bin->extent[bin->extents - 1];
        uint64_t beyond = bin->in_file - keys, cut = beyond < last->keys ? beyond : last->keys;
        last->keys -= cut;
        bin->in_file -= cut;
        bin->extents -= last->keys == 0;
    }
}

void bins_undo(struct bins *bins) {
    if (!bins->marked) return; /* the batch fitted into `pending`, so it cannot have failed */
    bins->pended = 0;
    for (unsigned i = 0; i < BINS; i++) {
        cut_blocks(bins, i, bins->mark[i]);
        cut_extents(&bins->bin[i], bins->mark[i]);
    }
}

void bins_clear(struct bins *bins) {
    memset(bins->mark, 0, sizeof bins->mark);
    bins->marked = true;
    bins_undo(bins);
    bins->file_end = 0;
    if (bins->fd >= 0) scratch_empty(bins->fd);
}

/* ---- reading ---- */

uint64_t bins_keys(const struct bins *bins) {
    uint64_t keys = bins->pended;
    for (unsigned i = 0; i < BINS; i++) keys += bin_keys(bins, i);
    return keys;
}

static int read_extents(const struct bins *bins, const struct bin *bin, uint64_t from, uint64_t n, uint64_t *to) {
    for (size_t i = 0; n && i < bin->extents; i++) {
        const struct extent *extent = &bin->extent[i];
        if (from >= extent->keys) {
            from -= extent->keys;
            continue;
        }
        uint64_t some = extent->keys - from < n ? extent->keys - from : n;
        int rc = scratch_read(bins->fd, bins->folder, extent->offset + 8 * from, to, 8 * some);
        if (rc < 0) return rc;
        to += some;
        n -= some;
        from = 0;
    }
    return PERHAPS_OK;
}

static void read_blocks(const struct bin *bin, uint64_t from, uint64_t n, uint64_t *to) {
    while (n) {
        uint64_t within = from % BLOCK_KEYS, some = BLOCK_KEYS - within < n ? BLOCK_KEYS - within : n;
        memcpy(to, bin->block[from / BLOCK_KEYS] + within, (size_t)some * sizeof *to);
        to += some;
        from += some;
        n -= some;
    }
}

int bins_read(const struct bins *bins, unsigned i, uint64_t from, uint64_t n, uint64_t *to) {
    const struct bin *bin = &bins->bin[i];
    uint64_t in_file = from < bin->in_file ? bin->in_file - from : 0;
    if (in_file > n) in_file = n;
    int rc = in_file ? read_extents(bins, bin, from, in_file, to) : PERHAPS_OK;
    if (rc == PERHAPS_OK && n > in_file) read_blocks(bin, from + in_file - bin->in_file, n - in_file, to + in_file);
    return rc;
}
