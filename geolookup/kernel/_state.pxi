"""An open dataset: pointers into its mapped files, its tables, and caches of parts of answers."""

cdef class _OwnTable


@cython.final
cdef class State:
    """See ``python_state.State``."""

    cdef readonly object dataset
    cdef list columns  # hold what the pointers point to
    cdef const uint32_t* jump
    cdef const uint32_t* ipv4_starts
    cdef const uint32_t* ipv4_locations
    cdef const uint32_t* ipv4_networks
    cdef const uint64_t* ipv6_highs
    cdef const void* ipv6_low_indices  # of the low halves, in ipv6_low_values
    cdef const uint64_t* ipv6_low_values
    cdef int ipv6_low_width  # bytes of an index
    cdef const uint64_t* sparse_index  # every 64th of ipv6_highs
    cdef const uint32_t* ipv6_locations
    cdef const uint32_t* ipv6_networks
    cdef const uint16_t* location_countries
    cdef const uint16_t* location_zones
    cdef int jump_shift
    cdef Py_ssize_t window  # intervals that are compared at once
    cdef Py_ssize_t ipv4_count, ipv6_count, sparse_count, low_value_count, location_count
    cdef _Table locations, networks, country_texts
    cdef list zones, clocks, times, times_json, local_times  # by zone
    cdef list countries, countries_json
    cdef list values_by_row  # by path: the values that ``_values`` keeps
    cdef _OwnTable own  # None without own columns

    def __cinit__(self, dataset):
        self.dataset, self.columns = dataset, []
        self.ipv4_count = self.ipv6_count = self.location_count = PY_SSIZE_T_MAX
        self.sparse_count = self.low_value_count = PY_SSIZE_T_MAX
        self._map_ipv4(dataset)
        self._map_ipv6(dataset)
        self._map_tables(dataset)
        self._map_own(dataset)
        self.window = min(<Py_ssize_t>WINDOW, self.ipv4_count)

    cdef const void* _map(self, source, Py_ssize_t* count) except? NULL:
        """Hold an array, and limit a count to its items."""
        cdef _Column column = _Column(source)
        self.columns.append(column)
        count[0] = min(count[0], column.count)
        return column.data

    cdef int _map_ipv4(self, dataset) except -1:
        cdef Py_ssize_t* count = &self.ipv4_count
        cdef Py_ssize_t buckets = PY_SSIZE_T_MAX
        self.jump_shift = dataset.jump_shift
        self.jump = <const uint32_t*>self._map(dataset.jump, &buckets)
        self.ipv4_starts = <const uint32_t*>self._map(dataset.ipv4_starts, count)
        self.ipv4_locations = <const uint32_t*>self._map(dataset.ipv4_locations, count)
        self.ipv4_networks = <const uint32_t*>self._map(dataset.ipv4_networks, count)
        return 0

    cdef int _map_ipv6(self, dataset) except -1:
        cdef Py_ssize_t* count = &self.ipv6_count
        lows = dataset.ipv6_lows
        self.ipv6_highs = <const uint64_t*>self._map(dataset.ipv6_highs, count)
        self.ipv6_low_indices, self.ipv6_low_width = self._map(lows.indices, count), lows.indices.itemsize
        self.ipv6_low_values = <const uint64_t*>self._map(lows.values, &self.low_value_count)
        self.sparse_index = <const uint64_t*>self._map(dataset.ipv6_sparse, &self.sparse_count)
        self.ipv6_locations = <const uint32_t*>self._map(dataset.ipv6_locations, count)
        self.ipv6_networks = <const uint32_t*>self._map(dataset.ipv6_networks, count)
        return 0

    cdef int _map_tables(self, dataset) except -1:
        cdef Py_ssize_t* count = &self.location_count
        self.location_countries = <const uint16_t*>self._map(dataset.location_countries, count)
        self.location_zones = <const uint16_t*>self._map(dataset.location_zones, count)
        of_location = (*fields.in_table(fields.COUNTRY), *fields.in_table(fields.LOCATION))
        self.locations = _Table(dataset.locations, _lists_of(of_location))
        self.networks = _Table(dataset.networks, _lists_of(fields.in_table(fields.NETWORK)))
        self.country_texts = _Table(dataset.countries, ())
        self.zones = dataset.zones()
        self.clocks = [None] * len(self.zones)
        self.times, self.times_json, self.local_times = [[None] * len(self.zones) for _ in range(3)]
        self.countries, self.countries_json = [[None] * self.country_texts.count for _ in range(2)]
        return 0

    cdef int _map_own(self, dataset) except -1:
        self.values_by_row = [None] * (OWN + len(dataset.schema.own))
        if dataset.own_rows is not None:
            self.own = _OwnTable(dataset)
            self.own.ipv4 = <const uint32_t*>self._map(dataset.ipv4_own, &self.ipv4_count)
            self.own.ipv6 = <const uint32_t*>self._map(dataset.ipv6_own, &self.ipv6_count)
        return 0

    def rows_and_prefix(self, ip):
        """See ``python_state.State``."""
        return _rows_and_prefix(self, ip)

    def record(self, uint32_t location_row, uint32_t network_row):
        """See ``python_state.State``."""
        cdef Match answer
        answer.location, answer.network = location_row, network_row
        return {
            "location": _location(self, &answer),
            "currency": _project(self, &answer, CURRENCY_GROUP, None, 0),
            "network": _project(self, &answer, NETWORK_GROUP, None, 0),
        }

    def locate_texts(self, data, offsets, ids, families, bint with_private=False):
        """See ``python_state.State``."""
        cdef _Column texts = _array(data, c"B"), bounds = _array(offsets, c"q")
        cdef _Column out = _output(ids, c"i"), family = _output(families, c"B")
        cdef int status = 0
        if bounds.count != out.count + 1 or family.count != out.count:
            raise ValueError("the columns differ in length")
        with nogil:
            status = _locate_texts(
                self, <Text>texts.data, texts.count, <const int64_t*>bounds.data, out.count,
                <int32_t*>out.data, <uint8_t*>family.data, with_private,
            )
        if status:
            raise _outside(self)

    def locate_numbers(self, families, highs, lows, ids, bint with_private=False):
        """See ``python_state.State``."""
        cdef _Column family = _array(families, c"B"), high = _array(highs, c"Q")
        cdef _Column low = _array(lows, c"Q"), out = _output(ids, c"i")
        cdef int status = 0
        if not family.count == high.count == low.count == out.count:
            raise ValueError("the columns differ in length")
        with nogil:
            status = _locate_numbers(
                self, <const uint8_t*>family.data, <const uint64_t*>high.data,
                <const uint64_t*>low.data, out.count, <int32_t*>out.data, with_private,
            )
        if status:
            raise _outside(self)

    def take_rows(self, ids, locations, networks):
        """See ``python_state.State``."""
        cdef _Column intervals = _array(ids, c"i")
        cdef _Column place = _output(locations, c"I"), network = _output(networks, c"I")
        cdef const int32_t* numbers = <const int32_t*>intervals.data
        cdef Py_ssize_t count = intervals.count, bad = -1
        if (place.count and place.count != count) or (network.count and network.count != count):
            raise ValueError("the columns differ in length")
        with nogil:
            if place.count:
                bad = _take_rows(
                    self, self.ipv4_locations, self.ipv6_locations, numbers, count,
                    <uint32_t*>place.data,
                )
            if network.count and bad < 0:
                bad = _take_rows(
                    self, self.ipv4_networks, self.ipv6_networks, numbers, count,
                    <uint32_t*>network.data,
                )
        if bad >= 0:
            raise _no_interval(numbers[bad])

    def take_own_rows(self, ids, rows):
        """See ``python_state.State``."""
        cdef _Column intervals = _array(ids, c"i"), out = _output(rows, c"I")
        cdef const int32_t* numbers = <const int32_t*>intervals.data
        cdef Py_ssize_t bad
        cdef _OwnTable own = _own_table(self, "take_own_rows")
        if out.count != intervals.count:
            raise ValueError("the columns differ in length")
        with nogil:
            bad = _take_rows(self, own.ipv4, own.ipv6, numbers, out.count, <uint32_t*>out.data)
        if bad >= 0:
            raise _no_interval(numbers[bad])

    def envelopes(self, list ips, seconds):
        """See ``python_state.State``."""
        return _many_envelopes(self, ips, seconds, False)

    def envelopes_json(self, list ips, seconds):
        """See ``python_state.State``."""
        return _many_envelopes(self, ips, seconds, True)

    def values(self, list ips, names, seconds, default=None):
        """See ``python_state.State``."""
        return _many_values(self, ips, names, seconds, default)

    def lines(self):
        """See ``python_state.State``."""
        return _Lines(self)


cdef tuple _lists_of(table):
    """Return the members of fields that are lists: each answer needs a copy of them."""
    return tuple([field.member for field in table if field.type == fields.TEXTS])


cdef Py_ssize_t _checked(State state, Py_ssize_t interval) except -2:
    if interval < 0:
        raise _outside(state)
    return interval


cdef object _no_interval(int32_t id):
    return IndexError(f"interval id {id} does not exist in this dataset")


cdef object _outside(State state):
    return DatasetError(state.dataset.path, "an index points outside its table", REBUILD)
