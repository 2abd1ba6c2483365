/* Makes the checksums of a doctored image right again, for those who test what lies behind them.
 * Needs the library's internals (perhaps_objects). */
#ifndef PERHAPS_TESTS_CHECKSUMS_H
#define PERHAPS_TESTS_CHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

/* As far as possible: an image whose header contradicts its length has no right checksums. */
void fix_checksums(uint8_t *image, size_t length);

#endif
