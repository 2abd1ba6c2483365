/* Public structs begin with their size: programs built for other versions can call the library. */
#ifndef PERHAPS_BASE_SIZED_H
#define PERHAPS_BASE_SIZED_H

#include <stddef.h>

/* Fields that the program does not know are zero; fields that the library does not know must be. */
int take_sized(void *ours, size_t our_size, const void *theirs, const char *name);

/* Fills in the fields that the caller knows. */
int give_sized(void *theirs, void *ours, size_t our_size, const char *name);

#endif
