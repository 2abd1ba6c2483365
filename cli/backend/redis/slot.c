#include "slot.h"

#include <stdbool.h>
#include <string.h>

static uint16_t table[256];

static void fill_table(void) {
    static bool filled;
    if (filled) return;
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
        table[byte] = (uint16_t)crc;
    }
    filled = true;
}

uint16_t crc16(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint16_t crc = 0;
    fill_table();
    for (size_t i = 0; i < length; i++) crc = (uint16_t)(crc << 8 ^ table[crc >> 8 ^ at[i]]);
    return crc;
}

uint16_t key_slot(const char *key, size_t length) {
    const char *open = memchr(key, '{', length);
    if (open) {
        const char *inside = open + 1, *close = memchr(inside, '}', (size_t)(key + length - inside));
        if (close && close > inside) return crc16(inside, (size_t)(close - inside)) % SLOTS;
    }
    return crc16(key, length) % SLOTS;
}
