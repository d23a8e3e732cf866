"""Searches columns of addresses in blocks, to hide the latency of memory.

Strategy: each step of the search runs for all addresses of a block before the next step begins,
and prefetches the memory of that next step. A single search waits for memory at each step; a
block waits for up to ``BLOCK`` cache lines at the same time. No step branches on an address: a
branch that the processor mispredicts would cost as much as the step.

See "interleaving" in Psaropoulos et al., Interleaving with Coroutines, VLDB 2017, and branch-free
bisection in Khuong and Morin, Array Layouts for Comparison-Based Searching, 2017.
"""

cdef struct Block:
    # The addresses to search for, by family, and their positions in the block.
    int ipv4_count, ipv6_count
    uint8_t ipv4_at[BLOCK]
    uint8_t ipv6_at[BLOCK]
    uint32_t values[BLOCK]
    uint64_t highs[BLOCK]
    uint64_t lows[BLOCK]


cdef int _locate_texts(
    State state,
    Text data,
    Py_ssize_t size,
    const int64_t* offsets,
    Py_ssize_t count,
    int32_t* ids,
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
            families[at] = _parse_quickly(data + begin, end - begin, size - begin, &address)
        else:
            address.family = families[at] = 0
        ids[at] = _add_to_block(state, &block, at, &address)
    return _locate_block(state, &block, ids)


cdef int _locate_numbers(
    State state,
    const uint8_t* families,
    const uint64_t* highs,
    const uint64_t* lows,
    Py_ssize_t count,
    int32_t* ids,
) noexcept nogil:
    """Locate up to ``BLOCK`` integers; 0 or DAMAGED."""
    cdef Block block
    cdef Address address
    cdef Py_ssize_t at
    block.ipv4_count = block.ipv6_count = 0
    for at in range(count):
        address.family, address.high, address.low = families[at], highs[at], lows[at]
        ids[at] = _add_to_block(state, &block, at, &address)
    return _locate_block(state, &block, ids)


cdef inline int32_t _add_to_block(
    State state, Block* block, Py_ssize_t at, Address* address
) noexcept nogil:
    """Add an address to the block and return 0; return the id of a malformed or private one."""
    cdef uint64_t value = address.low
    cdef int last
    if address.family == 0:
        return INVALID_ID
    if address.family == 4 or _embedded(address, &value):
        last = block.ipv4_count
        block.values[last], block.ipv4_at[last] = <uint32_t>value, <uint8_t>at
        block.ipv4_count = last + 1
        PREFETCH(&state.jump[<uint32_t>value >> state.jump_shift])
    elif _private_ipv6(address):
        return PRIVATE_ID
    else:
        last = block.ipv6_count
        block.highs[last], block.lows[last] = address.high, address.low
        block.ipv6_at[last] = <uint8_t>at
        block.ipv6_count = last + 1
    return 0


cdef int _locate_block(State state, Block* block, int32_t* ids) noexcept nogil:
    if block.ipv4_count and _locate_ipv4s(state, block, ids):
        return DAMAGED
    if block.ipv6_count and _locate_ipv6s(state, block, ids):
        return DAMAGED
    return 0


cdef int _locate_ipv4s(State state, Block* block, int32_t* ids) noexcept nogil:
    """Bisect the buckets of the jump table, all with the number of steps of the largest bucket."""
    cdef uint32_t lows[BLOCK]
    cdef uint32_t sizes[BLOCK]
    cdef uint32_t low, size, half, value, private, all_sizes = 0, bad = 0
    cdef int at, step, steps = 0
    cdef Py_ssize_t start, end
    for at in range(block.ipv4_count):
        start = state.jump[block.values[at] >> state.jump_shift]
        end = <Py_ssize_t>state.jump[(block.values[at] >> state.jump_shift) + 1] + 1
        bad |= (start >= end) | (end > state.ipv4_count)
        lows[at], sizes[at] = <uint32_t>start, <uint32_t>(end - start)
        all_sizes |= sizes[at] - 1
        # Half of the buckets span two or three cache lines: prefetch the ends and the middle.
        PREFETCH(&state.ipv4_starts[start])
        PREFETCH(&state.ipv4_starts[start + ((end - start) >> 1)])
        PREFETCH(&state.ipv4_starts[end - 1])
    if bad:
        return DAMAGED
    while all_sizes:
        all_sizes >>= 1
        steps += 1
    for at in range(block.ipv4_count):
        low, size, value = lows[at], sizes[at], block.values[at]
        for step in range(steps):
            half = size >> 1
            low += half & (0 - <uint32_t>(state.ipv4_starts[low + half] <= value))
            size -= half
        private = 0 - <uint32_t>_private_ipv4(value)
        ids[block.ipv4_at[at]] = <int32_t>(private & <uint32_t>PRIVATE_ID | low & ~private)
    return 0


cdef int _locate_ipv6s(State state, Block* block, int32_t* ids) noexcept nogil:
    """Search the sparse index by high halves, then the intervals of the entry that is found."""
    cdef uint32_t found[BLOCK]
    cdef Py_ssize_t window = min(<Py_ssize_t>_STRIDE, state.ipv6_count), start, low
    cdef int at, bad = 0
    cdef Address address
    if state.sparse_count == 0 or window == 0:
        return DAMAGED
    for at in range(block.ipv6_count):
        found[at] = 0
        bad |= state.sparse_index[0] > block.highs[at]
    if bad:
        return DAMAGED
    _advance(state.sparse_index, state.sparse_count, block.highs, block.ipv6_count, found)
    for at in range(block.ipv6_count):
        # The last window overlaps the one before it, so that all windows have the same size.
        start = min(<Py_ssize_t>found[at] * _STRIDE, state.ipv6_count - window)
        found[at] = <uint32_t>start
        PREFETCH(&state.ipv6_highs[start + (window >> 1)])
    _advance(state.ipv6_highs, window, block.highs, block.ipv6_count, found)
    for at in range(block.ipv6_count):
        start = found[at]
        if state.ipv6_highs[start] == block.highs[at]:
            low = _low_index(state, start)
            if low >= state.low_values_column.count:
                return DAMAGED
            if state.ipv6_low_values[low] > block.lows[at]:
                address.high, address.low = block.highs[at], block.lows[at]
                start = _interval_ipv6(state, &address)
                if start < 0:
                    return DAMAGED
        ids[block.ipv6_at[at]] = <int32_t>(start + state.ipv4_count)
    return 0


cdef void _advance(
    const uint64_t* table, Py_ssize_t size, const uint64_t* keys, int count, uint32_t* found
) noexcept nogil:
    """Advance each of ``found`` to the last of the next ``size`` sorted numbers that is <= its key.

    If there is none, it does not change. Branch-free bisection: ``size`` is the same for all
    keys, and a mask selects the half that holds the key.
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
    const int32_t* ids,
    Py_ssize_t count,
    uint32_t* out,
) noexcept nogil:
    """Take the rows of one table; return the position of the first id that does not exist, or -1."""
    cdef Py_ssize_t at, id, total = state.ipv4_count + state.ipv6_count
    for at in range(count):
        id = ids[at]
        if id < 0:
            out[at] = 0
        elif id < state.ipv4_count:
            out[at] = ipv4[id]
        elif id < total:
            out[at] = ipv6[id - state.ipv4_count]
        else:
            return at
    return -1


cdef inline void _parse_number(
    Text data,
    Py_ssize_t size,
    int64_t start,
    int64_t length,
    uint8_t* family,
    uint64_t* high,
    uint64_t* low,
) noexcept nogil:
    """Parse the text that begins at ``start``; family and halves are 0 if it is malformed."""
    cdef Address address
    family[0], high[0], low[0] = 0, 0, 0
    if not (0 <= start <= size and 0 <= length <= size - start):
        return
    if _parse_quickly(data + start, length, size - start, &address):
        family[0], low[0] = <uint8_t>address.family, address.low
        if address.family == 6:
            high[0] = address.high


def parse_texts(
    const unsigned char[::1] data,
    const int64_t[::1] starts,
    const int64_t[::1] lengths,
    uint8_t[::1] families,
    uint64_t[::1] highs,
    uint64_t[::1] lows,
):
    """See ``protocol.Implementation``."""
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
