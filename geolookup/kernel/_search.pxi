"""Searches the interval of one address and the rows of that interval.

An IPv4 interval is found by bisection between two entries of the jump table. Entry b is the number
of the interval that holds the first address of bucket b, and a bucket is all addresses with the
same highest bits. With 16 bits (``jump_shift`` is 16), 8.8.4.4 is in bucket 0x0808: its interval is
one of jump[0x0808] to jump[0x0809], usually a few among hundreds of thousands. The buckets lie one
after the other, so the two entries are in one cache line.

An IPv6 interval is found by bisection of the sparse index, then of the block between two of its
entries. The addresses in use are too unevenly spread for a jump table: most begin with 2. The
sparse index has the high half of every ``_STRIDE``-th start, and is small enough for the cache.

A prefix length belongs to the largest aligned network around an address with one answer: the
shortest prefix that no address next to the interval, or next to the part of special space, has too;
see ``networks.prefix_length``. IPv4 addresses are the last 32 bits of 128.
"""

# --- private space: the private ranges of ``special.partition``

cdef uint8_t _ipv4_class[256]  # see ``special.classes``
cdef uint8_t _ipv6_class[256]
cdef uint64_t* _ipv4_bounds = NULL  # first address of a private range, first after it, and so on
cdef Address* _ipv6_bounds = NULL
cdef int _ipv4_count = 0, _ipv6_count = 0


cdef inline bint _private_ipv4(uint64_t value) noexcept nogil:
    cdef int at = 0
    cdef uint8_t kind = _ipv4_class[value >> 24]
    # The class of a leading octet: 0 public, 1 private, 2 both.
    if kind != 2:
        return kind
    while at < _ipv4_count and _ipv4_bounds[at] <= value:
        at += 1
    # Odd: inside a range. With bounds 10.0.0.0, 11.0.0.0: 9.0.0.0 has 0 below, 10.1.0.0 has 1.
    return at & 1


cdef bint _private_ipv6(Address* address) noexcept nogil:
    cdef int low = 0, high = _ipv6_count, at
    cdef uint8_t kind = _ipv6_class[address.high >> 56]
    if kind != 2:
        return kind
    while low < high:
        at = (low + high) >> 1
        if _ipv6_bounds[at].high < address.high or (
            _ipv6_bounds[at].high == address.high and _ipv6_bounds[at].low <= address.low
        ):
            low = at + 1
        else:
            high = at
    return low & 1


cdef int _load_special() except -1:
    """Copy the private ranges of ``special.partition`` into C arrays."""
    global _ipv4_bounds, _ipv6_bounds, _ipv4_count, _ipv6_count
    from geolookup.contract import special

    cdef tuple ipv4 = special.ranges_of(4, special.PRIVATE), ipv6 = special.ranges_of(6, special.PRIVATE)
    _ipv4_bounds = <uint64_t*>calloc(2 * len(ipv4), sizeof(uint64_t))
    _ipv6_bounds = <Address*>calloc(2 * len(ipv6), sizeof(Address))
    if _ipv4_bounds == NULL or _ipv6_bounds == NULL:
        raise MemoryError

    for octet in range(256):
        _ipv4_class[octet] = special.classes(4)[octet]
        _ipv6_class[octet] = special.classes(6)[octet]
    for first, last in ipv4:
        for bound in (first, last + 1):
            _ipv4_bounds[_ipv4_count] = bound
            _ipv4_count += 1
    for first, last in ipv6:
        for bound in (first, last + 1):
            # The end of ff00::/8 is 2^128: no address reaches it.
            if bound >> 128 == 0:
                _ipv6_bounds[_ipv6_count].high = bound >> 64
                _ipv6_bounds[_ipv6_count].low = bound & 0xFFFFFFFFFFFFFFFF
                _ipv6_count += 1


_load_special()


# --- the interval of an address

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
    # The entries of the sparse index that equal the high half are below, below + 1, ... upto - 1:
    # several intervals can begin in one /64, so a high half can repeat across blocks. The interval
    # is in the block that ends at one of these, or in the block after the last of them. With
    # entries 10 20 20 30 (of intervals 0, 64, 128, 192), 20 gives below = 1 and upto = 3: the
    # intervals 0 to 191; 25 gives below = upto = 3: the intervals 128 to 191.
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


# --- the prefix around an address

cdef enum:
    PARTS = 128  # of the partition of a family, at most

cdef Address[PARTS] _parts4, _parts6  # the first addresses, see ``special.partition``
cdef int _parts4_count, _parts6_count


cdef tuple _rows_and_prefix(State state, object ip):
    """Return the rows of an address, 0 if it is private, and the prefix length."""
    cdef Match answer
    cdef int status = _find(state, ip, &answer)
    if status == INVALID:
        raise InvalidAddressError(ip)
    cdef int length = _prefix_length(state, &answer.address, status == 0)
    if length == DAMAGED:
        raise _outside(state)
    if status:
        return 0, 0, length
    return answer.location, answer.network, length


cdef object _network_at = None  # of ``dataset.networks``; imported on first use


cdef object _prefix(State state, Address* address):
    """Return the network of a public address as an object of ``ipaddress``."""
    global _network_at
    cdef int length = _prefix_length(state, address, True)
    if length == DAMAGED:
        raise _outside(state)
    bits = (32 if address.family == 4 else 128) - length
    value = <object>address.low | (<object>address.high << 64 if address.family == 6 else 0)
    if _network_at is None:
        from geolookup.dataset.networks import network_at

        _network_at = network_at
    return _network_at(address.family, value >> bits << bits, bits)


cdef int _prefix_length(State state, Address* address, bint public) noexcept nogil:
    """Return the prefix length of the network in the family of an address, or DAMAGED."""
    cdef Address at = address[0]
    cdef int length, own = 0
    if address.family == 6 and not _embedded(address, &at.low):
        length = _outside_part(_parts6, _parts6_count, &at)
        if public:
            own = _outside_ipv6(state, &at)
        return DAMAGED if own == DAMAGED else max(length, own)
    at.high = 0
    # Lengths count 128 bits: 8.0.0.0/9 is 96 + 9.
    length = max(96, _outside_part(_parts4, _parts4_count, &at))
    if public:
        own = _outside_ipv4(state, &at)
    if own == DAMAGED:
        return DAMAGED
    length = max(length, own)
    if address.family == 4:
        return length - 96
    # In 2002::/16 the IPv4 address begins at bit 16, not at bit 96: 8.8.8.0/24 gives /40.
    return length - 80 if address.high >> 48 == 0x2002 else length


cdef int _outside_part(Address* starts, int count, Address* address) noexcept nogil:
    """Return the shortest prefix without addresses of another part of special space.

    Prefixes that hold an address grow as they get shorter. So a prefix that avoids the nearest
    foreign address on each side avoids all: the last one below the part, and the first one above.
    For 8.8.8.8 in an interval from 8.8.8.0 on, 8.8.7.255 differs at bit 20: /21 avoids it.
    """
    cdef int low = 0, high = count, at
    while high - low > 1:
        at = (low + high) >> 1
        if _is_after(&starts[at], address):
            high = at
        else:
            low = at
    return max(_without_below(address, &starts[low]), _without(address, &starts[high]) if high < count else 0)


cdef int _outside_ipv4(State state, Address* address) noexcept nogil:
    """Return the shortest prefix without addresses of another interval, or DAMAGED."""
    cdef Py_ssize_t interval = _interval_ipv4(state, address.low)
    cdef Address bound
    cdef int below, above = 0
    if interval < 0:
        return DAMAGED
    bound.high, bound.low = 0, state.ipv4_starts[interval]
    if _is_after(&bound, address):
        return DAMAGED
    below = _without_below(address, &bound)
    if interval + 1 < state.ipv4_count:
        bound.low = state.ipv4_starts[interval + 1]
        if not _is_after(&bound, address):
            return DAMAGED
        above = _without(address, &bound)
    return max(below, above)


cdef int _outside_ipv6(State state, Address* address) noexcept nogil:
    """Return the shortest prefix without addresses of another interval, or DAMAGED."""
    cdef Py_ssize_t interval = _interval_ipv6(state, address)
    cdef Address bound
    cdef int below, above = 0
    if interval < 0 or not _start_ipv6(state, interval, &bound) or _is_after(&bound, address):
        return DAMAGED
    below = _without_below(address, &bound)
    if interval + 1 < state.ipv6_count:
        if not _start_ipv6(state, interval + 1, &bound) or not _is_after(&bound, address):
            return DAMAGED
        above = _without(address, &bound)
    return max(below, above)


cdef bint _start_ipv6(State state, Py_ssize_t interval, Address* start) noexcept nogil:
    """Read the first address of an interval; return False if its index is damaged."""
    cdef Py_ssize_t value = _low_index(state, interval)
    if value >= state.low_values_column.count:
        return False
    start.high, start.low = state.ipv6_highs[interval], state.ipv6_low_values[value]
    return True


cdef inline bint _is_after(Address* one, Address* other) noexcept nogil:
    return one.high > other.high or (one.high == other.high and one.low > other.low)


cdef inline int _without_below(Address* address, Address* first) noexcept nogil:
    """Return the shortest prefix of an address that the one before ``first`` does not have."""
    cdef Address below
    if first.high == 0 and first.low == 0:
        return 0
    # Less 1 in 128 bits: a low half of 0 borrows from the high half, and wraps.
    below.high, below.low = first.high - (first.low == 0), first.low - 1
    return _without(address, &below)


cdef inline int _without(Address* address, Address* other) noexcept nogil:
    """Return the shortest prefix of an address that another address does not have."""
    cdef uint64_t differing = address.high ^ other.high
    if differing:
        # The first bit that differs is the last of the prefix. 8.8.8.8 and 8.8.7.255 differ in
        # 0xFF7, of 12 bits: 129 - 12 = 117, or /21 in IPv4.
        return 65 - _bit_length(differing)
    return 129 - _bit_length(address.low ^ other.low)


cdef inline int _bit_length(uint64_t value) noexcept nogil:
    cdef int length = 0, step = 32
    while step:
        if value >> step:
            value >>= step
            length += step
        step >>= 1
    return length + (value != 0)


cdef int _load_parts(Address* starts, int family) except -1:
    """Copy the first addresses of ``special.partition``; return how many there are."""
    from geolookup.contract import special

    parts = special.partition(family)
    assert len(parts) <= PARTS
    for at, (first, _last, _kind) in enumerate(parts):
        starts[at].high, starts[at].low = first >> 64, first & 0xFFFFFFFFFFFFFFFF
    return len(parts)


_parts4_count, _parts6_count = _load_parts(_parts4, 4), _load_parts(_parts6, 6)
