"""Own columns: the rows of ``own.arrow``, as dicts and values.

Own columns can be known in special-purpose space, and the search here does not look at the class of
an address. An address that carries an IPv4 address has the row of that address. Where a dataset
does not declare a column private, its compiler wrote row 0 there.
"""

@cython.final
cdef class _OwnTable:
    """The own columns of a dataset: the row of each interval, and the rows."""

    cdef const uint32_t* ipv4  # held by the state
    cdef const uint32_t* ipv6
    cdef _Table rows
    cdef dict codes  # by the name in calls: ``own``, ``own.site_id``
    cdef dict member_codes  # by the name of a member

    def __cinit__(self, dataset):
        self.rows = _Table(dataset.own_rows, _lists_of(dataset.schema.own))
        self.member_codes = {name: OWN + at for at, name in enumerate(self.rows.names)}
        self.codes = {f"{fields.OWN}.{name}": code for name, code in self.member_codes.items()}
        self.codes[fields.OWN] = OWN_GROUP


cdef _OwnTable _own_table(State state, str call):
    """Return the own columns; raise ValueError if the dataset has none."""
    if state.own is None:
        from geolookup.contract.paths import unknown_field

        raise unknown_field(fields.OWN, call)
    return state.own


cdef int _find_own(State state, object ip, Match* answer) except -1:
    """Parse an address and find its own row; return 0 or INVALID."""
    if not (
        _read_text(ip, &answer.address) if type(ip) is str else _read_object(ip, &answer.address)
    ):
        return INVALID
    return _find_own_row(state, answer)


cdef int _find_own_row(State state, Match* answer) except -1:
    """Find the own row of an address that is parsed."""
    cdef uint64_t value = answer.address.low
    cdef Py_ssize_t interval
    if answer.address.family == 4 or _embedded(&answer.address, &value):
        interval = _checked(state, _interval_ipv4(state, value))
        answer.own = state.own.ipv4[interval]
    else:
        interval = _checked(state, _interval_ipv6(state, &answer.address))
        answer.own = state.own.ipv6[interval]
    state.own.rows.prefetch(answer.own)
    return 0


cdef object _own_value(State state, uint32_t row, int code):
    """Return the value of a column, or all of them, by the code."""
    cdef _Table rows = state.own.rows
    return rows.members(row, rows.unknown) if code == OWN_GROUP else rows.member(row, code - OWN)
