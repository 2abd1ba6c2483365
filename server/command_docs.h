/* The arguments of the commands, as COMMAND DOCS shows them. Each list ends with one without a
 * name. */
#ifndef PERHAPS_SERVER_COMMAND_DOCS_H
#define PERHAPS_SERVER_COMMAND_DOCS_H

#include "modapi.h"

/* Of several commands. */
extern const RedisModuleCommandArg docs_key[], docs_item[], docs_items[], docs_iterator[], docs_chunk[];

/* Of one command, or of two alike. */
extern const RedisModuleCommandArg docs_bf_reserve[], docs_bf_insert[], docs_bf_info[], docs_bf_merge[];
extern const RedisModuleCommandArg docs_cf_reserve[], docs_cf_insert[];
extern const RedisModuleCommandArg docs_dump[], docs_load[], docs_create[], docs_reshape[], docs_advance[];

#endif
