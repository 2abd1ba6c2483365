/* Shared by the fuzz targets. A broken promise aborts with a sentence: a crash to libFuzzer. */
#ifndef PERHAPS_TESTS_FUZZ_H
#define PERHAPS_TESTS_FUZZ_H

#include <perhaps.h>

#include <stdbool.h>

/* libFuzzer's entry point, which the replay driver calls too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program unless `holds`. */
void promise(bool holds, const char *what);

/* Opens the bytes in every way; whatever opens is used in every way. */
void open_and_use(const uint8_t *image, size_t length);

/* Uses a filter in every way. */
void use(perhaps *f);

/* Whatever was done to a filter in memory of its own, its image can be opened. Large ones pass,
 * since this is for after every call. */
void expect_openable(perhaps *f);

/* The image of f in memory that the caller frees. */
uint8_t *image_of(const perhaps *f, size_t *length);

/* The same in the format of the program whose filter it is. */
uint8_t *foreign_bytes_of(const perhaps *f, size_t *length);

#endif
