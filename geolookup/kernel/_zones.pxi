"""The period of a time zone from the bytes of its TZif file (RFC 9636), without Python objects.

The first pass over a list of addresses needs hundreds of zones, each for the first time. This is the
usual case of ``localtime``, ``tzif`` and ``tzrule``: a file of version 2 or later, whose footer has
dates such as M3.5.0. ``localtime`` decides on all other files, malformed ones included.
"""

cdef enum:
    TZIF_HEADER = 44  # bytes
    TIME_TYPE = 6  # bytes of a local time type: offset, flag, index of the abbreviation
    MOST_RUNS = 8  # of a local year; the tz database has at most five
    RULE_CHANGES = 8  # of a rule, in a year and those beside it
    DAY = 86400


cdef struct Clock:  # a state of a zone
    int64_t offset
    bint marked
    Text name
    Py_ssize_t size


cdef struct Date:  # a day of a year, and seconds after its midnight
    int64_t month, week, weekday, seconds


cdef struct Change:
    int64_t second
    Clock* clock


cdef struct Run:  # Unix seconds [start, end) of one state
    int64_t start, end
    Clock clock


cdef struct Rules:
    Text times, kinds, types, names
    Py_ssize_t count, type_count, name_count
    int64_t last  # transition
    bint is_checked, is_right  # of the table
    Clock standard, daylight
    bint changes  # the footer has daylight saving
    Date first, after  # of daylight saving


cdef struct Year:  # a local year, and the changes of the rule around it
    int64_t year
    Change changes[RULE_CHANGES]
    int count
    Run runs[MOST_RUNS]
    int run_count


cdef object _zone_period(str zone, int64_t second):
    """Return the ``localtime.Period`` of a zone that holds a second; None for an unknown zone."""
    data = zone_file(zone)
    found = None if data is None else _period_in_file(data, second)
    return period_of(zone, second) if found is None else found


def _period_in_file(bytes data, int64_t second):
    """Return the period that holds a second, from a TZif file; None if ``localtime`` must decide."""
    cdef Rules rules
    cdef Year year
    cdef Run* run
    cdef int64_t minutes
    cdef char written[8]
    cdef Text text = <Text>PyBytes_AS_STRING(data)
    if not _read_rules(text, text + PyBytes_GET_SIZE(data), &rules):
        return None
    run = _run_of(&rules, &year, second)
    if run == NULL:
        return None
    minutes = ((-run.clock.offset if run.clock.offset < 0 else run.clock.offset) + 30) // 60
    written[0] = c"-" if minutes and run.clock.offset < 0 else c"+"
    _write_two(written + 1, minutes // 60)
    written[3] = c":"
    _write_two(written + 4, minutes % 60)
    return Period(
        run.start,
        run.end,
        PyUnicode_DecodeUTF8(<const char*>run.clock.name, run.clock.size, NULL),
        minutes * (-60 if written[0] == c"-" else 60),
        _is_daylight(run, &year),
        PyUnicode_DecodeUTF8(written, 6, NULL),
    )


cdef Run* _run_of(Rules* rules, Year* year, int64_t second) noexcept nogil:
    """Fill the local year of a second and return its run that holds it, or NULL."""
    cdef Clock clock
    cdef int at
    _set_year(rules, year, _year_of(second))
    if not _clock(rules, year, second, &clock):
        return NULL
    _set_year(rules, year, _year_of(second + clock.offset))
    if not 2 <= year.year <= 9998 or not _fill_runs(rules, year):  # other periods are truncated
        return NULL
    for at in range(year.run_count):
        if year.runs[at].start <= second < year.runs[at].end:
            return &year.runs[at]
    return NULL


cdef bint _fill_runs(Rules* rules, Year* year) noexcept nogil:
    """Split a local year at its changes; False for too many of them and for a malformed table."""
    cdef int64_t first = _first_of_month(year.year, 1) * DAY
    cdef int64_t after = _first_of_month(year.year + 1, 1) * DAY
    # One day more on each side covers the local year in every zone.
    cdef int64_t second = first - DAY, end = after + DAY, stop
    cdef Clock clock, later
    year.run_count = 0
    if not _clock(rules, year, second, &clock):
        return False
    while second < end:
        stop = second
        while True:
            stop = _next_change(rules, year, stop, end)
            if stop >= end:
                break
            if not _clock(rules, year, stop, &later):
                return False
            if not _same(&clock, &later):
                break
        # A local year begins where its clock does; clocks that are put back begin it twice.
        if max(second, first - clock.offset) < min(stop, after - clock.offset):
            if year.run_count == MOST_RUNS:
                return False
            year.runs[year.run_count].start = max(second, first - clock.offset)
            year.runs[year.run_count].end = min(stop, after - clock.offset)
            year.runs[year.run_count].clock = clock
            year.run_count += 1
        second, clock = stop, later
    return True


cdef int64_t _next_change(Rules* rules, Year* year, int64_t second, int64_t end) noexcept nogil:
    """Return the first change after a second, or ``end``."""
    cdef int at
    cdef Py_ssize_t index
    if rules.count and second < rules.last:
        index = _transitions_until(rules, second)
        return min(end, _big(rules.times + 8 * index, 8))
    for at in range(year.count):
        if year.changes[at].second > second:
            return min(end, year.changes[at].second)
    return end


cdef bint _clock(Rules* rules, Year* year, int64_t second, Clock* found) noexcept nogil:
    """Find the state at a second; False for a malformed table."""
    cdef int at
    cdef Py_ssize_t index
    if rules.count and second < rules.last:
        if not rules.is_checked:  # once: a file of 64 kB can take long
            rules.is_checked, rules.is_right = True, _is_table(rules)
        if not rules.is_right:
            return False
        index = _transitions_until(rules, second)
        return _read_type(rules, rules.kinds[index - 1] if index else 0, found)
    found[0] = rules.standard
    for at in range(year.count):
        if year.changes[at].second <= second:
            found[0] = year.changes[at].clock[0]
    return True


cdef void _set_year(Rules* rules, Year* year, int64_t number) noexcept nogil:
    """Sort the changes of the rule in a year and those beside it; see ``tzrule.Rule.changes``."""
    cdef int64_t start, end, each
    year.year, year.count = number, 0
    if not rules.changes:
        return
    for each in range(number - 2, number + 2):
        start = _second_of(&rules.first, each) - rules.standard.offset
        _put_change(year, start, &rules.daylight)
        end = _second_of(&rules.after, each) - rules.daylight.offset
        # An end at or after the next start is no change: daylight saving is permanent.
        if end < _second_of(&rules.first, each + 1) - rules.standard.offset:
            _put_change(year, end, &rules.standard)


cdef void _put_change(Year* year, int64_t second, Clock* clock) noexcept nogil:
    """Insert a change; at one second, standard time comes first."""
    cdef int at = year.count
    while at and (
        year.changes[at - 1].second > second
        or (year.changes[at - 1].second == second and year.changes[at - 1].clock.marked and not clock.marked)
    ):
        year.changes[at] = year.changes[at - 1]
        at -= 1
    year.changes[at].second, year.changes[at].clock = second, clock
    year.count += 1


cdef bint _is_daylight(Run* run, Year* year) noexcept nogil:
    """Return whether a run is daylight saving; ``localtime._is_dst`` documents the decision."""
    cdef int64_t nearest = 1 << 62, gap
    cdef bint yes = False, no = False, verdict
    cdef Run* other
    cdef int at
    for at in range(year.run_count):
        other = &year.runs[at]
        if other.clock.marked != run.clock.marked:
            nearest = min(nearest, max(other.start - run.end, run.start - other.end))
    for at in range(year.run_count):
        other = &year.runs[at]
        gap = max(other.start - run.end, run.start - other.end)
        if other.clock.marked == run.clock.marked or gap != nearest:
            continue
        if other.clock.offset != run.clock.offset:
            verdict = run.clock.offset > other.clock.offset if run.clock.marked else not _is_daylight(other, year)
            yes, no = yes or verdict, no or not verdict
    return yes if yes != no else run.clock.marked


cdef bint _same(Clock* one, Clock* other) noexcept nogil:
    return (
        one.offset == other.offset
        and one.marked == other.marked
        and one.size == other.size
        and memcmp(one.name, other.name, one.size) == 0
    )


# The file.

cdef bint _read_rules(Text text, Text end, Rules* rules) noexcept nogil:
    """Read the second header and the footer; False for a file that ``tzif`` must read."""
    cdef Text begin = text
    cdef Text footer
    cdef Text stop
    cdef uint64_t size
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
    rules.is_checked = False
    footer = rules.times + size
    if footer == end or footer[0] != c"\n":
        return False
    stop = <Text>memchr(footer + 1, c"\n", end - footer - 1)
    return stop != NULL and _read_footer(footer + 1, stop, rules)


cdef uint64_t _block_size(Text header, int width) noexcept nogil:
    """Return the size in bytes of the block after a header; ``width`` is that of a time."""
    cdef uint64_t ut = _big(header + 20, 4), standard = _big(header + 24, 4), leaps = _big(header + 28, 4)
    cdef uint64_t times = _big(header + 32, 4), types = _big(header + 36, 4), names = _big(header + 40, 4)
    return times * (width + 1) + types * TIME_TYPE + names + leaps * (width + 4) + standard + ut


cdef int64_t _big(Text text, int width) noexcept nogil:
    """Return a big-endian number: signed if it has 8 bytes, else unsigned."""
    cdef uint64_t value = 0
    cdef int at
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
    if text[5] >= rules.name_count:
        return False
    clock.name = rules.names + text[5]
    stop = <Text>memchr(clock.name, 0, rules.name_count - text[5])
    if stop == NULL:
        return False
    clock.offset, clock.marked, clock.size = <int32_t>_big(text, 4), text[4] != 0, stop - clock.name
    return -DAY < clock.offset < DAY and _name_end(clock.name, stop, True) == stop


# The footer.

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
    """Return the end of the letters from ``text`` on; ``quoted``: of letters, digits and signs."""
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
