/* Parses a batch of address texts with vector instructions: AVX2, chosen at run time, or NEON.

   A text that is accepted here has the same value in the scalar parser; the caller parses all others
   again. Bytes after a text are read, but never beyond the buffer.

   To parse "9.81.0.255", of 10 bytes:

   1. Compare 16 bytes with ".": the result is the mask of 1, 4 and 6. Add the end, 10. There are
      81 such masks. A product maps each of them to an entry of its own of a table.
   2. The entry has the byte of the text that each digit is at. A shuffle moves the digits of an
      octet to three bytes, 0 0 9, 0 8 1, 0 0 0, 2 5 5, the last octet first.
   3. Multiply by 100, 10 and 1, and add neighbours. Compare with 255 and, because of leading zeros,
      with the least octet of so many digits.

   With AVX2 the two halves of a register hold two texts. A text of IPv6 has one register for the
   eight groups: a shift by lane aligns their digits to the right, four bytes a group.

   References: Lemire, Parsing IP addresses crazily fast, 2023; Mula, SIMD-ized faster parse of IPv4
   addresses, 2023; Intel Intrinsics Guide; Arm Neon Intrinsics Reference. */

#ifndef GEOLOOKUP_VECTORS_H
#define GEOLOOKUP_VECTORS_H

#include <stdint.h>
#include <string.h>

#include "_words.h"

#define BATCH 64
#define GROUPS_ROOM 72 /* bytes that are read from the beginning of a text on */

typedef struct {
    unsigned char families[BATCH]; /* 4, 6; 0: the caller parses the text */
    uint64_t highs[BATCH], lows[BATCH]; /* not set if the family is 0 */
} ParsedBatch;

/* Text number i is data[begins[i]:ends[i]]. These can be any numbers; size is the end of data. */
typedef void (*BatchParser)(const unsigned char* data, int64_t size, const int64_t* begins,
                            const int64_t* ends, int count, ParsedBatch* out);

static void parse_no_batch(const unsigned char* data, int64_t size, const int64_t* begins,
                           const int64_t* ends, int count, ParsedBatch* out) {
    (void)data, (void)size, (void)begins, (void)ends;
    memset(out->families, 0, (size_t)count);
}

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define VECTORS_AVX2
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__) \
    && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define VECTORS_NEON
#endif

#if defined(VECTORS_AVX2) || defined(VECTORS_NEON)

enum { QUAD_ROOM = 16 };

typedef struct {
    unsigned char digits[16]; /* where each is in the text; above 127: no digit, so 0 */
    uint16_t least[4];
    uint16_t stops; /* the mask, to compare: other masks have an entry of these too */
} QuadLayout;

static QuadLayout quad_layouts[256];
static const unsigned char no_quad[QUAD_ROOM];

/* The entry of a mask. The factor was found by trial: no two of the 81 masks share an entry. */
static inline const QuadLayout* quad_layout(uint32_t stops) {
    return &quad_layouts[(uint32_t)(stops * 0x27D62B79u) >> 24];
}

static void fill_quad_layout(const int* sizes) {
    QuadLayout layout;
    QuadLayout* target;
    int end = -1;
    memset(layout.digits, 0x80, sizeof(layout.digits));
    layout.stops = 0;
    for (int octet = 0; octet < 4; octet++) {
        end += sizes[octet] + 1;
        layout.stops |= (uint16_t)(1 << end);
        layout.least[3 - octet] = sizes[octet] == 3 ? 100 : sizes[octet] == 2 ? 10 : 0;
        for (int digit = 0; digit < sizes[octet]; digit++)
            layout.digits[4 * (3 - octet) + 2 - digit] = (unsigned char)(end - 1 - digit);
    }
    target = (QuadLayout*)quad_layout(layout.stops);
    *target = layout;
}

static void fill_quad_layouts(void) {
    for (int at = 0; at < 81; at++) {
        int sizes[4] = {at / 27 + 1, at / 9 % 3 + 1, at / 3 % 3 + 1, at % 3 + 1};
        fill_quad_layout(sizes);
    }
}

/* The text, if its size can be of a quad and 16 bytes are readable; else seven zero bytes. */
static inline const unsigned char* quad_text(const unsigned char* data, int64_t size, int64_t begin,
                                             int64_t end, unsigned* length) {
    uint64_t bytes = (uint64_t)end - (uint64_t)begin;
    /* One comparison for both ends of each range: a number below 0 wraps to a large one. */
    if (bytes - 7 > 8 || size < QUAD_ROOM || (uint64_t)begin > (uint64_t)size - QUAD_ROOM) {
        *length = 7;
        return no_quad;
    }
    *length = (unsigned)bytes;
    return data + begin;
}

static inline uint32_t quad_stops(uint32_t dots, unsigned length) {
    return (dots & ((1u << length) - 1)) | 1u << length;
}

#endif

#if defined(VECTORS_AVX2)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

static int has_vectors(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
        && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

AVX2 static inline __m256i two_halves(__m128i low, __m128i high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Parse the texts number ``at`` and ``next``. */
AVX2 static inline void parse_two_quads(const unsigned char* data, int64_t size,
                                        const int64_t* begins, const int64_t* ends, int at,
                                        int next, ParsedBatch* out) {
    const __m256i weights = _mm256_set1_epi32(0x00010A64); /* 100, 10, 1, 0 */
    unsigned length, length2;
    const unsigned char* text = quad_text(data, size, begins[at], ends[at], &length);
    const unsigned char* text2 = quad_text(data, size, begins[next], ends[next], &length2);
    __m256i bytes, digits, octets, bad, good;
    uint32_t dots, stops, stops2, accepted;
    const QuadLayout *layout, *layout2;
    bytes = two_halves(_mm_loadu_si128((const __m128i*)text), _mm_loadu_si128((const __m128i*)text2));
    dots = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')));
    stops = quad_stops(dots, length), stops2 = quad_stops(dots >> 16, length2);
    layout = quad_layout(stops), layout2 = quad_layout(stops2);
    /* XOR with "0" makes a digit its number, and any other byte more than 9. */
    digits = _mm256_shuffle_epi8(
        _mm256_xor_si256(bytes, _mm256_set1_epi8('0')),
        two_halves(_mm_loadu_si128((const __m128i*)layout->digits),
                   _mm_loadu_si128((const __m128i*)layout2->digits)));
    octets = _mm256_madd_epi16(_mm256_maddubs_epi16(digits, weights), _mm256_set1_epi16(1));
    octets = _mm256_packs_epi32(octets, octets);
    bad = _mm256_cmpgt_epi16(two_halves(_mm_loadl_epi64((const __m128i*)layout->least),
                                        _mm_loadl_epi64((const __m128i*)layout2->least)),
                             octets);
    bad = _mm256_or_si256(bad, _mm256_cmpgt_epi16(octets, _mm256_set1_epi16(255)));
    good = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    accepted = (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(bad, good));
    octets = _mm256_packus_epi16(octets, octets);
    out->lows[at] = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(octets));
    out->lows[next] = (uint32_t)_mm_cvtsi128_si32(_mm256_extracti128_si256(octets, 1));
    out->families[at] = ((accepted & 0xFFFF) == 0xFFFF) & (layout->stops == stops) ? 4 : 0;
    out->families[next] = (accepted >> 16 == 0xFFFF) & (layout2->stops == stops2) ? 4 : 0;
}

/* The eight groups of four hexadecimal digits in 32 bytes; 0 if a byte is another.

   A digit has been XORed with "0": 0 to 9 are numbers, "a" to "f" are 0x51 to 0x56, "A" 0x71. */
AVX2 static inline int join_groups(__m256i bytes, uint64_t* high, uint64_t* low) {
    const __m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(9)), bytes);
    __m256i letters, letter, nibbles;
    letters = _mm256_sub_epi8(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), _mm256_set1_epi8(0x71));
    letter = _mm256_cmpeq_epi8(_mm256_min_epu8(letters, _mm256_set1_epi8(5)), letters);
    if (_mm256_movemask_epi8(_mm256_or_si256(digit, letter)) != -1) return 0;
    nibbles = _mm256_blendv_epi8(_mm256_add_epi8(letters, _mm256_set1_epi8(10)), bytes, digit);
    /* 16 times the first of two and the second: a byte, of the address in network order. */
    nibbles = _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x0110));
    nibbles = _mm256_packus_epi16(nibbles, nibbles);
    *high = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(nibbles)));
    *low = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(nibbles, 1)));
    return 1;
}

/* Four bytes of the text, from the piece number ``turn`` on. */
#define PIECE(half, turn) half = _mm_insert_epi32(half, load4(text + begins[turn]), (turn) & 3)

AVX2 static inline int load4(const unsigned char* text) {
    int bytes;
    memcpy(&bytes, text, 4);
    return bytes;
}

/* Bits of the stops of up to eight pieces to their positions, a byte each; 64 for those that are
   missing. */
AVX2 static inline uint64_t stop_positions(uint64_t stops) {
    uint64_t positions = 0;
    for (int turn = 0; turn < 8; turn++) {
        positions |= _tzcnt_u64(stops) << 8 * turn;
        stops = _blsr_u64(stops);
    }
    return positions;
}

/* Parse groups between colons, with or without "::", of 3 to 39 bytes.

   "2a00:1450::1" has the pieces "2a00", "1450", "" and "1", and stops at 4, 9, 10 and 12. The empty
   piece is number 2, and stands for five groups, 4 more than one: lanes 0 to 7 get the pieces
   0 1 2 2 2 2 2 3. No branch depends on the number of pieces. */
AVX2 static inline int parse_groups(const unsigned char* text, unsigned size, uint64_t* high,
                                    uint64_t* low) {
    const __m256i colon = _mm256_set1_epi8(':'), lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m128i first = _mm_setzero_si128(), last = first, sizes;
    __m256i bytes, lengths, pieces;
    uint64_t colons, pairs, positions, starts;
    unsigned begin, end;
    int missing, empty;
    unsigned char begins[8];
    colons = (uint32_t)_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i*)text), colon));
    colons |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(
        _mm_loadu_si128((const __m128i*)(text + 32)), _mm256_castsi256_si128(colon))) << 32;
    colons &= ((uint64_t)1 << size) - 1;
    /* Bit i: colons at i and i + 1. Two of these are two "::", or ":::". */
    pairs = colons & colons >> 1;
    begin = pairs & 1, end = pairs >> (size - 2) & 1;
    /* A colon at either end must belong to "::"; then the outer colon of the two is skipped. */
    if ((pairs & (pairs - 1)) | ((colons & 1) ^ begin) | (colons >> (size - 1) ^ end)) return 0;
    end = size - end;
    colons = (colons & (((uint64_t)1 << end) - 1) & ~(uint64_t)begin) | (uint64_t)1 << end;
    missing = 8 - __builtin_popcountll(colons);
    if (missing < 0 || (missing && !pairs)) return 0;
    positions = stop_positions(colons);
    starts = (positions + EACH_BYTE) << 8 | begin;
    memcpy(begins, &starts, 8);
    PIECE(first, 0), PIECE(first, 1), PIECE(first, 2), PIECE(first, 3);
    PIECE(last, 4), PIECE(last, 5), PIECE(last, 6), PIECE(last, 7);
    sizes = _mm_sub_epi8(_mm_cvtsi64_si128((int64_t)positions), _mm_cvtsi64_si128((int64_t)starts));
    /* The first piece of 0 bytes; the upper half of the register has zeros too. */
    empty = (int)_tzcnt_u32((uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sizes, _mm_setzero_si128())));
    pieces = _mm256_max_epi32(_mm256_sub_epi32(lanes, _mm256_set1_epi32(missing)),
                              _mm256_min_epi32(lanes, _mm256_set1_epi32(empty)));
    bytes = _mm256_permutevar8x32_epi32(two_halves(first, last), pieces);
    lengths = _mm256_permutevar8x32_epi32(_mm256_cvtepu8_epi32(sizes), pieces);
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(lengths, _mm256_set1_epi32(4)))) return 0;
    /* A shift by 32 bits gives 0: of a group without digits, four zeros. */
    lengths = _mm256_sub_epi32(_mm256_set1_epi32(32), _mm256_slli_epi32(lengths, 3));
    bytes = _mm256_xor_si256(bytes, _mm256_set1_epi8('0'));
    return join_groups(_mm256_sllv_epi32(bytes, lengths), high, low);
}

AVX2 static void parse_vector_batch(const unsigned char* data, int64_t size, const int64_t* begins,
                                    const int64_t* ends, int count, ParsedBatch* out) {
    for (int at = 0; at < count; at += 2) {
        int next = at + 1 < count ? at + 1 : at;
        /* Columns of IPv6 texts only are frequent. */
        if ((uint64_t)ends[at] - (uint64_t)begins[at] > 15
            && (uint64_t)ends[next] - (uint64_t)begins[next] > 15)
            out->families[at] = out->families[next] = 0;
        else
            parse_two_quads(data, size, begins, ends, at, next, out);
    }
    for (int at = 0; at < count; at++) {
        uint64_t bytes = (uint64_t)ends[at] - (uint64_t)begins[at];
        if (out->families[at] || bytes - 3 > 36 || size < GROUPS_ROOM
            || (uint64_t)begins[at] > (uint64_t)size - GROUPS_ROOM)
            continue;
        if (parse_groups(data + begins[at], (unsigned)bytes, &out->highs[at], &out->lows[at]))
            out->families[at] = 6;
    }
}

#elif defined(VECTORS_NEON)

#include <arm_neon.h>

static int has_vectors(void) { return 1; } /* Every 64-bit Arm processor has NEON. */

/* Bit i of the result is 1 if byte i is ".". */
static inline uint32_t neon_dots(uint8x16_t bytes) {
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t marks = vandq_u8(vceqq_u8(bytes, vdupq_n_u8('.')), bits);
    return vaddv_u8(vget_low_u8(marks)) | (uint32_t)vaddv_u8(vget_high_u8(marks)) << 8;
}

static inline int parse_quad(const unsigned char* text, unsigned length, uint64_t* value) {
    const uint8x8_t weights = {100, 10, 1, 0, 100, 10, 1, 0};
    uint8x16_t bytes = vld1q_u8(text), digits;
    uint32_t stops = quad_stops(neon_dots(bytes), length);
    const QuadLayout* layout = quad_layout(stops);
    uint16x8_t sums;
    uint16x4_t octets, bad;
    /* XOR with "0" makes a digit its number, and any other byte more than 9. */
    digits = vqtbl1q_u8(veorq_u8(bytes, vdupq_n_u8('0')), vld1q_u8(layout->digits));
    sums = vpaddq_u16(vmull_u8(vget_low_u8(digits), weights), vmull_u8(vget_high_u8(digits), weights));
    octets = vget_low_u16(vpaddq_u16(sums, sums));
    bad = vorr_u16(vcgt_u16(vld1_u16(layout->least), octets), vcgt_u16(octets, vdup_n_u16(255)));
    *value = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(octets, octets))), 0);
    return layout->stops == stops && vmaxvq_u8(digits) <= 9 && vmaxv_u16(bad) == 0;
}

static void parse_vector_batch(const unsigned char* data, int64_t size, const int64_t* begins,
                               const int64_t* ends, int count, ParsedBatch* out) {
    unsigned length;
    for (int at = 0; at < count; at++) {
        const unsigned char* text = quad_text(data, size, begins[at], ends[at], &length);
        out->families[at] = parse_quad(text, length, &out->lows[at]) ? 4 : 0;
    }
}

#else

static int has_vectors(void) { return 0; }
#define parse_vector_batch parse_no_batch
static void fill_quad_layouts(void) {}

#endif

/* The parser of this processor; the tables that it reads are filled. */
static BatchParser choose_batch_parser(void) {
    if (!has_vectors()) return parse_no_batch;
    fill_quad_layouts();
    return parse_vector_batch;
}

#endif
