"""Values of fields for many addresses.

Strategy: a value that follows from a row is decoded once, and kept in a list by row: the next
answer reads neither the row nor its JSON text. Values of countries are kept by country, so they
need no text of a location. Only immutable values are kept, and only of the first rows of a
table: these are the most used. A kept value has been checked with its row. Each step runs for a
whole block, as in ``_many``.
"""

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object items)
    void PyObject_GC_UnTrack(object container)

cdef enum:
    MOST_ROWS = 1 << 18  # rows of a table whose values are kept: 2 MiB of pointers for a field
    ONE = -1  # instead of a position in a tuple: the field is the only one

cdef object _UNREAD = object()


cdef list _many_values(State state, list ips, names, seconds, default):
    cdef Batch batch
    cdef Py_ssize_t begin, at
    cdef bint is_one = isinstance(names, str)
    cdef tuple several = (names,) if is_one else names
    cdef tuple codes = tuple([_field_code(state, name, "get_many") for name in several])
    cdef list kept = [_kept_values(state, code) for code in codes]
    cdef list values = []
    cdef object nothing = default if is_one else (default,) * len(codes)
    cdef int texts = _texts_of(codes)
    cdef bint has_own = max(codes, default=0) >= OWN_GROUP
    _check_seconds(ips, seconds)
    for begin in range(0, len(ips), BLOCK):
        # A private address has own columns: it has an interval id here.
        _read_addresses(state, ips, begin, &batch, has_own, texts)
        for at in range(batch.count):
            _approach(state, &batch, at, texts)
        if has_own:
            _find_own_rows(state, &batch)
        for at in range(batch.count):
            # A new tuple has null pointers as items; every field sets its own below.
            values.append(nothing if is_one or batch.ids[at] < 0 else PyTuple_New(len(codes)))
        for at in range(len(codes)):
            _set_values(
                state, &batch, ips, begin, codes[at], seconds, kept[at], values,
                ONE if is_one else at, default,
            )
    return values


cdef void _find_own_rows(State state, Batch* batch) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(batch.count):
        if batch.ids[at] >= 0:
            PREFETCH(_own_row(state, batch.ids[at]))
    for at in range(batch.count):
        if batch.ids[at] >= 0:
            batch.answers[at].own = _own_row(state, batch.ids[at])[0]
            state.own.rows.prefetch(batch.answers[at].own)


cdef inline const uint32_t* _own_row(State state, Py_ssize_t id) noexcept nogil:
    if id >= state.ipv4_count:
        return &state.own.ipv6[id - state.ipv4_count]
    return &state.own.ipv4[id]


cdef list _kept_values(State state, int code):
    """Return the values of a field by row, with ``_UNREAD`` in most places; empty if no row has it."""
    cdef Py_ssize_t rows
    # Below COUNTRY: ip, time and whole groups. These need more than one row.
    if code < COUNTRY or code == OWN_GROUP:
        return []
    if state.values_by_row[code] is None:
        rows = _table_of(state, code).count
        values = [_UNREAD] * min(rows, <Py_ssize_t>MOST_ROWS)
        # It holds texts and numbers only, so no cycle: a garbage collection need not visit them.
        PyObject_GC_UnTrack(values)
        state.values_by_row[code] = values
    return <list>state.values_by_row[code]


cdef inline _Table _table_of(State state, int code):
    if code >= OWN:
        return state.own.rows
    if code >= NETWORK:
        return state.networks
    return state.locations if code >= PLACE else state.country_texts


cdef int _texts_of(tuple codes) except -1:
    """Return which texts of rows the groups among the fields need."""
    cdef int code
    cdef int texts = 0
    for code in codes:
        if code == LOCATION_GROUP:
            texts |= LOCATION_TEXT
        elif code == NETWORK_GROUP:
            texts |= NETWORK_TEXT
    return texts


cdef int _set_values(
    State state,
    Batch* batch,
    list ips,
    Py_ssize_t begin,
    int code,
    seconds,
    list kept,
    list values,
    Py_ssize_t position,
    default,
) except -1:
    """Set the values of a field, and keep those that are read from rows."""
    cdef Py_ssize_t[BLOCK] rows
    cdef Py_ssize_t at
    cdef bint judged = batch.column.with_private and code < OWN_GROUP
    _find_kept(state, batch, code, kept, rows)
    for at in range(batch.count):
        if batch.ids[at] < 0:
            continue
        if judged and _is_private(&batch.answers[at].address):
            _set_item(values, begin + at, position, default)
            continue
        value = kept[rows[at]] if rows[at] >= 0 else _UNREAD
        if value is _UNREAD:
            value = _project(
                state, &batch.answers[at], code, ips[begin + at], _second(seconds, begin + at)
            )
            # A list could be changed by a caller, and with it the later answers.
            if rows[at] >= 0 and type(value) is not list:
                kept[rows[at]] = value
        _set_value(values, begin + at, position, value, default)
    return 0


cdef inline int _set_value(
    list values, Py_ssize_t at, Py_ssize_t position, value, default
) except -1:
    # No assignment to an argument: Cython would then count a reference to it for each value.
    if value is None and default is not None:
        return _set_item(values, at, position, default)
    return _set_item(values, at, position, value)


cdef inline int _set_item(list values, Py_ssize_t at, Py_ssize_t position, value) except -1:
    if position == ONE:
        values[at] = value
        return 0
    # PyTuple_SET_ITEM takes the reference over, unlike PyTuple_SetItem it checks nothing.
    Py_INCREF(value)
    PyTuple_SET_ITEM(<tuple>values[at], position, value)
    return 0


cdef int _find_kept(State state, Batch* batch, int code, list kept, Py_ssize_t* rows) except -1:
    """Find the rows in ``kept``, -1 for those outside, and prefetch the values or the texts."""
    cdef PyObject** values = PySequence_Fast_ITEMS(kept)
    cdef Py_ssize_t at, size = len(kept)
    cdef _Table table = _table_of(state, code)
    cdef PyObject* unread = <PyObject*>_UNREAD
    cdef bint is_unread = False
    # Two passes, pointers first, then their targets: a block waits once for each.
    for at in range(batch.count):
        rows[at] = -1 if batch.ids[at] < 0 else _row_of(state, &batch.answers[at], code)
        if rows[at] >= size:
            rows[at] = -1
        if rows[at] >= 0:
            PREFETCH(&values[rows[at]])
    for at in range(batch.count):
        if rows[at] >= 0:
            if values[rows[at]] == unread:
                is_unread = True
                table.prefetch(rows[at])
            else:
                PREFETCH(values[rows[at]])
    if is_unread:
        for at in range(batch.count):
            if rows[at] >= 0 and values[rows[at]] == unread:
                table.prefetch_text(rows[at])
    return 0


cdef inline Py_ssize_t _row_of(State state, Match* answer, int code) noexcept:
    """Return the row with the value of a field; -1 if it does not exist."""
    if code >= OWN:
        return answer.own
    if code >= NETWORK:
        return answer.network
    if code >= PLACE:
        return answer.location
    if answer.location >= state.location_count:
        return -1
    return state.location_countries[answer.location]
