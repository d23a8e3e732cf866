"""The period of a time zone from the bytes of its TZif file (RFC 9636), without Python objects.

The first pass over a list of addresses needs hundreds of zones, each for the first time. This reads
files of version 2 or later, whose footer has dates such as M3.5.0: all files of the tz database.
``zoneinfo`` decides on all other files, damaged ones included (``python_zones``).
"""

cdef extern from *:
    """
    #include <fcntl.h>
    #ifdef _WIN32
    #include <io.h>
    #define ZONE_FLAGS (O_RDONLY | O_BINARY)
    #else
    #include <unistd.h>
    #define ZONE_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    #endif
    """
    enum:
        ZONE_FLAGS  # a FIFO must not wait
    int open_file "open" (const char* path, int flags) nogil
    Py_ssize_t read_file "read" (int descriptor, void* out, size_t size) nogil
    int close_file "close" (int descriptor) nogil

cdef enum:
    ZONE_BYTES = 1 << 13  # of a file that is read here; the largest of the tz database has 4,000
    MOST_RUNS = 8  # of a local year; the tz database has at most five
    # Two changes in each of four years; see ``_set_year``.
    RULE_CHANGES = 8  # of a rule, in a year and those beside it

cdef object _database = None
cdef int64_t EARLIEST = localtime.EARLIEST, LATEST = localtime.LATEST


cdef struct Change:
    int64_t second
    Clock* clock


cdef struct Run:  # Unix seconds [start, end) of one state
    int64_t start, end
    Clock clock


cdef struct Year:  # a local year, and the changes of the rule around it
    int64_t year
    Change changes[RULE_CHANGES]
    int count
    Run runs[MOST_RUNS]
    int run_count


@cython.final
cdef class _Period:
    """See ``localtime.Period``; of an unknown zone, all time with None as the values."""

    cdef readonly int64_t start, end, offset
    cdef readonly object zone, abbr, utc_offset, is_dst

    def __cinit__(self, zone, int64_t start, int64_t end, abbr, int64_t offset, is_dst):
        cdef int minutes = <int>((abs(offset) + 30) // 60)
        cdef char text[16]
        self.zone, self.start, self.end, self.abbr, self.is_dst = zone, start, end, abbr, is_dst
        self.offset = -60 * minutes if offset < 0 else 60 * minutes
        if abbr is not None:
            text[0] = c"-" if self.offset < 0 else c"+"
            _write_two(_write_two(text + 1, minutes // 60) + 1, minutes % 60)
            text[3] = c":"
            self.utc_offset = PyUnicode_DecodeUTF8(text, 6, NULL)


def period(str zone, int64_t second):
    """Return the period of a zone that holds a second; see ``python_zones.period``."""
    global _database
    if _database is None:  # not when the module is imported: opening needs no zone
        from geolookup.contract import tzdatabase as _database
    if zone is None or not _database.is_key(zone):
        return None
    folders = _database.folders()
    local = _period_at(f"{folders[0]}/{zone}", second, zone) if folders else None
    if local is not None:
        return local
    from geolookup.kernel.python_zones import period as by_zoneinfo  # here: slow to import

    found = by_zoneinfo(zone, second)
    if found is None:
        return None
    return _Period(zone, found.start, found.end, found.abbr, found.offset, found.is_dst)


cdef _Period _period_at(str path, int64_t second, zone):
    """Return the period by a file; None if it cannot be read, or if ``zoneinfo`` must decide.

    A first pass over addresses reads hundreds of files: by ``os`` each takes twice as long.
    """
    cdef bytes encoded = PyUnicode_EncodeFSDefault(path)
    cdef const char* name = PyBytes_AS_STRING(encoded)
    cdef unsigned char text[ZONE_BYTES]
    cdef Py_ssize_t size = -1
    cdef int descriptor
    with nogil:
        descriptor = open_file(name, ZONE_FLAGS)
        if descriptor >= 0:
            size = read_file(descriptor, text, ZONE_BYTES)
            close_file(descriptor)
    return _period_in(text, size, second, zone) if 0 < size < ZONE_BYTES else None


def period_in_file(bytes data, int64_t second):
    """Return the period that holds a second, from a TZif file; None if ``zoneinfo`` must decide."""
    return _period_in(<Text>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), second, None)


cdef _Period _period_in(Text text, Py_ssize_t size, int64_t second, zone):
    cdef Rules rules
    cdef Year year
    cdef Run* run
    if not _read_rules(text, text + size, &rules):
        return None
    run = _run_of(&rules, &year, second)
    if run == NULL:
        return None
    abbr = PyUnicode_DecodeUTF8(<const char*>run.clock.name, run.clock.size, NULL)
    return _Period(zone, run.start, run.end, abbr, run.clock.offset, _is_daylight(run, &year))


cdef Run* _run_of(Rules* rules, Year* year, int64_t second) noexcept nogil:
    """Fill the local year of a second and return its run that holds it, or NULL."""
    cdef Clock clock
    cdef int at
    # 2026-12-31 23:30 UTC is in 2027 by a clock at +01:00: the local year needs the clock.
    _set_year(rules, year, _year_of(second))
    _clock(rules, year, second, &clock)
    _set_year(rules, year, _year_of(second + clock.offset))
    if not _fill_runs(rules, year):
        return NULL
    for at in range(year.run_count):
        if year.runs[at].start <= second < year.runs[at].end:
            return &year.runs[at]
    return NULL


cdef bint _fill_runs(Rules* rules, Year* year) noexcept nogil:
    """Split a local year at its changes; False for too many of them."""
    cdef int64_t first = _first_of_month(year.year, 1) * DAY
    cdef int64_t after = _first_of_month(year.year + 1, 1) * DAY
    # One day more on each side covers the local year in every zone.
    cdef int64_t second = max(first - DAY, EARLIEST), end = min(after + DAY, LATEST), stop
    cdef Clock clock, later
    year.run_count = 0
    _clock(rules, year, second, &clock)
    while second < end:
        stop = second
        while True:
            stop = _next_change(rules, year, stop, end)
            # Changes between equal states are joined: a run ends where the clock itself differs.
            if stop >= end:
                break
            _clock(rules, year, stop, &later)
            if not _same(&clock, &later):
                break
        # A local year begins where its clock does; clocks that are put back begin it twice. So the
        # clock in use decides its first second: in Unix seconds, ``first`` less the offset. A
        # run must reach into the year by its own clock.
        if max(second, first - clock.offset) < min(stop, after - clock.offset):
            if year.run_count == MOST_RUNS:
                return False
            year.runs[year.run_count].start = max(second, first - clock.offset)
            year.runs[year.run_count].end = min(stop, after - clock.offset)
            year.runs[year.run_count].clock = clock
            year.run_count += 1
        second = stop
        if second < end:
            clock = later
    return True


cdef int64_t _next_change(Rules* rules, Year* year, int64_t second, int64_t end) noexcept nogil:
    """Return the first change after a second, or ``end``."""
    cdef int at
    cdef Py_ssize_t index
    # The table decides before its last transition, the rule of the footer after it.
    if rules.count and second < rules.last:
        index = _transitions_until(rules, second)
        return min(end, _big(rules.times + 8 * index, 8))
    for at in range(year.count):
        if year.changes[at].second > second:
            return min(end, year.changes[at].second)
    return end


cdef void _clock(Rules* rules, Year* year, int64_t second, Clock* clock) noexcept nogil:
    """Set the local time type at a second."""
    cdef int at
    cdef Py_ssize_t index
    if rules.count and second < rules.last:
        index = _transitions_until(rules, second)
        # Type 0 holds before the first transition (RFC 9636, section 3.2).
        _read_type(rules, rules.kinds[index - 1] if index else 0, clock)
        return
    clock[0] = rules.standard
    for at in range(year.count):
        if year.changes[at].second <= second:
            clock[0] = year.changes[at].clock[0]


cdef void _set_year(Rules* rules, Year* year, int64_t number) noexcept nogil:
    """Sort the changes of the rule in a year and those beside it."""
    cdef int64_t start, end, at
    year.year, year.count = number, 0
    if not rules.changes:
        return
    # A time of -167 to 167 hours can move a change into the year beside its own.
    for at in range(number - 2, number + 2):
        start = _second_of(&rules.first, at) - rules.standard.offset
        _put_change(year, start, &rules.daylight)
        end = _second_of(&rules.after, at) - rules.daylight.offset
        # An end at or after the next start changes nothing: daylight saving is permanent.
        if end < _second_of(&rules.first, at + 1) - rules.standard.offset:
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
    """Return whether a run is daylight saving; ``python_zones._is_dst`` documents the decision."""
    cdef int64_t nearest = 1 << 62, gap
    cdef bint yes = False, no = False, verdict
    cdef Run* other
    cdef int at
    for at in range(year.run_count):
        other = &year.runs[at]
        if other.clock.marked != run.clock.marked:
            # The distance of two runs: 0 for neighbours.
            nearest = min(nearest, max(other.start - run.end, run.start - other.end))
    for at in range(year.run_count):
        other = &year.runs[at]
        gap = max(other.start - run.end, run.start - other.end)
        if other.clock.marked == run.clock.marked or gap != nearest:
            continue
        # Dublin marks its winter, behind the summer without a mark: not daylight saving.
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
