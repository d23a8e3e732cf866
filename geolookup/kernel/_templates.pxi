"""Parts of answers that are rendered once and then copied: countries, rows, periods, times."""

@cython.final
cdef class _CountryJson:
    """A row of the country table as JSON pieces.

    ``head`` begins the location, ``currency`` ends with the name of the network.
    """

    cdef bytes head, currency

    def __cinit__(self, list texts):
        self.head = envelope.country_json(texts)
        self.currency = envelope.currency_json(texts) + b'"network":{'


@cython.final
cdef class _Country:
    """A row of the country table as templates of location and currency."""

    cdef dict location, currency
    cdef list list_names, lists  # the known lists: each answer copies them
    cdef Py_ssize_t list_count

    def __cinit__(self, list texts):
        cdef Py_ssize_t count = len(fields.COUNTRY_MEMBERS)
        self.location = _named(fields.COUNTRY_MEMBERS, texts[:count])
        self.location.update(dict.fromkeys(fields.PLACE_MEMBERS))
        self.currency = _named(fields.CURRENCY_MEMBERS, texts[count:])
        self.list_names = [name for name in _COUNTRY_LISTS if self.location[name] is not None]
        self.lists = [self.location[name] for name in self.list_names]
        self.list_count = len(self.lists)


cdef dict _named(tuple names, list texts):
    """Name the values of JSON texts."""
    cdef dict named = {}
    cdef bytes text
    for name, text in zip(names, texts, strict=True):
        named[name] = _value(<Text>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return named


@cython.final
cdef class _Cached:
    """A cached row: a template that answers copy."""

    cdef uint32_t row
    cdef dict template

    def __cinit__(self, uint32_t row, dict template):
        self.row, self.template = row, template


# The time member: before the local time, between it and the timestamp, and after that.
cdef list _TIME = (
    (b'},"time":' + envelope.to_json(dict.fromkeys(fields.TIME_MEMBERS, "%b")))
    .replace(b'"current_time":"%b"', b'"current_time":\n')
    .replace(b'"current_timestamp":"%b"', b'"current_timestamp":\n')
    .replace(b'"%b"', b"%b")
    .split(b"\n")
)


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
        if period is not None:
            self.start, self.end, self.offset = period.start, period.end, period.offset
            self.zone, self.abbr = zone, period.abbr
            self.utc_offset, self.is_dst = period.utc_offset, period.is_dst
        self._render()

    cdef int _render(self) except -1:
        # No value needs escapes: all are of ASCII letters, digits and the characters "+-_/:".
        cdef str values = "null\nnull\nnull\nnull\nnull"
        if self.known:
            values = f'"{self.zone}"\n"{self.abbr}"\n"{self.utc_offset}"\n{self.offset}\n' + (
                "true" if self.is_dst else "false"
            )
        zone, abbr, utc_offset, seconds, is_dst = values.encode().split(b"\n")
        self.head = _TIME[0] % (zone, abbr, utc_offset, seconds) + (b'"' if self.known else b"null")
        self.middle = (utc_offset[1:] if self.known else b"") + _TIME[1]
        self.tail = _TIME[2] % is_dst
        return 0

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


@cython.final
cdef class _Moment:
    """The time object of a zone at one second, as JSON with its name and as a template."""

    cdef int64_t second
    cdef bytes json
    cdef dict template
    cdef list local  # of one item: the local time as a datetime, or None where none was asked for

    def __cinit__(self, int64_t second, _Period period):
        self.second, self.json, self.template = second, period.json(second), period.members(second)
        self.local = [None]


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
