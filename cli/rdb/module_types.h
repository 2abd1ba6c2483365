/* Types of modules, by the names that they have in RDB files. */
#ifndef CLI_RDB_MODULE_TYPES_H
#define CLI_RDB_MODULE_TYPES_H

#include "rdb_file.h"

struct module_type {
    const char *name;
    const char *module;
    const char *holds;  /* in the plural */
    int oldest, newest; /* versions that perhaps.so loads; -1 = none */
};

/* NULL = not known here. */
const struct module_type *module_type_find(const struct rdb_type *type);

/* Can a server with perhaps.so and no other module load it? */
bool module_type_loads(const struct rdb_type *type);

#endif
