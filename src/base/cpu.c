#include "base/cpu.h"

#include "base/error.h"
#include "perhaps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[ISA_COUNT] = {"scalar", "neon", "wasm", "avx2", "avx512"};

const char *isa_name(enum isa isa) {
    return names[isa];
}

static bool available(enum isa isa) {
    switch (isa) {
    case ISA_SCALAR:
        return true;
#if defined(__aarch64__)
    case ISA_NEON:
        return true;
#endif
#if defined(__x86_64__)
    case ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    case ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && available(ISA_AVX2);
#endif
    default:
        return false;
    }
}

bool isa_counts_bits(enum isa isa) {
#if defined(__x86_64__)
    return isa == ISA_AVX512 && __builtin_cpu_supports("avx512vpopcntdq");
#else
    (void)isa;
    return false;
#endif
}

static uint64_t cache_bytes(void) {
    enum { LEAST = 256 << 10, USUAL = 1 << 20, MOST = 4 << 20 };
    const char *wish = getenv("PERHAPS_CACHE");
    long bytes = USUAL;
    if (wish && *wish) return strtoull(wish, NULL, 10);
#if defined(_SC_LEVEL2_CACHE_SIZE)
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes >= LEAST && bytes <= MOST ? (uint64_t)bytes : USUAL;
}

/* Asked once: on virtual machines with older C libraries the answer takes as long as making a small
 * filter. */
uint64_t cpu_near_bytes(void) {
    static _Atomic uint64_t known = UINT64_MAX;
    if (known == UINT64_MAX) known = cache_bytes();
    return known;
}

static int not_available(const char *wish) {
    char list[64] = "";
    for (int i = 0; i < ISA_COUNT; i++) {
        if (!available((enum isa)i)) continue;
        if (*list) strcat(list, ", ");
        strcat(list, names[i]);
    }
    return fail(PERHAPS_EINVAL, "PERHAPS_ISA is '%s', but this machine has: %s; unset it or name one of these", wish,
                list);
}

int isa_choose(enum isa *isa) {
    const char *wish = getenv("PERHAPS_ISA");
    for (int i = ISA_COUNT - 1; i >= 0; i--) {
        if (!available((enum isa)i)) continue;
        if (wish && *wish && strcmp(wish, names[i]) != 0) continue;
        *isa = (enum isa)i;
        return PERHAPS_OK;
    }
    return not_available(wish);
}
