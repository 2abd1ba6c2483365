/* An RDB file of Redis or Valkey: what in it needs a module. All else is skipped without being
 * looked at, except its lengths.
 *
 *     "REDIS" and 4 digits, or "VALKEY" and 3: the version
 *     opcodes, from 255 downwards, and keys: type, name, value
 *     255, and 8 bytes of CRC64 over all before it; 0 = none
 *
 * A value of a module is a number, the type's name and version, and then pieces that tell what they
 * are: so it can be skipped by those who do not have the module. */
#ifndef CLI_RDB_RDB_FILE_H
#define CLI_RDB_RDB_FILE_H

#include "rdb_reader.h"

enum rdb_need {
    RDB_KEY,      /* a key with a module's value */
    RDB_AUX,      /* what a module keeps beside the keys */
    RDB_METADATA, /* what a module keeps with a key, whatever its value is */
    RDB_NEEDS
};

enum { RDB_TYPE_NAME = 10 };

struct rdb_type {
    enum rdb_need need;
    char name[RDB_TYPE_NAME];
    unsigned version;
};

struct rdb_item {
    struct rdb_type type;
    uint64_t database;
    const struct rdb_text *key; /* NULL for RDB_AUX */
    uint64_t bytes;             /* in the file, without the key's name */
};

struct rdb_file {
    struct rdb_reader reader;

    /* Called for each, in the order of the file; false ends the reading. */
    bool (*found)(void *context, const struct rdb_item *item);
    void *context;

    unsigned version;
    bool valkey;     /* it begins with VALKEY */
    bool begins_aof; /* it is, or was, the beginning of an append-only file */
    char server[64]; /* that saved it, "redis 7.0.15"; "" = it does not say */
    uint64_t database, keys;
    bool summed; /* it has a checksum, which is right */
    bool more;   /* commands of an append-only file follow */
    uint64_t end;
};

/* Reads the file to its end. False: see reader.failed and reader.fault, unless `found` has ended
 * it. */
bool rdb_file_read(struct rdb_file *file);

#endif
