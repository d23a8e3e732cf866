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


cdef inline Py_ssize_t _country_row(State state, uint32_t location_row) except -1:
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


cdef tuple _country_json(State state, uint32_t location_row):
    """Return the JSON of a location row's country: the begin of the location, and the currency.

    The second part ends with the name of the network. Both are made on first use.
    """
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
        country = state.countries_json[row] = head, tail + b'},"network":{'
    return <tuple>country


cdef bytes _TIME_HEAD = (
    b'},"time":{"zone":"%b","abbr":"%b","utc_offset":"%b","utc_offset_seconds":%d,"current_time":"'
)
cdef bytes _UNKNOWN_HEAD = (
    b'},"time":{"zone":null,"abbr":null,"utc_offset":null,"utc_offset_seconds":null,"current_time":null'
)


@cython.final
cdef class _Clock:
    """The time object of a period, and its JSON: ``head``, the local time, ``middle``, the second, ``tail``."""

    cdef _Period period
    cdef bytes head, middle, tail

    def __cinit__(self, _Period period):
        self.period = period
        self.head, self.middle, self.tail = _UNKNOWN_HEAD, b',"current_timestamp":', b',"is_dst":null}'
        if period.abbr is not None:
            # No value needs escapes: all are of ASCII letters, digits and the characters "+-_/:".
            utc_offset = period.utc_offset.encode()
            self.head = _TIME_HEAD % (
                period.zone.encode(), period.abbr.encode(), utc_offset, period.offset
            )
            self.middle = utc_offset + b'","current_timestamp":'
            self.tail = b',"is_dst":true}' if period.is_dst else b',"is_dst":false}'

    cdef bytes json(self, int64_t second):
        cdef char clock[32]
        cdef char timestamp[32]
        cdef Py_ssize_t clock_size = 0, size = snprintf(timestamp, 32, "%lld", <long long>second)
        cdef bytes result
        cdef char* out
        if self.period.abbr is not None:
            clock_size = _write_clock(clock, second + self.period.offset) - clock
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
        cdef _Period period = self.period
        cdef char clock[32]
        cdef char* end
        cdef object local = None, offset = None
        if period.abbr is not None:
            end = _write_clock(clock, second + period.offset)
            local = PyUnicode_DecodeUTF8(clock, end - clock, NULL) + period.utc_offset
            offset = period.offset
        return {
            "zone": period.zone,
            "abbr": period.abbr,
            "utc_offset": period.utc_offset,
            "utc_offset_seconds": offset,
            "current_time": local,
            "current_timestamp": second,
            "is_dst": period.is_dst,
        }


@cython.final
cdef class _Moment:
    """What follows from a zone and a second: the time object, its JSON, or the local time."""

    cdef int64_t second
    cdef object value

    def __cinit__(self, int64_t second, value):
        self.second, self.value = second, value


cdef _Clock _clock_of(State state, Py_ssize_t zone, int64_t second):
    """Return the clock of a zone at a second."""
    cached = state.clocks[zone]
    if cached is not None and (<_Clock>cached).period.start <= second < (<_Clock>cached).period.end:
        return <_Clock>cached
    read = period(state.zones[zone], second)
    if read is None:
        read = _Period(None, EARLIEST, LATEST, None, 0, None)
    cached = state.clocks[zone] = _Clock(read)
    return <_Clock>cached


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
        cached = state.times[zone] = _Moment(second, _clock_of(state, zone, second).members(second))
    return <dict>(<_Moment>cached).value


cdef bytes _time_json(State state, uint32_t location_row, int64_t second):
    """Return the time of a location's zone as JSON, with the name of the member."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.times_json[zone]
    if cached is None or (<_Moment>cached).second != second:
        cached = state.times_json[zone] = _Moment(second, _clock_of(state, zone, second).json(second))
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
