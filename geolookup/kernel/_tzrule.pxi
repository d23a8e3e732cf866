"""The rule in the footer of a TZif file (RFC 9636, section 3.3.1), and the calendar it counts on."""

cdef enum:
    DAY = 86400


cdef struct Clock:  # a state of a zone
    int64_t offset
    bint marked
    Text name
    Py_ssize_t size


cdef struct Date:  # a day of a year, and seconds after its midnight
    int64_t month, week, weekday, seconds


cdef bint _read_footer(Text text, Text end, Rules* rules) noexcept nogil:
    """Read a TZ string of one state, or of two with dates such as M3.5.0/2."""
    text = _read_name(text, end, &rules.standard)
    text = _read_seconds(text, end, 24, &rules.standard.offset)
    if text == NULL:
        return False
    rules.standard.offset = -rules.standard.offset
    rules.standard.marked, rules.changes = False, text < end
    if text < end:
        text = _read_name(text, end, &rules.daylight)
        rules.daylight.marked = True
        if text == NULL or text == end:
            return False
        rules.daylight.offset = rules.standard.offset + 3600
        if text[0] != c",":
            text = _read_seconds(text, end, 24, &rules.daylight.offset)
            rules.daylight.offset = -rules.daylight.offset
        text = _read_date(_read_date(text, end, &rules.first), end, &rules.after)
        if text != end or not -DAY < rules.daylight.offset < DAY:
            return False
    return -DAY < rules.standard.offset < DAY


cdef Text _read_name(Text text, Text end, Clock* clock) noexcept nogil:
    """Read an abbreviation and return its end; NULL for a malformed one, here and below."""
    cdef bint quoted = text < end and text[0] == c"<"
    cdef Text stop
    text += quoted
    stop = _name_end(text, end, quoted)
    clock.name, clock.size = text, stop - text
    if clock.size < 3 or (quoted and (stop == end or stop[0] != c">")):
        return NULL
    return stop + quoted


cdef Text _name_end(Text text, Text end, bint quoted) noexcept nogil:
    """Return the end of an abbreviation: of letters; if ``quoted``, of letters, digits and signs."""
    while text < end and (
        c"a" <= (text[0] | 32) <= c"z"
        or (quoted and (c"0" <= text[0] <= c"9" or text[0] == c"+" or text[0] == c"-"))
    ):
        text += 1
    return text


cdef Text _read_seconds(Text text, Text end, int most, int64_t* found) noexcept nogil:
    """Read ``[+-]hours[:minutes[:seconds]]``, at most ``most`` hours."""
    cdef bint negative
    cdef int64_t part
    cdef int unit = 3600
    if text == NULL or text == end:
        return NULL
    negative = text[0] == c"-"
    text = _read_number(text + (negative or text[0] == c"+"), end, most, &part)
    found[0] = part * 3600
    while text != NULL and text < end and text[0] == c":" and unit > 1:
        unit //= 60
        text = _read_number(text + 1, end, 59, &part)
        found[0] += part * unit
    if negative:
        found[0] = -found[0]
    return text


cdef Text _read_number(Text text, Text end, int64_t most, int64_t* found) noexcept nogil:
    cdef Text begin = text
    found[0] = 0
    if text == NULL:
        return NULL
    while text < end and c"0" <= text[0] <= c"9" and found[0] <= most:
        found[0] = found[0] * 10 + text[0] - c"0"
        text += 1
    if text == begin or found[0] > most:
        return NULL
    return text


cdef Text _read_date(Text text, Text end, Date* date) noexcept nogil:
    """Read ``,Mmonth.week.weekday``; ``/time`` follows unless it is 2:00."""
    if text == NULL or end - text < 2 or text[0] != c"," or text[1] != c"M":
        return NULL
    text = _read_number(text + 2, end, 12, &date.month)
    text = _read_number(_after(text, end, c"."), end, 5, &date.week)
    text = _read_number(_after(text, end, c"."), end, 6, &date.weekday)
    date.seconds = 7200
    if text == NULL or date.month == 0 or date.week == 0:
        return NULL
    if text < end and text[0] == c"/":
        return _read_seconds(text + 1, end, 167, &date.seconds)
    return text


cdef Text _after(Text text, Text end, unsigned char character) noexcept nogil:
    if text == NULL or text == end or text[0] != character:
        return NULL
    return text + 1


# The calendar, in days since 1970-01-01.

cdef int64_t _second_of(Date* date, int64_t year) noexcept nogil:
    """Return the local second of a date: the week-th weekday; the fifth is the last one."""
    cdef int64_t first = _first_of_month(year, date.month)
    cdef int64_t day = first + ((date.weekday - first - 4) % 7 + 7) % 7 + 7 * (date.week - 1)
    if day >= _first_of_month(year, date.month + 1):
        day -= 7
    return day * DAY + date.seconds


cdef int64_t _first_of_month(int64_t year, int64_t month) noexcept nogil:
    """Return the first day of a month of a year from -398; month 13 is January of the next year.

    See Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, ``days_from_civil``.
    """
    year += 400 + (month - 3 + 12) // 12 - 1  # of a year that begins in March, 400 years later
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 - 719468 - 146097


cdef int64_t _year_of(int64_t second) noexcept nogil:
    """Return the year of a Unix second, which must be in year 1 or later."""
    cdef int64_t year = 1970 + second // 31556952  # of 365.2425 days
    while _first_of_month(year, 1) * DAY > second:
        year -= 1
    while _first_of_month(year + 1, 1) * DAY <= second:
        year += 1
    return year
