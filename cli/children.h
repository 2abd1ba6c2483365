/* What filters of filters are made of: layers, generations, shards. */
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

#include "report.h"

#include <perhaps.h>

/* "layers", "generations" or "shards". */
const char *children_name(int kind);

/* A row for each, with a bar; of very many only the fullest and the emptiest. */
void print_children(const perhaps *filter, const struct perhaps_info *info);

/* The array `children` of a JSON object, always complete. */
void print_children_json(struct json *json, const perhaps *filter, unsigned n);

/* "[####....]", `width` characters between the brackets; of blocks where the locale has them. */
void print_bar(double fill, int width);

#endif
