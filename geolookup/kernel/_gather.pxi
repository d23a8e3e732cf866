"""Gathers columns for rows of a table that is stored row by row.

Strategy: the rows of a block are prefetched while the block before it is copied. Then each column
is copied for all rows of the block, which are in the cache by then. A bit for each column at the
beginning of a row is 1 if its value is null; the bits of 64 rows are written as one word.
"""

cdef enum:
    ROWS = 64  # of a block, as many as a word of validity has bits
    LANES = 64  # columns that a row can have, as many as its word of nulls has bits


cdef struct Lane:
    # A column: its position in a row, and the buffers of its values and their validity.
    int bit, width
    Py_ssize_t at
    uint8_t* values
    uint8_t* validity


def gather(
    const uint8_t[:, ::1] table, const uint32_t[::1] rows, list lanes, list values, list validity
):
    """See ``protocol.Implementation``."""
    cdef Lane chosen[LANES]
    cdef Py_ssize_t count = rows.shape[0], at
    cdef int total = <int>len(lanes)
    cdef uint64_t nulls = 0
    cdef uint8_t[::1] bytes_, bits
    if total > LANES or not len(values) == len(validity) == total or table.shape[1] < 8:
        raise ValueError("the columns differ in number")
    for at in range(total):
        bytes_, bits = values[at], validity[at]
        bit, begin, width = lanes[at]
        if (bytes_.shape[0], bits.shape[0]) != (count * width, (count + 7) // 8):
            raise ValueError("the columns differ in length")
        if width not in (2, 4, 8) or not (0 <= bit < LANES and 0 <= begin <= table.shape[1] - width):
            raise ValueError("a column is outside the row")
        if count:
            chosen[at] = Lane(bit, width, begin, &bytes_[0], &bits[0])
    if count == 0:
        return 0
    with nogil:
        at = _outside_table(&rows[0], count, table.shape[0])
        if at < 0:
            nulls = _gather(&table[0, 0], table.shape[1], &rows[0], count, chosen, total)
    if at >= 0:
        raise IndexError(f"row {rows[at]} does not exist in this table")
    return nulls


cdef Py_ssize_t _outside_table(const uint32_t* rows, Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    """Return the position of the first row that does not exist, or -1."""
    cdef uint32_t greatest = 0
    cdef Py_ssize_t at
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
    cdef uint64_t found = 0, of_block
    cdef Py_ssize_t block, begin, at
    cdef int size, lane
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
        found |= of_block
    return found


cdef inline void _prefetch_block(
    const uint8_t* table, Py_ssize_t stride, const uint32_t* rows, Py_ssize_t size
) noexcept nogil:
    """Prefetch the first 64 bytes of each row, which hold all of it in the large tables."""
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
    cdef uint64_t valid = ~<uint64_t>0 >> (ROWS - size)
    cdef int at
    if of_block >> lane.bit & 1:
        for at in range(size):
            valid ^= (nulls[at] >> lane.bit & 1) << at
    for at in range((size + 7) >> 3):
        lane.validity[(begin >> 3) + at] = <uint8_t>(valid >> (8 * at))
