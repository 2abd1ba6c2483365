/* A line of the blocked filter in WebAssembly's vectors of 16 bytes, which cannot shift each lane
 * by another number. A query finds the byte of each lane that has the key's bit, in 16 bytes of the
 * line at a time, and tests the bit there. The six bits of `b` for a lane stand in 16 bits: the
 * upper three say which byte, the lower three which bit. */
#include <wasm_simd128.h>

/* Engines build a constant from parts at every use. This one is a variable to the compiler, which
 * sets it before a loop. */
INLINE v128_t ISA(held)(v128_t constant) {
    __asm__("" : "+r"(constant));
    return constant;
}

/* The six bits of each lane at the top of 16: lane i is bit 16 + 6i and up, hence in the two bytes
 * from (16 + 6i) / 8 on, and multiplying moves it up. */
INLINE v128_t ISA(fields)(uint64_t b) {
    const v128_t from = ISA(held)(wasm_i8x16_const(2, 3, 2, 3, 3, 4, 4, 5, 5, 6, 5, 6, 6, 7, 7, 8));
    const v128_t up = ISA(held)(wasm_i16x8_const(1024, 16, 64, 256, 1024, 16, 64, 256));
    return wasm_i16x8_mul(wasm_i8x16_swizzle(wasm_i64x2_splat((int64_t)b), from), up);
}

/* The bytes of two lanes, in their place among the eight; indices of 16 and more give 0. */
INLINE v128_t ISA(bytes)(const uint8_t *line, v128_t at, v128_t lanes) {
    return wasm_i8x16_swizzle(wasm_v128_load(line), wasm_v128_or(at, lanes));
}

/* Not 0 in each lane of 16 bits whose bit is there. */
INLINE v128_t ISA(found)(const uint8_t *line, uint64_t b) {
    const v128_t lanes[4] = {
        ISA(held)(wasm_u16x8_const(0x8000, 0x8008, 0x8080, 0x8080, 0x8080, 0x8080, 0x8080, 0x8080)),
        ISA(held)(wasm_u16x8_const(0x8080, 0x8080, 0x8000, 0x8008, 0x8080, 0x8080, 0x8080, 0x8080)),
        ISA(held)(wasm_u16x8_const(0x8080, 0x8080, 0x8080, 0x8080, 0x8000, 0x8008, 0x8080, 0x8080)),
        ISA(held)(wasm_u16x8_const(0x8080, 0x8080, 0x8080, 0x8080, 0x8080, 0x8080, 0x8000, 0x8008)),
    };
    const v128_t bits = ISA(held)(wasm_u64x2_const_splat(0x8040201008040201)),
                 seven = ISA(held)(wasm_i16x8_const_splat(7));
    v128_t fields = ISA(fields)(b), at = wasm_u16x8_shr(fields, 13);
    v128_t low = wasm_v128_or(ISA(bytes)(line, at, lanes[0]), ISA(bytes)(line + 16, at, lanes[1]));
    v128_t high = wasm_v128_or(ISA(bytes)(line + 32, at, lanes[2]), ISA(bytes)(line + 48, at, lanes[3]));
    v128_t bit = wasm_i8x16_swizzle(bits, wasm_v128_and(wasm_u16x8_shr(fields, 10), seven));
    return wasm_v128_and(wasm_v128_or(low, high), bit);
}

INLINE uint8_t ISA(lacks)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    bool all = wasm_i16x8_all_true(ISA(found)(line, b));
    return two ? !(all & wasm_i16x8_all_true(ISA(found)(line, c))) : !all;
}

INLINE uint8_t ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    return put_scalar(line, b, c, two);
}

INLINE size_t ISA(find_some)(const uint64_t *digests, size_t n, int which, uint32_t lines, uint64_t begin,
                             uint64_t *offsets) {
    for (size_t i = 0; i < n; i++)
        offsets[i] = mul_high_32(line_hash(digests[i], which), lines) * BLOCKED_LINE_BYTES + begin;
    return n;
}
#define FINDS_SOME
