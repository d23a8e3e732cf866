"""What answers are put together from: mapped columns, names, values, countries, periods."""

cdef class _Column:
    """A buffer that stays mapped while this lives."""

    cdef Py_buffer view
    cdef const void* data
    cdef Py_ssize_t count

    def __cinit__(self, source):
        PyObject_GetBuffer(source, &self.view, PyBUF_SIMPLE)
        self.data = self.view.buf
        self.count = self.view.len // source.itemsize

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef class _Texts:
    """The JSON texts of a table's rows; ``source`` checks each when it is first read."""

    cdef _Column offsets, letters, sums
    cdef uint8_t* checked
    cdef Py_ssize_t count
    cdef object source

    def __cinit__(self, texts):
        self.source = texts
        self.offsets = _Column(texts.offsets)
        self.letters = _Column(texts.data)
        self.sums = _Column(texts.sums)
        self.count = min(self.sums.count, self.offsets.count - 1)
        self.checked = <uint8_t*>calloc(max(self.count, 1), 1)
        if self.checked == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.checked)

    cdef void fetch(self, Py_ssize_t row) noexcept nogil:
        """Have what a row begins with on its way to the cache."""
        if row < self.count:
            PREFETCH(&(<const uint32_t*>self.offsets.data)[row])
            PREFETCH(&self.checked[row])

    cdef Text row(self, Py_ssize_t row, Py_ssize_t* size) except NULL:
        cdef const uint32_t* offsets = <const uint32_t*>self.offsets.data
        cdef Text text
        if row >= self.count:
            raise DatasetError(self.source.path, f"there is no row {row}", REBUILD)
        if offsets[row + 1] < offsets[row] or <Py_ssize_t>offsets[row + 1] > self.letters.count:
            raise DatasetError(self.source.path, f"row {row} lies outside the file", REBUILD)
        text = <Text>self.letters.data + offsets[row]
        size[0] = offsets[row + 1] - offsets[row]
        if not self.checked[row]:
            self.source.check(row, text[:size[0]])
            self.checked[row] = 1
        return text


# --- Members and their names -----------------------------------------------

cdef struct Piece:
    Text text
    Py_ssize_t size


cdef Piece _place_names[7]
cdef Piece _network_names[6]
cdef Piece _bare_names[5]  # of a network without asn
cdef Piece _head, _ipv4_type, _ipv6_type, _time_name, _network_open, _tail
cdef Py_ssize_t _place_names_size = 0, _network_names_size = 0, _bare_names_size = 0
_kept = []  # the bytes that pieces point into


cdef Piece _piece(bytes text):
    cdef Piece piece
    _kept.append(text)
    piece.text, piece.size = <Text>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
    return piece


def _load_names():
    global _head, _ipv4_type, _ipv6_type, _time_name, _network_open, _tail
    global _place_names_size, _network_names_size, _bare_names_size
    for at, name in enumerate(fmt.PLACE_MEMBERS):
        _place_names[at] = _piece(b',"%b":' % name.encode())
        _place_names_size += _place_names[at].size
    for at, name in enumerate(fmt.NETWORK_MEMBERS):
        _network_names[at] = _piece(b'%b"%b":' % (b"," if at else b"", name.encode()))
        _network_names_size += _network_names[at].size
    for at, name in enumerate(fmt.NETWORK_MEMBERS[1:]):
        _bare_names[at] = _piece(b'%b"%b":' % (b"," if at else b"", name.encode()))
        _bare_names_size += _bare_names[at].size
    _head, _tail = _piece(envelope.HEAD), _piece(b"}" + envelope.TAIL)
    _ipv4_type, _ipv6_type = _piece(envelope.IP_TYPE[4]), _piece(envelope.IP_TYPE[6])
    _time_name, _network_open = _piece(b'},"time":'), _piece(b'"network":{')


_load_names()

cdef tuple _PLACE = fmt.PLACE_MEMBERS
cdef tuple _NETWORK = fmt.NETWORK_MEMBERS
cdef dict _NO_NETWORK = dict.fromkeys(fmt.NETWORK_MEMBERS)
cdef dict _ERRORS = {error.code: error for error in (InvalidAddressError, PrivateAddressError)}
cdef str _IPV4 = "ipv4"
cdef str _IPV6 = "ipv6"
cdef Py_ssize_t _stride = fmt.FENCE_STRIDE
cdef bytes _INVALID_JSON = envelope.FAILURES_JSON[InvalidAddressError]
cdef bytes _PRIVATE_JSON = envelope.FAILURES_JSON[PrivateAddressError]
cdef str _LANGUAGES = "country_languages"
cdef str _NEIGHBORS = "country_neighbors"


cdef inline char* _put(char* out, Text text, Py_ssize_t size) noexcept:
    memcpy(out, text, size)
    return out + size


cdef inline char* _put_piece(char* out, Piece* piece) noexcept:
    return _put(out, piece.text, piece.size)


cdef inline char* _put_bytes(char* out, bytes text) noexcept:
    return _put(out, <Text>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))


cdef char* _put_members(char* out, Piece* names, int count, Text texts, Py_ssize_t size) noexcept:
    """Write names and texts in turn; NULL where there are not ``count`` texts."""
    cdef Text end = texts + size
    cdef Text stop
    cdef int at
    for at in range(count):
        out = _put_piece(out, &names[at])
        stop = <Text>memchr(texts, c"\n", end - texts)
        if (stop == NULL) != (at == count - 1):
            return NULL
        if stop == NULL:
            stop = end
        out = _put(out, texts, stop - texts)
        texts = stop + 1
    return out


cdef object _value(Text text, Py_ssize_t size):
    """Return the Python value of a JSON text: null, string or number."""
    cdef Py_ssize_t at = 0, point = -1
    cdef uint64_t digits = 0
    cdef bint negative
    cdef double number
    if size >= 2 and text[0] == c'"':
        if memchr(text + 1, c"\\", size - 2) == NULL:
            return PyUnicode_DecodeUTF8(<const char*>text + 1, size - 2, NULL)
        return json.loads(text[:size])
    if size == 4 and text[0] == c"n":
        return None
    negative = size > 0 and text[0] == c"-"
    at = negative
    while at < size:
        if text[at] == c"." and point < 0:
            point = at
        elif text[at] - 48u <= 9:
            digits = digits * 10 + (text[at] - 48u)
        else:
            break
        at += 1
    # Up to 15 digits and 10^15 are exact doubles, so one division rounds as it should.
    if at < size or size - negative > 16:
        return json.loads(text[:size])
    if point < 0:
        return -<int64_t>digits if negative else digits
    number = <double>digits / _powers[size - point - 1]
    return -number if negative else number


cdef double _powers[17]
for _at in range(17):
    _powers[_at] = float(10**_at)


# --- What a state keeps ready ----------------------------------------------

cdef class _Country:
    """A row of the country table: JSON pieces, and templates of location and currency."""

    cdef bytes head, currency_json
    cdef dict location, currency
    cdef list languages, neighbors

    def __cinit__(self, list texts):
        self.head = envelope.country_json(texts)
        self.currency_json = envelope.currency_json(texts)
        self.location = envelope.country(texts)
        self.currency = envelope.currency(texts)
        self.languages = self.location[_LANGUAGES]
        self.neighbors = self.location[_NEIGHBORS]


cdef class _Hot:
    """A row that came twice, as a template."""

    cdef uint32_t row
    cdef dict template

    def __cinit__(self, uint32_t row, dict template):
        self.row, self.template = row, template


cdef class _Period:
    """A stretch of time with one offset in one zone, and what it says in JSON and dicts."""

    cdef int64_t start, end
    cdef int offset
    cdef bint known
    cdef bytes head, middle, tail
    cdef object zone, abbr, utc_offset, is_dst

    def __cinit__(self, zone, found):
        self.known = found is not None
        self.start, self.end = -(1 << 62), 1 << 62
        if found is not None:
            self.start, self.end, self.offset = found.start, found.end, found.offset
            self.zone, self.abbr = zone, found.abbr
            self.utc_offset, self.is_dst = found.utc_offset, found.is_dst
        named = dict(zip(fmt.TIME_MEMBERS, (self.zone, self.abbr, self.utc_offset,
                                            self.offset if self.known else None, 1, 2, self.is_dst)))
        text = envelope.to_json(named)
        self.head, rest = text.split(b'"current_time":1', 1)
        self.head += b'"current_time":' + (b'"' if self.known else b"null")
        self.middle = (self.utc_offset.encode() + b'"' if self.known else b"") + b',"current_timestamp":'
        self.tail = rest.split(b'"current_timestamp":2', 1)[1]

    cdef bytes json(self, int64_t second):
        cdef char written[32]
        cdef char* end = written
        if self.known:
            end = _write_clock(written, second + self.offset)
        return self.head + written[: end - written] + self.middle + b"%d" % second + self.tail

    cdef dict members(self, int64_t second):
        cdef char clock[32]
        cdef char* end
        cdef object local = None
        if self.known:
            end = _write_clock(clock, second + self.offset)
            local = PyUnicode_DecodeUTF8(clock, end - clock, NULL) + self.utc_offset
        return {
            "zone": self.zone,
            "abbr": self.abbr,
            "utc_offset": self.utc_offset,
            "utc_offset_seconds": self.offset if self.known else None,
            "current_time": local,
            "current_timestamp": second,
            "is_dst": self.is_dst,
        }


cdef class _Moment:
    """The time object of a zone in the second that was last asked for, as JSON and template."""

    cdef int64_t second
    cdef bytes json
    cdef dict template

    def __cinit__(self, int64_t second, _Period period):
        self.second, self.json, self.template = second, period.json(second), period.members(second)


cdef char* _write_two(char* out, uint32_t value) noexcept nogil:
    out[0] = 48 + value // 10
    out[1] = 48 + value % 10
    return out + 2


cdef char* _write_clock(char* out, int64_t seconds) noexcept nogil:
    """Write YYYY-MM-DDTHH:MM:SS of local seconds in the years 1 to 9999.

    Counts days from 0000-03-01, so that the leap day is a year's last.
    """
    cdef int64_t days = (seconds + 62135596800LL) // 86400  # since 0001-01-01
    cdef uint32_t second = <uint32_t>((seconds + 62135596800LL) % 86400)
    cdef uint32_t day = <uint32_t>days + 306, era, year, month
    era = day // 146097
    day %= 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year += era * 400 + (month >= 10)
    month = month - 9 if month >= 10 else month + 3
    out = _write_two(_write_two(out, year // 100), year % 100)
    out[0] = c"-"
    out = _write_two(out + 1, month)
    out[0] = c"-"
    out = _write_two(out + 1, day + 1)
    out[0] = c"T"
    out = _write_two(out + 1, second // 3600)
    out[0] = c":"
    out = _write_two(out + 1, second // 60 % 60)
    out[0] = c":"
    return _write_two(out + 1, second % 60)
