"""Own columns: the rows of ``own.arrow``, as dicts and as values.

Own columns can be known in special-purpose space, and the search here does not look at the class of
an address. An address that carries an IPv4 address has the row of that address. Where a dataset
does not declare a column private, its compiler wrote row 0 there.
"""

cdef class _OwnTable:
    """The own columns of a dataset: the row of each interval, the rows, and a cache of templates."""

    cdef _Column ipv4_column, ipv6_column
    cdef const uint32_t* ipv4
    cdef const uint32_t* ipv6
    cdef _Texts texts
    cdef tuple names  # of the members of a row
    cdef tuple lists  # the names of members that are lists
    cdef dict unknown  # a row without any value
    cdef dict codes  # by the name in calls: ``own``, ``own.site_id``
    cdef dict member_codes  # by the name of a member
    cdef list cache, values_by_row
    cdef uint32_t* misses  # by slot: the row of the last miss

    def __cinit__(self, dataset):
        self.misses = <uint32_t*>calloc(CACHE_SIZE, sizeof(uint32_t))
        if self.misses == NULL:
            raise MemoryError
        self.ipv4_column, self.ipv6_column = _Column(dataset.ipv4_own), _Column(dataset.ipv6_own)
        self.ipv4 = <const uint32_t*>self.ipv4_column.data
        self.ipv6 = <const uint32_t*>self.ipv6_column.data
        self.texts = _Texts(dataset.own_rows)
        columns = dataset.schema.own
        self.names = tuple([field.member for field in columns])
        self.lists = tuple([field.member for field in columns if field.type == fields.TEXTS])
        self.unknown = dict.fromkeys(self.names)
        self.member_codes = {name: OWN + at for at, name in enumerate(self.names)}
        self.codes = {f"{fields.OWN}.{name}": code for name, code in self.member_codes.items()}
        self.codes[fields.OWN] = OWN_GROUP
        self.cache = [None] * CACHE_SIZE
        self.values_by_row = [None] * len(self.names)

    def __dealloc__(self):
        free(self.misses)


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
    state.own.texts.prefetch(answer.own)
    return 0


cdef dict _own_dict(State state, uint32_t row):
    """Return a row as a dict that the caller may change."""
    cdef _OwnTable own = state.own
    cdef Py_ssize_t size, slot = row & (CACHE_SIZE - 1)
    cdef dict members
    cdef Text texts
    cached = own.cache[slot]
    if cached is not None and (<_Cached>cached).row == row:
        members = PyDict_Copy((<_Cached>cached).template)
        _copy_lists(members, own.lists)
        return members
    texts = own.texts.row(row, &size)
    members = PyDict_Copy(own.unknown)
    _fill(state, members, own.names, texts, size)
    if own.misses[slot] == row:  # the second miss in a row of this slot: cache it
        own.cache[slot] = _Cached(row, PyDict_Copy(members))
        _copy_lists(members, own.lists)
    else:
        own.misses[slot] = row
    return members


cdef object _own_value(State state, uint32_t row, int code):
    """Return the value of a column, or all of them, by the code."""
    if code == OWN_GROUP:
        return _own_dict(state, row)
    return _member(state, state.own.texts, row, code - OWN)
