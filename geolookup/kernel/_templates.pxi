"""Parts of answers that are rendered once and then copied: countries, rows, periods, times."""

@cython.final
cdef class _CountryJson:
    """A row of the country table as JSON pieces.

    ``head`` begins the location, ``currency`` ends with the name of the network.
    """

    cdef bytes head, currency

    def __cinit__(self, bytes head, bytes currency):
        self.head, self.currency = head, currency


@cython.final
cdef class _Country:
    """A row of the country table as templates of location and currency."""

    cdef dict location, currency
    cdef list list_names, lists  # the known lists: each answer copies them
    cdef Py_ssize_t list_count

    def __cinit__(self, dict location, dict currency):
        self.location, self.currency = location, currency
        self.list_names = [name for name in _COUNTRY_LISTS if location[name] is not None]
        self.lists = [location[name] for name in self.list_names]
        self.list_count = len(self.lists)


@cython.final
cdef class _Cached:
    """A cached row: a template that answers copy."""

    cdef uint32_t row
    cdef dict template

    def __cinit__(self, uint32_t row, dict template):
        self.row, self.template = row, template


# The time member: up to the local time, then the timestamp, then ``is_dst``.
cdef _Names _TIME_HEAD = _Names(fields.TIME_MEMBERS[:5], b'},"time":{')
cdef bytes _TIMESTAMP = b',"%b":' % fields.TIME_MEMBERS[5].encode()
cdef bytes _TIME_TAIL = b',"%b":%%b}' % fields.TIME_MEMBERS[6].encode()
cdef bytes _IN_DAYLIGHT = _TIME_TAIL % b"true", _IN_STANDARD = _TIME_TAIL % b"false"
cdef bytes _WITHOUT_ZONE = _TIME_TAIL % b"null"


@cython.final
cdef class _Period:
    """A period of constant UTC offset in a zone, and the constant parts of its time object."""

    cdef int64_t start, end
    cdef int offset
    cdef bint known
    cdef bytes head, middle, tail
    cdef object zone, abbr, utc_offset, is_dst

    def __cinit__(self, zone, period):
        self.known = period is not None
        self.start, self.end = -(1 << 62), 1 << 62
        # No value needs escapes: all are of ASCII letters, digits and the characters "+-_/:".
        cdef str values = "null\nnull\nnull\nnull\nnull"
        self.middle, self.tail = _TIMESTAMP, _WITHOUT_ZONE
        if self.known:
            self.start, self.end, self.offset = period.start, period.end, period.offset
            self.zone, self.abbr = zone, period.abbr
            self.utc_offset, self.is_dst = period.utc_offset, period.is_dst
            values = f'"{zone}"\n"{self.abbr}"\n"{self.utc_offset}"\n{self.offset}\n"'
            self.middle = f'{self.utc_offset}"'.encode() + _TIMESTAMP
            self.tail = _IN_DAYLIGHT if self.is_dst else _IN_STANDARD
        cdef bytes texts = values.encode()
        self.head = _TIME_HEAD.json(<Text>PyBytes_AS_STRING(texts), PyBytes_GET_SIZE(texts))

    cdef bytes json(self, int64_t second):
        cdef char clock[32]
        cdef char timestamp[32]
        cdef Py_ssize_t clock_size = 0, size = snprintf(timestamp, 32, "%lld", <long long>second)
        cdef bytes result
        cdef char* out
        if self.known:
            clock_size = _write_clock(clock, second + self.offset) - clock
        result = PyBytes_FromStringAndSize(
            NULL,
            PyBytes_GET_SIZE(self.head) + clock_size + PyBytes_GET_SIZE(self.middle) + size
            + PyBytes_GET_SIZE(self.tail),
        )
        out = _put_bytes(PyBytes_AS_STRING(result), self.head)
        out = _put_bytes(_put(out, <Text>clock, clock_size), self.middle)
        _put_bytes(_put(out, <Text>timestamp, size), self.tail)
        return result

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


@cython.final
cdef class _Moment:
    """The time object of a zone at one second, as a template."""

    cdef int64_t second
    cdef dict template
    cdef list local  # of one item: the local time as a datetime, or None where none was asked for

    def __cinit__(self, int64_t second, _Period period):
        self.second, self.template, self.local = second, period.members(second), [None]


@cython.final
cdef class _MomentJson:
    """The same as JSON, with the name of the member."""

    cdef int64_t second
    cdef bytes text

    def __cinit__(self, int64_t second, _Period period):
        self.second, self.text = second, period.json(second)


cdef char* _write_two(char* out, uint32_t value) noexcept nogil:
    out[0] = 48 + value // 10
    out[1] = 48 + value % 10
    return out + 2


cdef char* _write_clock(char* out, int64_t seconds) noexcept nogil:
    """Write YYYY-MM-DDTHH:MM:SS of local seconds in the years 1 to 9999.

    Counts days from 0000-03-01: then the leap day is the last day of a year. See Howard
    Hinnant, chrono-Compatible Low-Level Date Algorithms, ``civil_from_days``.
    """
    # 62135596800 seconds from 0001-01-01 to 1970-01-01: no quotient of a negative number.
    cdef int64_t days = (seconds + 62135596800LL) // 86400  # since 0001-01-01
    cdef uint32_t second = <uint32_t>((seconds + 62135596800LL) % 86400)
    # 306 days from 0000-03-01 to 0001-01-01. An era has 400 years, 146097 days.
    cdef uint32_t day = <uint32_t>days + 306, era, year, month
    era = day // 146097
    day %= 146097
    # Day numbers without the leap days before them: one in 4 years (1461 days), none in the 100th
    # (36524 days), one in the 400th (146097 days).
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    # Month 0 is March; 153 days in five months. Day 365, 29 February: month 11, from
    # day 337; so day 28, counted from 0.
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
