"""Address texts parsed a word at a time, for columns, where a wrong guess costs more than a digit.

What these accept, the parsers of ``_kernel_address.pxi`` accept with the same
value; what they do not accept, those decide: dotted tails, the ends of a
buffer, whatever is no address. Bytes beyond a text are read, and then masked.
"""

cdef extern from *:
    """
    #define EACH_BYTE 0x0101010101010101ull
    #define EACH_WORD 0x0000000100000001ull
    #define BITS_TO_TOP 0x0102040810204080ull

    #if defined(__GNUC__) || defined(__clang__)
    #define LOWEST_BIT(bits) __builtin_ctzll(bits)
    #else
    static int LOWEST_BIT(unsigned long long bits) {
        int at = 0;
        for (; !(bits & 1); bits >>= 1) at++;
        return at;
    }
    #endif
    """
    const uint64_t EACH_BYTE, EACH_WORD, BITS_TO_TOP
    const bint PY_LITTLE_ENDIAN
    int LOWEST_BIT(uint64_t bits) noexcept nogil  # of bits that are not all zero

cdef enum:
    # Bytes that the parsers read from a text's beginning on.
    QUICK_IPV4 = 24
    QUICK_IPV6 = 48

#: The least octet of 1, 2 and 3 digits.
cdef uint64_t[4] _least_octet = [0, 0, 10, 100]


cdef int _parse_quickly(Text text, Py_ssize_t size, Py_ssize_t room, Address* out) noexcept nogil:
    """As ``_parse``; ``room`` bytes from ``text`` on may be read."""
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


cdef inline uint64_t _word(Text text) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, text, 8)
    return word


cdef inline uint64_t _half_word(Text text) noexcept nogil:
    cdef uint32_t word
    memcpy(&word, text, 4)
    return word


cdef inline bint _begins_with_group(Text text) noexcept nogil:
    """Whether one of the first five bytes is a colon, as in all IPv6 texts and no IPv4 text."""
    cdef uint64_t word = (_word(text) ^ EACH_BYTE * 58) << 24
    return ((word - (EACH_BYTE << 24)) & ~word & EACH_BYTE * 128) != 0


cdef inline uint64_t _marks(uint64_t word, uint64_t letter) noexcept nogil:
    """Return 8 bits, of which bit i says whether byte i of a word is the letter."""
    word ^= EACH_BYTE * letter
    word = ~(((word & EACH_BYTE * 127) + EACH_BYTE * 127) | word | EACH_BYTE * 127)
    return (word >> 7) * BITS_TO_TOP >> 56


cdef inline uint64_t _digits(Text text, int begin, int count) noexcept nogil:
    """Return up to 4 digits as numbers, a byte each, the last one in the highest of 4 bytes."""
    return <uint32_t>((_half_word(text + begin) ^ 0x30303030u) << (32 - 8 * count))


cdef inline uint64_t _octets(uint64_t digits, int first, int second, uint64_t* bad) noexcept nogil:
    """Return two octets of so many digits, 32 bits each; anything wrong sets bits in ``bad``."""
    cdef uint64_t least = _least_octet[first] | _least_octet[second] << 32, octets
    bad[0] |= (digits | digits + EACH_BYTE * 0x76) & EACH_BYTE * 0x80
    octets = (digits >> 8 & EACH_WORD * 0xFF00FF) + 10 * (digits & EACH_WORD * 0xFF00FF)
    octets = (octets >> 16 & EACH_WORD * 0xFFFF) + 100 * (octets & EACH_WORD * 0xFFFF)
    bad[0] |= ((octets - least) | (EACH_WORD * 255 - octets)) & EACH_WORD * 0x80000000u
    return octets


cdef inline bint _quick_ipv4(Text text, Py_ssize_t size, uint64_t* value) noexcept nogil:
    """Four octets between dots and the end, read without a branch that depends on a digit."""
    cdef uint64_t stops, second, third, fourth, high, low, bad = 0
    cdef int end1, end2, end3, size1, size2, size3, size4
    if <size_t>(size - 7) > 8:
        return False
    stops = _marks(_word(text), 46) | _marks(_word(text + 8), 46) << 8
    stops = (stops & ((<uint64_t>1 << size) - 1)) | <uint64_t>1 << size
    second = stops & (stops - 1)
    third = second & (second - 1)
    fourth = third & (third - 1)
    if fourth == 0 or fourth & (fourth - 1):
        return False
    end1, end2, end3 = LOWEST_BIT(stops), LOWEST_BIT(second), LOWEST_BIT(third)
    size1, size2, size3 = end1, end2 - end1 - 1, end3 - end2 - 1
    size4 = <int>size - end3 - 1
    # Each is 1 to 3: neither it nor what is one less has another bit.
    if (size1 | size2 | size3 | size4 | size1 - 1 | size2 - 1 | size3 - 1 | size4 - 1) & ~3:
        return False
    high = _digits(text, 0, size1) | _digits(text, end1 + 1, size2) << 32
    low = _digits(text, end2 + 1, size3) | _digits(text, end3 + 1, size4) << 32
    high, low = _octets(high, size1, size2, &bad), _octets(low, size3, size4, &bad)
    value[0] = (high & 255) << 24 | high >> 32 << 16 | (low & 255) << 8 | low >> 32
    return bad == 0


cdef inline int _count_bits(uint64_t bits) noexcept nogil:
    bits -= bits >> 1 & EACH_BYTE * 0x55
    bits = (bits & EACH_BYTE * 0x33) + (bits >> 2 & EACH_BYTE * 0x33)
    return <int>(((bits + (bits >> 4)) & EACH_BYTE * 0x0F) * EACH_BYTE >> 56)


cdef inline uint64_t _hex_group(uint64_t letters, uint64_t* bad) noexcept nogil:
    """Return the group of four ``_digits``; a letter that is none sets bits in ``bad``."""
    cdef uint64_t alphas = letters >> 6 & 0x01010101u  # 1 in each byte of a to f, A to F
    cdef uint64_t nibbles = (letters & 0x0F0F0F0Fu) + 9 * alphas
    # Digits have no other bit; letters have 0x50, and 0x20 where they are large.
    bad[0] |= (letters ^ 0x50 * alphas) & (0xF0F0F0F0u ^ 0x20 * alphas)
    # Digits are 0 to 9 and letters 10 to 15.
    bad[0] |= (nibbles & 0x10101010u) | (((nibbles + 0x06060606u) >> 4 ^ alphas) & 0x01010101u)
    nibbles = nibbles << 4 | nibbles >> 8
    return (nibbles & 0xFF) << 8 | (nibbles >> 16 & 0xFF)


cdef inline bint _quick_ipv6(Text text, Py_ssize_t size, Address* out) noexcept nogil:
    """Groups of hexadecimal digits between colons, with or without ``::``."""
    cdef uint64_t colons = 0, pairs, stops, group, upper, high = 0, low = 0, bad = 0
    cdef int at, missing, length, begin, end, left = 128
    if <size_t>(size - 3) > 36:
        return False
    for at in range(0, 40, 8):
        colons |= _marks(_word(text + at), 58) << at
    colons &= (<uint64_t>1 << size) - 1
    pairs = colons & colons >> 1
    if pairs & (pairs - 1):
        return False
    # A colon at either end is one of two; the outer one then stands before or behind no piece.
    begin, end = <int>(pairs & 1), <int>(pairs >> (size - 2) & 1)
    if (colons & 1) != <uint64_t>begin or colons >> (size - 1) != <uint64_t>end:
        return False
    end = <int>size - end
    stops = (colons & ((<uint64_t>1 << end) - 1) & ~<uint64_t>begin) | <uint64_t>1 << end
    missing = 8 - _count_bits(stops)  # an empty piece stands for one group and these
    if missing < 0 or (missing > 0 and pairs == 0):
        return False
    while stops:
        at = LOWEST_BIT(stops)
        stops &= stops - 1
        length = at - begin
        bad |= length > 4
        group = _hex_group(_digits(text, begin, length & 7 if length < 5 else 4), &bad)
        begin = at + 1
        left -= 16 + (16 * missing if length == 0 else 0)
        upper = <uint64_t>0 - <uint64_t>(left > 63)
        group <<= left & 63
        high |= group & upper
        low |= group & ~upper
    out.high, out.low = high, low
    return bad == 0
