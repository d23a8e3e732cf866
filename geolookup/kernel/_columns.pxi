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

See "interleaving" in Psaropoulos et al., Interleaving with Coroutines, VLDB 2017; Chen et al.,
Improving Hash Join Performance through Prefetching, 2007, with both forms ("group" and
"software-pipelined prefetching"); and branch-free bisection in Khuong and Morin, Array Layouts for
Comparison-Based Searching, 2017.
"""

cdef extern from "_windows.h":
    enum:
        WINDOW
    ctypedef void (*WindowSearch)(
        const uint32_t* table, uint32_t size, const uint32_t* values, int count, uint32_t* lows
    ) noexcept nogil
    WindowSearch choose_window_search() noexcept

cdef WindowSearch _search_windows = choose_window_search()


cdef struct Block:
    # The addresses to search for, by family, and their positions in the block.
    int ipv4_count, ipv6_count
    bint with_private  # whether private addresses have interval ids too
    uint8_t ipv4_at[BLOCK]
    uint8_t ipv6_at[BLOCK]
    uint32_t values[BLOCK]
    uint64_t highs[BLOCK]
    uint64_t lows[BLOCK]


cdef struct Queue:
    # IPv4 addresses in their order: number i is at i modulo DEPTH.
    Py_ssize_t count  # of all that were added
    bint damaged
    uint32_t private  # the bits of a private address's id that are of PRIVATE_ID: all or none
    uint32_t values[DEPTH]
    uint32_t lows[DEPTH]
    int32_t* ids[DEPTH]  # where the interval id goes


cdef struct Column:
    # The search of a column: a queue of IPv4 addresses, and a block of IPv6 addresses.
    Queue ipv4
    Block ipv6
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
    _begin_queue(&column.ipv4, with_private)
    _begin_block(&column.ipv6, with_private)


cdef inline void _begin_queue(Queue* queue, bint with_private) noexcept nogil:
    queue.count, queue.damaged = 0, False
    queue.private = 0 if with_private else 0xFFFF_FFFF


cdef inline void _begin_block(Block* block, bint with_private) noexcept nogil:
    block.ipv4_count = block.ipv6_count = 0
    block.with_private = with_private


cdef inline void _add(State state, Column* column, Address* address, int32_t* id) noexcept nogil:
    """Add an address; after ``_finish`` its interval id is in ``id``."""
    cdef uint64_t value = address.low
    if address.family == 4 or (address.family == 6 and _embedded(address, &value)):
        _add_ipv4(state, &column.ipv4, <uint32_t>value, id)
    elif address.family == 0:
        id[0] = INVALID_ID
    elif _private_ipv6(address) and not column.ipv6.with_private:
        id[0] = PRIVATE_ID
    else:
        _add_ipv6(state, column, address, id)


cdef inline void _add_ipv4(State state, Queue* queue, uint32_t value, int32_t* id) noexcept nogil:
    cdef Py_ssize_t at = queue.count & (DEPTH - 1)  # DEPTH is a power of two: the modulo
    queue.values[at], queue.ids[at] = value, id
    PREFETCH(&state.jump[value >> state.jump_shift])
    queue.count += 1
    if queue.count % AHEAD == 0:
        _advance_ipv4(state, queue, queue.count)


cdef void _advance_ipv4(State state, Queue* queue, Py_ssize_t end) noexcept nogil:
    """Do a step for the AHEAD addresses that end there less AHEAD, and for those before them."""
    cdef Py_ssize_t begin = end - 2 * AHEAD
    if 0 <= begin < queue.count:
        _find_windows(state, queue, begin & (DEPTH - 1), <int>min(<Py_ssize_t>AHEAD, queue.count - begin))
    begin -= AHEAD
    if 0 <= begin < queue.count:
        _search_ipv4(state, queue, begin & (DEPTH - 1), <int>min(<Py_ssize_t>AHEAD, queue.count - begin))


cdef void _find_windows(State state, Queue* queue, Py_ssize_t begin, int count) noexcept nogil:
    """Read the buckets of addresses from the jump table; prefetch a window of intervals for each."""
    cdef Py_ssize_t window = min(<Py_ssize_t>WINDOW, state.ipv4_count), at, start, end
    cdef uint32_t bucket
    for at in range(begin, begin + count):
        bucket = queue.values[at] >> state.jump_shift
        start, end = state.jump[bucket], <Py_ssize_t>state.jump[bucket + 1] + 1
        if start >= end or end > state.ipv4_count:
            queue.damaged, start, end = True, 0, 0
        if end - start > window:
            start = _bisect_ipv4(state, queue.values[at], start, end, window)
        # A window can begin before its bucket: of 40 intervals the last begins at 8.
        start = min(start, state.ipv4_count - window)
        queue.lows[at] = <uint32_t>start
        # It spans two or three cache lines.
        PREFETCH(&state.ipv4_starts[start])
        PREFETCH(&state.ipv4_starts[start + (window >> 1)])
        PREFETCH(&state.ipv4_starts[start + window - 1])


cdef Py_ssize_t _bisect_ipv4(
    State state, uint32_t value, Py_ssize_t start, Py_ssize_t end, Py_ssize_t window
) noexcept nogil:
    """Return where a window of a bucket begins that holds the interval of an address."""
    cdef Py_ssize_t half
    while end - start > window:
        half = (start + end) >> 1
        if state.ipv4_starts[half] <= value:
            start = half
        else:
            end = half
    return start


cdef void _search_ipv4(State state, Queue* queue, Py_ssize_t begin, int count) noexcept nogil:
    """Search the windows of addresses; a mask selects the id, and no branch depends on it.

    0 less a comparison is all ones if it is true, else 0.
    """
    cdef uint32_t window = <uint32_t>min(<Py_ssize_t>WINDOW, state.ipv4_count), private
    cdef Py_ssize_t at
    _search_windows(state.ipv4_starts, window, &queue.values[begin], count, &queue.lows[begin])
    for at in range(begin, begin + count):
        private = (0 - <uint32_t>_private_ipv4(queue.values[at])) & queue.private
        queue.ids[at][0] = <int32_t>(private & <uint32_t>PRIVATE_ID | queue.lows[at] & ~private)


cdef inline void _add_ipv6(
    State state, Column* column, Address* address, int32_t* id
) noexcept nogil:
    cdef int last = column.ipv6.ipv6_count
    column.ipv6.highs[last], column.ipv6.lows[last] = address.high, address.low
    column.ipv6.ipv6_at[last], column.ipv6_ids[last] = <uint8_t>last, id
    column.ipv6.ipv6_count = last + 1
    if last + 1 == BLOCK:
        _search_ipv6(state, column)


cdef void _search_ipv6(State state, Column* column) noexcept nogil:
    """Answer the IPv6 addresses of the block, and empty it."""
    cdef int32_t ids[BLOCK]
    cdef int at
    if column.ipv6.ipv6_count and _locate_ipv6s(state, &column.ipv6, ids):
        column.ipv4.damaged = True
    else:
        for at in range(column.ipv6.ipv6_count):
            column.ipv6_ids[at][0] = ids[at]
    column.ipv6.ipv6_count = 0


cdef void _finish_ipv4(State state, Queue* queue) noexcept nogil:
    """Do the remaining steps."""
    cdef Py_ssize_t end = (queue.count + AHEAD - 1) // AHEAD * AHEAD
    if end != queue.count:
        _advance_ipv4(state, queue, end)
    _advance_ipv4(state, queue, end + AHEAD)
    _advance_ipv4(state, queue, end + 2 * AHEAD)


cdef int _finish(State state, Column* column) noexcept nogil:
    """Answer the remaining addresses; 0 or DAMAGED."""
    _finish_ipv4(state, &column.ipv4)
    _search_ipv6(state, column)
    return DAMAGED if column.ipv4.damaged else 0


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
    elif _private_ipv6(address) and not block.with_private:
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
    cdef Queue queue
    cdef int at
    _begin_queue(&queue, block.with_private)
    for at in range(block.ipv4_count):
        _add_ipv4(state, &queue, block.values[at], &ids[block.ipv4_at[at]])
    _finish_ipv4(state, &queue)
    return DAMAGED if queue.damaged else 0


cdef int _locate_ipv6s(State state, Block* block, int32_t* ids) noexcept nogil:
    """Search the sparse index by high halves, then the intervals of that entry."""
    cdef uint32_t positions[BLOCK]
    cdef Py_ssize_t window = min(<Py_ssize_t>_STRIDE, state.ipv6_count), start, low
    cdef int at, bad = 0
    cdef Address address
    if state.sparse_count == 0 or window == 0:
        return DAMAGED
    for at in range(block.ipv6_count):
        positions[at] = 0
        bad |= state.sparse_index[0] > block.highs[at]
    if bad:
        return DAMAGED
    _advance(state.sparse_index, state.sparse_count, block.highs, block.ipv6_count, positions)
    for at in range(block.ipv6_count):
        # All windows have one size: of 150 intervals the last begins at 86, not at 128.
        start = min(<Py_ssize_t>positions[at] * _STRIDE, state.ipv6_count - window)
        positions[at] = <uint32_t>start
        PREFETCH(&state.ipv6_highs[start + (window >> 1)])
    _advance(state.ipv6_highs, window, block.highs, block.ipv6_count, positions)
    for at in range(block.ipv6_count):
        start = positions[at]
        if state.ipv6_highs[start] == block.highs[at]:
            low = _low_index(state, start)
            if low >= state.low_values_column.count:
                return DAMAGED
            if state.ipv6_low_values[low] > block.lows[at]:  # several intervals in this /64
                address.high, address.low = block.highs[at], block.lows[at]
                start = _interval_ipv6(state, &address)
                if start < 0:
                    return DAMAGED
        ids[block.ipv6_at[at]] = <int32_t>(start + state.ipv4_count)
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
