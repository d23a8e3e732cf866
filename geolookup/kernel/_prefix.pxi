"""The prefix around an address: the largest aligned network with one answer.

It is the shortest prefix that no address next to the interval, or next to the part of special space,
has too; see ``networks.prefix_length``. IPv4 addresses are the last 32 bits of 128.
"""

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
        # 0xFF7, of 12 bits: 65 + 52 = 117, or /21 in IPv4.
        return 1 + ZEROS_ABOVE(differing)
    differing = address.low ^ other.low
    return 65 + ZEROS_ABOVE(differing) if differing else 129


cdef int _load_parts(Address* starts, int family) except -1:
    """Copy the first addresses of ``special.partition``; return how many there are."""
    from geolookup.contract import special

    parts = special.partition(family)
    assert len(parts) <= PARTS
    for at, (first, _last, _kind) in enumerate(parts):
        starts[at].high, starts[at].low = first >> 64, first & 0xFFFFFFFFFFFFFFFF
    return len(parts)


_parts4_count, _parts6_count = _load_parts(_parts4, 4), _load_parts(_parts6, 6)
