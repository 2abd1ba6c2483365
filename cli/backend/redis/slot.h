/* CRC16 as Redis clusters use it: for the slot of a key, and for the shard of an item. */
#ifndef CLI_BACKEND_REDIS_SLOT_H
#define CLI_BACKEND_REDIS_SLOT_H

#include <stddef.h>
#include <stdint.h>

enum { SLOTS = 16384 };

/* CRC-16/XMODEM: polynomial 0x1021, from 0, nothing reflected. "123456789" gives 0x31c3. */
uint16_t crc16(const void *bytes, size_t length);

/* The slot of a key: of what stands between the first '{' and the next '}', if that is not empty; else of all of it. */
uint16_t key_slot(const char *key, size_t length);

#endif
