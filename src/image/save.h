/* Writing an image: to a file, atomically, or piece by piece to a callback. */
#ifndef PERHAPS_IMAGE_SAVE_H
#define PERHAPS_IMAGE_SAVE_H

#include "image/header.h"

typedef int image_sink(void *context, const void *bytes, size_t length);

int image_save(const struct header *header, const uint8_t *payload, const perhaps_allocator *allocator,
               const char *path);
int image_write(const struct header *header, const uint8_t *payload, const perhaps_allocator *allocator,
                image_sink *sink, void *context);

#endif
