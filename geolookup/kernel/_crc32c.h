/* CRC-32C: the processor's instruction where it has one, else a table.

   x86-64 has the instruction since SSE4.2, 64-bit ARM as an option that all processors of Apple
   have. The choice is made once, at import. Without the instruction, each step looks up eight bytes
   in eight tables ("slicing by 8"): crc_tables[n][byte] is the checksum of that byte with n zero
   bytes after it, and the checksum of eight bytes is the XOR of their checksums.

   References: RFC 3720, section B.4; Intel 64 and IA-32 Architectures Software Developer's Manual,
   CRC32; Arm Architecture Reference Manual, CRC32CX; Kounavis and Berry, A Systematic Approach to
   Building High Performance Software-Based CRC Generators, 2005. */

#ifndef GEOLOOKUP_CRC32C_H
#define GEOLOOKUP_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t crc_tables[8][256];

/* The polynomial is reflected: the lowest bit of a byte is the highest power of x. */
static void crc_fill_tables(uint32_t polynomial) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        crc_tables[0][byte] = crc;
    }
    for (int at = 1; at < 8; at++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            /* One zero byte more: the low byte is replaced by its checksum. */
            uint32_t before = crc_tables[at - 1][byte];
            crc_tables[at][byte] = crc_tables[0][before & 255] ^ before >> 8;
        }
}

static uint32_t crc_by_table(const unsigned char* text, size_t size) {
    /* All ones at first: leading zero bytes would leave a register of 0 at 0. Inverted last. */
    uint32_t crc = 0xFFFFFFFFu;
    for (; size >= 8; size -= 8, text += 8) {
        crc ^= (uint32_t)text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16
            | (uint32_t)text[3] << 24;
        /* Byte 0 has seven bytes after it, byte 7 none. */
        crc = crc_tables[7][crc & 255] ^ crc_tables[6][crc >> 8 & 255]
            ^ crc_tables[5][crc >> 16 & 255] ^ crc_tables[4][crc >> 24]
            ^ crc_tables[3][text[4]] ^ crc_tables[2][text[5]]
            ^ crc_tables[1][text[6]] ^ crc_tables[0][text[7]];
    }
    for (; size; size--, text++) crc = crc_tables[0][(crc ^ *text) & 255] ^ crc >> 8;
    return crc ^ 0xFFFFFFFFu;
}

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define CRC_STEP8(crc, word) __builtin_ia32_crc32di(crc, word)
#define CRC_STEP4(crc, word) __builtin_ia32_crc32si((uint32_t)(crc), word)
#define CRC_STEP1(crc, byte) __builtin_ia32_crc32qi((uint32_t)(crc), byte)
#define CRC_TARGET __attribute__((target("sse4.2")))
static int crc_has_instruction(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") != 0;
}
#elif defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#include <nmmintrin.h>
#define CRC_STEP8(crc, word) _mm_crc32_u64(crc, word)
#define CRC_STEP4(crc, word) _mm_crc32_u32((uint32_t)(crc), word)
#define CRC_STEP1(crc, byte) _mm_crc32_u8((uint32_t)(crc), byte)
#define CRC_TARGET
static int crc_has_instruction(void) {
    int registers[4];
    __cpuid(registers, 1);
    /* ECX, bit 20: SSE4.2. */
    return registers[2] >> 20 & 1;
}
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__) \
    && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (defined(__linux__) || defined(__APPLE__))
#define CRC_TARGET
/* With the directive the assembler accepts the instruction without a flag of the compiler. */
static uint64_t CRC_STEP8(uint64_t crc, uint64_t word) {
    uint32_t sum = (uint32_t)crc;
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(sum) : "r"(word));
    return sum;
}
static uint64_t CRC_STEP4(uint64_t crc, uint32_t word) {
    uint32_t sum = (uint32_t)crc;
    __asm__(".arch_extension crc\n\tcrc32cw %w0, %w0, %w1" : "+r"(sum) : "r"(word));
    return sum;
}
static uint64_t CRC_STEP1(uint64_t crc, unsigned char byte) {
    uint32_t sum = (uint32_t)crc;
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(sum) : "r"((uint32_t)byte));
    return sum;
}
#if defined(__linux__)
#include <sys/auxv.h>
/* Bit 7 is HWCAP_CRC32. */
static int crc_has_instruction(void) { return (getauxval(AT_HWCAP) >> 7 & 1) != 0; }
#else
static int crc_has_instruction(void) { return 1; }
#endif
#endif

#if defined(CRC_TARGET)
CRC_TARGET static uint32_t crc_by_instruction(const unsigned char* text, size_t size) {
    uint64_t crc = 0xFFFFFFFFu, word;
    uint32_t half;
    for (; size >= 8; size -= 8, text += 8) {
        memcpy(&word, text, 8);
        crc = CRC_STEP8(crc, word);
    }
    if (size >= 4) {
        memcpy(&half, text, 4);
        crc = CRC_STEP4(crc, half);
        size -= 4, text += 4;
    }
    for (; size; size--, text++) crc = CRC_STEP1(crc, *text);
    return (uint32_t)crc ^ 0xFFFFFFFFu;
}
#else
#define crc_by_instruction crc_by_table
static int crc_has_instruction(void) { return 0; }
#endif

#endif
