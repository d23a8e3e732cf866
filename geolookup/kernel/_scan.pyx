# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True, auto_pickle=False, binding=False
"""Finds the addresses in a text; ``protocol.Implementation.find_addresses`` states the rule.

Strategy: every address has a dot or a colon, so sixteen bytes at a time are searched for these.
Around each the text is read byte by byte, a bounded number of them. Most dots and colons are
dropped after the two bytes beside them.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr

from geolookup.kernel._address cimport LONGEST, Address, _parse_ipv6
from geolookup.kernel._words cimport LOWEST_BIT, MARKS, Text

include "_column.pxi"

cdef enum:
    SCAN_WORD = 1  # letters, digits, underscore
    SCAN_LETTER = 2  # letters, underscore
    SCAN_HEX = 4
    SCAN_DIGIT = 8
    SCAN_NAME = 16  # of a product, in front of its version
    LONGEST_NAME = 32
    EUI_64 = 23  # characters of eight pairs of digits

cdef uint8_t[256] _scan_class


cdef struct Hit:
    Text start
    Text end
    Address address


cdef int _load_scan_classes() except -1:
    cdef int byte
    for byte in range(256):
        letter = bytes((byte,))
        _scan_class[byte] = (
            SCAN_WORD * (letter.isalnum() or letter == b"_")
            | SCAN_LETTER * (letter.isalpha() or letter == b"_")
            | SCAN_HEX * (letter in b"0123456789abcdefABCDEF")
            | SCAN_DIGIT * letter.isdigit()
            | SCAN_NAME * (letter.isalnum() or letter in b"_.+-")
        )
    return 0


_load_scan_classes()


def find_addresses(data, Py_ssize_t begin, Py_ssize_t end, starts, ends, families, highs, lows):
    """See ``protocol.Implementation``."""
    cdef _Column text = _array(data, c"B"), first = _output(starts, c"q"), after = _output(ends, c"q")
    cdef _Column family = _output(families, c"B"), high = _output(highs, c"Q"), low = _output(lows, c"Q")
    cdef Py_ssize_t room = first.count, count = 0
    cdef Text base = <Text>text.data, at, stop
    cdef Hit hit
    if not after.count == family.count == high.count == low.count == room:
        raise ValueError("the columns differ in length")
    if not 0 <= begin <= end <= text.count:
        raise ValueError("the part is outside the text")
    if begin == end:
        return 0
    with nogil:
        at, stop = base + begin, base + text.count
        while count < room:
            at = _next_hit(base, at, stop, &hit)
            if at == NULL or hit.start >= base + end:
                break
            if hit.start >= base + begin:
                (<int64_t*>first.data)[count] = hit.start - base
                (<int64_t*>after.data)[count] = hit.end - base
                (<uint8_t*>family.data)[count] = <uint8_t>hit.address.family
                (<uint64_t*>high.data)[count] = hit.address.high
                (<uint64_t*>low.data)[count] = hit.address.low
                count += 1
    return count


cdef Text _next_hit(Text first, Text at, Text stop, Hit* hit) noexcept nogil:
    """Find the next address from a position on; return where to search next, or NULL."""
    hit.address.family = 0
    while True:
        at = _next_stop(at, stop)
        if at == stop:
            return NULL
        at = _ipv4_around(first, at, stop, hit) if at[0] == c"." else _ipv6_around(first, at, stop, hit)
        if hit.address.family:
            return at


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


cdef inline Text _ipv4_around(Text first, Text dot, Text stop, Hit* hit) noexcept nogil:
    """Read the address whose first dot this is; return where to search next."""
    cdef Text start = dot, end
    # At least ".0.0.0" from the dot on, with digits on both sides of it.
    if stop - dot < 6 or dot == first or not _scan_class[dot[1]] & _scan_class[(dot - 1)[0]] & SCAN_DIGIT:
        return dot + 1
    # A fourth digit stays before the address, where ``_may_begin`` refuses it.
    while start > first and dot - start < 3 and _scan_class[(start - 1)[0]] & SCAN_DIGIT:
        start -= 1
    end = _read_octets(start, stop, &hit.address.low)
    if end == NULL or not _may_end(end, stop) or not _may_begin(first, start):
        return dot + 1
    hit.start, hit.end = start, end
    hit.address.family, hit.address.high = 4, 0
    return end


cdef inline Text _read_octets(Text at, Text stop, uint64_t* value) noexcept nogil:
    """Read four octets without leading zeros; return the end of the last one, or NULL."""
    cdef uint32_t octet, digit
    cdef uint64_t number = 0
    cdef int part
    for part in range(4):
        octet = <uint32_t>at[0] - 48 if at < stop else 10
        if octet > 9:
            return NULL
        at += 1
        while at < stop:
            digit = <uint32_t>at[0] - 48
            if digit > 9:
                break
            # After 0 a digit is a leading zero; after 26 it exceeds 255. 250 to 259: see below.
            if octet == 0 or octet > 25:
                return NULL
            octet = octet * 10 + digit
            at += 1
        if octet > 255:
            return NULL
        number = number << 8 | octet
        if part < 3:
            if at == stop or at[0] != c".":
                return NULL
            at += 1
    value[0] = number
    return at


cdef bint _may_begin(Text first, Text start) noexcept nogil:
    """Return whether an address may begin after the bytes before it."""
    cdef uint8_t before
    if start == first:
        return True
    before = (start - 1)[0]
    # No part of a longer number or name: 1.8.8.8.8, v8.8.8.8.
    if before == c"." or _scan_class[before] & SCAN_WORD:
        return False
    # "-8.8.8.8" and "1-8.8.8.8" (a range), not "host-8.8.8.8".
    if before == c"-":
        return start - 1 == first or not _scan_class[(start - 2)[0]] & SCAN_LETTER
    # "Chrome/8.8.8.8" is a version; "http://8.8.8.8" and "/api/8.8.8.8" are not.
    return before != c"/" or not _ends_product(first, start - 1)


cdef bint _ends_product(Text first, Text slash) noexcept nogil:
    """Return whether a slash follows the name of a product, and no part of a path."""
    cdef Text at = slash
    while at > first and slash - at < LONGEST_NAME and _scan_class[(at - 1)[0]] & SCAN_NAME:
        at -= 1
    return at < slash and (at == first or (at - 1)[0] != c"/")


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


cdef Text _ipv6_around(Text first, Text colon, Text stop, Hit* hit) noexcept nogil:
    """Read the address in the run of hexadecimal digits and colons around a colon.

    Return where to search next: after the address, or after the run.
    """
    cdef Text start = colon, end = colon + 1
    if end == stop or not _in_run(end[0]):
        return end
    # Bounded: a long line of hexadecimal digits is not searched again at each colon.
    while start > first and colon - start <= LONGEST and _in_run((start - 1)[0]):
        start -= 1
    while end < stop and _in_run(end[0]):
        end += 1
    start = _after_name(first, start, end)
    if start == NULL:
        return end
    hit.start, hit.end = start, _ipv6_end(start, end, stop, &hit.address)
    if hit.end == NULL:
        return end
    hit.address.family = 6
    return hit.end


cdef Text _after_name(Text first, Text start, Text end) noexcept nogil:
    """Return where the address in a run begins, after a name and its colon, or NULL."""
    cdef Text colon = <Text>memchr(start, c":", end - start)
    if colon == NULL or colon - start > 4:
        return NULL
    # In "client:2001:db8::1" the run begins at the first colon, after the "t"; in "node:1::2" it
    # begins with "de".
    if start > first and _scan_class[(start - 1)[0]] & SCAN_WORD:
        return colon + 1
    return start if _may_begin(first, start) else NULL


cdef Text _ipv6_end(Text start, Text end, Text stop, Address* address) noexcept nogil:
    """Parse the address from ``start`` to the end of a run, or of four octets after it.

    Return its end, or NULL.
    """
    cdef Text tail = end
    cdef uint64_t octets
    if end < stop and end[0] == c".":
        while tail > start and (tail - 1)[0] != c":":
            tail -= 1
        tail = _read_octets(tail, stop, &octets)
        if tail != NULL and _is_ipv6(start, tail, address):
            return tail if _may_end(tail, stop) else NULL
    # "2001:db8::1: no route": a single colon after an address is not part of it.
    if end - start > 2 and (end - 1)[0] == c":" and ((end - 2)[0] != c":" or (end - 3)[0] == c":"):
        end -= 1  # of the sentence
    return end if _may_end(end, stop) and _is_ipv6(start, end, address) else NULL


cdef bint _is_ipv6(Text start, Text end, Address* address) noexcept nogil:
    """Parse an address with a decimal digit; refuse an EUI-64."""
    cdef Text at = start
    cdef Py_ssize_t size = end - start
    if size > LONGEST:
        return False
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
