/* The reader of RDB files, with files made here: every type of value and every opcode that is
 * known, also of servers that are not at hand. What needs a module is found, all else is passed
 * over, and a file that was cut off or changed anywhere is refused, with the byte. */
#include "support.h"

#include "rdb/module_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

enum { ROOM = 1 << 16 };

struct image {
    uint8_t bytes[ROOM];
    size_t length;
};

static void put(struct image *to, const void *bytes, size_t length) {
    assert_true(length <= sizeof to->bytes - to->length);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put_byte(struct image *to, unsigned byte) {
    put(to, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_zeros(struct image *to, size_t length) {
    while (length--) put_byte(to, 0);
}

/* In the shortest way. */
static void put_number(struct image *to, uint64_t number) {
    int bytes = number < 1 << 6 ? 0 : number < 1 << 14 ? 1 : number <= UINT32_MAX ? 4 : 8;
    if (bytes == 0) put_byte(to, (unsigned)number);
    if (bytes == 1) put_byte(to, 0x40 | (unsigned)(number >> 8)), put_byte(to, (unsigned)number & 255);
    if (bytes < 4) return;
    put_byte(to, bytes == 4 ? 0x80 : 0x81);
    for (int i = 8 * bytes - 8; i >= 0; i -= 8) put_byte(to, (unsigned)(number >> i & 255));
}

static void put_text(struct image *to, const char *text) {
    put_number(to, strlen(text));
    put(to, text, strlen(text));
}

/* Of a letter c n times, n from 10 on: the letter, and a repetition of what is one byte before. */
static void put_packed(struct image *to, char c, unsigned n) {
    const uint8_t packed[] = {0, (uint8_t)c, 7 << 5, (uint8_t)(n - 1 - 2 - 7), 0};
    put_byte(to, 0xC3);
    put_number(to, sizeof packed);
    put_number(to, n);
    put(to, packed, sizeof packed);
}

/* As the reader has them: s n b w t i d, and [2 of them]. */
static void put_layout(struct image *to, const char *layout) {
    static const struct {
        char element;
        size_t zeros;
    } plain[] = {{'b', 1}, {'w', 4}, {'t', 8}, {'i', 16}};
    for (; *layout && *layout != ']'; layout++) {
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            if (*layout == plain[i].element) put_zeros(to, plain[i].zeros);
        if (*layout == 's') put_text(to, "text");
        if (*layout == 'n') put_number(to, 300);
        if (*layout == 'd') put_byte(to, 254); /* infinite */
        if (*layout != '[') continue;
        put_number(to, 2);
        for (int i = 0; i < 2; i++) put_layout(to, layout + 1);
        for (int depth = 1; depth;) {
            layout++;
            depth += (*layout == '[') - (*layout == ']');
        }
    }
}

static uint64_t type_id(const char *name, unsigned version) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;
    for (; *name; name++) id = id << 6 | (uint64_t)(strchr(letters, *name) - letters);
    return id << 10 | version;
}

/* Every piece that a module's value can have. */
static void put_pieces(struct image *to) {
    static const char *const pieces[] = {"n", "n", "w", "t", "s"};
    for (unsigned i = 0; i < 5; i++) {
        put_number(to, i + 1);
        put_layout(to, pieces[i]);
    }
    put_number(to, 5);
    put_packed(to, 'y', 200);
    put_number(to, 0);
}

static void put_module_key(struct image *to, const char *key, const char *type, unsigned version) {
    put_byte(to, 7);
    put_text(to, key);
    put_number(to, type_id(type, version));
    put_pieces(to);
}

static void put_sum(struct image *to) {
    uint64_t crc = 0;
    for (size_t i = 0; i < to->length; i++) {
        crc ^= to->bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
    }
    for (int i = 0; i < 8; i++) put_byte(to, (unsigned)(crc >> 8 * i & 255));
}

static void put_end(struct image *to) {
    put_byte(to, 255);
    put_sum(to);
}

/* What a file of Redis has, or with `valkey` one of Valkey: 27 keys or 24, and three of modules. */
static void put_everything(struct image *to, bool valkey) {
    static const struct {
        unsigned type;
        const char *layout;
    } values[] = {
        {0, "s"},
        {1, "[s]"},
        {2, "[s]"},
        {3, "[sd]"},
        {4, "[ss]"},
        {5, "[st]"},
        {9, "s"},
        {10, "s"},
        {11, "s"},
        {12, "s"},
        {13, "s"},
        {14, "[s]"},
        {15, "[ss]nnn[snn[itn][st[i]]]"},
        {16, "s"},
        {17, "s"},
        {18, "[ns]"},
        {19, "[ss]nnnnnnnn[snnn[itn][st[i]]]"},
        {20, "s"},
        {21, "[ss]nnnnnnnn[snnn[itn][stt[i]]]"},
        {22, "[nss]"},
        {23, "s"},
        {24, "t[nss]"},
        {25, "ts"},
        {26, "[ss]nnnnnnnn[snnn[itn][stt[i]]]nn[s[snn]]nn"},
        {27, "[ss]nnnnnnnn[snnn[itn][stt[i]][i]]nn[s[snn]]nn"},
    };
    put(to, valkey ? "VALKEY080" : "REDIS0012", 9);
    put_byte(to, 250);
    put_text(to, valkey ? "valkey-ver" : "redis-ver");
    put_text(to, "9.0.1");
    put_byte(to, 250);
    put_text(to, "aof-base");
    put_byte(to, 0xC0), put_byte(to, 1); /* "1" */
    put_byte(to, 245);
    put_text(to, "#!lua name=mine");
    put_byte(to, 247);
    put_number(to, type_id("ft_index0", 2));
    put_number(to, 2), put_number(to, 1);
    put_pieces(to);
    put_byte(to, 254), put_number(to, 3);
    put_byte(to, 251), put_number(to, 30), put_number(to, 100000);
    put_byte(to, 244), put_layout(to, "nnn");
    if (valkey) put_byte(to, 243), put_layout(to, "s[nn]");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (valkey && values[i].type > 22) continue;
        if (i % 2) put_byte(to, 252), put(to, "12345678", 8);
        if (i % 3) put_byte(to, 248), put_number(to, 1000);
        put_byte(to, values[i].type);
        i % 5 ? put_text(to, "key") : put_packed(to, 'k', 50);
        put_layout(to, valkey && values[i].type == 22 ? "[sst]" : values[i].layout);
    }
    put_byte(to, 253), put_zeros(to, 4);
    put_byte(to, 249), put_zeros(to, 1);
    put_module_key(to, "phones", "MBbloom--", 4);
    put_byte(to, 254), put_number(to, 70000);
    put_module_key(to, "words", "TopK-TYPE", 0);
    put_end(to);
}

/* ---- reading ---- */

struct reading {
    const uint8_t *bytes;
    size_t length, at, most;   /* bytes at a time */
    char text[RDB_KEPT + 200]; /* a line for each item */
};

static ssize_t read_some(void *context, void *to, size_t room) {
    struct reading *r = context;
    size_t some = r->length - r->at < room ? r->length - r->at : room;
    if (some > r->most) some = r->most;
    memcpy(to, r->bytes + r->at, some);
    r->at += some;
    return (ssize_t)some;
}

static bool note(void *context, const struct rdb_item *item) {
    static const char needs[] = "kam";
    struct reading *r = context;
    size_t used = strlen(r->text);
    snprintf(r->text + used, sizeof r->text - used, "%c %llu %s %u %llu %.*s%s\n", needs[item->type.need],
             (unsigned long long)item->database, item->type.name, item->type.version, (unsigned long long)item->bytes,
             item->key ? (int)item->key->kept : 1, item->key ? (const char *)item->key->bytes : "-",
             item->key && item->key->kept < item->key->length ? "..." : "");
    return true;
}

static struct rdb_file file;

/* Reads the bytes, `most` at a time. In memory of its own, so that a sanitizer sees a read past the
 * end. */
static bool read_bytes(struct reading *r, const uint8_t *bytes, size_t length, size_t most) {
    uint8_t *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    *r = (struct reading){.bytes = exact, .length = length, .most = most};
    memset(&file, 0, sizeof file);
    file.found = note;
    file.context = r;
    rdb_reader_begin(&file.reader, read_some, r);
    bool fine = rdb_file_read(&file);
    assert_int_equal(fine, !*file.reader.fault);
    free(exact);
    return fine;
}

static bool read_image(struct reading *r, const struct image *image) {
    return read_bytes(r, image->bytes, image->length, SIZE_MAX);
}

/* ---- tests ---- */

static void test_all_types(void **state) {
    (void)state;
    static const char items[] = "a 0 ft_index0 2 48 -\n"
                                "k 3 MBbloom-- 4 46 phones\n"
                                "k 70000 TopK-TYPE 0 46 words\n";
    for (int valkey = 0; valkey < 2; valkey++) {
        static struct image image;
        struct reading r;
        image.length = 0;
        put_everything(&image, valkey);
        for (size_t most = 1; most < 9; most++) {
            assert_true(read_bytes(&r, image.bytes, image.length, most));
            assert_string_equal(r.text, items);
            assert_int_equal(file.keys, valkey ? 22 : 27);
            assert_string_equal(file.server, valkey ? "valkey 9.0.1" : "redis 9.0.1");
            assert_int_equal(file.version, valkey ? 80 : 12);
            assert_true(file.summed && file.begins_aof && !file.more);
            assert_int_equal(file.end, image.length);
        }
    }
}

static void test_damage(void **state) {
    (void)state;
    for (int valkey = 0; valkey < 2; valkey++) {
        static struct image image;
        struct reading r;
        image.length = 0;
        put_everything(&image, valkey);
        for (size_t length = 0; length < image.length; length++) {
            assert_false(read_bytes(&r, image.bytes, length, SIZE_MAX));
            assert_string_equal(file.reader.fault, "it ends there");
            assert_int_equal(file.reader.fault_at, length);
        }
        for (size_t i = 0; i < image.length; i++) {
            uint8_t before = image.bytes[i];
            for (unsigned change = 1; change < 256; change += change < 8 ? 1 : 61) {
                image.bytes[i] = (uint8_t)(before ^ change);
                assert_false(read_image(&r, &image));
                assert_true(file.reader.fault_at <= image.length);
            }
            image.bytes[i] = before;
        }
    }
}

/* What modules keep with keys: of one that servers may ignore nothing is said. */
static void test_metadata(void **state) {
    (void)state;
    static const uint8_t own[] = {0x08, 0x08, 0x10, 0x00}, ignored[] = {0x09, 0x08, 0x10, 0x00};
    static struct image image;
    struct reading r;
    image.length = 0;
    put(&image, "REDIS0013", 9);
    put_byte(&image, 243), put_number(&image, 2);
    put(&image, own, 4), put_pieces(&image);
    put(&image, ignored, 4), put_pieces(&image);
    put_byte(&image, 0), put_text(&image, "key"), put_text(&image, "value");
    put_byte(&image, 0), put_text(&image, "other"), put_text(&image, "value");
    put_end(&image);
    assert_true(read_image(&r, &image));
    assert_string_equal(r.text, "m 0 META-ABAI 1 41 key\n");
    image.length = 9;
    put_byte(&image, 243), put_number(&image, 9);
    for (int i = 0; i < 9; i++) put(&image, own, 4), put_number(&image, 0);
    assert_false(read_image(&r, &image));
    assert_string_equal(file.reader.fault, "a key has the metadata of more modules than there can be");
    assert_int_equal(file.reader.fault_at, 10);
}

/* Empty, longer than what is kept, and numbers. */
static void test_names(void **state) {
    (void)state;
    static struct image image;
    struct reading r;
    char longer[RDB_KEPT + 2], expected[sizeof r.text];
    image.length = 0;
    memset(longer, 'x', RDB_KEPT + 1);
    longer[RDB_KEPT + 1] = 0;
    put(&image, "REDIS0010", 9);
    put_module_key(&image, "", "perhaps--", 1);
    for (unsigned width = 0; width < 3; width++) {
        put_byte(&image, 7), put_byte(&image, 0xC0 | width);
        put_zeros(&image, ((size_t)1 << width) - 1), put_byte(&image, 0x80);
        put_number(&image, type_id("CMSk-TYPE", 1023)), put_pieces(&image);
    }
    put_end(&image);
    assert_true(read_image(&r, &image));
    assert_string_equal(r.text, "k 0 perhaps-- 1 46 \n"
                                "k 0 CMSk-TYPE 1023 46 -128\n"
                                "k 0 CMSk-TYPE 1023 46 -32768\n"
                                "k 0 CMSk-TYPE 1023 46 -2147483648\n");
    for (size_t length = RDB_KEPT - 1; length < RDB_KEPT + 2; length++) {
        image.length = 9;
        put_module_key(&image, longer + RDB_KEPT + 1 - length, "MBbloomCF", 4);
        put_end(&image);
        assert_true(read_image(&r, &image));
        snprintf(expected, sizeof expected, "k 0 MBbloomCF 4 46 %.*s%s\n", RDB_KEPT, longer + RDB_KEPT + 1 - length,
                 length > RDB_KEPT ? "..." : "");
        assert_string_equal(r.text, expected);
    }
}

/* A key that was packed in this way, with these lengths. */
static bool read_packed(struct reading *r, const void *packed, size_t length, uint64_t said, uint64_t whole) {
    static struct image image;
    image.length = 0;
    put(&image, "REDIS0010", 9);
    put_byte(&image, 7), put_byte(&image, 0xC3);
    put_number(&image, said), put_number(&image, whole);
    put(&image, packed, length);
    put_number(&image, type_id("perhaps--", 1)), put_pieces(&image);
    put_end(&image);
    return read_image(r, &image);
}

static void test_packed_names(void **state) {
    (void)state;
    struct reading r;
    /* abc, and 3 and 9 bytes of what was before */
    static const uint8_t abc[] = {2, 'a', 'b', 'c', 1 << 5, 2, 7 << 5, 0, 2};
    assert_true(read_packed(&r, abc, sizeof abc, sizeof abc, 15));
    assert_string_equal(r.text, "k 0 perhaps-- 1 46 abcabcabcabcabc\n");
    /* other lengths than there are */
    assert_false(read_packed(&r, abc, sizeof abc, sizeof abc, 14));
    assert_false(read_packed(&r, abc, sizeof abc, sizeof abc, 16));
    assert_false(read_packed(&r, abc, sizeof abc, sizeof abc, 0));
    assert_false(read_packed(&r, abc, sizeof abc, sizeof abc, UINT64_MAX));
    assert_false(read_packed(&r, abc, sizeof abc, UINT64_MAX, 15));
    for (size_t cut = 1; cut < sizeof abc; cut++) assert_false(read_packed(&r, abc, cut, cut, 15));
    /* from before the beginning */
    assert_false(read_packed(&r, (uint8_t[]){0, 'a', 1 << 5, 1}, 4, 4, 4));
    assert_false(read_packed(&r, (uint8_t[]){1 << 5, 0}, 2, 2, 3));
    assert_int_equal(file.reader.fault_at, 13);
    /* 8,192 bytes from before, the farthest, after more than are kept */
    static uint8_t far[20000];
    size_t n = 0;
    for (unsigned i = 0; i < 300; i++) {
        far[n++] = 31;
        for (unsigned j = 0; j < 32; j++) far[n++] = (uint8_t)('a' + (i + j) % 26);
    }
    far[n++] = 1 << 5 | 31, far[n++] = 255;
    assert_true(read_packed(&r, far, n, n, 9603));
    far[n - 2] = 7 << 5 | 31, far[n - 1] = 255, far[n++] = 255;
    assert_true(read_packed(&r, far, n, n, 9600 + 9 + 255));
}

/* The end of a file that begins well: refused, at this byte and with these words. */
static void refuse(const char *version, const void *bytes, size_t length, uint64_t at, const char *why) {
    static struct image image;
    struct reading r;
    image.length = 0;
    put(&image, version, strlen(version));
    put(&image, bytes, length);
    put_end(&image);
    assert_false(read_image(&r, &image));
    if (!strstr(file.reader.fault, why)) print_error("'%s' is not '%s'\n", file.reader.fault, why);
    assert_non_null(strstr(file.reader.fault, why));
    assert_int_equal(file.reader.fault_at, at);
}

static void test_refused(void **state) {
    (void)state;
    static const uint8_t endless[] = {0, 1, 'k', 0x81, 255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t nested[] = {21, 1, 'k', 0x81, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0};
    refuse("PK\3\4 no RDB", "", 0, 0, "does not begin with REDIS or VALKEY");
    refuse("REDIS00x0", "", 0, 5, "its version is no number");
    refuse("VALKEY0 0", "", 0, 6, "its version is no number");
    refuse("REDIS0004", "", 0, 5, "version 4 is of servers before 2.6");
    refuse("REDIS0010", "\x1c", 1, 9, "type 28 is not known");
    refuse("REDIS0010", "\x08", 1, 9, "type 8 is not known");
    refuse("REDIS0010", "\xf6", 1, 9, "type 246 is not known");
    refuse("VALKEY080", "\x18\1k", 3, 9, "type 24 is not known");
    refuse("REDIS0010", "\6\1k", 3, 9, "was saved before 4.0");
    refuse("REDIS0010", "\0\1k\x82", 4, 12, "no number begins with 0x82");
    refuse("REDIS0010", "\0\1k\xC4", 4, 12, "no string begins with 0xc4");
    refuse("REDIS0010", "\1\1k\xC0\1", 5, 12, "a string stands there instead of a number");
    refuse("REDIS0010", "\0\1k\xC3\xC0\1\1", 7, 13, "a string stands there instead of a number");
    refuse("REDIS0010", "\7\1k\1\6", 5, 13, "no pieces of type 6");
    refuse("REDIS0010", "\xf7\1\1\1", 4, 10, "does not say when it was saved");
    refuse("REDIS0010", endless, sizeof endless, 9 + sizeof endless + 9, "it ends there");
    refuse("REDIS0010", nested, sizeof nested, 9 + sizeof nested, "no string begins with 0xff");
}

/* Nothing may follow, except commands of an append-only file. */
static void test_ends(void **state) {
    (void)state;
    static struct image image;
    struct reading r;
    for (int aof = 0; aof < 2; aof++) {
        image.length = 0;
        put(&image, "REDIS0010", 9);
        put_byte(&image, 250), put_text(&image, "aof-preamble"), put_text(&image, aof ? "1" : "0");
        put_module_key(&image, "key", "perhaps--", 1);
        put_byte(&image, 255);
        put_zeros(&image, 8);
        assert_true(read_image(&r, &image) && !file.summed && !file.more);
        size_t end = image.length;
        put_text(&image, "more");
        assert_int_equal(read_image(&r, &image), aof);
        assert_int_equal(file.end, end);
        if (aof) assert_true(file.more);
        if (!aof) assert_string_equal(file.reader.fault, "its end mark stands there, and more follows");
    }
}

static bool stop(void *context, const struct rdb_item *item) {
    (void)item;
    ++*(int *)context;
    return false;
}

static ssize_t fail_to_read(void *context, void *to, size_t room) {
    (void)context, (void)to, (void)room;
    return -1;
}

/* Who takes the items may end it, and an error of the system is no fault of the file. */
static void test_ended(void **state) {
    (void)state;
    static struct image image;
    int found = 0;
    put_everything(&image, false);
    struct reading r = {.bytes = image.bytes, .length = image.length, .most = SIZE_MAX};
    memset(&file, 0, sizeof file);
    file.found = stop;
    file.context = &found;
    rdb_reader_begin(&file.reader, read_some, &r);
    assert_false(rdb_file_read(&file));
    assert_int_equal(found, 1);
    assert_false(*file.reader.fault || file.reader.failed);
    memset(&file, 0, sizeof file);
    rdb_reader_begin(&file.reader, fail_to_read, NULL);
    assert_false(rdb_file_read(&file));
    assert_true(file.reader.failed && !*file.reader.fault);
}

static void test_types(void **state) {
    (void)state;
    static const struct {
        struct rdb_type type;
        bool known, loads;
    } cases[] = {
        {{RDB_KEY, "perhapsBF", 1}, true, true},   {{RDB_KEY, "perhaps--", 1}, true, false},
        {{RDB_KEY, "MBbloom--", 0}, true, true},   {{RDB_KEY, "MBbloomCF", 5}, true, false},
        {{RDB_AUX, "MBbloom--", 4}, true, false},  {{RDB_KEY, "TopK-TYPE", 0}, true, false},
        {{RDB_KEY, "mbBLOOM--", 4}, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(module_type_find(&cases[i].type) != NULL, cases[i].known);
        assert_int_equal(module_type_loads(&cases[i].type), cases[i].loads);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_types), cmocka_unit_test(test_damage),       cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_packed_names), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_ended),        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
