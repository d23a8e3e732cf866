# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True, auto_pickle=False, binding=False
"""Texts of files: lines of web servers' logs, columns of texts.

Strategy: one pass over a line, without a copy; each field is the position and the length of its
text. ``protocol.Implementation`` describes the formats.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

from geolookup.kernel._words cimport LOWEST_BIT, MARKS, Text

include "_column.pxi"

cdef enum:
    LOG_FIELDS = 10
    SIZE_DIGITS = 18  # of the size of an answer: it fits 64 bits


def split_log_lines(data, starts, lengths, bint combined, parts):
    """See ``protocol.Implementation``."""
    cdef _Column text = _array(data, c"B"), first = _array(starts, c"q"), size = _array(lengths, c"q")
    cdef _Column fields = _output(parts, c"q", 3)
    if size.count != first.count or fields.view.shape[2] != first.count:
        raise ValueError("the columns differ in length")
    if fields.view.shape[0] != LOG_FIELDS or fields.view.shape[1] != 2:
        raise ValueError("the parts are not of ten fields")
    with nogil:
        _split_lines(
            text, <const int64_t*>first.data, <const int64_t*>size.data, first.count, combined,
            <int64_t*>fields.data,
        )


cdef void _split_lines(
    _Column text,
    const int64_t* starts,
    const int64_t* lengths,
    Py_ssize_t count,
    bint combined,
    int64_t* out,
) noexcept nogil:
    cdef Text base = <Text>text.data, line
    cdef Py_ssize_t at
    cdef bint is_inside
    for at in range(count):
        is_inside = 0 <= starts[at] <= text.count and 0 <= lengths[at] <= text.count - starts[at]
        line = base + starts[at] if is_inside else base
        if not is_inside or not _split_line(base, line, line + lengths[at], combined, out + at, count):
            _put_absent(out + at, count, 0)


cdef bint _split_line(
    Text base, Text at, Text end, bint combined, int64_t* out, Py_ssize_t count
) noexcept nogil:
    """Put the fields of a line, ``count`` apart; return false for a malformed line."""
    cdef Text stop
    cdef int field
    # The numbers of the fields, below the first character of each:
    #
    # 192.0.2.9 - ann [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 23 "http://a/" "curl/8" x
    # 0         1 2    3                            4               5   6   7           8       9
    for field in range(2):  # address and identity
        stop = _find_byte(at, end, c" ")
        if stop == NULL or stop == at:
            return False
        _put_field(out, field, count, base, at, stop)
        at = stop + 1
    stop = at
    while True:  # the user: it may contain blanks
        stop = _find_byte(stop + 1, end, c" ") if stop < end else NULL
        if stop == NULL or end - stop < 2:
            return False
        if stop[1] == c"[":
            break
    _put_field(out, 2, count, base, at, stop)
    # Past the blank and the bracket.
    at = stop + 2
    stop = _find_byte(at, end, c"]")
    if stop == NULL or end - stop < 2 or stop[1] != c" ":
        return False
    _put_field(out, 3, count, base, at, stop)
    at = stop + 2
    stop = _log_quoted(at, end)
    if stop == NULL or end - stop < 2 or stop[1] != c" ":
        return False
    _put_field(out, 4, count, base, at + 1, stop)
    at = _log_number(stop + 2, end, 3, 3)
    if at == NULL or at == end or at[0] != c" ":
        return False
    _put_field(out, 5, count, base, stop + 2, at)
    stop = _log_number(at + 1, end, 1, SIZE_DIGITS)
    if stop == NULL:
        return False
    _put_field(out, 6, count, base, at + 1, stop)
    at = stop
    for field in range(7, 9):
        # A length of -1: absent, as the common format has neither referrer nor user agent.
        out[(2 * field + 1) * count] = -1
        if combined:
            stop = _log_quoted(at + 1, end) if at < end and at[0] == c" " else NULL
            if stop == NULL:
                return False
            _put_field(out, field, count, base, at + 2, stop)
            at = stop + 1
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
    """Return the closing quote of a quoted text that begins at ``at``, or NULL."""
    if at >= end or at[0] != c'"':
        return NULL
    at += 1
    while at < end and at[0] != c'"':
        # A backslash escapes the byte after it: \" does not end the text.
        at += 2 if at[0] == c"\\" else _plain_bytes(at, end)
    return at if at < end else NULL


cdef inline Py_ssize_t _plain_bytes(Text at, Text end) noexcept nogil:
    """Return how many bytes, 1 to 16, precede the next quote or backslash; the first is neither."""
    cdef uint64_t marks
    if end - at < 16:
        return 1
    marks = MARKS(at, c'"') | MARKS(at, c"\\")
    return LOWEST_BIT(marks) if marks else 16


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
    # An array of LOG_FIELDS x 2 (position, length) x lines.
    out[2 * field * count] = first - base
    out[(2 * field + 1) * count] = end - first


cdef void _put_absent(int64_t* out, Py_ssize_t count, int field) noexcept nogil:
    """Put absent fields, from this one on."""
    while field < LOG_FIELDS:
        out[2 * field * count] = 0
        out[(2 * field + 1) * count] = -1
        field += 1


def copy_texts(data, starts, lengths, out):
    """See ``protocol.Implementation``."""
    cdef _Column text = _array(data, c"B"), first = _array(starts, c"q"), size = _array(lengths, c"q")
    cdef _Column copies = _output(out, c"B")
    cdef Py_ssize_t room = copies.count
    if size.count == first.count and text.count:
        with nogil:
            room -= _copy_texts(
                text, <const int64_t*>first.data, <const int64_t*>size.data, first.count, copies
            )
    if size.count != first.count or (room and first.count and text.count):
        raise ValueError("the texts do not fill the bytes")


cdef Py_ssize_t _copy_texts(
    _Column text, const int64_t* starts, const int64_t* lengths, Py_ssize_t count, _Column out
) noexcept nogil:
    """Return how many bytes were copied; -1 if a text is outside the data, or has no room."""
    cdef uint8_t* end = <uint8_t*>out.data
    cdef Py_ssize_t at, room = out.count
    for at in range(count):
        if lengths[at] > 0:
            if lengths[at] > room or not 0 <= starts[at] <= text.count - lengths[at]:
                return -1
            memcpy(end, <Text>text.data + starts[at], lengths[at])
            end += lengths[at]
            room -= lengths[at]
    return out.count - room
