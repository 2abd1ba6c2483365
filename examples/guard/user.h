/* What the application stores and looks up. */
#ifndef GUARD_USER_H
#define GUARD_USER_H

#include <stdint.h>

struct user {
    uint32_t id;
    char name[28];
};

#endif
