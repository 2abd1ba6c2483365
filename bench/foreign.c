/*
 * `perhaps bench --foreign`: foreign formats beside the loops that everybody writes
 * for them: hash the key, work out place after place with a division each, test its bit, and out at
 * the first that is zero.
 *
 * Both look at the same array, which is not made by adding keys, for the reasons of textbook.c: its
 * words are random, and only keys that must be found are really added, by the loop. What the two
 * answer must be the same; so this takes a little-endian machine.
 */
#include "bench_composite.h"

#include <stdbool.h>
#include <string.h>

static const uint64_t set_bytes = 128 * MIB, small_set_bytes = 1 * MIB;
static const double fpr = 0.01, bits_per_key = 9.585; /* at that rate */

/* A filter of the other program: k places for each key among that many bits. */
struct foreign_array {
    uint8_t *bytes;
    uint64_t bits;
    unsigned hashes;
};

struct loop {
    const char *kind;
    uint64_t (*bits)(const uint8_t *file); /* how many there are, as the header says */
    int (*contains)(const struct foreign_array *array, uint64_t key);
    void (*add)(struct foreign_array *array, uint64_t key);
};

/* ---- DCSO's bloom ---- */

static const uint64_t dcso_prime = UINT64_C(18446744073709551557), dcso_factor = UINT64_C(18446744073709550147);

static uint64_t dcso_bits(const uint8_t *file) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++) bits |= (uint64_t)file[32 + i] << 8 * i;
    return bits;
}

static uint64_t fnv1(const uint8_t *bytes, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) hash = hash * UINT64_C(0x100000001b3) ^ bytes[i];
    return hash;
}

static int dcso_contains(const struct foreign_array *array, uint64_t key) {
    uint64_t hash = fnv1((const uint8_t *)&key, sizeof key) % dcso_prime;
    for (unsigned i = 0; i < array->hashes; i++) {
        hash = hash * dcso_factor % dcso_prime;
        uint64_t place = hash % array->bits;
        if (!(array->bytes[place / 8] >> place % 8 & 1)) return 0;
    }
    return 1;
}

static void dcso_add(struct foreign_array *array, uint64_t key) {
    uint64_t hash = fnv1((const uint8_t *)&key, sizeof key) % dcso_prime;
    for (unsigned i = 0; i < array->hashes; i++) {
        hash = hash * dcso_factor % dcso_prime;
        uint64_t place = hash % array->bits;
        array->bytes[place / 8] |= (uint8_t)(1u << place % 8);
    }
}

/* ---- Guava ---- */

static uint64_t guava_bits(const uint8_t *file) {
    uint64_t words = 0;
    for (unsigned i = 0; i < 4; i++) words = words << 8 | file[2 + i];
    return 64 * words;
}

static inline uint64_t rotate(uint64_t x, unsigned by) {
    return x << by | x >> (64 - by);
}

static inline uint64_t finish(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* MurmurHash3 of 128 bits, with seed 0. */
static void murmur3(const uint8_t *bytes, size_t length, uint64_t hash[2]) {
    const uint64_t one = UINT64_C(0x87c37b91114253d5), two = UINT64_C(0x4cf5ad432745937f);
    uint64_t first = 0, second = 0, words[2];
    for (; length >= 16; bytes += 16, length -= 16) {
        memcpy(words, bytes, 16);
        first = (rotate(first ^ rotate(words[0] * one, 31) * two, 27) + second) * 5 + 0x52dce729;
        second = (rotate(second ^ rotate(words[1] * two, 33) * one, 31) + first) * 5 + 0x38495ab5;
    }
    words[0] = words[1] = 0;
    memcpy(words, bytes, length);
    first ^= rotate(words[0] * one, 31) * two ^ length;
    second ^= rotate(words[1] * two, 33) * one ^ length;
    first += second;
    second += first;
    first = finish(first);
    second = finish(second);
    hash[0] = first + second;
    hash[1] = first + 2 * second;
}

static int guava_contains(const struct foreign_array *array, uint64_t key) {
    uint64_t hash[2];
    murmur3((const uint8_t *)&key, sizeof key, hash);
    for (unsigned i = 0; i < array->hashes; i++, hash[0] += hash[1]) {
        uint64_t place = (hash[0] & INT64_MAX) % array->bits;
        if (!(array->bytes[place / 8 ^ 7] >> place % 8 & 1)) return 0;
    }
    return 1;
}

static void guava_add(struct foreign_array *array, uint64_t key) {
    uint64_t hash[2];
    murmur3((const uint8_t *)&key, sizeof key, hash);
    for (unsigned i = 0; i < array->hashes; i++, hash[0] += hash[1]) {
        uint64_t place = (hash[0] & INT64_MAX) % array->bits;
        array->bytes[place / 8 ^ 7] |= (uint8_t)(1u << place % 8);
    }
}

static const struct loop loops[] = {{"dcso", dcso_bits, dcso_contains, dcso_add},
                                    {"guava", guava_bits, guava_contains, guava_add}};

enum { LOOPS = sizeof loops / sizeof *loops };

/* ---- the file that both look at ---- */

struct foreign_sample {
    uint8_t *bytes;
    uint64_t length, room;
};

static int take_piece(void *context, const void *bytes, size_t length) {
    struct foreign_sample *file = context;
    if (length > file->room - file->length) return -1;
    memcpy(file->bytes + file->length, bytes, length);
    file->length += length;
    return 0;
}

/* The file of an empty filter for that many keys, and where its array begins. */
static int make_file(int kind, uint64_t keys, struct foreign_sample *file, struct perhaps_info *info) {
    perhaps *f;
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = keys, .fpr = fpr);
    int error = perhaps_create(&f, &want);
    if (error < 0) return error;
    *info = (struct perhaps_info){.size = sizeof *info};
    perhaps_facts(f, info);
    *file = (struct foreign_sample){.bytes = machine_memory(info->image_bytes), .room = info->image_bytes};
    error = file->bytes ? perhaps_write(f, take_piece, file) : PERHAPS_ENOMEM;
    perhaps_free(f);
    return error;
}

static struct foreign_array make_array(const struct loop *loop, const struct foreign_sample *file,
                                       const struct perhaps_info *info) {
    struct foreign_array array = {file->bytes + (info->image_bytes - info->bytes), loop->bits(file->bytes),
                                  info->hashes};
    for (uint64_t i = 0; i < info->bytes / 8; i++) {
        uint64_t word = key_number(~i);
        memcpy(array.bytes + 8 * i, &word, sizeof word);
    }
    return array;
}

/* ---- measuring ---- */

/* Half of the keys of the pass are members, or none. */
static void make_keys(const struct loop *loop, struct foreign_array *array, struct pass *pass, size_t n,
                      enum hit_share hits) {
    struct key_space space = key_space_all(n);
    for (size_t i = 0; i < n; i++) {
        bool member = hits == HITS_50 && key_random(i) & 1;
        pass->keys[i] = member ? key_member(&space, i) : key_non_member(&space, i);
        if (member) loop->add(array, pass->keys[i]);
    }
}

struct foreign_turns {
    const perhaps *f;
    const struct loop *loop;
    const struct foreign_array *array;
    struct pass *pass;
    size_t n;
    int64_t found[2];
    int error;
};

/* Contender 0 is the library, 1 the loop. Both must find the same. */
static double turn(void *context, size_t contender) {
    struct foreign_turns *turns = context;
    struct pass *pass = turns->pass;
    int64_t found = 0;
    double begin = machine_worked();
    if (contender == 0)
        found = perhaps_contains_many(turns->f, &PERHAPS_KEYS_U64(pass->keys, 0, turns->n), pass->answers);
    else
        for (size_t i = 0; i < turns->n; i++)
            found += pass->answers[i] = (uint8_t)turns->loop->contains(turns->array, pass->keys[i]);
    double time = machine_worked() - begin;
    turns->found[contender] = found;
    if (found < 0) turns->error = (int)found;
    return turns->error ? -1 : time / (double)turns->n;
}

static int time_both(struct foreign_turns *turns, struct row *row) {
    struct pairs pairs;
    struct pairs_game game = {.contenders = 2, .context = turns, .turn = turn};
    if (pairs_run(&pairs, &game) < 0) return turns->error;
    row->values[1] = pairs_time(&pairs, 0);
    row->values[2] = pairs_time(&pairs, 1);
    row->values[3] = pairs_ratio(&pairs, 0, 1);
    return turns->found[0] == turns->found[1] ? 0 : PERHAPS_EMISMATCH;
}

/* Small runs, which are for trying it out, have a small array. */
static uint64_t bytes_of(const struct part_run *all) {
    return all->keys < PASS_KEYS ? small_set_bytes : set_bytes;
}

static int measure_hits(struct part_run *all, const struct loop *loop, const struct foreign_sample *file,
                        struct foreign_array *array, int kind, enum hit_share hits) {
    perhaps *f = NULL;
    size_t n = all->keys < PASS_KEYS ? PASS_KEYS / 16 : PASS_KEYS / 4;
    make_keys(loop, array, all->pass, n, hits);
    struct row *row = part_row(all, PART_FOREIGN, "%s, %d %% hits", loop->kind, hits_percent[hits]);
    row_set(row, 0, (double)bytes_of(all) / (double)MIB);
    int error = perhaps_open_memory(&f, file->bytes, file->length, &PERHAPS_OPEN(.kind = kind));
    if (!error)
        error =
            time_both(&(struct foreign_turns){.f = f, .loop = loop, .array = array, .pass = all->pass, .n = n}, row);
    perhaps_free(f);
    return error;
}

static int measure(struct part_run *all, int kind, const struct loop *loop) {
    struct foreign_sample file = {0};
    struct perhaps_info info;
    uint64_t bytes = bytes_of(all);
    all->pass->progress(&(struct cell){.bytes = bytes, .kind = loop->kind}, "querying");
    int error = make_file(kind, (uint64_t)((double)bytes * 8 / bits_per_key), &file, &info);
    if (!error) {
        struct foreign_array array = make_array(loop, &file, &info);
        error = measure_hits(all, loop, &file, &array, kind, HITS_50);
        if (!error) error = measure_hits(all, loop, &file, &array, kind, HITS_0);
    }
    machine_release(file.bytes, file.room);
    return error;
}

int foreign_run(struct figures *figures, struct pass *pass, uint64_t keys) {
    struct part_run all = {figures, pass, keys};
    const struct perhaps_kind_row *row;
    int error = 0;
    for (size_t i = 0; !error && (row = perhaps_file_kind(i)); i++)
        for (size_t loop = 0; !error && loop < LOOPS; loop++)
            if (strcmp(loops[loop].kind, row->name) == 0) error = measure(&all, row->kind, &loops[loop]);
    return error;
}
