"""Splits lines of web servers' logs into fields, and copies texts out of a block of lines.

Strategy: one pass over a line, without a copy; each field is the position and the length of its
text. ``protocol.Implementation`` describes the format.
"""

cdef enum:
    LOG_FIELDS = 10
    SIZE_DIGITS = 18  # of the size of an answer, so that it fits 64 bits


def split_log_lines(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] lengths,
    bint combined,
    int64_t[:, :, ::1] parts,
):
    """See ``protocol.Implementation``."""
    cdef Py_ssize_t count = starts.shape[0], at, size = data.shape[0]
    cdef const uint8_t* base
    cdef int64_t* out
    cdef bint inside
    if lengths.shape[0] != count or parts.shape[2] != count:
        raise ValueError("the columns differ in length")
    if parts.shape[0] != LOG_FIELDS or parts.shape[1] != 2:
        raise ValueError("the parts are not of ten fields")
    if count == 0:
        return
    base = &data[0] if size else NULL
    out = &parts[0, 0, 0]
    with nogil:
        for at in range(count):
            inside = 0 <= starts[at] <= size and 0 <= lengths[at] <= size - starts[at]
            if not inside or not _split_line(
                base, base + starts[at], base + starts[at] + lengths[at], combined, out + at, count
            ):
                _put_absent(out + at, count, 0)


cdef bint _split_line(
    Text base, Text at, Text end, bint combined, int64_t* out, Py_ssize_t count
) noexcept nogil:
    """Put the fields of a line, ``count`` apart; return false for a malformed line."""
    cdef Text found
    cdef int field
    for field in range(2):  # address and identity
        found = _find_byte(at, end, c" ")
        if found == NULL or found == at:
            return False
        _put_field(out, field, count, base, at, found)
        at = found + 1
    found = at
    while True:  # the user, which may contain blanks
        found = _find_byte(found + 1, end, c" ") if found < end else NULL
        if found == NULL or end - found < 2:
            return False
        if found[1] == c"[":
            break
    _put_field(out, 2, count, base, at, found)
    at = found + 2
    found = _find_byte(at, end, c"]")
    if found == NULL or end - found < 2 or found[1] != c" ":
        return False
    _put_field(out, 3, count, base, at, found)
    at = found + 2
    found = _log_quoted(at, end)
    if found == NULL or end - found < 2 or found[1] != c" ":
        return False
    _put_field(out, 4, count, base, at + 1, found)
    at = _log_number(found + 2, end, 3, 3)
    if at == NULL or at == end or at[0] != c" ":
        return False
    _put_field(out, 5, count, base, found + 2, at)
    found = _log_number(at + 1, end, 1, SIZE_DIGITS)
    if found == NULL:
        return False
    _put_field(out, 6, count, base, at + 1, found)
    at = found
    for field in range(7, 9):
        out[(2 * field + 1) * count] = -1
        if combined:
            found = _log_quoted(at + 1, end) if at < end and at[0] == c" " else NULL
            if found == NULL:
                return False
            _put_field(out, field, count, base, at + 2, found)
            at = found + 1
    if at == end:
        _put_absent(out, count, 9)
        return True
    if at[0] != c" ":
        return False
    _put_field(out, 9, count, base, at + 1, end)
    return True


cdef inline Text _find_byte(Text at, Text end, uint8_t byte) noexcept nogil:
    return <Text>memchr(at, byte, end - at) if at < end else NULL


cdef Text _log_quoted(Text at, Text end) noexcept nogil:
    """Return the closing quote of a quoted text that begins at ``at``, NULL if there is none."""
    if at >= end or at[0] != c'"':
        return NULL
    at += 1
    while at < end and at[0] != c'"':
        at += 2 if at[0] == c"\\" else 1
    return at if at < end else NULL


cdef Text _log_number(Text at, Text end, int least, int most) noexcept nogil:
    """Return the end of a number of ``least`` to ``most`` digits, or of a dash; NULL if neither."""
    cdef Text first = at
    if at < end and at[0] == c"-":
        return at + 1
    while at < end and at - first < most and c"0" <= at[0] <= c"9":
        at += 1
    return at if at - first >= least else NULL


cdef inline void _put_field(
    int64_t* out, int field, Py_ssize_t count, Text base, Text first, Text end
) noexcept nogil:
    out[2 * field * count] = first - base
    out[(2 * field + 1) * count] = end - first


cdef void _put_absent(int64_t* out, Py_ssize_t count, int field) noexcept nogil:
    """Put absent fields, from this one on."""
    while field < LOG_FIELDS:
        out[2 * field * count] = 0
        out[(2 * field + 1) * count] = -1
        field += 1


def copy_texts(
    const uint8_t[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] lengths,
    uint8_t[::1] out,
):
    """See ``protocol.Implementation``."""
    cdef Py_ssize_t count = starts.shape[0], at, size = data.shape[0], room = out.shape[0]
    cdef int64_t length
    cdef bint fits = lengths.shape[0] == count
    cdef uint8_t* end
    if fits and count and size and room:
        end = &out[0]
        with nogil:
            for at in range(count):
                length = lengths[at]
                if length > 0:
                    if length > room or not 0 <= starts[at] <= size - length:
                        fits = False
                        break
                    memcpy(end, &data[starts[at]], length)
                    end += length
                    room -= length
    if not fits or (room and count and size):
        raise ValueError("the texts do not fill the bytes")
