/* A WebAssembly module has its instruction set by the way it was compiled, and no environment. */
#include "base/cpu.h"

#include "perhaps.h"

const char *isa_name(enum isa isa) {
    return isa == ISA_WASM ? "wasm" : "scalar";
}

bool isa_counts_bits(enum isa isa) {
    (void)isa;
    return false;
}

uint64_t cpu_near_bytes(void) {
    return 1 << 20;
}

int isa_choose(enum isa *isa) {
    *isa = ISA_WASM;
    return PERHAPS_OK;
}
