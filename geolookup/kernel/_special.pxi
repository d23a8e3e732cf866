"""Private space in C: the private ranges of ``special.partition``, and their search."""

cdef uint8_t _ipv4_class[256]  # see ``special.classes``
cdef uint8_t _ipv6_class[256]
cdef uint64_t* _ipv4_bounds = NULL  # first address of a private range, first after it, and so on
cdef Address* _ipv6_bounds = NULL
cdef int _ipv4_count = 0, _ipv6_count = 0


cdef inline bint _private_ipv4(uint64_t value) noexcept nogil:
    cdef int at = 0
    cdef uint8_t kind = _ipv4_class[value >> 24]
    if kind != 2:
        return kind
    while at < _ipv4_count and _ipv4_bounds[at] <= value:
        at += 1
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
            if bound >> 128 == 0:
                _ipv6_bounds[_ipv6_count].high = bound >> 64
                _ipv6_bounds[_ipv6_count].low = bound & 0xFFFFFFFFFFFFFFFF
                _ipv6_count += 1


_load_special()
