"""An open dataset: pointers into its mapped files, texts of rows, and caches of rendered rows.

The caches of templates are direct-mapped: the slot of a row is its number modulo ``CACHE_SIZE``.
A row enters its slot only if the slot's last miss was the same row. With 512 slots, rows 5 and 517
share slot 5. If 5 is cached, the misses 517, 1029, 517 leave it in the slot, and 517, 517 replace it.
So a pass over distinct addresses does not evict frequent rows.
"""

cdef extern from "_crc32c.h":
    void crc_fill_tables(uint32_t polynomial) noexcept nogil
    bint crc_has_instruction() noexcept nogil
    uint32_t crc_by_table(Text text, size_t size) noexcept nogil
    uint32_t crc_by_instruction(Text text, size_t size) noexcept nogil

ctypedef uint32_t (*Checksum)(Text text, size_t size) noexcept nogil

# The instruction of SSE 4.2 (x86-64) or of the CRC extension (Armv8), if the processor has it.
cdef Checksum _crc32c = crc_by_instruction if crc_has_instruction() else crc_by_table
crc_fill_tables(fmt.POLYNOMIAL)


def checksums(data, offsets, sums):
    """See ``protocol.Implementation``."""
    _checksums(_crc32c, _array(data, c"B"), _array(offsets, c"i"), _output(sums, c"I"))


def _checksums_by_table(data, offsets, sums):
    """Compute the same on a processor without the instruction; tests compare both."""
    _checksums(crc_by_table, _array(data, c"B"), _array(offsets, c"i"), _output(sums, c"I"))


cdef int _checksums(Checksum checksum, _Column data, _Column offsets, _Column sums) except -1:
    cdef Py_ssize_t at, count = sums.count
    cdef Text text = <Text>data.data
    cdef const int32_t* bounds = <const int32_t*>offsets.data
    cdef uint32_t* out = <uint32_t*>sums.data
    cdef bint is_outside
    if offsets.count != count + 1:
        raise ValueError("the columns differ in length")
    # Ascending bounds between 0 and the end: then no text lies outside, however many there are.
    is_outside = bounds[0] < 0 or bounds[count] > data.count
    for at in range(count):
        is_outside |= bounds[at] > bounds[at + 1]
    if is_outside:
        raise ValueError("a text is outside the data")
    with nogil:
        for at in range(count):
            out[at] = checksum(text + bounds[at], bounds[at + 1] - bounds[at])
    return 0


cdef enum:
    COMPLETE = 1
    WITHOUT_FIRST = 2  # the first text of the row is empty: the answer leaves it out


@cython.final
cdef class _Texts:
    """The JSON texts of the rows of a table, each checked at its first read.

    ``source`` checks the texts that the scan does not accept.
    """

    cdef _Column offsets, data, checksums
    cdef uint8_t* checked  # by row: 0 if not yet read, else COMPLETE or WITHOUT_FIRST
    cdef Member* members
    cdef Py_ssize_t count, member_count
    cdef object source

    def __cinit__(self, texts):
        self.source = texts
        self.offsets = _Column(texts.offsets)
        self.data = _Column(texts.data)
        self.checksums = _Column(texts.sums)
        # The shortest column bounds the rows: damaged lengths become missing rows, and no read
        # outside a buffer.
        self.count = min(self.checksums.count, self.offsets.count - 1)
        self.checked = <uint8_t*>calloc(max(self.count, 1), 1)
        self.member_count = len(texts.kinds)
        self.members = <Member*>calloc(max(self.member_count, 1), sizeof(Member))
        if self.checked == NULL or self.members == NULL:
            raise MemoryError
        for at, kind in enumerate(texts.kinds):
            self.members[at] = _member_of(kind)

    def __dealloc__(self):
        free(self.checked)
        free(self.members)

    cdef void prefetch(self, Py_ssize_t row) noexcept nogil:
        """Prefetch the offsets and the flag of a row."""
        if row < self.count:
            PREFETCH(&(<const uint32_t*>self.offsets.data)[row])
            PREFETCH(&self.checked[row])

    cdef Text row(self, Py_ssize_t row, Py_ssize_t* size) except NULL:
        """Return the text of a row, checked."""
        cdef Text text = self.unchecked(row, size)
        if not self.checked[row]:
            self.check(row, text, size[0])
        return text

    cdef inline Text unchecked(self, Py_ssize_t row, Py_ssize_t* size) except NULL:
        """Return the text of a row, and where it lies only: ``check`` must follow."""
        cdef const uint32_t* offsets = <const uint32_t*>self.offsets.data
        if row >= self.count:
            raise DatasetError(self.source.path, f"row {row} does not exist", REBUILD)
        if offsets[row + 1] < offsets[row] or <Py_ssize_t>offsets[row + 1] > self.data.count:
            raise DatasetError(self.source.path, f"row {row} lies outside the file", REBUILD)
        size[0] = offsets[row + 1] - offsets[row]
        return <Text>self.data.data + offsets[row]

    cdef int check(self, Py_ssize_t row, Text text, Py_ssize_t size) except -1:
        """Raise DatasetError for a row that was changed, or that is not of this table."""
        cdef const uint32_t* checksums = <const uint32_t*>self.checksums.data
        if _crc32c(text, size) != checksums[row] or not _is_right(
            self.members, self.member_count, text, text + size, <Text>self.data.data + self.data.count
        ):
            self.source.check(row, text[:size])
        self.checked[row] = WITHOUT_FIRST if size and text[0] == c"\n" else COMPLETE
        return 0

    cdef inline void prefetch_checksum(self, Py_ssize_t row) noexcept nogil:
        PREFETCH(&(<const uint32_t*>self.checksums.data)[row])


cdef class _OwnTable


@cython.final
cdef class State:
    """See ``protocol.State``."""

    cdef readonly object dataset
    cdef _Column jump_column, starts_column, locations_column, networks_column
    cdef _Column highs_column, lows_column, low_values_column, sparse_column, locations6_column, networks6_column
    cdef _Column countries_column, zones_column
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
    cdef Py_ssize_t ipv4_count, ipv6_count, sparse_count, location_count
    cdef _Texts locations, networks, country_texts
    cdef list zones, countries, countries_json, periods, moments, moments_json, location_cache, network_cache
    cdef list values_by_row  # by path: the values that ``_values`` keeps
    cdef uint32_t* location_misses  # by slot: the row of the last miss
    cdef uint32_t* network_misses
    cdef _OwnTable own  # None without own columns

    def __cinit__(self, dataset):
        self.dataset = dataset
        self.location_misses = <uint32_t*>calloc(CACHE_SIZE, sizeof(uint32_t))
        self.network_misses = <uint32_t*>calloc(CACHE_SIZE, sizeof(uint32_t))
        if self.location_misses == NULL or self.network_misses == NULL:
            raise MemoryError
        self._map_ipv4(dataset)
        self._map_ipv6(dataset)
        self._map_tables(dataset)
        self._map_own(dataset)

    def __dealloc__(self):
        free(self.location_misses)
        free(self.network_misses)

    cdef int _map_ipv4(self, dataset) except -1:
        self.jump_column, self.starts_column = _Column(dataset.jump), _Column(dataset.ipv4_starts)
        self.locations_column = _Column(dataset.ipv4_locations)
        self.networks_column = _Column(dataset.ipv4_networks)
        self.jump_shift = dataset.jump_shift
        self.jump = <const uint32_t*>self.jump_column.data
        self.ipv4_starts = <const uint32_t*>self.starts_column.data
        self.ipv4_locations = <const uint32_t*>self.locations_column.data
        self.ipv4_networks = <const uint32_t*>self.networks_column.data
        self.ipv4_count = min(
            self.starts_column.count, self.locations_column.count, self.networks_column.count
        )
        return 0

    cdef int _map_ipv6(self, dataset) except -1:
        self.highs_column = _Column(dataset.ipv6_highs)
        self.lows_column = _Column(dataset.ipv6_lows.indices)
        self.low_values_column = _Column(dataset.ipv6_lows.values)
        self.sparse_column = _Column(dataset.ipv6_sparse)
        self.locations6_column = _Column(dataset.ipv6_locations)
        self.networks6_column = _Column(dataset.ipv6_networks)
        self.ipv6_highs = <const uint64_t*>self.highs_column.data
        self.ipv6_low_indices = self.lows_column.data
        self.ipv6_low_width = dataset.ipv6_lows.indices.itemsize
        self.ipv6_low_values = <const uint64_t*>self.low_values_column.data
        self.sparse_index = <const uint64_t*>self.sparse_column.data
        self.ipv6_locations = <const uint32_t*>self.locations6_column.data
        self.ipv6_networks = <const uint32_t*>self.networks6_column.data
        self.sparse_count = self.sparse_column.count
        self.ipv6_count = min(
            self.highs_column.count,
            self.lows_column.count,
            self.locations6_column.count,
            self.networks6_column.count,
        )
        return 0

    cdef int _map_tables(self, dataset) except -1:
        self.countries_column = _Column(dataset.location_countries)
        self.zones_column = _Column(dataset.location_zones)
        self.location_countries = <const uint16_t*>self.countries_column.data
        self.location_zones = <const uint16_t*>self.zones_column.data
        self.location_count = min(self.countries_column.count, self.zones_column.count)
        self.locations = _Texts(dataset.locations)
        self.networks = _Texts(dataset.networks)
        self.country_texts = _Texts(dataset.countries)
        self.zones = dataset.zones()
        self.periods, self.moments, self.moments_json = [[None] * len(self.zones) for _ in range(3)]
        self.countries = [None] * self.country_texts.count
        self.countries_json = [None] * self.country_texts.count
        self.location_cache, self.network_cache = [None] * CACHE_SIZE, [None] * CACHE_SIZE
        self.values_by_row = [None] * CODES
        return 0

    cdef int _map_own(self, dataset) except -1:
        if dataset.own_rows is not None:
            self.own = _OwnTable(dataset)
            self.ipv4_count = min(self.ipv4_count, self.own.ipv4_column.count)
            self.ipv6_count = min(self.ipv6_count, self.own.ipv6_column.count)
        return 0

    def interval_ipv4(self, value):
        """See ``protocol.State``."""
        return _checked(self, _interval_ipv4(self, value))

    def interval_ipv6(self, value):
        """See ``protocol.State``."""
        cdef Address address
        address.family, address.high = 6, value >> 64
        address.low = value & 0xFFFFFFFFFFFFFFFF
        return _checked(self, _interval_ipv6(self, &address))

    def rows(self, int family, Py_ssize_t interval):
        """See ``protocol.State``."""
        if not 0 <= interval < (self.ipv4_count if family == 4 else self.ipv6_count):
            raise _outside(self)
        if family == 4:
            return self.ipv4_locations[interval], self.ipv4_networks[interval]
        return self.ipv6_locations[interval], self.ipv6_networks[interval]

    def rows_and_prefix(self, ip):
        """See ``protocol.State``."""
        return _rows_and_prefix(self, ip)

    def record(self, uint32_t location_row, uint32_t network_row):
        """See ``protocol.State``."""
        cdef _Country country = _country(self, location_row)
        cdef Py_ssize_t place_size, network_size
        cdef Text place = self.locations.row(location_row, &place_size)
        cdef Text network = self.networks.row(network_row, &network_size)
        return {
            "location": _location(self, location_row, country, place, place_size),
            "currency": PyDict_Copy(country.currency),
            "network": _network(self, network_row, network, network_size),
        }

    def locate_texts(self, data, offsets, ids, families, bint with_private=False):
        """See ``protocol.State``."""
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
        """See ``protocol.State``."""
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
        """See ``protocol.State``."""
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
        """See ``protocol.State``."""
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
        """See ``protocol.State``."""
        return _many_dicts(self, ips, seconds)

    def envelopes_json(self, list ips, seconds):
        """See ``protocol.State``."""
        return _many_json(self, ips, seconds)

    def values(self, list ips, names, seconds, default=None):
        """See ``protocol.State``."""
        return _many_values(self, ips, names, seconds, default)

    def lines(self):
        """See ``protocol.State``."""
        return _Lines(self)


cdef Py_ssize_t _checked(State state, Py_ssize_t interval) except -2:
    if interval < 0:
        raise _outside(state)
    return interval


cdef object _no_interval(int32_t id):
    return IndexError(f"interval id {id} does not exist in this dataset")


cdef object _outside(State state):
    return DatasetError(state.dataset.path, "an index points outside its table", REBUILD)
