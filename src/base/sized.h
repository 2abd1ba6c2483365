/* Public structs begin with their size, so that older and newer programs can call us. */
#ifndef PERHAPS_BASE_SIZED_H
#define PERHAPS_BASE_SIZED_H

#include <stddef.h>

/* A program that knows fewer fields leaves the rest zero; one that knows more must not have used them. */
int take_sized(void *ours, size_t our_size, const void *theirs, const char *name);

/* The other way: fills as much of the caller's struct as the caller knows of. */
int give_sized(void *theirs, void *ours, size_t our_size, const char *name);

#endif
