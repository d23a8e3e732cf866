"""The tables of a TZif file (RFC 9636, section 3): transitions, local time types, abbreviations.

Nothing is copied: a zone's state refers to the bytes of the file.
"""

cdef enum:
    TZIF_HEADER = 44  # bytes
    TIME_TYPE = 6  # bytes of a local time type: offset, flag, index of the abbreviation


cdef struct Rules:
    Text times, kinds, types, names
    Py_ssize_t count, type_count, name_count
    int64_t last  # transition
    bint is_checked, is_right  # of the table
    Clock standard, daylight
    bint changes  # the footer has daylight saving
    Date first, after  # of daylight saving


cdef bint _read_rules(Text text, Text end, Rules* rules) noexcept nogil:
    """Read the second header and the footer; False for a file that ``tzif`` must read."""
    cdef Text begin = text
    cdef Text footer
    cdef Text stop
    cdef uint64_t size
    if end - text < TZIF_HEADER or memcmp(text, b"TZif", 4) != 0 or text[4] < c"2":
        return False
    size = TZIF_HEADER + _block_size(text, 4)
    if size + TZIF_HEADER > <uint64_t>(end - text) or memcmp(text + size, b"TZif", 4) != 0:
        return False
    begin = text + size
    size = _block_size(begin, 8)
    if size > <uint64_t>(end - begin) - TZIF_HEADER:
        return False
    rules.count, rules.type_count = _big(begin + 32, 4), _big(begin + 36, 4)
    rules.name_count = _big(begin + 40, 4)
    rules.times = begin + TZIF_HEADER
    rules.kinds = rules.times + 8 * rules.count
    rules.types = rules.kinds + rules.count
    rules.names = rules.types + TIME_TYPE * rules.type_count
    rules.last = _big(rules.kinds - 8, 8) if rules.count else 0
    rules.is_checked = False
    footer = rules.times + size
    if footer == end or footer[0] != c"\n":
        return False
    stop = <Text>memchr(footer + 1, c"\n", end - footer - 1)
    return stop != NULL and _read_footer(footer + 1, stop, rules)


cdef uint64_t _block_size(Text header, int width) noexcept nogil:
    """Return the size in bytes of the block after a header; ``width`` is that of a time."""
    cdef uint64_t ut = _big(header + 20, 4), standard = _big(header + 24, 4), leaps = _big(header + 28, 4)
    cdef uint64_t times = _big(header + 32, 4), types = _big(header + 36, 4), names = _big(header + 40, 4)
    return times * (width + 1) + types * TIME_TYPE + names + leaps * (width + 4) + standard + ut


cdef int64_t _big(Text text, int width) noexcept nogil:
    """Return a big-endian number: signed if it has 8 bytes, else unsigned."""
    cdef uint64_t value = 0
    cdef int at
    for at in range(width):
        value = value << 8 | text[at]
    return <int64_t>value


cdef Py_ssize_t _transitions_until(Rules* rules, int64_t second) noexcept nogil:
    """Return how many transitions are not after a second."""
    cdef Py_ssize_t low = 0, high = rules.count, at
    while low < high:
        at = (low + high) >> 1
        if _big(rules.times + 8 * at, 8) <= second:
            low = at + 1
        else:
            high = at
    return low


cdef bint _is_table(Rules* rules) noexcept nogil:
    """Return whether the transitions ascend and all types are valid."""
    cdef Py_ssize_t at
    cdef Clock clock
    for at in range(rules.count):
        if rules.kinds[at] >= rules.type_count:
            return False
        if at and _big(rules.times + 8 * at - 8, 8) >= _big(rules.times + 8 * at, 8):
            return False
    for at in range(rules.name_count):
        if rules.names[at] >= 128:
            return False
    for at in range(rules.type_count):
        if not _read_type(rules, at, &clock):
            return False
    return True


cdef bint _read_type(Rules* rules, Py_ssize_t number, Clock* clock) noexcept nogil:
    cdef Text text = rules.types + TIME_TYPE * number
    cdef Text stop
    if text[5] >= rules.name_count:
        return False
    clock.name = rules.names + text[5]
    stop = <Text>memchr(clock.name, 0, rules.name_count - text[5])
    if stop == NULL:
        return False
    clock.offset, clock.marked, clock.size = <int32_t>_big(text, 4), text[4] != 0, stop - clock.name
    return -DAY < clock.offset < DAY and _name_end(clock.name, stop, True) == stop
