"""Searches the interval of one address and the rows of that interval.

An IPv4 interval is found by bisection between two entries of the jump table, an IPv6 interval by
bisection of the sparse index, then of the block between two of its entries.
"""

cdef Py_ssize_t _interval_ipv4(State state, uint64_t value) noexcept nogil:
    """Return the position of the interval that holds an address, or DAMAGED."""
    cdef uint32_t address = <uint32_t>value
    cdef Py_ssize_t bucket = address >> state.jump_shift
    cdef Py_ssize_t low = state.jump[bucket], high = <Py_ssize_t>state.jump[bucket + 1] + 1, at
    if high > state.ipv4_count or low >= high:
        return DAMAGED
    # The rows of one bucket mostly lie in one cache line of each column: prefetch both.
    PREFETCH(&state.ipv4_locations[low])
    PREFETCH(&state.ipv4_networks[low])
    # Invariant: ipv4_starts[low] <= address < ipv4_starts[high].
    while high - low > 1:
        at = (low + high) >> 1
        if state.ipv4_starts[at] <= address:
            low = at
        else:
            high = at
    return low


cdef Py_ssize_t _interval_ipv6(State state, Address* address) noexcept nogil:
    """Return the position of the interval that holds an address, or DAMAGED."""
    cdef uint64_t half = address.high
    cdef Py_ssize_t below = 0, upto, low, high, at, value
    # The entries of the sparse index that equal the high half are below, below + 1, ... upto - 1.
    high = state.sparse_count
    while below < high:
        at = (below + high) >> 1
        if state.sparse_index[at] < half:
            below = at + 1
        else:
            high = at
    upto, high = below, state.sparse_count
    if upto < high and state.sparse_index[upto] == half:
        while upto < high:
            at = (upto + high) >> 1
            if state.sparse_index[at] <= half:
                upto = at + 1
            else:
                high = at
    low = (below - 1) * _STRIDE if below else 0
    high = min(upto * _STRIDE, state.ipv6_count)
    if low >= high:
        return DAMAGED
    # Invariant: start of interval low <= address < start of interval high.
    while high - low > 1:
        at = (low + high) >> 1
        if state.ipv6_highs[at] < half:
            low = at
        elif state.ipv6_highs[at] > half:
            high = at
        else:
            value = _low_index(state, at)
            if value >= state.low_values_column.count:
                return DAMAGED
            if state.ipv6_low_values[value] <= address.low:
                low = at
            else:
                high = at
    return low


cdef inline Py_ssize_t _low_index(State state, Py_ssize_t at) noexcept nogil:
    """Return the index, in the dictionary of low halves, of an interval's start."""
    if state.ipv6_low_width == 1:
        return (<const uint8_t*>state.ipv6_low_indices)[at]
    if state.ipv6_low_width == 2:
        return (<const uint16_t*>state.ipv6_low_indices)[at]
    return (<const uint32_t*>state.ipv6_low_indices)[at]


cdef int _resolve(State state, Found* answer) noexcept nogil:
    """Find the rows of an address; return 0, PRIVATE or DAMAGED."""
    cdef Address* address = &answer.address
    cdef uint64_t value = address.low
    cdef Py_ssize_t interval
    if address.family == 4 or _embedded(address, &value):
        if _private_ipv4(value):
            return PRIVATE
        interval = _interval_ipv4(state, value)
        if interval < 0:
            return DAMAGED
        answer.location = state.ipv4_locations[interval]
        answer.network = state.ipv4_networks[interval]
        return 0
    if _private_ipv6(address):
        return PRIVATE
    interval = _interval_ipv6(state, address)
    if interval < 0:
        return DAMAGED
    answer.location = state.ipv6_locations[interval]
    answer.network = state.ipv6_networks[interval]
    return 0


cdef void _prefetch_rows(State state, Found* answer) noexcept nogil:
    """Prefetch the beginning of each row of an answer before any of them is read."""
    if answer.location < state.location_count:
        PREFETCH(&state.location_countries[answer.location])
        PREFETCH(&state.location_zones[answer.location])
        state.locations.prefetch(answer.location)
    state.networks.prefetch(answer.network)
