"""Columns of rows; ``columns`` describes them.

Columns are gathered from a table that is stored row by row. The rows of a block are prefetched
while the block before it is copied. Then each column is copied for all rows of the block: they
are in the cache by then. A bit for each column at the beginning of a row is 1 if its value is null;
the bits of 64 rows are written as one word.
"""

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
    """See ``columns``."""
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
            memcpy(&nulls[at], starts[at], 8)
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
