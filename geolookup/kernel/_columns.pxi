"""Searches columns of addresses, many at a time, to hide the latency of memory.

Strategy: a single search waits for memory at each step. Here a step prefetches the memory of the
next step, and steps of other addresses run until it has arrived.

- IPv4 addresses are in a queue. After AHEAD more of them, the AHEAD before these do the second step
  of their search, and the AHEAD before those the third. So parsing and searching overlap, and the
  requests to memory are spread: the processor has about twenty in progress at most. The last step
  compares a window of WINDOW intervals, enough for nearly all buckets of the jump table.
- IPv6 addresses are searched in blocks, each step for all of a block before the next step.

The rows of the intervals are a second pass over a chunk. One pass with the search took longer when
measured, probably because it needs more pages at a time than the processor's table of pages (TLB)
has entries.

See "interleaving" in Psaropoulos et al., Interleaving with Coroutines, VLDB 2017; and Chen et al.,
Improving Hash Join Performance through Prefetching, 2007, with both forms ("group" and
"software-pipelined prefetching").
"""

cdef struct Column:
    # The search of a column. IPv4 addresses are in their order: number i is at i modulo DEPTH.
    bint damaged, with_private  # whether private addresses have interval ids too
    Py_ssize_t count  # of all IPv4 addresses that were added
    uint32_t values[DEPTH]
    uint32_t windows[DEPTH]
    int32_t* ids[DEPTH]  # where the interval id goes
    # A block of IPv6 addresses.
    int ipv6_count
    uint64_t highs[BLOCK]
    uint64_t lows[BLOCK]
    int32_t* ipv6_ids[BLOCK]


cdef int _locate_texts(
    State state,
    Text data,
    Py_ssize_t size,
    const int64_t* offsets,
    Py_ssize_t count,
    int32_t* ids,
    uint8_t* families,
    bint with_private,
) noexcept nogil:
    """Locate texts; 0 or DAMAGED."""
    cdef Column column
    cdef Address address
    cdef ParsedBatch batch
    cdef Py_ssize_t first = 0
    cdef int at, size_of_batch
    _begin(&column, with_private)
    while first < count:
        size_of_batch = <int>min(<Py_ssize_t>BATCH, count - first)
        _parse_batch(
            _vector_parser, data, size, offsets + first, offsets + first + 1, size_of_batch, &batch
        )
        memcpy(families + first, batch.families, size_of_batch)
        for at in range(size_of_batch):
            address.family = batch.families[at]
            address.high, address.low = batch.highs[at], batch.lows[at]
            _add(state, &column, &address, &ids[first + at])
        first += BATCH
    return _finish(state, &column)


cdef int _locate_numbers(
    State state,
    const uint8_t* families,
    const uint64_t* highs,
    const uint64_t* lows,
    Py_ssize_t count,
    int32_t* ids,
    bint with_private,
) noexcept nogil:
    """Locate integers; 0 or DAMAGED."""
    cdef Column column
    cdef Address address
    cdef Py_ssize_t at
    _begin(&column, with_private)
    for at in range(count):
        address.family, address.high, address.low = families[at], highs[at], lows[at]
        _add(state, &column, &address, &ids[at])
    return _finish(state, &column)


cdef inline void _begin(Column* column, bint with_private) noexcept nogil:
    column.count = column.ipv6_count = 0
    column.damaged, column.with_private = False, with_private


cdef inline void _add(State state, Column* column, Address* address, int32_t* id) noexcept nogil:
    """Add an address; after ``_finish`` its interval id is in ``id``."""
    cdef uint64_t value = address.low
    cdef Py_ssize_t at
    if address.family == 4 or (address.family == 6 and _embedded(address, &value)):
        at = column.count & (DEPTH - 1)  # DEPTH is a power of two: the modulo
        column.values[at], column.ids[at] = <uint32_t>value, id
        PREFETCH(&state.jump[<uint32_t>value >> state.jump_shift])
        column.count += 1
        if column.count % AHEAD == 0:
            _advance_ipv4(state, column, column.count)
    elif address.family == 0:
        id[0] = INVALID_ID
    elif _private_ipv6(address) and not column.with_private:
        id[0] = PRIVATE_ID
    else:
        at = column.ipv6_count
        column.highs[at], column.lows[at], column.ipv6_ids[at] = address.high, address.low, id
        column.ipv6_count += 1
        if column.ipv6_count == BLOCK:
            _search_ipv6(state, column)


cdef void _advance_ipv4(State state, Column* column, Py_ssize_t end) noexcept nogil:
    """Do a step for the AHEAD addresses that end there less AHEAD, and for those before them."""
    cdef Py_ssize_t begin = end - 2 * AHEAD
    if 0 <= begin < column.count:
        _find_windows(state, column, begin & (DEPTH - 1), min(<Py_ssize_t>AHEAD, column.count - begin))
    begin -= AHEAD
    if 0 <= begin < column.count:
        _search_ipv4(
            state, column, begin & (DEPTH - 1), <int>min(<Py_ssize_t>AHEAD, column.count - begin)
        )


cdef void _find_windows(
    State state, Column* column, Py_ssize_t begin, Py_ssize_t count
) noexcept nogil:
    """Read the buckets of addresses from the jump table; prefetch a window of intervals for each."""
    cdef Py_ssize_t at, start
    for at in range(begin, begin + count):
        start = _window_ipv4(state, column.values[at])
        if start < 0:
            column.damaged, start = True, 0
        column.windows[at] = <uint32_t>start
        _prefetch_window(state, start)


cdef void _search_ipv4(State state, Column* column, Py_ssize_t begin, int count) noexcept nogil:
    """Search the windows of addresses; a mask selects the id, and no branch depends on it.

    0 less a comparison is all ones if it is true, else 0.
    """
    cdef uint32_t private, judged = 0 if column.with_private else 0xFFFF_FFFF
    cdef Py_ssize_t at
    _search_windows(
        state.ipv4_starts, <uint32_t>state.window, &column.values[begin], count, &column.windows[begin]
    )
    for at in range(begin, begin + count):
        private = (0 - <uint32_t>_private_ipv4(column.values[at])) & judged
        column.ids[at][0] = <int32_t>(private & <uint32_t>PRIVATE_ID | column.windows[at] & ~private)


cdef void _search_ipv6(State state, Column* column) noexcept nogil:
    """Answer the IPv6 addresses of the block, and empty it."""
    if column.ipv6_count and _locate_ipv6s(
        state, column.highs, column.lows, column.ipv6_count, column.ipv6_ids
    ):
        column.damaged = True
    column.ipv6_count = 0


cdef int _finish(State state, Column* column) noexcept nogil:
    """Answer the remaining addresses; 0 or DAMAGED."""
    cdef Py_ssize_t end = (column.count + AHEAD - 1) // AHEAD * AHEAD
    if end != column.count:
        _advance_ipv4(state, column, end)
    _advance_ipv4(state, column, end + AHEAD)
    _advance_ipv4(state, column, end + 2 * AHEAD)
    _search_ipv6(state, column)
    return DAMAGED if column.damaged else 0


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
        if id < 0:  # no answer: the row "unknown"
            out[at] = 0
        elif id < state.ipv4_count:
            out[at] = ipv4[id]
        elif id < total:
            out[at] = ipv6[id - state.ipv4_count]
        else:
            return at
    return -1
