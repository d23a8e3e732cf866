/* Bits and bytes of whole words: what Cython has no expression for.

   A 64-bit word holds eight bytes of a text, the first one in its lowest bits on the
   little-endian machines that the quick parsers run on. */

#ifndef GEOLOOKUP_WORDS_H
#define GEOLOOKUP_WORDS_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define EACH_BYTE 0x0101010101010101ull

#if defined(__GNUC__) || defined(__clang__)

/* Of bits that are not all 0: how many zeros are below the lowest 1, and above the highest. */
#define LOWEST_BIT(bits) __builtin_ctzll(bits)
#define ZEROS_ABOVE(bits) __builtin_clzll(bits)

/* In one arm of a branch: keeps it a branch. The processor reads ahead of a branch that it predicts,
   but waits for the operands of a conditional move. */
#define STAY_BRANCH() __asm__ volatile("")

/* GCC removes the calls of a function that only prefetches; the empty assembly prevents that. */
#define PREFETCH(address) (__extension__ ({ __builtin_prefetch(address); __asm__ volatile(""); }))

#else

static inline int LOWEST_BIT(uint64_t bits) {
    int at = 0;
    for (; !(bits & 1); bits >>= 1) at++;
    return at;
}

static inline int ZEROS_ABOVE(uint64_t bits) {
    int at = 0;
    for (; !(bits >> 63); bits <<= 1) at++;
    return at;
}

#define STAY_BRANCH() ((void)0)
#define PREFETCH(address) ((void)(address))

#endif

/* Bit i of the result is 1 if byte i of the 8 is `wanted`.

   The XOR makes such a byte 0. A byte is 0 if neither it nor the sum of its low seven bits and
   127 has the top bit. These bits are then 1 in the top of each byte, 0x80: the product with 2^7 +
   2^14 + ... + 2^56 gathers them in the highest byte. For "9.81.0.2" and ".", the bytes 1, 4 and
   6 are 0x80, and the result is 0b01010010. See Warren, Hacker's Delight, section 6-1. */
static inline uint64_t marks8(const unsigned char* text, unsigned char wanted) {
    const uint64_t low_bits = EACH_BYTE * 127;
    uint64_t word;
    memcpy(&word, text, 8);
    word ^= EACH_BYTE * wanted;
    word = ~(((word & low_bits) + low_bits) | word | low_bits);
    return (word >> 7) * 0x0102040810204080ull >> 56;
}

/* The same for 16 bytes. Every x86-64 has SSE2: one comparison, and one instruction that gathers. */
static inline uint64_t MARKS(const unsigned char* text, unsigned char wanted) {
#if defined(__SSE2__)
    __m128i bytes = _mm_loadu_si128((const __m128i*)text);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)wanted)));
#else
    return marks8(text, wanted) | marks8(text + 8, wanted) << 8;
#endif
}

#endif
