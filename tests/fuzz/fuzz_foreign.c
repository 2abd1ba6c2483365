/* Any bytes as those of another program: refused, or a filter that works and is written back as it
 * was. The first byte says of which kind. */
#include "fuzz.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    int kind = data[0] % 2 ? PERHAPS_REDIS_CUCKOO : PERHAPS_REDIS_BLOOM;
    const uint8_t *bytes = data + 1;
    uint64_t length = size - 1, header = 0;
    perhaps *f;
    int64_t total = perhaps_foreign_length(kind, bytes, length, &header);
    int rc = perhaps_open_foreign(&f, kind, bytes, length, NULL);
    promise((rc == PERHAPS_OK) == (f != NULL), "a filter comes with success and only then");
    promise(rc == PERHAPS_OK || perhaps_why()[0], "a refusal has a reason");
    promise(f ? total == (int64_t)length && header <= length : total != (int64_t)length || rc == PERHAPS_ENOMEM,
            "what is as long as it says opens");
    if (!f) return 0;
    size_t again_length;
    uint8_t *again = foreign_bytes_of(f, &again_length);
    size_t from = kind == PERHAPS_REDIS_CUCKOO ? 8 : 0; /* its items are counted anew */
    promise(again_length == length && memcmp(again + from, bytes + from, again_length - from) == 0,
            "it is written back as it was");
    free(again);
    use(f);
    perhaps_free(f);
    return 0;
}
