#include "foreign/hashes.h"

uint64_t fnv1(const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = h * UINT64_C(0x100000001b3) ^ p[i];
    return h;
}
