/* The ways in which Guava makes places of a hash: what the third word of the layout says. */
#ifndef PERHAPS_FOREIGN_GUAVA_GUAVA_LAYOUT_H
#define PERHAPS_FOREIGN_GUAVA_GUAVA_LAYOUT_H

enum { GUAVA_MITZ_32, GUAVA_MITZ_64, GUAVA_STRATEGIES };

#endif
