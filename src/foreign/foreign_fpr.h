/* What the plans of foreign filters share. */
#ifndef PERHAPS_FOREIGN_FOREIGN_FPR_H
#define PERHAPS_FOREIGN_FOREIGN_FPR_H

#include "kind/bloom/bloom_fpr.h"

/* All follows from the number of keys and the false-positive rate. Both fail if the want gives
 * something that follows; the second also if it lacks one of the two. */
int foreign_check_unused(const perhaps_want *want, const char *name);
int foreign_check_want(const perhaps_want *want, const char *name);

#endif
