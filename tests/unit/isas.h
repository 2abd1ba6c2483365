/* The instruction sets of the machine that a test runs on. */
#ifndef PERHAPS_TESTS_UNIT_ISAS_H
#define PERHAPS_TESTS_UNIT_ISAS_H

#include "base/cpu.h"
#include "perhaps.h"

#include <stdbool.h>
#include <stdlib.h>

static inline bool has_isa(enum isa isa) {
    enum isa chosen;
    setenv("PERHAPS_ISA", isa_name(isa), 1);
    bool has = isa_choose(&chosen) == PERHAPS_OK;
    unsetenv("PERHAPS_ISA");
    return has;
}

#endif
