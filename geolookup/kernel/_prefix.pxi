"""The prefix around an address: the largest aligned network with one answer.

It is the shortest prefix that no address next to the interval, or next to the part of special space,
has too; see ``networks.prefix_length``. IPv4 addresses are the last 32 bits of 128.
"""

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
    cdef bint is_ipv4 = address.family == 4 or _embedded(address, &at.low)
    cdef Space* space = &_space4 if is_ipv4 else &_space6
    cdef int part, length, own = 0
    if is_ipv4:
        at.high = 0
    part = _part(space, &at)
    length = _between(
        &at, &space.starts[part], &space.starts[part + 1] if part + 1 < space.count else NULL
    )
    if public:
        own = _in_interval(state, &at, is_ipv4)
        if own == DAMAGED:
            return DAMAGED
    length = max(length, own)
    if not is_ipv4:
        return length
    # Lengths count 128 bits: 8.0.0.0/9 is 96 + 9.
    length = max(length, 96)
    if address.family == 4:
        return length - 96
    # In 2002::/16 the IPv4 address begins at bit 16, not at bit 96: 8.8.8.0/24 gives /40.
    return length - 80 if address.high >> 48 == 0x2002 else length


cdef int _in_interval(State state, Address* address, bint is_ipv4) noexcept nogil:
    """Return the shortest prefix without addresses of another interval, or DAMAGED."""
    cdef Py_ssize_t count = state.ipv4_count if is_ipv4 else state.ipv6_count
    cdef Py_ssize_t interval = (
        _interval_ipv4(state, address.low) if is_ipv4 else _interval_ipv6(state, address)
    )
    cdef Address first, after
    if interval < 0 or not _start(state, interval, is_ipv4, &first) or _is_after(&first, address):
        return DAMAGED
    if interval + 1 == count:
        return _between(address, &first, NULL)
    if not _start(state, interval + 1, is_ipv4, &after) or not _is_after(&after, address):
        return DAMAGED
    return _between(address, &first, &after)


cdef bint _start(State state, Py_ssize_t interval, bint is_ipv4, Address* start) noexcept nogil:
    """Read the first address of an interval; return False if its index is damaged."""
    if not is_ipv4:
        return _start_ipv6(state, interval, start)
    start.high, start.low = 0, state.ipv4_starts[interval]
    return True


cdef int _between(Address* address, Address* first, Address* after) noexcept nogil:
    """Return the shortest prefix without addresses below ``first``, and from ``after`` on if there.

    Prefixes that hold an address grow as they get shorter. So a prefix that avoids the nearest
    foreign address on each side avoids all: the last one below, and the first one above. For
    8.8.8.8 in an interval from 8.8.8.0 on, 8.8.7.255 differs at bit 20: /21 avoids it.
    """
    return max(_without_below(address, first), 0 if after == NULL else _without(address, after))


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
