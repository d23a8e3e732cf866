"""Parses and writes one address in C, as ``geolookup.contract.address`` does."""

cdef enum:
    LONGEST = 45  # characters of an address

cdef struct Address:
    int family
    # 8.8.8.8: high 0, low 0x08080808. 2001:db8::1: high 0x20010DB800000000, low 1.
    uint64_t high
    uint64_t low


cdef inline bint _parse_ipv4(Text text, Py_ssize_t size, uint64_t* value) noexcept nogil:
    """Parse exactly four decimal octets without leading zeros."""
    cdef uint32_t octet, digit, number = 0
    cdef Py_ssize_t at = 0
    cdef int part
    # "0.0.0.0" has 7 characters, "255.255.255.255" has 15.
    if size < 7 or size > 15:
        return False
    for part in range(4):
        if at >= size:
            return False
        # Unsigned: a character below "0" wraps to a large number, also above 9.
        octet = <uint32_t>text[at] - 48
        if octet > 9:
            return False
        at += 1
        while at < size:
            digit = <uint32_t>text[at] - 48
            if digit > 9:
                break
            # A second digit after 0: octal in some parsers, so refused ("010" is 8 or 10).
            if octet == 0:
                return False
            octet = octet * 10 + digit
            if octet > 255:
                return False
            at += 1
        number = number << 8 | octet
        if part < 3:
            if at >= size or text[at] != c".":
                return False
            at += 1
    value[0] = number
    return at == size


cdef inline int _nibble(unsigned char digit) noexcept nogil:
    if digit - 48u <= 9:
        return digit - 48
    # "A" 0x41 becomes "a" 0x61.
    digit |= 32
    if digit - 97u <= 5:
        return digit - 87
    return -1


cdef inline bint _parse_ipv6(Text text, Py_ssize_t size, Address* out) noexcept nogil:
    """Parse groups, at most one ``::``, and a dotted-quad tail (RFC 4291, section 2.2)."""
    cdef uint16_t groups[8]
    cdef uint64_t tail
    cdef Py_ssize_t at = 0, begin
    cdef int count = 0, gap = -1, nibble
    cdef uint32_t group
    if size < 2 or size > LONGEST:
        return False
    # ``gap`` is the number of groups before "::": 0 here; 2 in "2a00:1450::1".
    if text[0] == c":":
        if text[1] != c":":
            return False
        gap, at = 0, 2
    while at < size:
        if count == 8:
            return False
        begin, group = at, 0
        # A fifth digit is read, to refuse it.
        while at < size and at - begin < 5:
            nibble = _nibble(text[at])
            if nibble < 0:
                break
            group = group << 4 | <uint32_t>nibble
            at += 1
        if at == begin or at - begin > 4:
            return False
        if at < size and text[at] == c".":
            # A dotted tail is two groups: "::ffff:8.8.8.8" has the groups ffff, 0808, 0808.
            if count > 6 or not _parse_ipv4(text + begin, size - begin, &tail):
                return False
            groups[count] = <uint16_t>(tail >> 16)
            groups[count + 1] = <uint16_t>(tail & 0xFFFF)
            count += 2
            break
        groups[count] = <uint16_t>group
        count += 1
        if at == size:
            break
        if text[at] != c":":
            return False
        at += 1
        if at == size:
            return False
        if text[at] == c":":
            if gap >= 0:
                return False
            gap = count
            at += 1
    # "::" is one group of zeros or more (RFC 4291, section 2.2): at most 7 others.
    if (count != 8) if gap < 0 else (count > 7):
        return False
    _join(groups, count, gap, out)
    return True


cdef inline void _join(uint16_t* groups, int count, int gap, Address* out) noexcept nogil:
    """Join groups to 128 bits; zero groups replace ``::`` before group ``gap``."""
    cdef int at, position
    cdef uint64_t halves[2]
    halves[0] = halves[1] = 0
    for at in range(count):
        # "2a00:1450::1": groups 0 and 1 stay, group 2 moves to 8 - 3 + 2 = 7.
        position = at if gap < 0 or at < gap else 8 - count + at
        halves[position >> 2] |= <uint64_t>groups[at] << (48 - 16 * (position & 3))
    out.high, out.low = halves[0], halves[1]


cdef inline int _parse(Text text, Py_ssize_t size, Address* out) noexcept nogil:
    """Return the family, 0 for a malformed text."""
    out.family, out.high = 0, 0
    if _parse_ipv4(text, size, &out.low):
        out.family = 4
    elif _parse_ipv6(text, size, out):
        out.family = 6
    return out.family


cdef inline bint _embedded(Address* address, uint64_t* carried) noexcept nogil:
    """Set the IPv4 address that an IPv6 address carries; see ``address.embedded_ipv4``."""
    # ::ffff:0:0/96, IPv4-mapped (RFC 4291, section 2.5.5.2)
    if address.high == 0 and address.low >> 32 == 0xFFFF:
        carried[0] = address.low & 0xFFFFFFFFu
    # 64:ff9b::/96, NAT64 (RFC 6052, section 2.1)
    elif address.high == <uint64_t>0x0064FF9B00000000 and address.low >> 32 == 0:
        carried[0] = address.low
    # 2002::/16, 6to4 (RFC 3056, section 2): 16 bits 2002, 32 bits IPv4, 16 bits subnet
    elif address.high >> 48 == 0x2002:
        carried[0] = address.high >> 16 & 0xFFFFFFFFu
    else:
        return False
    return True


cdef inline char* _write_octets(char* out, uint64_t value) noexcept nogil:
    cdef int shift
    cdef uint32_t octet
    for shift in range(24, -8, -8):
        octet = value >> shift & 255
        if octet > 99:
            out[0] = 48 + octet // 100
            out += 1
        if octet > 9:
            out[0] = 48 + octet // 10 % 10
            out += 1
        out[0] = 48 + octet % 10
        out[1] = c"."
        out += 2
    return out - 1


cdef inline char* _write_ipv6(char* out, Address* address) noexcept nogil:
    """Write RFC 5952 text; mixed notation in ::ffff:0:0/96 and 64:ff9b::/96."""
    cdef uint16_t groups[8]
    cdef int at, begin = -1, best = 1, run = 0, count = 8
    cdef uint64_t carried
    if _embedded(address, &carried) and address.high >> 48 != 0x2002:
        if address.high:
            memcpy(out, b"64:ff9b::", 9)
            return _write_octets(out + 9, carried)
        memcpy(out, b"::ffff:", 7)
        return _write_octets(out + 7, carried)
    for at in range(8):
        groups[at] = <uint16_t>((address.high if at < 4 else address.low) >> (48 - 16 * (at & 3)))
    # The longest run of zero groups becomes "::"; of equal ones the first, and no single group
    # (RFC 5952, sections 4.2.2 and 4.2.3). With 1:0:0:2:0:0:0:3, begin is 4 and best is 3.
    for at in range(8):
        run = 0 if groups[at] else run + 1
        if run > best:
            best, begin = run, at - run + 1
    at = 0
    while at < 8:
        if at == begin:
            out[0] = out[1] = c":"
            out += 2
            # "::" also separates from the group after it.
            at += best
            continue
        out = _write_group(out, groups[at])
        at += 1
        if at < 8 and at != begin:
            out[0] = c":"
            out += 1
    return out


cdef inline char* _write_group(char* out, uint32_t group) noexcept nogil:
    cdef int shift
    cdef bint begun = False
    for shift in range(12, -4, -4):
        # No leading zeros, but one digit at least: 0x0db8 is "db8", 0 is "0".
        if begun or shift == 0 or group >> shift:
            out[0] = b"0123456789abcdef"[group >> shift & 15]
            out += 1
            begun = True
    return out
