"""Finds the addresses in a text; ``python_texts.find_addresses`` states the rule.

Strategy: every address has a dot or a colon, so sixteen bytes at a time are searched for these.
Around each the text is read byte by byte, a bounded number of them. Most dots and colons are
dropped after the two bytes beside them.
"""

cdef enum:
    SCAN_WORD = 1  # letters, digits, underscore
    SCAN_LETTER = 2  # letters, underscore
    SCAN_HEX = 4
    SCAN_DIGIT = 8
    SCAN_NAME = 16  # of a product, in front of its version
    LONGEST_NAME = 32
    EUI_64 = 23  # characters of eight pairs of digits
    LONGEST_ESCAPE = 5
    LONGEST_IPV4 = 15
    RECORDS = 128  # that are collected before they become bytes

cdef uint8_t[256] _scan_class


cdef struct Record:
    int64_t start
    int64_t end
    int64_t family
    uint64_t high
    uint64_t low


for _byte in range(256):
    _letter = bytes((_byte,))
    _scan_class[_byte] = (
        SCAN_WORD * (_letter.isalnum() or _letter == b"_")
        | SCAN_LETTER * (_letter.isalpha() or _letter == b"_")
        | SCAN_HEX * (_letter in b"0123456789abcdefABCDEF")
        | SCAN_DIGIT * _letter.isdigit()
        | SCAN_NAME * (_letter.isalnum() or _letter in b"_.+-")
    )


def find_addresses(bytes text not None, Py_ssize_t begin, Py_ssize_t end):
    """See ``python_texts``."""
    cdef Text first = <Text>PyBytes_AS_STRING(text), at = first + begin
    cdef Text stop = first + PyBytes_GET_SIZE(text)
    cdef Record[RECORDS] records
    cdef Record* record = records
    if not 0 <= begin <= end <= stop - first:
        raise ValueError("the part is outside the text")
    parts = []
    while True:
        at = _next_stop(at, stop)
        if at == stop:
            break
        record.family = 0
        at = _ipv4_around(first, at, stop, record) if at[0] == c"." else _ipv6_around(first, at, stop, record)
        if not record.family or record.start < begin:
            continue
        if record.start >= end:
            break
        record += 1
        if record == records + RECORDS:
            parts.append((<const char*>records)[:sizeof(records)])
            record = records
    parts.append((<const char*>records)[:(record - records) * sizeof(Record)])
    return b"".join(parts)


cdef inline Text _next_stop(Text at, Text stop) noexcept nogil:
    """Return the next dot or colon, or the end."""
    cdef uint64_t marks
    while stop - at >= 16:
        marks = MARKS(at, c".") | MARKS(at, c":")
        if marks:
            return at + LOWEST_BIT(marks)
        at += 16
    while at < stop and at[0] != c"." and at[0] != c":":
        at += 1
    return at


cdef inline Text _ipv4_around(Text first, Text dot, Text stop, Record* record) noexcept nogil:
    """Read the address whose first dot this is; return where to search next."""
    cdef Text start = dot, end, escape
    cdef uint64_t value
    # At least ".0.0.0" from the dot on, with digits on both sides of it.
    if stop - dot < 6 or dot == first or not _scan_class[dot[1]] & _scan_class[(dot - 1)[0]] & SCAN_DIGIT:
        return dot + 1
    # A fourth digit stays before the address, where ``_may_begin`` refuses it.
    while start > first and dot - start < 3 and _scan_class[(start - 1)[0]] & SCAN_DIGIT:
        start -= 1
    escape = _escape_before(first, &start, stop)
    end = _octets_end(start, stop)
    if not _parse_ipv4(start, end - start, &value) or not _may_end(end, stop) or not _may_begin(first, start, escape):
        return dot + 1
    record[0] = Record(start - first, end - first, 4, 0, value)
    return end


cdef inline Text _octets_end(Text start, Text stop) noexcept nogil:
    """Return the end of digits and of dots before a digit; of a longer text, one byte too many."""
    cdef Text end = start
    while end < stop and end - start <= LONGEST_IPV4:
        if not _scan_class[end[0]] & SCAN_DIGIT:
            if end[0] != c"." or end + 1 == stop or not _scan_class[end[1]] & SCAN_DIGIT:
                break
        end += 1
    return end


cdef inline Text _escape_before(Text first, Text* start, Text stop) noexcept nogil:
    """Return the escape that ends at a position or after it, or NULL; move the position to its end.

    Of ``%221.1.1.1`` the digits before the dot are 221, and the escape ends before the 1.
    """
    cdef Text at = start[0], end
    while at > first and start[0] - at < LONGEST_ESCAPE:
        at -= 1
        if at[0] == c"%" or at[0] == c"=":
            end = _escape_end(at, stop)
            if end < start[0]:
                return NULL
            start[0] = end
            return at
    return NULL


cdef Text _escape_end(Text at, Text stop) noexcept nogil:
    """Return the end of an escape that begins with a byte; the byte itself if none does."""
    cdef Text end = at + 1
    cdef bint is_number = True
    if stop - at < 3 or not _scan_class[at[1]] & _scan_class[at[2]] & SCAN_HEX:
        return at
    if at[0] == c"%":
        # A lone % before an address: %2606:4700::1.
        while end < stop and end - at < LONGEST_ESCAPE and _scan_class[end[0]] & SCAN_HEX:
            end += 1
        if end < stop and end - at == LONGEST_ESCAPE and end[0] == c":":
            return at
        # %2522 is an escape that was escaped again.
        if at[1] == c"2" and at[2] == c"5" and stop - at >= LONGEST_ESCAPE:
            if _scan_class[at[3]] & _scan_class[at[4]] & SCAN_HEX:
                return at + LONGEST_ESCAPE
        return at + 3
    # Quoted-printable: "=3D8.8.8.8", not "ip=208.8.8.8" and "ip=20::1".
    while end < stop and end - at < 5 and _scan_class[end[0]] & SCAN_HEX:
        is_number = is_number and _scan_class[end[0]] & SCAN_DIGIT
        end += 1
    if end < stop and (end[0] == c":" or (end[0] == c"." and is_number and end - at < 5)):
        return at
    return at if at[1] > c"F" or at[2] > c"F" else at + 3


cdef bint _may_begin(Text first, Text start, Text escape) noexcept nogil:
    """Return whether an address may begin after the bytes, or the escape, before it."""
    cdef Text at = start - 1 if escape == NULL else escape
    cdef uint8_t before
    if start == first:
        return True
    before = at[0] if escape == NULL else _hex_value((start - 2)[0]) << 4 | _hex_value((start - 1)[0])
    # No part of a longer number or name: 1.8.8.8.8, v8.8.8.8.
    if before == c"." or _scan_class[before] & SCAN_WORD:
        return False
    # "-8.8.8.8" and "1-8.8.8.8" (a range), not "host-8.8.8.8".
    if before == c"-":
        return at == first or not _scan_class[(at - 1)[0]] & SCAN_LETTER
    # "Chrome/8.8.8.8" is a version; "http://8.8.8.8" and "/api/8.8.8.8" are not.
    return before != c"/" or not _ends_product(first, at)


cdef inline uint8_t _hex_value(uint8_t digit) noexcept nogil:
    # "a" is 0x61 and "A" is 0x41: 1 + 9.
    return (digit & 15) + 9 * (digit >> 6)


cdef bint _ends_product(Text first, Text slash) noexcept nogil:
    """Return whether a slash follows the name of a product, and no part of a path."""
    cdef Text at = slash
    while at > first and slash - at < LONGEST_NAME and _scan_class[(at - 1)[0]] & SCAN_NAME:
        at -= 1
    if at == slash or at == first:
        return at < slash
    # "/api/8.8.8.8" and "%2Fapi%2F8.8.8.8" are paths, "%20Chrome%2F8.8.8.8" is a product.
    if (at - 1)[0] == c"%" and slash - at >= 2 and at[0] == c"2" and (at[1] | 32) == c"f":
        return False
    return (at - 1)[0] != c"/"


cdef bint _may_end(Text end, Text stop) noexcept nogil:
    """Return whether an address may end before the bytes after it."""
    if end == stop:
        return True
    if _scan_class[end[0]] & SCAN_WORD:
        return False
    # "8.8.8.8." ends a sentence; "8.8.8.8.in-addr.arpa" is a name.
    if end[0] == c".":
        return end + 1 == stop or not _scan_class[end[1]] & SCAN_WORD
    return end[0] != c"-" or end + 1 == stop or not _scan_class[end[1]] & SCAN_LETTER


cdef inline bint _in_run(uint8_t byte) noexcept nogil:
    return byte == c":" or _scan_class[byte] & SCAN_HEX


cdef Text _ipv6_around(Text first, Text colon, Text stop, Record* record) noexcept nogil:
    """Read the address in the run of hexadecimal digits and colons around a colon.

    Return where to search next: after the address, or after the run.
    """
    cdef Text start = colon, run = colon + 1, escape, end
    cdef Address address
    if run == stop or not _in_run(run[0]):
        return run
    # Bounded: a long line of hexadecimal digits is not searched again at each colon.
    while start > first and colon - start <= LONGEST and _in_run((start - 1)[0]):
        start -= 1
    while run < stop and _in_run(run[0]):
        run += 1
    escape = _escape_before(first, &start, stop)
    colon = <Text>memchr(start, c":", run - start)
    if colon == NULL or colon - start > 4:
        return run
    # In "client:2001:db8::1" the run begins at the first colon, after the "t"; in "node:1::2" it
    # begins with "de".
    if escape == NULL and start > first and _scan_class[(start - 1)[0]] & SCAN_WORD:
        start = colon + 1
    elif not _may_begin(first, start, escape):
        return run
    end = _ipv6_end(start, run, stop, &address)
    if end == NULL:
        return run
    record[0] = Record(start - first, end - first, 6, address.high, address.low)
    return end


cdef Text _ipv6_end(Text start, Text end, Text stop, Address* address) noexcept nogil:
    """Parse the address from ``start`` to the end of a run, or of four octets after it.

    Return its end, or NULL.
    """
    cdef Text tail = end
    if end < stop and end[0] == c".":
        while tail > start and (tail - 1)[0] != c":":
            tail -= 1
        tail = _octets_end(tail, stop)
        if tail > end and _is_ipv6(start, tail, address):
            return tail if _may_end(tail, stop) else NULL
    # "2001:db8::1: no route": a single colon after an address is not part of it.
    if end - start > 2 and (end - 1)[0] == c":" and ((end - 2)[0] != c":" or (end - 3)[0] == c":"):
        end -= 1  # of the sentence
    return end if _may_end(end, stop) and _is_ipv6(start, end, address) else NULL


cdef bint _is_ipv6(Text start, Text end, Address* address) noexcept nogil:
    """Parse an address with a decimal digit; refuse an EUI-64."""
    cdef Text at = start
    cdef Py_ssize_t size = end - start
    # Names of programs such as "dead::beef" have no digit.
    while at < end and not _scan_class[at[0]] & SCAN_DIGIT:
        at += 1
    return at < end and not _is_eui_64(start, size) and _parse_ipv6(start, size, address)


cdef bint _is_eui_64(Text start, Py_ssize_t size) noexcept nogil:
    """Return whether a text is eight pairs of digits."""
    cdef Py_ssize_t at
    if size != EUI_64:
        return False
    for at in range(size):
        # 00:11:22:ff:fe:33:44:55 is well-formed IPv6 too: eight groups.
        if (at % 3 == 2) != (start[at] == c":"):
            return False
    return True
