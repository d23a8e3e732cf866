"""The check of a row at its first read: the text of each member, in one scan without objects.

``dataset.rows`` defines the kind of each member, and which texts are valid. The scan accepts only
texts that it knows to be valid: nearly all. ``dataset.rows`` decides on the others: a
string with an escape, a number of more than 17 digits, damage.

Of a number of at most 15 digits the text is the shortest that reads back as the same double,
unless it has a superfluous zero: no two decimals of 15 digits are one double (DBL_DIG of C). Python
writes an exponent below 0.0001. For 16 and 17 digits the number is written again and compared.

UTF-8: The Unicode Standard, table 3-7.
"""

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, object error) except? -1.0
    char* PyOS_double_to_string(double value, char code, int precision, int flags, int* kind) except NULL
    void PyMem_Free(void* block)

cdef enum:
    OTHER, STRING, STRINGS, NUMBER, WHOLE, BOOL

cdef dict _FORMS = {
    row_codec.STRING: STRING,
    row_codec.STRINGS: STRINGS,
    row_codec.NUMBER: NUMBER,
    row_codec.WHOLE: WHOLE,
    row_codec.BOOL: BOOL,
}

cdef struct Member:
    int form
    bint is_left_out  # if it is unknown; the text of others is then null
    double least, most
    uint64_t least_whole, most_whole

cdef enum:
    EXACT_DIGITS = 15
    WHOLE_DIGITS = 18
    LONGEST_NUMBER = 24  # characters of a double's shortest text

cdef Member _member_of(kind):
    """Return a kind of ``dataset.rows`` as a C struct."""
    cdef Member member
    member.form = _FORMS.get(kind.form, OTHER)
    member.is_left_out = kind.unknown == row_codec.ABSENT
    member.least, member.most = kind.least, kind.most
    member.least_whole = member.most_whole = 0
    if member.form == WHOLE:
        # ``dataset.rows`` decides on negative numbers.
        member.least_whole, member.most_whole = max(kind.least, 0), kind.most
    return member


cdef bint _is_right(Member* members, Py_ssize_t count, Text at, Text end, Text limit) noexcept:
    """Return whether the scan accepts a row of the given members; reads stay before ``limit``."""
    cdef Py_ssize_t number
    for number in range(count):
        at = _after_member(&members[number], at, end, limit)
        if at == NULL or at == end:
            return at == end and number == count - 1
        if at[0] != c"\n":
            return False
        at += 1
    return False


cdef Text _after_member(Member* member, Text at, Text end, Text limit) noexcept:
    """Return the end of a member's text, NULL if it is not accepted; so do the functions below."""
    if member.is_left_out:
        if at == end or at[0] == c"\n":
            return at
    elif end - at >= 4 and memcmp(at, b"null", 4) == 0:
        return at + 4
    if member.form == STRING:
        return _after_string(at, end, limit)
    if member.form == NUMBER:
        return _after_number(member, at, end)
    if member.form == WHOLE:
        return _after_whole(member, at, end)
    if member.form == STRINGS:
        return _after_strings(at, end, limit)
    if member.form == BOOL:
        if end - at >= 4 and memcmp(at, b"true", 4) == 0:
            return at + 4
        if end - at >= 5 and memcmp(at, b"false", 5) == 0:
            return at + 5
    return NULL


cdef Text _after_string(Text at, Text end, Text limit) noexcept nogil:
    cdef Text begin = at + 1
    if at == end or at[0] != c'"':
        return NULL
    at = begin
    while True:
        at = _special_from(at, end, limit)
        if at == end or at[0] < 0x80:
            return at + 1 if at < end and at[0] == c'"' and at > begin else NULL
        at = _after_character(at, end)
        if at == NULL:
            return NULL


cdef inline Text _special_from(Text at, Text end, Text limit) noexcept nogil:
    """Return the first byte that does not stand for itself in a string of ASCII, or the end."""
    cdef uint64_t marks
    while at < end and limit - at >= CHUNK:
        marks = SPECIAL(at)
        if marks:
            # The bytes after the end belong to the next row.
            return min(at + LOWEST_BIT(marks), end)
        at += CHUNK
    while at < end and 0x20 <= at[0] < 0x80 and at[0] != c'"' and at[0] != c"\\":
        at += 1
    return min(at, end)


cdef Text _after_character(Text at, Text end) noexcept nogil:
    """Return the end of one character of UTF-8 that is not ASCII."""
    cdef unsigned char lead = at[0], least = 0x80, most = 0xBF
    cdef Py_ssize_t size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    # C0 and C1 would be overlong, F5 and above are beyond U+10FFFF.
    if lead < 0xC2 or lead > 0xF4 or end - at < size:
        return NULL
    # The second byte: E0 80..9F and F0 80..8F would be overlong, ED A0..BF are surrogates, and
    # F4 90..BF are beyond U+10FFFF.
    if lead == 0xE0:
        least = 0xA0
    elif lead == 0xED:  # surrogates
        most = 0x9F
    elif lead == 0xF0:
        least = 0x90
    elif lead == 0xF4:
        most = 0x8F
    if not least <= at[1] <= most:
        return NULL
    if size > 2 and at[2] & 0xC0 != 0x80 or size > 3 and at[3] & 0xC0 != 0x80:
        return NULL
    return at + size


cdef Text _after_strings(Text at, Text end, Text limit) noexcept nogil:
    if end - at >= 2 and at[0] == c"[" and at[1] == c"]":
        return at + 2
    if at == end or at[0] != c"[":
        return NULL
    while True:
        at = _after_string(at + 1, end, limit)
        if at == NULL or at == end:
            return NULL
        if at[0] == c"]":
            return at + 1
        if at[0] != c",":
            return NULL


cdef Text _after_digits(Text at, Text end, int most, uint64_t* value) noexcept nogil:
    """Read up to ``most`` digits and append them to ``value``."""
    cdef Text last = at + most if end - at > most else end
    while at < last and at[0] - 48u <= 9:
        value[0] = value[0] * 10 + (at[0] - 48u)
        at += 1
    return at


cdef Text _after_whole(Member* member, Text at, Text end) noexcept nogil:
    cdef uint64_t value = 0
    cdef Text after = _after_digits(at, end, WHOLE_DIGITS, &value)
    # A leading zero: "0" is valid, "07" is not.
    if after == at or after - at > 1 and at[0] == c"0":
        return NULL
    return after if member.least_whole <= value <= member.most_whole else NULL


cdef Text _after_number(Member* member, Text at, Text end) noexcept:
    cdef bint negative = at < end and at[0] == c"-"
    cdef Text begin = at, digits = at + negative, point
    cdef uint64_t value = 0
    cdef Py_ssize_t decimals = 0
    cdef double number
    at = point = _after_digits(digits, end, EXACT_DIGITS, &value)
    if point == digits or point - digits > 1 and digits[0] == c"0":
        return NULL
    if point < end and point[0] == c".":
        at = _after_digits(point + 1, end, EXACT_DIGITS - (point - digits), &value)
        decimals = at - point - 1
        # More than 15 digits: this way of comparing is not exact.
        if at < end and at[0] - 48u <= 9:
            return _after_long_number(member, begin, end)
        # "1." and "1.50" are not the shortest texts.
        if decimals == 0 or (at - 1)[0] == c"0":
            return NULL
        # Below 0.0001, ``repr`` has an exponent: 0.00001 is 1e-05.
        if digits[0] == c"0" and value * 10000 < _whole_powers[decimals]:
            return NULL
    # "-0": ``dataset.rows`` decides.
    elif negative and value == 0:
        return NULL
    # Both are exact doubles, so one division rounds correctly.
    number = <double>value / _powers[decimals]
    return at if member.least <= (-number if negative else number) <= member.most else NULL


cdef Text _after_long_number(Member* member, Text at, Text end) noexcept:
    """Format the number again, and compare."""
    cdef char copied[LONGEST_NUMBER + 1]
    cdef Text stop = <Text>memchr(at, c"\n", end - at)
    cdef Py_ssize_t size = (end if stop == NULL else stop) - at
    cdef char* written
    cdef double number
    cdef bint is_same
    if size > LONGEST_NUMBER:
        return NULL
    memcpy(copied, at, size)
    copied[size] = 0
    try:
        number = PyOS_string_to_double(copied, NULL, None)
        written = PyOS_double_to_string(number, c"r", 0, 0, NULL)
    except Exception:
        return NULL
    # By length: a NUL in the text does not end it.
    is_same = <Py_ssize_t>strlen(written) == size and memcmp(copied, written, size) == 0
    PyMem_Free(written)
    if not is_same or not member.least <= number <= member.most:
        return NULL
    # Of a whole number the text has no decimals.
    return at + size if -1e15 < number < 1e15 and number != <double><int64_t>number else NULL


cdef uint64_t[16] _whole_powers
for _at in range(16):
    _whole_powers[_at] = 10**_at


def _accepts(kinds, bytes row, bytes after):
    """Return whether the scan accepts a row of some kinds that other bytes follow, as in a file.

    Tests compare it with ``dataset.rows``.
    """
    cdef bytes data = row + after
    cdef Py_ssize_t at, count = len(kinds)
    cdef Member* members = <Member*>calloc(max(count, 1), sizeof(Member))
    if members == NULL:
        raise MemoryError
    try:
        for at in range(count):
            members[at] = _member_of(kinds[at])
        return _is_right(members, count, <Text>data, <Text>data + len(row), <Text>data + len(data))
    finally:
        free(members)
