# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: freethreading_compatible=True
"""The compiled hot path: the same classes as ``kernel``, which says what they mean.

Strategy: the address is parsed in place, the interval found by pointers into
the mapped files, and JSON written once into bytes of the right size; dicts
are copied from templates where a row is hot and filled from its JSON texts
where not. Every number read from a file is compared with the length of what
it points into before it is used. Shared state is either constant, or a list
whose items are replaced whole, so that no lookup needs a lock.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Copy
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcpy, memset

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    char* PyUnicode_1BYTE_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address) ((void)(address))
    #endif
    """
    void PREFETCH(const void* address) noexcept nogil

cdef extern from "time.h" nogil:
    ctypedef long long time_t
    time_t c_time "time" (time_t* result)

import json

from geolookup.contract import envelope
from geolookup.dataset import layout as fmt
from geolookup.contract.address import parse as parse_any
from geolookup.errors import (
    REBUILD,
    ClosedError,
    DatasetError,
    InvalidAddressError,
    PrivateAddressError,
)
from geolookup.contract.localtime import instant
from geolookup.contract.localtime import period as period_of

ctypedef const unsigned char* Text

cdef enum:
    HOT = 2048  # slots of each template cache; a power of two
    LONGEST = 45  # characters of an address
    INVALID = 10001
    PRIVATE = 10002
    DAMAGED = -1
    BLOCK = 64  # addresses of a column that are searched for in step
    INVALID_ROW = -1  # as ``intervals`` says
    PRIVATE_ROW = -2


include "_address.pxi"
include "_texts.pxi"
include "_objects.pxi"


cdef class State:
    """A dataset with what has been rendered of it; an engine swaps it as a whole."""

    cdef readonly object dataset
    cdef _Column jump_column, starts_column, locations_column, networks_column
    cdef _Column highs_column, lows_column, low_values_column, fence_column, locations6_column, networks6_column
    cdef _Column countries_column, zones_column
    cdef const uint32_t* jump
    cdef const uint32_t* starts
    cdef const uint32_t* ipv4_locations
    cdef const uint32_t* ipv4_networks
    cdef const uint64_t* highs
    cdef const void* low_indices
    cdef const uint64_t* low_values
    cdef int low_width
    cdef const uint64_t* fence
    cdef const uint32_t* ipv6_locations
    cdef const uint32_t* ipv6_networks
    cdef const uint16_t* location_countries
    cdef const uint16_t* location_zones
    cdef int shift
    cdef Py_ssize_t ipv4_count, ipv6_count, fence_count, location_count
    cdef _Texts locations, networks, country_texts
    cdef list zones, countries, periods, moments, places, hot_networks
    cdef uint32_t* missed_places
    cdef uint32_t* missed_networks

    def __cinit__(self, dataset):
        self.dataset = dataset
        self.missed_places = <uint32_t*>calloc(HOT, sizeof(uint32_t))
        self.missed_networks = <uint32_t*>calloc(HOT, sizeof(uint32_t))
        if self.missed_places == NULL or self.missed_networks == NULL:
            raise MemoryError
        self._map_ipv4(dataset)
        self._map_ipv6(dataset)
        self._map_tables(dataset)

    def __dealloc__(self):
        free(self.missed_places)
        free(self.missed_networks)

    cdef int _map_ipv4(self, dataset) except -1:
        self.jump_column, self.starts_column = _Column(dataset.jump), _Column(dataset.ipv4_starts)
        self.locations_column = _Column(dataset.ipv4_locations)
        self.networks_column = _Column(dataset.ipv4_networks)
        self.shift = dataset.jump_shift
        self.jump = <const uint32_t*>self.jump_column.data
        self.starts = <const uint32_t*>self.starts_column.data
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
        self.fence_column = _Column(dataset.ipv6_fence)
        self.locations6_column = _Column(dataset.ipv6_locations)
        self.networks6_column = _Column(dataset.ipv6_networks)
        self.highs = <const uint64_t*>self.highs_column.data
        self.low_indices = self.lows_column.data
        self.low_width = dataset.ipv6_lows.indices.itemsize
        self.low_values = <const uint64_t*>self.low_values_column.data
        self.fence = <const uint64_t*>self.fence_column.data
        self.ipv6_locations = <const uint32_t*>self.locations6_column.data
        self.ipv6_networks = <const uint32_t*>self.networks6_column.data
        self.fence_count = self.fence_column.count
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
        self.periods, self.moments = [None] * len(self.zones), [None] * len(self.zones)
        self.countries = [None] * self.country_texts.count
        self.places, self.hot_networks = [None] * HOT, [None] * HOT
        return 0

    # --- for networks, in Python's numbers ---

    def interval_ipv4(self, value):
        """Return the interval that holds an IPv4 address."""
        return self._checked(self._locate_ipv4(value))

    def interval_ipv6(self, value):
        """Return the interval that holds an IPv6 address."""
        cdef Address address
        address.family, address.high = 6, value >> 64
        address.low = value & 0xFFFFFFFFFFFFFFFF
        return self._checked(self._locate_ipv6(&address))

    def rows(self, int family, Py_ssize_t interval):
        """Return the location and network rows of an interval."""
        if not 0 <= interval < (self.ipv4_count if family == 4 else self.ipv6_count):
            raise self.outside()
        if family == 4:
            return self.ipv4_locations[interval], self.ipv4_networks[interval]
        return self.ipv6_locations[interval], self.ipv6_networks[interval]

    def record(self, uint32_t location_row, uint32_t network_row):
        """Return data without ip, ip_type and time; it is the caller's own."""
        cdef _Country country = self.country(location_row)
        cdef Py_ssize_t place_size, network_size
        cdef Text place = self.locations.row(location_row, &place_size)
        cdef Text network = self.networks.row(network_row, &network_size)
        return {
            "location": self.location(location_row, country, place, place_size),
            "currency": PyDict_Copy(country.currency),
            "network": self.network(network_row, network, network_size),
        }

    cdef Py_ssize_t _checked(self, Py_ssize_t interval) except -2:
        if interval < 0:
            raise self.outside()
        return interval

    cdef object outside(self):
        return DatasetError(self.dataset.path, "an index leads outside its table", REBUILD)

    # --- intervals ---

    cdef Py_ssize_t _locate_ipv4(self, uint64_t value) noexcept nogil:
        cdef uint32_t address = <uint32_t>value
        cdef Py_ssize_t bucket = address >> self.shift
        cdef Py_ssize_t low = self.jump[bucket], high = <Py_ssize_t>self.jump[bucket + 1] + 1, at
        if high > self.ipv4_count or low >= high:
            return DAMAGED
        # Mostly one line of each column is all that is needed: fetch them at once.
        PREFETCH(&self.ipv4_locations[low])
        PREFETCH(&self.ipv4_networks[low])
        # starts[low] <= address, and starts[high] is beyond it.
        while high - low > 1:
            at = (low + high) >> 1
            if self.starts[at] <= address:
                low = at
            else:
                high = at
        return low

    cdef Py_ssize_t _locate_ipv6(self, Address* address) noexcept nogil:
        """Search the fence for the high half, then the blocks between its ends."""
        cdef uint64_t half = address.high
        cdef Py_ssize_t below = 0, upto, low, high, at, value
        high = self.fence_count
        while below < high:
            at = (below + high) >> 1
            if self.fence[at] < half:
                below = at + 1
            else:
                high = at
        upto, high = below, self.fence_count
        if upto < high and self.fence[upto] == half:
            while upto < high:
                at = (upto + high) >> 1
                if self.fence[at] <= half:
                    upto = at + 1
                else:
                    high = at
        low = (below - 1) * _stride if below else 0
        high = min(upto * _stride, self.ipv6_count)
        if low >= high:
            return DAMAGED
        # The start of interval low is not above the address, that of high is.
        while high - low > 1:
            at = (low + high) >> 1
            if self.highs[at] < half:
                low = at
            elif self.highs[at] > half:
                high = at
            else:
                value = self._low(at)
                if value >= self.low_values_column.count:
                    return DAMAGED
                if self.low_values[value] <= address.low:
                    low = at
                else:
                    high = at
        return low

    cdef inline Py_ssize_t _low(self, Py_ssize_t at) noexcept nogil:
        """Return which of the lower halves is that of an interval's start."""
        if self.low_width == 1:
            return (<const uint8_t*>self.low_indices)[at]
        if self.low_width == 2:
            return (<const uint16_t*>self.low_indices)[at]
        return (<const uint32_t*>self.low_indices)[at]

    cdef int resolve(self, Answer* answer) noexcept nogil:
        """Find the rows of an address; 0, PRIVATE or DAMAGED."""
        cdef Address* address = &answer.address
        cdef uint64_t value = address.low
        cdef Py_ssize_t interval
        if address.family == 4 or _embedded(address, &value):
            if _private_ipv4(value):
                return PRIVATE
            interval = self._locate_ipv4(value)
            if interval < 0:
                return DAMAGED
            answer.location = self.ipv4_locations[interval]
            answer.network = self.ipv4_networks[interval]
            return 0
        if _private_ipv6(address):
            return PRIVATE
        interval = self._locate_ipv6(address)
        if interval < 0:
            return DAMAGED
        answer.location = self.ipv6_locations[interval]
        answer.network = self.ipv6_networks[interval]
        return 0

    cdef void fetch(self, Answer* answer) noexcept nogil:
        """Have the memory that the rows of an answer begin with on its way, all at once."""
        if answer.location < self.location_count:
            PREFETCH(&self.location_countries[answer.location])
            PREFETCH(&self.location_zones[answer.location])
            self.locations.fetch(answer.location)
        self.networks.fetch(answer.network)

    # --- rows ---

    cdef _Country country(self, uint32_t location_row):
        cdef Py_ssize_t row, size
        cdef Text texts
        if location_row >= self.location_count:
            raise self.outside()
        row = self.location_countries[location_row]
        if row >= self.country_texts.count:
            raise self.outside()
        country = self.countries[row]
        if country is None:
            texts = self.country_texts.row(row, &size)
            country = self.countries[row] = _Country(texts[:size].split(b"\n"))
        return <_Country>country

    cdef _Period period(self, Py_ssize_t zone, int64_t second):
        """Return the period of a zone that holds a second."""
        kept = self.periods[zone]
        if kept is not None and (<_Period>kept).start <= second < (<_Period>kept).end:
            return <_Period>kept
        name = self.zones[zone]
        found = self.periods[zone] = _Period(name, None if name is None else period_of(name, second))
        return <_Period>found

    cdef dict location(self, uint32_t row, _Country country, Text texts, Py_ssize_t size):
        """Return a location object of the caller's own; ``texts`` are the row's."""
        cdef Py_ssize_t slot = row & (HOT - 1)
        cdef dict location
        kept = self.places[slot]
        if kept is not None and (<_Hot>kept).row == row:
            location = PyDict_Copy((<_Hot>kept).template)
        else:
            location = PyDict_Copy(country.location)
            self._fill(location, _PLACE, texts, size)
            if self.missed_places[slot] == row:  # twice in a row: it may come again
                self.places[slot] = _Hot(row, PyDict_Copy(location))
            else:
                self.missed_places[slot] = row
        if country.languages is not None:
            location[_LANGUAGES] = country.languages[:]
        if country.neighbors is not None:
            location[_NEIGHBORS] = country.neighbors[:]
        return location

    cdef dict network(self, uint32_t row, Text texts, Py_ssize_t size):
        """Return a network object of the caller's own; ``texts`` are the row's."""
        cdef Py_ssize_t slot = row & (HOT - 1)
        cdef dict network
        kept = self.hot_networks[slot]
        if kept is not None and (<_Hot>kept).row == row:
            return PyDict_Copy((<_Hot>kept).template)
        network = PyDict_Copy(_NO_NETWORK)
        self._fill(network, _NETWORK, texts, size)
        if self.missed_networks[slot] == row:
            self.hot_networks[slot] = _Hot(row, PyDict_Copy(network))
        else:
            self.missed_networks[slot] = row
        return network

    cdef int _fill(self, dict target, tuple names, Text texts, Py_ssize_t size) except -1:
        """Set the members of a row from its JSON texts; one without text is taken out."""
        cdef Text end = texts + size
        cdef Text stop
        cdef Py_ssize_t at, count = len(names)
        for at in range(count):
            stop = <Text>memchr(texts, c"\n", end - texts)
            if (stop == NULL) != (at == count - 1):
                raise self.outside()
            if stop == NULL:
                stop = end
            if stop == texts:
                del target[names[at]]
            else:
                target[names[at]] = _value(texts, stop - texts)
            texts = stop + 1
        return 0

    cdef object member(self, _Texts table, uint32_t row, int number):
        """Return one member of a row; None where it has no text."""
        cdef Py_ssize_t size
        cdef Text texts = table.row(row, &size)
        cdef Text end = texts + size
        cdef Text stop
        while number:
            stop = <Text>memchr(texts, c"\n", end - texts)
            if stop == NULL:
                raise self.outside()
            texts = stop + 1
            number -= 1
        stop = <Text>memchr(texts, c"\n", end - texts)
        if stop == NULL:
            stop = end
        return _value(texts, stop - texts) if stop > texts else None

    # --- envelopes ---

    cdef dict data(self, str echo, Answer* answer, int64_t second):
        cdef Py_ssize_t place_size, network_size
        cdef Text place = self.locations.row(answer.location, &place_size)
        cdef Text network = self.networks.row(answer.network, &network_size)
        PREFETCH(place)
        PREFETCH(network)
        cdef _Country country = self.country(answer.location)
        return {
            "ip": echo,
            "ip_type": _IPV4 if answer.address.family == 4 else _IPV6,
            "location": self.location(answer.location, country, place, place_size),
            "time": PyDict_Copy(self.moment(answer.location, second).template),
            "currency": PyDict_Copy(country.currency),
            "network": self.network(answer.network, network, network_size),
        }

    cdef _Moment moment(self, uint32_t location_row, int64_t second):
        """Return the time of a location's zone (its row was checked by ``country``)."""
        cdef Py_ssize_t zone = self.location_zones[location_row]
        if zone >= len(self.moments):
            raise self.outside()
        kept = self.moments[zone]
        if kept is None or (<_Moment>kept).second != second:
            kept = self.moments[zone] = _Moment(second, self.period(zone, second))
        return <_Moment>kept

    cdef bytes json(self, Text echo, Py_ssize_t echo_size, Answer* answer, int64_t second):
        """Write the envelope into bytes of exactly its size."""
        cdef Py_ssize_t place_size, network_size, size
        cdef Text place = self.locations.row(answer.location, &place_size)
        cdef Text network = self.networks.row(answer.network, &network_size)
        PREFETCH(place)
        PREFETCH(network)
        cdef _Country country = self.country(answer.location)
        cdef bytes time = self.moment(answer.location, second).json
        cdef bint bare = network_size > 0 and network[0] == c"\n"
        cdef Piece* ip_type = &_ipv4_type if answer.address.family == 4 else &_ipv6_type
        if bare:
            network, network_size = network + 1, network_size - 1
        size = (
            _head.size + echo_size + ip_type.size + PyBytes_GET_SIZE(country.head)
            + _place_names_size + place_size - 6 + _time_name.size + PyBytes_GET_SIZE(time)
            + PyBytes_GET_SIZE(country.currency_json) + _network_open.size
            + (_bare_names_size + network_size - 4 if bare else _network_names_size + network_size - 5)
            + _tail.size
        )
        cdef bytes result = PyBytes_FromStringAndSize(NULL, size)
        cdef char* out = PyBytes_AS_STRING(result)
        cdef char* end = out + size
        out = _put_piece(out, &_head)
        out = _put(out, echo, echo_size)
        out = _put_piece(out, ip_type)
        out = _put_bytes(out, country.head)
        out = _put_members(out, _place_names, 7, place, place_size)
        if out == NULL:
            raise self.outside()
        out = _put_bytes(_put_piece(out, &_time_name), time)
        out = _put_piece(_put_bytes(out, country.currency_json), &_network_open)
        out = _put_members(
            out, &_bare_names[0] if bare else &_network_names[0], 5 if bare else 6, network, network_size
        )
        if out == NULL:
            raise self.outside()
        out = _put_piece(out, &_tail)
        if out != end:
            raise self.outside()
        return result

    # --- columns ---

    def locate_texts(
        self,
        const unsigned char[::1] data,
        const int64_t[::1] offsets,
        int32_t[::1] ids,
        uint8_t[::1] families,
    ):
        """Locate the texts ``data[offsets[i] : offsets[i + 1]]``; see ``protocol.State``."""
        cdef Py_ssize_t begin = 0, count = ids.shape[0], size = data.shape[0], used
        cdef int status = 0
        if offsets.shape[0] != count + 1 or families.shape[0] != count:
            raise ValueError("the columns differ in length")
        with nogil:
            while begin < count:
                used = min(BLOCK, count - begin)
                status |= _locate_texts(
                    self, &data[0], size, &offsets[begin], used, &ids[begin], &families[begin]
                )
                begin += used
        if status:
            raise self.outside()

    def locate_numbers(
        self,
        const uint8_t[::1] families,
        const uint64_t[::1] highs,
        const uint64_t[::1] lows,
        int32_t[::1] ids,
    ):
        """Locate addresses that are integers already; see ``protocol.State``."""
        cdef Py_ssize_t begin = 0, count = ids.shape[0], used
        cdef int status = 0
        if not families.shape[0] == highs.shape[0] == lows.shape[0] == count:
            raise ValueError("the columns differ in length")
        with nogil:
            while begin < count:
                used = min(BLOCK, count - begin)
                status |= _locate_numbers(
                    self, &families[begin], &highs[begin], &lows[begin], used, &ids[begin]
                )
                begin += used
        if status:
            raise self.outside()

    def take_rows(
        self, const int32_t[::1] ids, uint32_t[::1] locations, uint32_t[::1] networks
    ):
        """Fill in the rows of one table or both for interval ids; see ``protocol.State``."""
        cdef Py_ssize_t count = ids.shape[0], bad = -1
        for length in (locations.shape[0], networks.shape[0]):
            if length not in (0, count):
                raise ValueError("the columns differ in length")
        with nogil:
            if locations.shape[0]:
                bad = _take_rows(
                    self, self.ipv4_locations, self.ipv6_locations, &ids[0], count, &locations[0]
                )
            if networks.shape[0] and bad < 0:
                bad = _take_rows(
                    self, self.ipv4_networks, self.ipv6_networks, &ids[0], count, &networks[0]
                )
        if bad >= 0:
            raise IndexError(f"row {ids[bad]} is not one of this dataset")


include "_columns.pxi"


def parse_texts(
    const unsigned char[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] lengths,
    uint8_t[::1] families,
    uint64_t[::1] highs,
    uint64_t[::1] lows,
):
    """Parse the texts ``data[start : start + length]``; see ``protocol.Implementation``."""
    cdef Py_ssize_t at, count = starts.shape[0]
    for length in (lengths.shape[0], families.shape[0], highs.shape[0], lows.shape[0]):
        if length != count:
            raise ValueError("the columns differ in length")
    with nogil:
        for at in range(count):
            _parse_number(
                &data[0], data.shape[0], starts[at], lengths[at],
                &families[at], &highs[at], &lows[at],
            )


cdef class Kernel:
    """Single lookups on one dataset."""

    # A list, because its items are replaced whole also where threads run truly at once.
    cdef list _cell
    #: Which of the two implementations this is.
    kernel = "compiled"

    def __init__(self, dataset):
        self._cell = [State(dataset)]

    def _open_state(self):
        state = self._cell[0]
        if state is None:
            raise ClosedError
        return state

    def _swap(self, state):
        """Answer from another state from now on; None closes."""
        self._cell[0] = state

    def lookup(self, ip, *, at=None):
        """Return the envelope for an address; it is the caller's own.

        ``at`` is the instant of the time object: Unix seconds, an aware
        datetime, or None for now. No address makes this raise: a malformed
        one is an envelope with code 10001, a private one with 10002. Raises
        TypeError or ValueError for a bad ``at``, DatasetError for a damaged dataset.
        """
        cdef State state = self._open()
        cdef int64_t second = c_time(NULL) if at is None else instant(at)
        cdef Answer answer
        cdef int status = _find(state, ip, &answer)
        if status:
            return envelope.failure(_ERRORS[status])
        return {
            "success": True,
            "data": state.data(_echo(ip, &answer), &answer, second),
            "error": False,
            "error_code": None,
            "error_message": None,
        }

    def data(self, ip, *, at=None):
        """Return the data member of the envelope alone.

        Raises InvalidAddressError (10001) or PrivateAddressError (10002), and
        what ``lookup`` raises.
        """
        cdef State state = self._open()
        cdef int64_t second = c_time(NULL) if at is None else instant(at)
        cdef Answer answer
        cdef int status = _find(state, ip, &answer)
        if status:
            raise _ERRORS[status]
        return state.data(_echo(ip, &answer), &answer, second)

    def lookup_json(self, ip, *, at=None):
        """Return the envelope as compact UTF-8 JSON; see ``lookup``."""
        cdef State state = self._open()
        cdef int64_t second = c_time(NULL) if at is None else instant(at)
        cdef Answer answer
        cdef char written[64]
        cdef char* end
        cdef int status = _find(state, ip, &answer)
        if status:
            return _INVALID_JSON if status == INVALID else _PRIVATE_JSON
        if answer.address.family == 6:
            end = _write_ipv6(written, &answer.address)
        else:
            end = _write_octets(written, answer.address.low)
        return state.json(<Text>written, end - written, &answer, second)

    def get(self, ip, path, *, at=None):
        """Return one field of data, or one group, without building the envelope.

        ``path`` is ``"location.country_code"``, ``"network"`` and so on. An
        unknown or absent value is None. Raises what ``data`` raises, and
        ValueError for a path that the contract does not have.
        """
        cdef State state = self._open()
        cdef Answer answer
        cdef int status, number
        code = _PATHS.get(path)
        if code is None:
            raise envelope.unknown_path(path)
        status = _find(state, ip, &answer)
        if status:
            raise _ERRORS[status]
        return _project(state, &answer, code, ip, at)

    cdef State _open(self):
        state = self._cell[0]
        if state is None:
            raise ClosedError
        return <State>state


cdef enum:
    IP, IP_TYPE, LOCATION_GROUP, CURRENCY_GROUP, NETWORK_GROUP, TIME_GROUP
    TIME = 10
    COUNTRY = 20
    CURRENCY = 40
    PLACE = 50
    NETWORK = 60


cdef int _find(State state, object ip, Answer* answer) except -1:
    """Parse and resolve; 0, INVALID or PRIVATE."""
    cdef int status
    if type(ip) is str:
        if not PyUnicode_IS_COMPACT_ASCII(ip) or not _parse(
            <Text>PyUnicode_1BYTE_DATA(ip), PyUnicode_GET_LENGTH(ip), &answer.address
        ):
            return INVALID
    elif not _read_object(ip, &answer.address):
        return INVALID
    status = state.resolve(answer)
    if status == DAMAGED:
        raise state.outside()
    state.fetch(answer)
    return status


cdef bint _read_object(object ip, Address* address) except -1:
    try:
        family, value = parse_any(ip)
    except InvalidAddressError:
        return False
    address.family = family
    address.high, address.low = value >> 64, value & 0xFFFFFFFFFFFFFFFF
    return True


cdef str _echo(object ip, Answer* answer):
    """Return data.ip: the input where it is IPv4 text, else the canonical text."""
    cdef char written[64]
    cdef char* end
    if answer.address.family == 4:
        if type(ip) is str:
            return <str>ip
        end = _write_octets(written, answer.address.low)
    else:
        end = _write_ipv6(written, &answer.address)
    return PyUnicode_DecodeUTF8(written, end - written, NULL)


cdef object _project(State state, Answer* answer, int code, object ip, object at):
    """Return what a path of ``_PATHS`` names."""
    cdef _Country country
    cdef Py_ssize_t size
    cdef Text texts
    if code >= NETWORK:
        return state.member(state.networks, answer.network, code - NETWORK)
    if code >= PLACE:
        state.country(answer.location)  # checks the row
        return state.member(state.locations, answer.location, code - PLACE)
    if code >= COUNTRY:
        country = state.country(answer.location)
        if code >= CURRENCY:
            return country.currency[fmt.CURRENCY_MEMBERS[code - CURRENCY]]
        value = country.location[fmt.COUNTRY_MEMBERS[code - COUNTRY]]
        return value.copy() if type(value) is list else value
    if code == IP:
        return _echo(ip, answer)
    if code == IP_TYPE:
        return _IPV4 if answer.address.family == 4 else _IPV6
    if code == NETWORK_GROUP:
        texts = state.networks.row(answer.network, &size)
        return state.network(answer.network, texts, size)
    country = state.country(answer.location)
    if code == LOCATION_GROUP:
        texts = state.locations.row(answer.location, &size)
        return state.location(answer.location, country, texts, size)
    if code == CURRENCY_GROUP:
        return PyDict_Copy(country.currency)
    moment = state.moment(answer.location, c_time(NULL) if at is None else instant(at))
    if code == TIME_GROUP:
        return PyDict_Copy((<_Moment>moment).template)
    return (<_Moment>moment).template[fmt.TIME_MEMBERS[code - TIME]]


cdef dict _PATHS = {
    "ip": IP,
    "ip_type": IP_TYPE,
    "location": LOCATION_GROUP,
    "time": TIME_GROUP,
    "currency": CURRENCY_GROUP,
    "network": NETWORK_GROUP,
}
for _group, _members, _code in (
    ("time", fmt.TIME_MEMBERS, TIME),
    ("location", fmt.COUNTRY_MEMBERS, COUNTRY),
    ("location", fmt.PLACE_MEMBERS, PLACE),
    ("currency", fmt.CURRENCY_MEMBERS, CURRENCY),
    ("network", fmt.NETWORK_MEMBERS, NETWORK),
):
    for _at, _name in enumerate(_members):
        _PATHS[f"{_group}.{_name}"] = _code + _at
