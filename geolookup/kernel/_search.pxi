"""Searches the interval of an address, and the rows of that interval.

An IPv4 interval is found by the jump table. Entry b is the number of the interval that holds the
first address of bucket b, and a bucket is all addresses with the same highest bits. With 16 bits
(``jump_shift`` is 16), 8.8.4.4 is in bucket 0x0808: its interval is one of jump[0x0808] to
jump[0x0809], usually a few among hundreds of thousands. The search narrows a larger bucket to WINDOW
intervals, and compares all of these at once (``_windows.h``).

An IPv6 interval is found by bisection of the sparse index, then of the block between two of its
entries. The addresses in use are too unevenly spread for a jump table: most begin with 2. The
sparse index has the high half of every ``_STRIDE``-th start, and is small enough for the cache.

References: branch-free bisection in Khuong and Morin, Array Layouts for Comparison-Based Searching,
2017.
"""

cdef extern from "_windows.h":
    enum:
        WINDOW
    ctypedef void (*WindowSearch)(
        const uint32_t* table, uint32_t size, const uint32_t* values, int count, uint32_t* lows
    ) noexcept nogil
    WindowSearch choose_window_search() noexcept

cdef WindowSearch _search_windows = choose_window_search()

# --- special-purpose space

cdef enum:
    PARTS = 128  # of the partition of a family, at most

cdef struct Space:
    # ``special.partition`` of a family: the first address of each part, and whether it is private.
    int count
    Address starts[PARTS]
    bint private[PARTS]
    uint8_t classes[256]  # by the first octet, see ``special.classes``: 0 public, 1 private, 2 both

cdef Space _space4, _space6


cdef inline bint _private_ipv4(uint64_t value) noexcept nogil:
    cdef uint8_t kind = _space4.classes[value >> 24]
    cdef Address address
    if kind != 2:
        return kind
    address.high, address.low = 0, value
    return _space4.private[_part(&_space4, &address)]


cdef inline bint _private_ipv6(Address* address) noexcept nogil:
    cdef uint8_t kind = _space6.classes[address.high >> 56]
    return kind if kind != 2 else _space6.private[_part(&_space6, address)]


cdef inline bint _is_private(Address* address) noexcept nogil:
    cdef uint64_t value = address.low
    if address.family == 4 or _embedded(address, &value):
        return _private_ipv4(value)
    return _private_ipv6(address)


cdef int _part(Space* space, Address* address) noexcept nogil:
    """Return the part that holds an address."""
    cdef int low = 0, high = space.count, at
    while high - low > 1:
        at = (low + high) >> 1
        if _is_after(&space.starts[at], address):
            high = at
        else:
            low = at
    return low


cdef inline bint _is_after(Address* one, Address* other) noexcept nogil:
    return one.high > other.high or (one.high == other.high and one.low > other.low)


cdef int _load_space(Space* space, int family) except -1:
    from geolookup.contract import special

    parts = special.partition(family)
    assert len(parts) <= PARTS
    space.count = len(parts)
    for at, (first, _last, kind) in enumerate(parts):
        space.starts[at].high, space.starts[at].low = first >> 64, first & 0xFFFFFFFFFFFFFFFF
        space.private[at] = kind == special.PRIVATE
    for at, kind in enumerate(special.classes(family)):
        space.classes[at] = kind
    return 0


_load_space(&_space4, 4)
_load_space(&_space6, 6)


# --- the interval of an address


cdef inline Py_ssize_t _window_ipv4(State state, uint32_t value) noexcept nogil:
    """Return where a window begins that holds the interval of an address, or DAMAGED."""
    cdef uint32_t bucket = value >> state.jump_shift
    cdef Py_ssize_t start = state.jump[bucket], end = <Py_ssize_t>state.jump[bucket + 1] + 1, half
    if start >= end or end > state.ipv4_count:
        return DAMAGED
    while end - start > state.window:
        half = (start + end) >> 1
        if state.ipv4_starts[half] <= value:
            STAY_BRANCH()
            start = half
        else:
            end = half
    # A window can begin before its bucket: of 40 intervals the last begins at 8.
    return min(start, state.ipv4_count - state.window)


cdef inline void _prefetch_window(State state, Py_ssize_t start) noexcept nogil:
    # It spans two or three cache lines.
    PREFETCH(&state.ipv4_starts[start])
    PREFETCH(&state.ipv4_starts[start + (state.window >> 1)])
    PREFETCH(&state.ipv4_starts[start + state.window - 1])


cdef Py_ssize_t _interval_ipv4(State state, uint64_t address) noexcept nogil:
    """Return the position of the interval that holds an address, or DAMAGED."""
    cdef uint32_t low, value = <uint32_t>address
    cdef Py_ssize_t start = _window_ipv4(state, value)
    if start < 0:
        return DAMAGED
    # The rows of one window mostly lie in few cache lines of each column.
    PREFETCH(&state.ipv4_locations[start])
    PREFETCH(&state.ipv4_networks[start])
    low = <uint32_t>start
    _search_windows(state.ipv4_starts, <uint32_t>state.window, &value, 1, &low)
    return low


cdef Py_ssize_t _interval_ipv6(State state, Address* address) noexcept nogil:
    """Return the position of the interval that holds an address, or DAMAGED."""
    cdef Py_ssize_t first = _last_up_to(state.sparse_index, 0, state.sparse_count, address.high)
    cdef Py_ssize_t at
    if first < 0 or first * _STRIDE >= state.ipv6_count:
        return DAMAGED
    first *= _STRIDE
    at = _last_up_to(state.ipv6_highs, first, min(first + _STRIDE, state.ipv6_count), address.high)
    return _last_in_half(state, at, address) if at >= 0 else DAMAGED


cdef Py_ssize_t _last_up_to(
    const uint64_t* table, Py_ssize_t low, Py_ssize_t high, uint64_t key
) noexcept nogil:
    """Return the last of the sorted numbers from ``low`` to before ``high`` that is <= a key, or -1.

    For one key this is faster than ``_advance``: the processor reads ahead of branches.
    """
    cdef Py_ssize_t at
    if low >= high or table[low] > key:
        return -1
    while high - low > 1:
        at = (low + high) >> 1
        if table[at] <= key:
            STAY_BRANCH()
            low = at
        else:
            high = at
    return low


cdef int _locate_ipv6s(
    State state, const uint64_t* highs, const uint64_t* lows, int count, int32_t** ids
) noexcept nogil:
    """Search the sparse index by high halves, then the intervals of that entry; 0 or DAMAGED."""
    cdef uint32_t positions[BLOCK]
    cdef Py_ssize_t window = min(<Py_ssize_t>_STRIDE, state.ipv6_count), start
    cdef int at, bad = 0
    cdef Address address
    if state.sparse_count == 0 or window == 0:
        return DAMAGED
    for at in range(count):
        positions[at] = 0
        bad |= state.sparse_index[0] > highs[at]
    if bad:
        return DAMAGED
    _advance(state.sparse_index, state.sparse_count, highs, count, positions)
    for at in range(count):
        # All windows have one size: of 150 intervals the last begins at 86, not at 128.
        start = min(<Py_ssize_t>positions[at] * _STRIDE, state.ipv6_count - window)
        positions[at] = <uint32_t>start
        PREFETCH(&state.ipv6_highs[start + (window >> 1)])
    _advance(state.ipv6_highs, window, highs, count, positions)
    for at in range(count):
        PREFETCH(<const uint8_t*>state.ipv6_low_indices + positions[at] * state.ipv6_low_width)
    for at in range(count):
        address.high, address.low = highs[at], lows[at]
        start = _last_in_half(state, positions[at], &address)
        if start < 0:
            return DAMAGED
        ids[at][0] = <int32_t>(start + state.ipv4_count)
    return 0


cdef void _advance(
    const uint64_t* table, Py_ssize_t size, const uint64_t* keys, int count, uint32_t* positions
) noexcept nogil:
    """Advance each of ``positions`` to the last of the next ``size`` sorted numbers that is <= its key.

    Without one it does not change. Branch-free bisection: ``size`` is the same for all
    keys, and a mask selects the half that holds the key.
    """
    cdef uint32_t half, after, row
    cdef int at
    while size > 1:  # 10, 5, 3, 2; the halves are 5, 2, 1, 1
        half = <uint32_t>(size >> 1)
        size -= half
        after = <uint32_t>(size >> 1)
        for at in range(count):
            row = positions[at]
            row += half & (0 - <uint32_t>(table[row + half] <= keys[at]))
            positions[at] = row
            PREFETCH(&table[row + after])


cdef inline Py_ssize_t _last_in_half(State state, Py_ssize_t last, Address* address) noexcept nogil:
    """Return the last interval up to ``last`` that begins at an address or before it, or DAMAGED.

    ``last`` is the last that does by its high half: of several intervals in a /64 it can be wrong.
    """
    cdef Address start
    cdef Py_ssize_t first = 0, at = last
    if state.ipv6_highs[last] != address.high:
        return last
    while first < last:  # the interval after ``last`` begins after the address
        if not _start_ipv6(state, at, &start):
            return DAMAGED
        if _is_after(&start, address):
            last = at - 1
        else:
            first = at
        at = (first + last + 1) >> 1
    return first


cdef bint _start_ipv6(State state, Py_ssize_t interval, Address* start) noexcept nogil:
    """Read the first address of an interval; return False if its index is damaged."""
    cdef Py_ssize_t value
    if state.ipv6_low_width == 1:
        value = (<const uint8_t*>state.ipv6_low_indices)[interval]
    elif state.ipv6_low_width == 2:
        value = (<const uint16_t*>state.ipv6_low_indices)[interval]
    else:
        value = (<const uint32_t*>state.ipv6_low_indices)[interval]
    if value >= state.low_value_count:
        return False
    start.high, start.low = state.ipv6_highs[interval], state.ipv6_low_values[value]
    return True


cdef int _resolve(State state, Match* answer) noexcept nogil:
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


cdef void _prefetch_rows(State state, Match* answer) noexcept nogil:
    """Prefetch the beginning of each row of an answer before any of them is read."""
    if answer.location < state.location_count:
        PREFETCH(&state.location_countries[answer.location])
        PREFETCH(&state.location_zones[answer.location])
        state.locations.prefetch(answer.location)
    state.networks.prefetch(answer.network)
