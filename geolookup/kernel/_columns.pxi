"""Searches columns of addresses, many at a time, to hide the latency of memory.

Strategy: a single search waits for memory at each step. Here a step prefetches the memory of the
next step, and steps of other addresses run until it has arrived.

- IPv4 addresses are in a queue. With each address that enters it, one that entered AHEAD addresses
  before does the second step of its search, and one 2 * AHEAD before does the third. So parsing
  and searching overlap, and the requests to memory are spread evenly: a burst of them stops the
  processor, because it has about twenty in progress at most.
- IPv6 addresses are searched in blocks, each step for all of a block before the next step.

The rows of the intervals are a second pass over a chunk. One pass with the search took longer when
measured, probably because it needs more pages at a time than the processor's table of pages (TLB)
has entries.

See "interleaving" in Psaropoulos et al., Interleaving with Coroutines, VLDB 2017; Chen et al.,
Improving Hash Join Performance through Prefetching, 2007, with both forms ("group" and
"software-pipelined prefetching"); and branch-free bisection in Khuong and Morin, Array Layouts for
Comparison-Based Searching, 2017.
"""

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
    uint32_t sizes[DEPTH]
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
    cdef Py_ssize_t at
    cdef int64_t begin, end
    _begin(&column, with_private)
    for at in range(count):
        begin, end = offsets[at], offsets[at + 1]
        if 0 <= begin <= end <= size:
            families[at] = _parse_quickly(data + begin, end - begin, size - begin, &address)
        else:
            families[at] = 0
        address.family = families[at]
        _add(state, &column, &address, &ids[at])
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
    _advance_ipv4(state, queue, queue.count - 1)


cdef inline void _advance_ipv4(State state, Queue* queue, Py_ssize_t newest) noexcept nogil:
    """Do a step for two addresses, whose memory was prefetched AHEAD addresses ago."""
    cdef Py_ssize_t at = newest - AHEAD
    if 0 <= at < queue.count:
        _bucket_ipv4(state, queue, at & (DEPTH - 1))
    at -= AHEAD
    if 0 <= at < queue.count:
        _bisect_ipv4(state, queue, at & (DEPTH - 1))


cdef inline void _bucket_ipv4(State state, Queue* queue, Py_ssize_t at) noexcept nogil:
    """Read the bucket of an address from the jump table; one interval stands for a damaged one."""
    cdef uint32_t bucket = queue.values[at] >> state.jump_shift
    cdef Py_ssize_t start = state.jump[bucket], end = <Py_ssize_t>state.jump[bucket + 1] + 1
    if start >= end or end > state.ipv4_count:
        queue.damaged, start, end = True, 0, 1
    queue.lows[at], queue.sizes[at] = <uint32_t>start, <uint32_t>(end - start)
    # Half of the buckets span two or three cache lines: prefetch the ends and the middle.
    PREFETCH(&state.ipv4_starts[start])
    PREFETCH(&state.ipv4_starts[start + ((end - start) >> 1)])
    PREFETCH(&state.ipv4_starts[end - 1])


cdef inline void _bisect_ipv4(State state, Queue* queue, Py_ssize_t at) noexcept nogil:
    """Bisect the bucket of an address; a mask selects the half, and no branch depends on it.

    0 less a comparison is all ones if it is true, else 0. With five starts 10 20 30 40 50 and 35:
    size 5, half 2: 30 <= 35, so low 2, size 3; half 1: 40 > 35, size 2; half 1: 40 > 35, size 1.
    """
    cdef uint32_t low = queue.lows[at], size = queue.sizes[at], value = queue.values[at], half
    cdef uint32_t private
    while size > 1:
        half = size >> 1
        low += half & (0 - <uint32_t>(state.ipv4_starts[low + half] <= value))
        size -= half
    private = (0 - <uint32_t>_private_ipv4(value)) & queue.private  # all ones if it is private
    queue.ids[at][0] = <int32_t>(private & <uint32_t>PRIVATE_ID | low & ~private)


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
    cdef Py_ssize_t newest
    for newest in range(queue.count, queue.count + 2 * AHEAD):
        _advance_ipv4(state, queue, newest)


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


def parse_texts(data, starts, lengths, families, highs, lows):
    """See ``protocol.Implementation``."""
    cdef _Column texts = _array(data, c"B"), first = _array(starts, c"q"), size = _array(lengths, c"q")
    cdef _Column family = _output(families, c"B"), high = _output(highs, c"Q"), low = _output(lows, c"Q")
    cdef Py_ssize_t at
    if not size.count == family.count == high.count == low.count == first.count:
        raise ValueError("the columns differ in length")
    with nogil:
        for at in range(first.count):
            _parse_number(
                <Text>texts.data, texts.count,
                (<const int64_t*>first.data)[at], (<const int64_t*>size.data)[at],
                &(<uint8_t*>family.data)[at], &(<uint64_t*>high.data)[at], &(<uint64_t*>low.data)[at],
            )
