"""Answers for many addresses, a block at a time, to hide the latency of memory.

Strategy: a lookup reads about ten cache lines, and most state where the next one is. Here
addresses to intervals (``_columns``) and intervals to rows are steps that run for all addresses of a
block; each prefetches for the next step. Then the answers are made one by one. While one is
made, the offsets and the texts of later ones are prefetched: a processor fetches few cache lines at
a time, and waits during a step that only prefetches many.

JSON is written to one growing output. ``_write_json`` writes at most the size of the envelope
and ``SLACK`` bytes, also if a row has fewer or more texts than it must have.
"""

cdef extern from "Python.h":
    int _PyBytes_Resize(PyObject** data, Py_ssize_t size) except -1
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t at)
    int PY_VERSION_HEX
    bint PyGC_Disable()
    bint PyGC_Enable()

cdef enum:
    SLACK = 64  # bytes after the reserved ones; more than ``CHUNK`` and a line feed
    USUAL = 1000  # bytes of a line, about
    MAPPED = 100_000  # bytes; glibc maps blocks from 131,072 on, unless it has freed larger ones
    MOST_KEPT = 1 << 19  # bytes of an output whose memory ``take`` keeps
    NEAR = 6  # answers between the prefetch of a text and its use
    FAR = 16  # answers between the prefetch of the offsets of a text and the use of the text
    LOCATION_TEXT = 1  # bits: the texts of rows that an answer needs
    NETWORK_TEXT = 2
    ALL_TEXTS = 3

cdef struct Batch:
    # The addresses of up to BLOCK texts or objects; of each its interval id, and the rows of that.
    int count
    Match answers[BLOCK]
    int32_t ids[BLOCK]
    Column column


cdef class _Output:
    """Bytes that grow at their end."""

    cdef PyObject* data
    cdef Py_ssize_t used, room

    def __dealloc__(self):
        Py_XDECREF(self.data)

    cdef char* reserve(self, Py_ssize_t size) except NULL:
        """Return where to write ``size`` bytes, with ``SLACK`` bytes after them."""
        cdef Py_ssize_t needed = self.used + size + SLACK
        if needed > self.room:
            needed = max(needed, 2 * self.room)
            self._resize(needed)
            self.room = needed
        return _bytes_start(self.data) + self.used

    cdef int _resize(self, Py_ssize_t size) except -1:
        """Move the bytes into more or less memory; without memory they are lost."""
        cdef Py_ssize_t used = self.used
        self.used = self.room = 0  # ``_PyBytes_Resize`` frees the data before it raises
        if self.data == NULL:
            self.data = _new_bytes(NULL, size)
        else:
            _PyBytes_Resize(&self.data, size)
        self.used = used
        return 0

    cdef int written_to(self, char* end) except -1:
        self.used = end - _bytes_start(self.data)
        return 0

    cdef bytes take(self):
        """Return the bytes and remove them.

        From ``MAPPED`` to ``MOST_KEPT`` bytes are copied, and their memory is used again: malloc
        would map new pages for each block of lines, and these take longer than the lines. Fewer or
        more are not copied.
        """
        cdef bytes result = b""
        cdef Py_ssize_t used = self.used
        if MAPPED <= used <= MOST_KEPT:
            self.used = 0
            return PyBytes_FromStringAndSize(_bytes_start(self.data), used)
        if used:
            self._resize(used)
            result = <bytes><object>self.data
        Py_XDECREF(self.data)
        self.data = NULL
        self.used = self.room = 0
        return result


cdef class _Lines:
    """See ``python_state.Lines``; without the interpreter lock, its calls exclude each other."""

    cdef State state
    cdef _Output out

    def __cinit__(self, State state):
        self.state, self.out = state, _Output()

    @cython.critical_section
    def add(self, list ips, seconds):
        """See ``python_state.Lines``."""
        cdef Batch batch
        cdef Py_ssize_t begin, at, failures = 0
        _check_seconds(ips, seconds)
        # One allocation for most lists, instead of a doubling of a growing output.
        self.out.reserve(len(ips) * USUAL)
        for begin in range(0, len(ips), BLOCK):
            _read_addresses(self.state, ips, begin, &batch, False, ALL_TEXTS)
            for at in range(batch.count):
                _approach(self.state, &batch, at, ALL_TEXTS)
                failures += batch.ids[at] < 0
                _write_line(self.state, &batch, at, _second(seconds, begin + at), self.out)
        return failures

    @cython.critical_section
    def take(self):
        """See ``python_state.Lines``."""
        return self.out.take()


cdef list _many_envelopes(State state, list ips, seconds, bint as_json):
    cdef Batch batch
    cdef bint was_collecting
    cdef Py_ssize_t begin
    cdef list envelopes = []
    _check_seconds(ips, seconds)
    for begin in range(0, len(ips), BLOCK):
        _read_addresses(state, ips, begin, &batch, False, ALL_TEXTS)
        # The cyclic garbage collector of CPython 3.11 visits all young dicts after each 700, however
        # many of them are kept. Since 3.12 it runs between bytecodes only.
        was_collecting = PY_VERSION_HEX < 0x030C0000 and PyGC_Disable()
        try:
            _append_envelopes(state, ips, begin, seconds, as_json, &batch, envelopes)
        finally:
            if was_collecting:
                PyGC_Enable()
    return envelopes


cdef int _append_envelopes(
    State state, list ips, Py_ssize_t begin, object seconds, bint as_json, Batch* batch, list envelopes
) except -1:
    cdef Py_ssize_t at
    cdef int64_t second
    for at in range(batch.count):
        _approach(state, batch, at, ALL_TEXTS)
        if batch.ids[at] < 0:
            status = INVALID if batch.ids[at] == INVALID_ID else PRIVATE
            envelopes.append(_FAILURES_JSON[status] if as_json else envelope.failure(_ERRORS[status]))
            continue
        second = _second(seconds, begin + at)
        if as_json:
            envelopes.append(_json(state, &batch.answers[at], second))
        else:
            envelopes.append(_success(state, ips[begin + at], &batch.answers[at], second))
    return 0


cdef int _check_seconds(list ips, object seconds) except -1:
    if type(seconds) is list and len(<list>seconds) != len(ips):
        raise ValueError("the columns differ in length")
    return 0


cdef inline int64_t _second(object seconds, Py_ssize_t at) except? -1:
    """Return the second of an address: ``seconds`` is one for all, or a list."""
    return (<list>seconds)[at] if type(seconds) is list else seconds


# --- addresses to rows


cdef int _read_addresses(
    State state, list ips, Py_ssize_t begin, Batch* batch, bint with_private, int texts
) except -1:
    """Read up to ``BLOCK`` addresses from position ``begin`` on, and find their rows."""
    cdef Py_ssize_t at
    cdef Address* address
    batch.count = <int>min(<Py_ssize_t>BLOCK, len(ips) - begin)
    _begin(&batch.column, with_private)
    for at in range(batch.count):
        PREFETCH(PyList_GET_ITEM(ips, begin + at))
    for at in range(batch.count):
        address = &batch.answers[at].address
        ip = ips[begin + at]
        if not (_read_text(ip, address) if type(ip) is str else _read_object(ip, address)):
            address.family = 0
        _add(state, &batch.column, address, &batch.ids[at])
    return _find_rows(state, batch, texts)


cdef int _find_rows(State state, Batch* batch, int texts) except -1:
    """Find the intervals of all addresses of a block, and the rows of the first ones."""
    cdef Py_ssize_t id, at
    if _finish(state, &batch.column):
        raise _outside(state)
    for at in range(batch.count):
        id = batch.ids[at]
        if id >= state.ipv4_count:
            PREFETCH(&state.ipv6_locations[id - state.ipv4_count])
            PREFETCH(&state.ipv6_networks[id - state.ipv4_count])
        elif id >= 0:
            PREFETCH(&state.ipv4_locations[id])
            PREFETCH(&state.ipv4_networks[id])
    # Rows of answers 0 to FAR - 1, and texts of 0 to NEAR - 1.
    for at in range(-FAR, 0):
        _approach(state, batch, at, texts)
    return 0


cdef inline void _approach(State state, Batch* batch, Py_ssize_t at, int texts) noexcept:
    """Take the rows, and prefetch the texts, of answers ``FAR`` and ``NEAR`` after one of a block."""
    #     at          at + NEAR            at + FAR
    #     is written  text is prefetched   rows are taken, offsets are prefetched
    cdef Py_ssize_t far = at + FAR, near = at + NEAR
    if far < batch.count and batch.ids[far] >= 0:
        _take_answer(state, batch.ids[far], &batch.answers[far], texts)
    if 0 <= near < batch.count and batch.ids[near] >= 0:
        if texts & LOCATION_TEXT:
            state.locations.prefetch_text(batch.answers[near].location)
        if texts & NETWORK_TEXT:
            state.networks.prefetch_text(batch.answers[near].network)


cdef inline void _take_answer(State state, Py_ssize_t id, Match* answer, int texts) noexcept nogil:
    """Take the rows of an interval id, and prefetch what ``prefetch_text`` reads of them."""
    if id >= state.ipv4_count:
        answer.location = state.ipv6_locations[id - state.ipv4_count]
        answer.network = state.ipv6_networks[id - state.ipv4_count]
    else:
        answer.location, answer.network = state.ipv4_locations[id], state.ipv4_networks[id]
    if answer.location < state.location_count:
        PREFETCH(&state.location_countries[answer.location])
        PREFETCH(&state.location_zones[answer.location])
    if texts & LOCATION_TEXT:
        state.locations.prefetch(answer.location)
    if texts & NETWORK_TEXT:
        state.networks.prefetch(answer.network)


# --- rows to JSON


cdef int _write_line(
    State state, Batch* batch, Py_ssize_t at, int64_t second, _Output out
) except -1:
    """Write the envelope of an address of a block, and a line feed."""
    cdef Match* answer = &batch.answers[at]
    cdef Parts parts
    cdef tuple country
    cdef char* end
    if batch.ids[at] >= 0:
        country = _country_json(state, answer.location)
        time = _time_json(state, answer.location, second)
        _read_parts(state, answer, country, time, &parts)
        # The slack has room for a line feed after it.
        end = _write_json(state, answer, out.reserve(parts.size), &parts, country, time)
    else:
        failure = <bytes>_FAILURES_JSON[INVALID if batch.ids[at] == INVALID_ID else PRIVATE]
        end = _put_bytes(out.reserve(PyBytes_GET_SIZE(failure) + 1), failure)
    end[0] = c"\n"
    return out.written_to(end + 1)
