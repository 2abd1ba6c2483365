/* Writing an image: to a file, atomically; piece by piece to a callback; or to memory. */
#ifndef PERHAPS_IMAGE_WRITE_H
#define PERHAPS_IMAGE_WRITE_H

#include "base/replacement.h"
#include "image/header.h"

typedef int image_sink(void *context, const void *bytes, size_t length);

/* A contiguous part of an image. Bytes between two pieces are zero. */
struct piece {
    uint64_t offset, length;
    const uint8_t *bytes;
    const uint8_t *head; /* of a payload: its checksums tell which blocks are zero; else NULL */
};

/* An image as a list of pieces in rising order. */
struct pieces {
    struct piece *piece;
    size_t count;
    uint64_t total;
};

/* Replaces the locked file. */
int image_save(const struct pieces *pieces, struct file_lock *lock);
int image_write(const struct pieces *pieces, image_sink *sink, void *context);
void image_copy(const struct pieces *pieces, uint8_t *memory);

#endif
