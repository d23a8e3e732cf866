"""Parts of answers that follow from the country or the time: rendered once, and then copied."""

@cython.final
cdef class _Country:
    """A row of the country table: templates of location and currency, and its values by number."""

    cdef dict location, currency
    cdef tuple values

    def __cinit__(self, dict members):
        names = (*_COUNTRY_MEMBERS, *fields.PLACE_MEMBERS)
        self.location = {name: members.get(name) for name in names}
        self.currency = {name: members[name] for name in _CURRENCY_MEMBERS}
        self.values = tuple(members.values())


@cython.final
cdef class _CountryJson:
    """A row of the country table as JSON pieces.

    ``head`` begins the location, ``currency`` ends with the name of the network.
    """

    cdef bytes head, currency

    def __cinit__(self, bytes head, bytes currency):
        self.head, self.currency = head, currency


cdef Py_ssize_t _country_row(State state, uint32_t location_row) except -1:
    """Return the row of the country of a location row."""
    cdef Py_ssize_t row
    if location_row >= state.location_count:
        raise _outside(state)
    row = state.location_countries[location_row]
    if row >= state.country_texts.count:
        raise _outside(state)
    return row


cdef _Country _country(State state, uint32_t location_row):
    """Return the templates of a location row's country, made on first use."""
    cdef Py_ssize_t row = _country_row(state, location_row)
    cdef dict members
    country = state.countries[row]
    if country is None:
        members = {}
        state.country_texts.fill(row, members)
        country = state.countries[row] = _Country(members)
    return <_Country>country


cdef _CountryJson _country_json(State state, uint32_t location_row):
    """Return the JSON pieces of a location row's country, made on first use."""
    cdef Py_ssize_t size, row = _country_row(state, location_row)
    cdef Text texts, currency
    country = state.countries_json[row]
    if country is None:
        texts = state.country_texts.row(row, &size)
        currency = _after_texts(texts, texts + size, len(_COUNTRY_MEMBERS))
        if currency == NULL:
            raise state.country_texts.damaged(row)
        # Up to the line feed between both.
        head = _COUNTRY_NAMES.json(texts, currency - 1 - texts)
        tail = _CURRENCY_NAMES.json(currency, texts + size - currency)
        if head is None or tail is None:
            raise state.country_texts.damaged(row)
        country = state.countries_json[row] = _CountryJson(head, tail + b'},"network":{')
    return <_CountryJson>country


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
    """What follows from a zone and a second: the time object, its JSON, or the local time."""

    cdef int64_t second
    cdef object value

    def __cinit__(self, int64_t second, value):
        self.second, self.value = second, value


cdef _Period _period(State state, Py_ssize_t zone, int64_t second):
    """Return the period of a zone that holds a second."""
    cached = state.periods[zone]
    if cached is not None and (<_Period>cached).start <= second < (<_Period>cached).end:
        return <_Period>cached
    name = state.zones[zone]
    read = state.periods[zone] = _Period(name, period(name, second))
    return <_Period>read


cdef inline Py_ssize_t _zone(State state, uint32_t location_row) except -1:
    """Return the zone of a location row."""
    cdef Py_ssize_t zone
    if location_row >= state.location_count:
        raise _outside(state)
    zone = state.location_zones[location_row]
    if zone >= len(state.zones):
        raise _outside(state)
    return zone


cdef dict _time(State state, uint32_t location_row, int64_t second):
    """Return the time of a location's zone as a template."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.times[zone]
    if cached is None or (<_Moment>cached).second != second:
        cached = state.times[zone] = _Moment(second, _period(state, zone, second).members(second))
    return <dict>(<_Moment>cached).value


cdef bytes _time_json(State state, uint32_t location_row, int64_t second):
    """Return the time of a location's zone as JSON, with the name of the member."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.times_json[zone]
    if cached is None or (<_Moment>cached).second != second:
        cached = state.times_json[zone] = _Moment(second, _period(state, zone, second).json(second))
    return <bytes>(<_Moment>cached).value


cdef object _local_time(State state, uint32_t location_row, int64_t second):
    """Return the local time of a location as a datetime; None without a zone."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.local_times[zone]
    if cached is None or (<_Moment>cached).second != second:
        text = _time(state, location_row, second)["current_time"]
        cached = state.local_times[zone] = _Moment(second, _rest().local_time(text))
    return (<_Moment>cached).value


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
