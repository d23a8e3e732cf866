/* Searches windows of WINDOW sorted numbers, a window for each value.

   A bisection waits for a comparison at each of five steps. With AVX2, chosen at run time, all
   numbers of a window are compared at once: those that are greater are counted. */

#ifndef GEOLOOKUP_WINDOWS_H
#define GEOLOOKUP_WINDOWS_H

#include <stdint.h>

#define WINDOW 32

/* Advance each of ``lows`` to the last of the ``size`` numbers from there on that is <= its value.

   Without one it does not change. ``size`` is at most WINDOW. */
typedef void (*WindowSearch)(const uint32_t* table, uint32_t size, const uint32_t* values,
                             int count, uint32_t* lows);

/* Branch-free: a mask selects the half that holds the value.

   With five numbers 10 20 30 40 50 and 35: size 5, half 2: 30 <= 35, so low 2, size 3; half 1: 40 >
   35, size 2; half 1: 40 > 35, size 1. */
static void bisect_windows(const uint32_t* table, uint32_t size, const uint32_t* values, int count,
                           uint32_t* lows) {
    for (int at = 0; at < count; at++) {
        uint32_t low = lows[at];
        for (uint32_t left = size; left > 1;) {
            uint32_t half = left >> 1;
            low += half & (0 - (uint32_t)(table[low + half] <= values[at]));
            left -= half;
        }
        lows[at] = low;
    }
}

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)

#include <immintrin.h>

/* Eight lanes: all ones where a number is greater. The comparison is signed: the flip of the top
   bits makes it one of unsigned numbers. */
#define GREATER(at) \
    _mm256_cmpgt_epi32(_mm256_xor_si256(_mm256_loadu_si256((const __m256i*)(at)), flip), value)

__attribute__((target("avx2,popcnt"))) static void compare_windows(
    const uint32_t* table, uint32_t size, const uint32_t* values, int count, uint32_t* lows) {
    const __m256i flip = _mm256_set1_epi32((int)0x80000000u);
    if (size != WINDOW) {
        bisect_windows(table, size, values, count, lows);
        return;
    }
    for (int at = 0; at < count; at++) {
        const uint32_t* window = table + lows[at];
        const __m256i value = _mm256_xor_si256(_mm256_set1_epi32((int)values[at]), flip);
        /* 32 lanes, narrowed to a byte each; their order does not matter. */
        __m256i low = _mm256_packs_epi32(GREATER(window), GREATER(window + 8));
        __m256i high = _mm256_packs_epi32(GREATER(window + 16), GREATER(window + 24));
        uint32_t greater = (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(low, high));
        /* Bit 0 is of the first: like in a bisection, it counts as less. */
        lows[at] += WINDOW - 1 - (uint32_t)__builtin_popcount(greater & ~1u);
    }
}

static WindowSearch choose_window_search(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? compare_windows
                                                                            : bisect_windows;
}

#else

static WindowSearch choose_window_search(void) { return bisect_windows; }

#endif

#endif
