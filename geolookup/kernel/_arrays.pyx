# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True, auto_pickle=False, binding=False
"""Columns of rows, and the nodes of search trees; ``protocol.Implementation`` describes both.

Columns are gathered from a table that is stored row by row. The rows of a block are prefetched
while the block before it is copied. Then each column is copied for all rows of the block: they
are in the cache by then. A bit for each column at the beginning of a row is 1 if its value is null; the
bits of 64 rows are written as one word.

The search tree is a binary one over addresses of 128 bits, made from the boundaries of their ranges
in one pass. The length of a boundary is the number of its bits up to the last one that is set. It
splits every shorter prefix that it lies in, so each of these is a node. Those that no boundary
before lies in are new nodes. They get the next numbers: the nodes of a path lie together.
With 4 bits and the boundaries 0100 and 0110, of the lengths 2 and 3:

    0100 adds the root and 0*: nodes 0 and 1.
    0110 leaves their path after two bits, 01: it adds 01*, node 2.
    0* has 01* on its right, and 01* has a range on each side; the root has one on its right.

The path to the last boundary is kept: where the next boundary leaves it, the right half of a node
lies in the range before that boundary.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

from geolookup.kernel._words cimport LOWEST_BIT, PREFETCH, ZEROS_ABOVE, _word

include "_column.pxi"

cdef enum:
    ROWS = 64  # of a block, as many as a word of validity has bits
    LANES = 64  # columns that a row can have, as many as its word of nulls has bits


cdef struct Lane:
    # A row: 8 bytes of null bits, little-endian, then the values, each 2, 4 or 8 bytes wide:
    #
    #     nulls (64 bits) | value of lane 0 | value of lane 1 | ...
    # A column: its position in a row, and the buffers of its values and their validity.
    int bit, width
    Py_ssize_t at
    uint8_t* values
    uint8_t* validity


def gather(table, rows, list lanes, list values, list validity):
    """See ``protocol.Implementation``."""
    cdef Lane chosen[LANES]
    cdef _Column source = _array(table, c"B", False, 2), numbers = _array(rows, c"I"), bytes_, bits
    cdef const uint32_t* row_numbers = <const uint32_t*>numbers.data
    cdef Py_ssize_t count = numbers.count, stride = source.view.shape[1], at
    cdef int total = <int>len(lanes)
    cdef uint64_t nulls = 0
    if total > LANES or not len(values) == len(validity) == total or stride < 8:
        raise ValueError("the columns differ in number")
    for at in range(total):
        bytes_, bits = _output(values[at], c"B"), _output(validity[at], c"B")
        bit, begin, width = lanes[at]
        if (bytes_.count, bits.count) != (count * width, (count + 7) // 8):
            raise ValueError("the columns differ in length")
        if width not in (2, 4, 8) or not (0 <= bit < LANES and 0 <= begin <= stride - width):
            raise ValueError("a column is outside the row")
        if count:
            chosen[at] = Lane(bit, width, begin, <uint8_t*>bytes_.data, <uint8_t*>bits.data)
    if count == 0:
        return 0
    with nogil:
        at = _outside_table(row_numbers, count, source.view.shape[0])
        if at < 0:
            nulls = _gather(<const uint8_t*>source.data, stride, row_numbers, count, chosen, total)
    if at >= 0:
        raise IndexError(f"row {row_numbers[at]} does not exist in this table")
    return nulls


cdef Py_ssize_t _outside_table(const uint32_t* rows, Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    """Return the position of the first row that does not exist, or -1."""
    cdef uint32_t greatest = 0
    cdef Py_ssize_t at
    # Without an exit the compiler can use vectors; the position is needed for the error only.
    for at in range(count):
        greatest = rows[at] if rows[at] > greatest else greatest
    if <Py_ssize_t>greatest < size:
        return -1
    for at in range(count):
        if <Py_ssize_t>rows[at] >= size:
            return at
    return -1


cdef uint64_t _gather(
    const uint8_t* table,
    Py_ssize_t stride,
    const uint32_t* rows,
    Py_ssize_t count,
    const Lane* lanes,
    int total,
) noexcept nogil:
    """Return the word of nulls: the bits of the columns that have a null in one of the rows."""
    cdef const uint8_t* starts[ROWS]
    cdef uint64_t nulls[ROWS]
    cdef uint64_t of_all = 0, of_block
    cdef Py_ssize_t block, begin, at
    cdef int size, lane
    # Block n is prefetched while block n - 1 is copied.
    _prefetch_block(table, stride, rows, min(count, <Py_ssize_t>ROWS))
    for block in range((count + ROWS - 1) // ROWS):
        begin = block * ROWS
        size = <int>min(count - begin, <Py_ssize_t>ROWS)
        if begin + size < count:
            _prefetch_block(table, stride, rows + begin + size, min(count - begin - size, <Py_ssize_t>ROWS))
        of_block = 0
        for at in range(size):
            starts[at] = table + <Py_ssize_t>rows[begin + at] * stride
            nulls[at] = _word(starts[at])
            of_block |= nulls[at]
        for lane in range(total):
            _copy_lane(starts, size, &lanes[lane], begin)
            _mark_nulls(nulls, of_block, size, &lanes[lane], begin)
        of_all |= of_block
    return of_all


cdef inline void _prefetch_block(
    const uint8_t* table, Py_ssize_t stride, const uint32_t* rows, Py_ssize_t size
) noexcept nogil:
    """Prefetch the first 64 bytes of each row: all of it in the large tables."""
    cdef Py_ssize_t at
    for at in range(size):
        PREFETCH(table + <Py_ssize_t>rows[at] * stride)


cdef inline void _copy_lane(
    const uint8_t* const* starts, int size, const Lane* lane, Py_ssize_t begin
) noexcept nogil:
    """Copy a column of a block; the constant widths become single instructions."""
    cdef uint8_t* out = lane.values + begin * lane.width
    cdef Py_ssize_t at
    if lane.width == 4:
        for at in range(size):
            memcpy(out + 4 * at, starts[at] + lane.at, 4)
    elif lane.width == 8:
        for at in range(size):
            memcpy(out + 8 * at, starts[at] + lane.at, 8)
    else:
        for at in range(size):
            memcpy(out + 2 * at, starts[at] + lane.at, 2)


cdef inline void _mark_nulls(
    const uint64_t* nulls, uint64_t of_block, int size, const Lane* lane, Py_ssize_t begin
) noexcept nogil:
    """Write the validity of a column of a block, the first row in the lowest bit."""
    # A block of 3 rows: 0b111; if the middle one is null: 0b101.
    cdef uint64_t valid = ~<uint64_t>0 >> (ROWS - size)
    cdef int at
    # Most blocks have no null in a column: their rows need not be visited.
    if of_block >> lane.bit & 1:
        for at in range(size):
            valid ^= (nulls[at] >> lane.bit & 1) << at
    _write_validity(lane.validity + (begin >> 3), valid, size)


cdef inline void _write_validity(uint8_t* validity, uint64_t valid, int size) noexcept nogil:
    cdef int at
    for at in range((size + 7) >> 3):
        validity[at] = <uint8_t>(valid >> (8 * at))


# --- the search tree

cdef enum:
    TREE_BITS = 128


cdef inline int _boundary_length(uint64_t high, uint64_t low) noexcept nogil:
    """Return the number of bits up to the last one that is set; one is."""
    # 0100 of 4 bits: the lowest bit that is set is number 2, and 4 - 2 = 2.
    return TREE_BITS - LOWEST_BIT(low) if low else 64 - LOWEST_BIT(high)


cdef inline int _first_new(
    const uint64_t* highs, const uint64_t* lows, Py_ssize_t at, int length_before
) noexcept nogil:
    """Return the depth of the first node that a boundary adds.

    The prefixes that it shares with the boundary before are nodes already, unless they are as long
    as that boundary: then no boundary lies inside them yet.
    """
    cdef uint64_t high, low
    cdef int common
    if at == 0:
        return 0
    high, low = highs[at - 1] ^ highs[at], lows[at - 1] ^ lows[at]
    common = ZEROS_ABOVE(high) if high else 64 + ZEROS_ABOVE(low)
    # 0100 and 0110 share 2 bits. 0100 is 2 long, so 01* is not a node yet: min(2, 1) + 1 = 2.
    return min(common, length_before - 1) + 1


cdef bint _ascend(const uint64_t* highs, const uint64_t* lows, Py_ssize_t count) noexcept nogil:
    """Return whether boundaries ascend from above 0."""
    cdef Py_ssize_t at
    cdef uint64_t high = 0, low = 0
    for at in range(count):
        if highs[at] < high or (highs[at] == high and lows[at] <= low):
            return False
        high, low = highs[at], lows[at]
    return True


def count_nodes(highs, lows):
    """See ``protocol.Implementation``."""
    return _count_nodes(_array(highs, c"Q"), _array(lows, c"Q"))


cdef Py_ssize_t _count_nodes(_Column upper, _Column lower) except -1:
    cdef const uint64_t* highs = <const uint64_t*>upper.data
    cdef const uint64_t* lows = <const uint64_t*>lower.data
    cdef Py_ssize_t at, count = upper.count, nodes = 0
    cdef int length = 0, length_before
    if lower.count != count or not _ascend(highs, lows, count):
        raise ValueError("the boundaries do not ascend")
    with nogil:
        for at in range(count):
            length_before = length
            length = _boundary_length(highs[at], lows[at])
            nodes += length - _first_new(highs, lows, at, length_before)
    return nodes


def fill_nodes(highs, lows, values, nodes):
    """See ``protocol.Implementation``."""
    cdef _Column upper = _array(highs, c"Q"), lower = _array(lows, c"Q")
    cdef _Column of_ranges = _array(values, c"I"), out = _output(nodes, c"I", 2)
    if of_ranges.count != upper.count + 1:
        raise ValueError("the columns differ in length")
    if out.view.shape[1] != 2 or out.view.shape[0] != _count_nodes(upper, lower):
        raise ValueError("the nodes are not as many as counted")
    with nogil:
        _fill_nodes(
            <const uint64_t*>upper.data, <const uint64_t*>lower.data, upper.count,
            <const uint32_t*>of_ranges.data, <uint32_t*>out.data,
        )


cdef void _fill_nodes(
    const uint64_t* highs,
    const uint64_t* lows,
    Py_ssize_t count,
    const uint32_t* values,
    uint32_t* nodes,
) noexcept nogil:
    """Fill in two numbers of each node."""
    cdef Py_ssize_t at, number = 0
    # The boundaries 0100 and 0110, with values a below 0100, b below 0110, and c:
    #
    #          node 0
    #     0* /        \ 1*
    #     node 1       c
    #     00* / \ 01*
    #       a   node 2
    #      010* / \ 011*
    #         b     c
    #
    cdef Py_ssize_t path[TREE_BITS]  # the nodes that hold the last boundary
    cdef bint is_open[TREE_BITS]  # whose right half is not known yet
    cdef int depth, first, length = 0, length_before
    for at in range(count):
        length_before = length
        length = _boundary_length(highs[at], lows[at])
        first = _first_new(highs, lows, at, length_before)
        # Nodes below the common path are left for good: on their right is the range before.
        for depth in range(first, length_before):
            if is_open[depth]:
                nodes[2 * path[depth] + 1] = values[at]
        # The node where the paths part: its right half is the first new node.
        if 0 < first < length:
            nodes[2 * path[first - 1] + 1] = <uint32_t>number
            is_open[first - 1] = False
        for depth in range(first, length):
            # One bit of the boundary: to the right, everything on the left is the range before it.
            path[depth] = number
            if _bit(highs[at], lows[at], depth):
                nodes[2 * number] = values[at]
                # At the last bit that is set, the right half begins with the boundary.
                is_open[depth] = depth == length - 1
                if not is_open[depth]:
                    nodes[2 * number + 1] = <uint32_t>number + 1
            else:
                nodes[2 * number] = <uint32_t>number + 1
                is_open[depth] = True
            number += 1
    for depth in range(length):
        if is_open[depth]:
            nodes[2 * path[depth] + 1] = values[count]


cdef inline bint _bit(uint64_t high, uint64_t low, int depth) noexcept nogil:
    return high >> (63 - depth) & 1 if depth < 64 else low >> (TREE_BITS - 1 - depth) & 1
