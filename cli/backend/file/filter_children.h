/* What filters of filters are made of: layers, generations, shards; and bars for how full filters are. */
#ifndef CLI_BACKEND_FILE_FILTER_CHILDREN_H
#define CLI_BACKEND_FILE_FILTER_CHILDREN_H

#include "output/report.h"

#include <perhaps.h>

/* "layers", "generations" or "shards". */
const char *children_name(int kind);

/* A row for each, with a bar; of very many only the fullest and the emptiest. */
void print_children(const perhaps *filter, const struct perhaps_info *info);

/* The array `children` of a JSON object, always complete. */
void print_children_json(struct json *json, const perhaps *filter, unsigned n);

enum { BAR_WIDTH = 40 };

/* "[####....]", `width` characters between the brackets; of blocks where the locale has them. On a terminal it is red if
 * that much is too much. */
void print_bar(double share, int width, bool alarm);

/* The line of `info` with a bar for how much of its room a filter has used. */
void print_used(uint64_t items, uint64_t capacity);

#endif
