"""Parses address texts eight bytes at a time, for columns.

The scalar parsers of ``_address.pxd`` branch at every byte. In a column of mixed addresses the
processor mispredicts many of those branches, and each costs as much as parsing a few digits.

Idea: treat a 64-bit word as eight lanes of one byte (SWAR, SIMD within a register), and work on all
lanes with one operation. To parse "9.81.0.255":

1. Compare all bytes with "." at once. The result is a mask of the positions 1, 4 and 6; the end of
   the text, 10, is added as a fourth stop. The lowest bit of the mask is the end of the first
   octet, the next bit the end of the second, and so on.
2. Load each octet right-aligned into four bytes, with "0" subtracted: 0 0 0 9, 0 0 8 1, 0 0 0 0,
   0 2 5 5. Two octets share a word.
3. Multiply and add neighbouring lanes: bytes to tens, tens to octets, of both octets at once.
4. Collect every violation (a byte that is not a digit, an octet with a leading zero or above 255) as a
   bit of ``bad``, and test it once at the end.

A group of an IPv6 address has four hexadecimal digits in four bytes, joined the same way.

A text that these functions accept has the same value in the scalar parsers; tests compare both.
All other texts go to the scalar parsers: dotted tails, texts near the end of the buffer, and
malformed texts. The bytes after a text are read, and then masked.

References: Warren, Hacker's Delight, chapters 2 and 6 (finding bytes in words); Anderson, Bit
Twiddling Hacks ("Determine if a word has a byte equal to n", "Counting bits set"); Lemire, Parsing
IP addresses crazily fast, 2023.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from geolookup.kernel._address cimport Address, _parse
from geolookup.kernel._words cimport (
    EACH_BYTE,
    EACH_WORD,
    LEAST_OCTET,
    LOWEST_BIT,
    MARKS,
    PY_LITTLE_ENDIAN,
    Text,
    _half_word,
    _word,
)

cdef enum:
    # Number of bytes that the parsers read, counted from the beginning of the text.
    QUICK_IPV4 = 24
    QUICK_IPV6 = 48


cdef inline int _parse_quickly(Text text, Py_ssize_t size, Py_ssize_t room, Address* out) noexcept nogil:
    """Parse as ``_parse`` does; ``room`` is the number of readable bytes from ``text`` on."""
    if PY_LITTLE_ENDIAN and room >= QUICK_IPV4:
        if not _begins_with_group(text):
            out.high, out.family = 0, 4
            if _quick_ipv4(text, size, &out.low):
                return 4
        elif room >= QUICK_IPV6:
            out.family = 6
            if _quick_ipv6(text, size, out):
                return 6
    return _parse(text, size, out)


cdef inline bint _begins_with_group(Text text) noexcept nogil:
    """Return whether one of the first five bytes is a colon, as in all IPv6 texts and no IPv4 text.

    A word has a zero byte where ``(word - 0x01...) & ~word & 0x80...`` is not 0.
    """
    # 58 is ":". The shift drops bytes 5 to 7: only the first five can be 0.
    cdef uint64_t word = (_word(text) ^ EACH_BYTE * 58) << 24
    return ((word - (EACH_BYTE << 24)) & ~word & EACH_BYTE * 128) != 0


cdef inline uint64_t _digits(Text text, int begin, int count) noexcept nogil:
    """Return up to 4 digits as numbers, a byte each, the last one in the highest of 4 bytes.

    "81" becomes 0 0 8 1, lowest byte first; bytes after the digits are shifted out.
    """
    # XOR with 0x30 subtracts "0" from a digit; any other byte gets a value above 9.
    return <uint32_t>((_half_word(text + begin) ^ 0x30303030u) << (32 - 8 * count))


cdef inline uint64_t _octets(uint64_t digits, int first, int second, uint64_t* bad) noexcept nogil:
    """Return two octets of ``first`` and ``second`` digits, 32 bits each, from two ``_digits``.

    Bytes 0 h t o of an octet become h and 10 t + o, 16 bits each, then 100 h + 10 t + o. An
    invalid octet sets bits in ``bad``.
    """
    cdef uint64_t least = LEAST_OCTET[first] | LEAST_OCTET[second] << 32, octets
    # A byte from 10 on reaches 0x80 when 0x76 is added.
    bad[0] |= (digits | digits + EACH_BYTE * 0x76) & EACH_BYTE * 0x80
    # Each sum is a pair of 16-bit lanes in each half: 0 2 5 5 is 2 and 55, then 255.
    octets = (digits >> 8 & EACH_WORD * 0xFF00FF) + 10 * (digits & EACH_WORD * 0xFF00FF)
    octets = (octets >> 16 & EACH_WORD * 0xFFFF) + 100 * (octets & EACH_WORD * 0xFFFF)
    # A difference below 0 has its top bit set.
    bad[0] |= ((octets - least) | (EACH_WORD * 255 - octets)) & EACH_WORD * 0x80000000u
    return octets


cdef inline bint _quick_ipv4(Text text, Py_ssize_t size, uint64_t* value) noexcept nogil:
    """Parse four octets between dots; no branch depends on a digit."""
    cdef uint64_t stops, second, third, fourth, high, low, bad = 0
    cdef int end1, end2, end3, size1, size2, size3, size4
    # One comparison for both ends, 7 and 15: a smaller size wraps to a large one.
    if <size_t>(size - 7) > 8:
        return False
    stops = (MARKS(text, c".") & ((<uint64_t>1 << size) - 1)) | <uint64_t>1 << size
    # Each of these is the one before it without its lowest bit.
    second = stops & (stops - 1)
    third = second & (second - 1)
    fourth = third & (third - 1)
    if fourth == 0 or fourth & (fourth - 1):
        return False
    end1, end2, end3 = LOWEST_BIT(stops), LOWEST_BIT(second), LOWEST_BIT(third)
    size1, size2, size3 = end1, end2 - end1 - 1, end3 - end2 - 1
    size4 = <int>size - end3 - 1
    # Each size must be 1 to 3: neither it nor the size minus 1 has a bit above the lowest two.
    if (size1 | size2 | size3 | size4 | size1 - 1 | size2 - 1 | size3 - 1 | size4 - 1) & ~3:
        return False
    high = _digits(text, 0, size1) | _digits(text, end1 + 1, size2) << 32
    low = _digits(text, end2 + 1, size3) | _digits(text, end3 + 1, size4) << 32
    high, low = _octets(high, size1, size2, &bad), _octets(low, size3, size4, &bad)
    # The low half of each word has the first octet of its pair: 9 and 81, 0 and 255.
    value[0] = (high & 255) << 24 | high >> 32 << 16 | (low & 255) << 8 | low >> 32
    return bad == 0


cdef inline int _count_bits(uint64_t bits) noexcept nogil:
    # Counts of pairs, of nibbles, of bytes; the product adds the eight bytes in the highest.
    bits -= bits >> 1 & EACH_BYTE * 0x55
    bits = (bits & EACH_BYTE * 0x33) + (bits >> 2 & EACH_BYTE * 0x33)
    return <int>(((bits + (bits >> 4)) & EACH_BYTE * 0x0F) * EACH_BYTE >> 56)


cdef inline uint64_t _two_groups(const uint32_t* digits, uint64_t* bad) noexcept nogil:
    """Return the groups of two ``_digits``, the first in bits 16 to 31, the second in bits 0 to 15.

    A byte that is not a hexadecimal digit sets bits in ``bad``.
    """
    cdef uint64_t word = _word(<Text>digits), nibbles
    cdef uint64_t alphas = word >> 6 & EACH_BYTE  # 1 in each byte of a to f, A to F
    # After the XOR of ``_digits``, "a" is 0x51 and "F" is 0x76: 1 + 9 and 6 + 9.
    nibbles = (word & EACH_BYTE * 0x0F) + 9 * alphas
    # Digits have no other bit; letters have 0x50, and either 0x20 or not.
    bad[0] |= (word ^ 0x50 * alphas) & (EACH_BYTE * 0xF0 ^ 0x20 * alphas)
    # Digits are 0 to 9 and letters 10 to 15.
    bad[0] |= (nibbles & EACH_BYTE * 0x10) | (((nibbles + EACH_BYTE * 6) >> 4 ^ alphas) & EACH_BYTE)
    # 01 04 05 00 becomes 14 50, then 1450.
    nibbles = (nibbles << 4 | nibbles >> 8) & EACH_WORD * 0xFF00FF  # a byte of each two
    nibbles = (nibbles << 8 | nibbles >> 16) & EACH_WORD * 0xFFFF
    return (nibbles << 16 | nibbles >> 32) & 0xFFFFFFFFu


cdef inline bint _quick_ipv6(Text text, Py_ssize_t size, Address* out) noexcept nogil:
    """Parse groups of hexadecimal digits between colons, with or without ``::``.

    The colons cut the text into pieces: "2a00:1450::1" into "2a00", "1450", "" and "1". The empty
    piece of ``::`` stands for the groups that are missing: here for 5, as there are 3 others.
    """
    cdef uint64_t colons, pairs, stops, bad = 0
    cdef uint32_t groups[8]
    cdef uint32_t* group = groups
    cdef int at, missing, length, begin, end
    # From "::1" to eight groups of four digits. The scalar parser reads "::".
    if <size_t>(size - 3) > 36:
        return False
    colons = MARKS(text, c":") | MARKS(text + 16, c":") << 16 | MARKS(text + 32, c":") << 32
    colons &= (<uint64_t>1 << size) - 1
    # Bit i: colons at i and i + 1. Two of these are two "::", or ":::".
    pairs = colons & colons >> 1
    if pairs & (pairs - 1):
        return False
    # A colon at either end must belong to ``::``; then the outer colon of the two is skipped.
    begin, end = <int>(pairs & 1), <int>(pairs >> (size - 2) & 1)
    if (colons & 1) != <uint64_t>begin or colons >> (size - 1) != <uint64_t>end:
        return False
    end = <int>size - end
    # "::1": begin is 1, and the stops are 1 and 3: an empty piece, then "1".
    stops = (colons & ((<uint64_t>1 << end) - 1) & ~<uint64_t>begin) | <uint64_t>1 << end
    missing = 8 - _count_bits(stops)  # groups that the empty piece stands for, less one
    if missing < 0 or (missing > 0 and pairs == 0):
        return False
    memset(groups, 0, sizeof(groups))
    # The groups are zeros: the empty piece of "::" only skips 1 + missing of them.
    while stops:
        at = LOWEST_BIT(stops)
        stops &= stops - 1
        length = at - begin
        if length > 4:
            return False
        group[0] = <uint32_t>_digits(text, begin, length)
        group += 1 + (missing if length == 0 else 0)
        begin = at + 1
    out.high = _two_groups(&groups[0], &bad) << 32 | _two_groups(&groups[2], &bad)
    out.low = _two_groups(&groups[4], &bad) << 32 | _two_groups(&groups[6], &bad)
    return bad == 0
