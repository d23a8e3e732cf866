"""A TZif file in C: its tables (RFC 9636, section 3) and the rule in its footer (section 3.3.1).

Nothing is copied: a zone's state refers to the bytes of the file.
"""

cdef enum:
    DAY = 86400  # seconds
    TZIF_HEADER = 44  # bytes
    TIME_TYPE = 6  # bytes of a local time type: offset, flag, index of the abbreviation


cdef struct Clock:  # a state of a zone
    int64_t offset
    bint marked
    Text name
    Py_ssize_t size


cdef struct Date:  # a day of a year, and seconds after its midnight
    int64_t month, week, weekday, seconds


cdef struct Rules:
    Text times, kinds, types, names
    Py_ssize_t count, type_count, name_count
    int64_t last  # transition
    Clock standard, daylight
    bint changes  # the footer has daylight saving
    Date first, after  # of daylight saving


cdef bint _read_rules(Text text, Text end, Rules* rules) noexcept nogil:
    """Read the second header and the footer; False for a file that ``zoneinfo`` must read.

    A file of version 2 or later has two blocks. The first, with times of 4 bytes, is skipped:

        header 1 | block 1 | header 2 | times, kinds, types, names, ... | LF footer LF

    A header ends with six counts of 4 bytes: UT flags, standard flags, leap seconds, times, types
    and bytes of names. Time i, of 8 bytes, is the second from which local time type kinds[i] holds.
    """
    cdef Text begin = text
    cdef Text footer
    cdef Text stop
    cdef uint64_t size
    # Byte 4 is the version: NUL for version 1, without a footer, else "2", "3" or "4".
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
    footer = rules.times + size
    if footer == end or footer[0] != c"\n":
        return False
    stop = <Text>memchr(footer + 1, c"\n", end - footer - 1)
    return stop != NULL and _is_table(rules) and _read_footer(footer + 1, stop, rules)


cdef uint64_t _block_size(Text header, int width) noexcept nogil:
    """Return the size in bytes of the block after a header; ``width`` is the width of a time."""
    cdef uint64_t ut = _big(header + 20, 4), standard = _big(header + 24, 4), leaps = _big(header + 28, 4)
    cdef uint64_t times = _big(header + 32, 4), types = _big(header + 36, 4), names = _big(header + 40, 4)
    # Six counts below 2^32 times at most 12: no overflow in 64 bits.
    return times * (width + 1) + types * TIME_TYPE + names + leaps * (width + 4) + standard + ut


cdef int64_t _big(Text text, int width) noexcept nogil:
    """Return a big-endian number: signed if it has 8 bytes, else unsigned."""
    cdef uint64_t value = 0
    cdef int at
    # 00 00 0e 10 is 3600.
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
    # Bytes 0 to 3: offset in seconds, 4: daylight flag, 5: where the name begins in ``names``.
    # Names can share bytes: "AHST" has "HST" from index 1 on.
    if text[5] >= rules.name_count:
        return False
    clock.name = rules.names + text[5]
    stop = <Text>memchr(clock.name, 0, rules.name_count - text[5])
    if stop == NULL:
        return False
    clock.offset, clock.marked, clock.size = <int32_t>_big(text, 4), text[4] != 0, stop - clock.name
    return -DAY < clock.offset < DAY and _name_end(clock.name, stop, True) == stop


# --- the footer


cdef bint _read_footer(Text text, Text end, Rules* rules) noexcept nogil:
    """Read a TZ string of one state, or of two with dates such as M3.5.0/2."""
    text = _read_name(text, end, &rules.standard)
    text = _read_seconds(text, end, 24, &rules.standard.offset)
    if text == NULL:
        return False
    # A TZ string counts west of UTC as positive: EST5 is -05:00.
    rules.standard.offset = -rules.standard.offset
    rules.standard.marked, rules.changes = False, text < end
    if text < end:
        text = _read_name(text, end, &rules.daylight)
        rules.daylight.marked = True
        if text == NULL or text == end:
            return False
        # One hour ahead by default: EST5EDT is EST5EDT4.
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
    # CET, or <+0330>
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


cdef Text _read_seconds(Text text, Text end, int most, int64_t* seconds) noexcept nogil:
    """Read ``[+-]hours[:minutes[:seconds]]``, at most ``most`` hours."""
    cdef bint negative
    cdef int64_t part
    cdef int unit = 3600
    if text == NULL or text == end:
        return NULL
    negative = text[0] == c"-"
    text = _read_number(text + (negative or text[0] == c"+"), end, most, &part)
    seconds[0] = part * 3600
    # 5:30:15 is 5 * 3600 + 30 * 60 + 15; after the seconds, unit is 1.
    while text != NULL and text < end and text[0] == c":" and unit > 1:
        unit //= 60
        text = _read_number(text + 1, end, 59, &part)
        seconds[0] += part * unit
    if negative:
        seconds[0] = -seconds[0]
    return text


cdef Text _read_number(Text text, Text end, int64_t most, int64_t* number) noexcept nogil:
    cdef Text begin = text
    number[0] = 0
    if text == NULL:
        return NULL
    while text < end and c"0" <= text[0] <= c"9" and number[0] <= most:
        number[0] = number[0] * 10 + text[0] - c"0"
        text += 1
    if text == begin or number[0] > most:
        return NULL
    return text


cdef Text _read_date(Text text, Text end, Date* date) noexcept nogil:
    """Read ``,Mmonth.week.weekday``; ``/time`` follows unless it is 2:00."""
    if text == NULL or end - text < 2 or text[0] != c"," or text[1] != c"M":
        return NULL
    text = _read_number(text + 2, end, 12, &date.month)
    text = _read_number(_after(text, end, c"."), end, 5, &date.week)
    text = _read_number(_after(text, end, c"."), end, 6, &date.weekday)
    # M3.5.0 is the last Sunday of March at 2:00; M3.5.0/-1 is an hour before that Sunday.
    date.seconds = 7200
    if text == NULL or date.month == 0 or date.week == 0:
        return NULL
    if text < end and text[0] == c"/":
        # RFC 9636, section 3.3.1: the time is from -167 to 167 hours.
        return _read_seconds(text + 1, end, 167, &date.seconds)
    return text


cdef Text _after(Text text, Text end, unsigned char character) noexcept nogil:
    if text == NULL or text == end or text[0] != character:
        return NULL
    return text + 1


# The calendar, in days since 1970-01-01.

cdef int64_t _second_of(Date* date, int64_t year) noexcept nogil:
    """Return the local second of a date: the week-th weekday; the fifth is the last one.

    Day 0, 1970-01-01, was a Thursday: weekday 4, with Sunday 0. So the weekday of a day is
    (day + 4) modulo 7. M3.2.0 of 2026, the second Sunday of March: 1 March 2026 is day 20513, a Sunday;
    (0 - 20513 - 4) modulo 7 is 0 days to the first Sunday, and 7 more days give 8 March.
    """
    cdef int64_t first = _first_of_month(year, date.month)
    # C's % keeps the sign of the dividend: + 7 and % 7 again make it 0 to 6.
    cdef int64_t day = first + ((date.weekday - first - 4) % 7 + 7) % 7 + 7 * (date.week - 1)
    # A fifth weekday that does not exist is the fourth: the last one.
    if day >= _first_of_month(year, date.month + 1):
        day -= 7
    return day * DAY + date.seconds


cdef int64_t _first_of_month(int64_t year, int64_t month) noexcept nogil:
    """Return the first day of a month of a year from -398; month 13 is January of the next year.

    The year begins in March here: the leap day is its last day, and the days before a month are the
    same in all years. Five months have 31 30 31 30 31 = 153 days, from March and again from August
    on. Before the m-th month after March are (153 m + 2) // 5 days: 0 before March, 31 before April,
    61 before May, 306 before January. 719468 days are from 0000-03-01 to 1970-01-01. The 146097
    days are the 400 years that were added: they keep all quotients positive.

    See Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, ``days_from_civil``.
    """
    year += 400 + (month - 3 + 12) // 12 - 1  # of a year that begins in March, 400 years later
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 - 719468 - 146097


cdef int64_t _year_of(int64_t second) noexcept nogil:
    """Return the year of a Unix second in year 1 or later."""
    cdef int64_t year = 1970 + second // 31556952  # of 365.2425 days
    # Years differ from the mean, and C's quotient of a negative second is rounded up.
    while _first_of_month(year, 1) * DAY > second:
        year -= 1
    while _first_of_month(year + 1, 1) * DAY <= second:
        year += 1
    return year
