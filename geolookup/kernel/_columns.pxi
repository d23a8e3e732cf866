"""Columns of addresses, a block at a time, so that the block's memory is fetched at once.

Strategy: every step is taken for all addresses of a block before the next one
is taken for any, and has the memory of the next one fetched. Nothing within a
step branches on the address: a wrong guess would cost as much as the step.
"""

cdef struct Block:
    # The addresses that are searched for, by family, and where their answers go.
    int ipv4_count, ipv6_count
    uint8_t ipv4_at[BLOCK]
    uint8_t ipv6_at[BLOCK]
    uint32_t values[BLOCK]
    uint64_t highs[BLOCK]
    uint64_t lows[BLOCK]


cdef int _locate_texts(
    State state,
    Text letters,
    Py_ssize_t size,
    const int64_t* offsets,
    Py_ssize_t count,
    int32_t* rows,
    uint8_t* families,
) noexcept nogil:
    """Locate up to ``BLOCK`` texts; 0 or DAMAGED."""
    cdef Block block
    cdef Address address
    cdef Py_ssize_t at
    cdef int64_t begin, end
    block.ipv4_count = block.ipv6_count = 0
    for at in range(count):
        begin, end = offsets[at], offsets[at + 1]
        if 0 <= begin <= end <= size:
            families[at] = _parse_quickly(letters + begin, end - begin, size - begin, &address)
        else:
            address.family = families[at] = 0
        rows[at] = _admit(state, &block, at, &address)
    return _locate_block(state, &block, rows)


cdef int _locate_numbers(
    State state,
    const uint8_t* families,
    const uint64_t* highs,
    const uint64_t* lows,
    Py_ssize_t count,
    int32_t* rows,
) noexcept nogil:
    """Locate up to ``BLOCK`` numbers; 0 or DAMAGED."""
    cdef Block block
    cdef Address address
    cdef Py_ssize_t at
    block.ipv4_count = block.ipv6_count = 0
    for at in range(count):
        address.family, address.high, address.low = families[at], highs[at], lows[at]
        rows[at] = _admit(state, &block, at, &address)
    return _locate_block(state, &block, rows)


cdef inline void _parse_number(
    Text letters,
    Py_ssize_t size,
    int64_t start,
    int64_t length,
    uint8_t* family,
    uint64_t* high,
    uint64_t* low,
) noexcept nogil:
    """Parse the text that begins at ``start``; what is none has family and halves 0."""
    cdef Address address
    family[0], high[0], low[0] = 0, 0, 0
    if not (0 <= start <= size and 0 <= length <= size - start):
        return
    if _parse_quickly(letters + start, length, size - start, &address):
        family[0], low[0] = <uint8_t>address.family, address.low
        if address.family == 6:
            high[0] = address.high


cdef inline int32_t _admit(
    State state, Block* block, Py_ssize_t at, Address* address
) noexcept nogil:
    """Add an address to those of its family; returns the row of one that is not searched for."""
    cdef uint64_t value = address.low
    cdef int last
    if address.family == 0:
        return INVALID_ROW
    if address.family == 4 or _embedded(address, &value):
        last = block.ipv4_count
        block.values[last], block.ipv4_at[last] = <uint32_t>value, <uint8_t>at
        block.ipv4_count = last + 1
        PREFETCH(&state.jump[<uint32_t>value >> state.shift])
    elif _private_ipv6(address):
        return PRIVATE_ROW
    else:
        last = block.ipv6_count
        block.highs[last], block.lows[last] = address.high, address.low
        block.ipv6_at[last] = <uint8_t>at
        block.ipv6_count = last + 1
    return 0


cdef int _locate_block(State state, Block* block, int32_t* rows) noexcept nogil:
    if block.ipv4_count and _locate_ipv4s(state, block, rows):
        return DAMAGED
    if block.ipv6_count and _locate_ipv6s(state, block, rows):
        return DAMAGED
    return 0


cdef int _locate_ipv4s(State state, Block* block, int32_t* rows) noexcept nogil:
    """Bisect between the bounds of the jump table, in as many steps for all as the worst takes."""
    cdef uint32_t lows[BLOCK]
    cdef uint32_t sizes[BLOCK]
    cdef uint32_t low, size, half, value, private, all_sizes = 0, bad = 0
    cdef int at, step, steps = 0
    cdef Py_ssize_t start, end
    for at in range(block.ipv4_count):
        start = state.jump[block.values[at] >> state.shift]
        end = <Py_ssize_t>state.jump[(block.values[at] >> state.shift) + 1] + 1
        bad |= (start >= end) | (end > state.ipv4_count)
        lows[at], sizes[at] = <uint32_t>start, <uint32_t>(end - start)
        all_sizes |= sizes[at] - 1
        # Half of the buckets lie in two or three lines.
        PREFETCH(&state.starts[start])
        PREFETCH(&state.starts[start + ((end - start) >> 1)])
        PREFETCH(&state.starts[end - 1])
    if bad:
        return DAMAGED
    while all_sizes:
        all_sizes >>= 1
        steps += 1
    for at in range(block.ipv4_count):
        low, size, value = lows[at], sizes[at], block.values[at]
        for step in range(steps):
            half = size >> 1
            low += half & (0 - <uint32_t>(state.starts[low + half] <= value))
            size -= half
        private = 0 - <uint32_t>_private_ipv4(value)
        rows[block.ipv4_at[at]] = <int32_t>(private & <uint32_t>PRIVATE_ROW | low & ~private)
    return 0


cdef int _locate_ipv6s(State state, Block* block, int32_t* rows) noexcept nogil:
    """Search the fence, then the intervals of a stride, by the high halves of the addresses."""
    cdef uint32_t found[BLOCK]
    cdef Py_ssize_t window = min(<Py_ssize_t>_stride, state.ipv6_count), start, low
    cdef int at, bad = 0
    cdef Address address
    if state.fence_count == 0 or window == 0:
        return DAMAGED
    for at in range(block.ipv6_count):
        found[at] = 0
        bad |= state.fence[0] > block.highs[at]
    if bad:
        return DAMAGED
    _advance(state.fence, state.fence_count, block.highs, block.ipv6_count, found)
    for at in range(block.ipv6_count):
        # The last stride is filled up from the one before it.
        start = min(<Py_ssize_t>found[at] * _stride, state.ipv6_count - window)
        found[at] = <uint32_t>start
        PREFETCH(&state.highs[start + (window >> 1)])
    _advance(state.highs, window, block.highs, block.ipv6_count, found)
    for at in range(block.ipv6_count):
        start = found[at]
        if state.highs[start] == block.highs[at]:
            low = state._low(start)
            if low >= state.low_values_column.count:
                return DAMAGED
            if state.low_values[low] > block.lows[at]:
                address.high, address.low = block.highs[at], block.lows[at]
                start = state._locate_ipv6(&address)
                if start < 0:
                    return DAMAGED
        rows[block.ipv6_at[at]] = <int32_t>(start + state.ipv4_count)
    return 0


cdef void _advance(
    const uint64_t* table, Py_ssize_t size, const uint64_t* keys, int count, uint32_t* found
) noexcept nogil:
    """Move each of ``found`` to the last of the ``size`` numbers from there on <= its key.

    It stays where it is when there is none.
    """
    cdef uint32_t half, after, row
    cdef int at
    while size > 1:
        half = <uint32_t>(size >> 1)
        size -= half
        after = <uint32_t>(size >> 1)
        for at in range(count):
            row = found[at]
            row += half & (0 - <uint32_t>(table[row + half] <= keys[at]))
            found[at] = row
            PREFETCH(&table[row + after])


cdef Py_ssize_t _take_rows(
    State state,
    const uint32_t* ipv4,
    const uint32_t* ipv6,
    const int32_t* rows,
    Py_ssize_t count,
    uint32_t* out,
) noexcept nogil:
    """Take the rows of one table; returns where a located row is none, or -1."""
    cdef Py_ssize_t at, row, total = state.ipv4_count + state.ipv6_count
    for at in range(count):
        row = rows[at]
        if row < 0:
            out[at] = 0
        elif row < state.ipv4_count:
            out[at] = ipv4[row]
        elif row < total:
            out[at] = ipv6[row - state.ipv4_count]
        else:
            return at
    return -1
