/* Which instruction sets this CPU has, and which one to use. */
#ifndef PERHAPS_BASE_CPU_H
#define PERHAPS_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* In rising order of preference. Every machine has ISA_SCALAR. */
enum isa { ISA_SCALAR, ISA_NEON, ISA_WASM, ISA_AVX2, ISA_AVX512, ISA_COUNT };

const char *isa_name(enum isa isa);

/* Whether it counts the bits of all 64-bit lanes at once; not all AVX-512 machines do. */
bool isa_counts_bits(enum isa isa);

/* The size of the second-level cache of a core: what the environment variable PERHAPS_CACHE says,
 * or else the system, if that is a usual size; else 1 MiB. */
uint64_t cpu_near_bytes(void);

/* The best instruction set, or the one that the environment variable PERHAPS_ISA names;
 * PERHAPS_EINVAL if this machine does not have it. */
int isa_choose(enum isa *isa);

#endif
