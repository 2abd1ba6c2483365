/* Past 2^33 bits: positions, sizes and checksums are 64 bits wide everywhere. The memory stays sparse. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { KEYS = 3000, PAGE = 4096, PARTS = 8 };
static const uint64_t bytes = UINT64_C(3) << 29; /* 1.5 GiB, 1.5 * 2^33 bits */

/* Which eighth of the image each non-empty page lies in. */
struct census {
    uint64_t offset, pages[PARTS];
};

static int count_pages(void *context, const void *data, size_t length) {
    static const uint8_t zeros[PAGE];
    struct census *census = context;
    for (size_t done = 0; done < length; done += PAGE) {
        size_t some = length - done < PAGE ? length - done : PAGE;
        uint64_t part = (census->offset + done) / (bytes / PARTS);
        if (memcmp((const uint8_t *)data + done, zeros, some) != 0) census->pages[part < PARTS ? part : PARTS - 1]++;
    }
    census->offset += length;
    return 0;
}

static void expect_bits_everywhere(const perhaps *f, unsigned pages_per_key) {
    struct census census = {0, {0}};
    MUST(perhaps_write(f, count_pages, &census));
    CHECK(census.offset == info_of(f).image_bytes && census.offset > bytes, "%llu bytes were written",
          (unsigned long long)census.offset);
    double expected = (double)KEYS * pages_per_key / PARTS;
    for (int i = 0; i < PARTS; i++)
        CHECK(fabs((double)census.pages[i] - expected) < 6 * sqrt(expected) + 0.05 * expected,
              "part %d of %d holds %llu pages with bits, %g were due", i + 1, PARTS,
              (unsigned long long)census.pages[i], expected);
}

static void more_bits_than_32_bits_can_count(const struct layout *layout) {
    if (sizeof(size_t) < 8 || test_size() == TEST_SMALL) skip();
    perhaps *f = make(&PERHAPS_WANT(.kind = layout->row->kind, .items = 1000000000, .bytes = bytes));
    struct perhaps_info info = info_of(f);
    CHECK(info.bytes > bytes - 4096 && info.bytes <= bytes, "%llu bytes", (unsigned long long)info.bytes);
    add_members(f, 0, KEYS / 2);
    for (uint64_t i = KEYS / 2; i < KEYS; i++) MUST(perhaps_add_u64(f, member(i)));
    expect_members(f, 0, KEYS);
    for (uint64_t i = 0; i < KEYS; i++)
        CHECK(perhaps_contains_u64(f, member(i)) == 1, "a single question misses a key");
    CHECK(count_strangers(f, 0, 100000) == 0, "a nearly empty filter has false positives");
    info = info_of(f);
    CHECK(fabs(info.distinct - KEYS) < 0.01 * KEYS, "%d keys are estimated as %g", KEYS, info.distinct);
    expect_bits_everywhere(f, info.lines);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {FOR_EACH_KIND(more_bits_than_32_bits_can_count, 1000)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
