"""Records of CSV, split and written again, and columns of texts joined row by row.

Strategy: a plain cell is scanned once, and copied together with the cells before it. Only a cell
that changes ends such a run: one with needless quotes, or with a quote or a delimiter inside.
"""

cdef enum:
    QUOTE = 34
    # Of a cell of k bytes and its delimiter: at most 2k for quotes inside, two around, delimiter.
    GROWTH = 3


cdef struct _Keys:
    # The columns to copy, ascending, and their texts: bytes, offsets, and whether each is valid.
    const int64_t* columns
    Py_ssize_t count
    Py_ssize_t rows  # room for each
    uint8_t* data
    Py_ssize_t room  # bytes for each
    int64_t* offsets
    uint8_t* valid


def split_records(data, delimiters, Py_ssize_t columns, keys, lines, offsets, texts, text_offsets, valid):
    """See ``protocol.Implementation``."""
    cdef _Column text = _array(data, c"B"), marks = _array(delimiters, c"B")
    cdef _Column wanted = _array(keys, c"q"), out = _output(lines, c"B"), ends = _output(offsets, c"q")
    cdef _Column copies = _output(texts, c"B", 2), bounds = _output(text_offsets, c"q", 2)
    cdef _Column validity = _output(valid, c"B", 2)
    cdef Py_ssize_t rows = validity.view.shape[1], count
    cdef bint fits = copies.view.shape[1] >= text.count and out.count >= GROWTH * (text.count + 1)
    cdef _Keys parts
    if marks.count != 2 or columns < 1 or not fits or ends.count != rows + 1:
        raise ValueError("the arrays do not fit")
    if wanted.count != copies.view.shape[0] or wanted.count != validity.view.shape[0]:
        raise ValueError("the arrays do not fit")
    if bounds.view.shape[0] != wanted.count or bounds.view.shape[1] != rows + 1:
        raise ValueError("the arrays do not fit")
    parts = _Keys(
        <const int64_t*>wanted.data, wanted.count, rows, <uint8_t*>copies.data,
        copies.view.shape[1], <int64_t*>bounds.data, <uint8_t*>validity.data,
    )
    with nogil:
        count = _split_records(
            <Text>text.data, <Text>text.data + text.count, <Text>marks.data, columns, parts,
            <uint8_t*>out.data, <int64_t*>ends.data,
        )
    return count


cdef Py_ssize_t _split_records(
    Text at, Text end, Text marks, Py_ssize_t columns, _Keys keys, uint8_t* out, int64_t* ends
) noexcept nogil:
    """Return the number of records, -1 if one has other columns or another form."""
    cdef uint8_t* first = out
    cdef Py_ssize_t rows = 0, key
    if marks[0] == QUOTE or marks[0] == c"\n" or marks[0] == c"\r":
        return -1
    ends[0] = 0
    for key in range(keys.count):
        keys.offsets[key * (keys.rows + 1)] = 0
    while at < end:
        if columns > 1 and (at[0] == c"\n" or at[0] == c"\r"):
            at += 1  # an empty line, or the second half of a line end
            continue
        if rows == keys.rows:
            return -1
        at = _split_record(at, end, marks, columns, &keys, rows, &out)
        if at == NULL:
            return -1
        rows += 1
        ends[rows] = out - first
    return rows


cdef Text _split_record(
    Text at, Text end, Text marks, Py_ssize_t columns, const _Keys* keys, Py_ssize_t row, uint8_t** out,
) noexcept nogil:
    """Write a record, and the texts of its keys; return the next one, NULL if it is malformed."""
    cdef Text run = at, first, stop
    cdef uint8_t* to = out[0]
    cdef Py_ssize_t column, key = 0
    cdef bint is_quoted, needs_quotes
    for column in range(columns):
        first = at
        is_quoted = at < end and at[0] == QUOTE
        if is_quoted:
            stop = _closing_quote(at + 1, end)
            if stop == NULL:
                return NULL
            needs_quotes = stop == at + 1 or _next_special(at + 1, stop, end, marks[1], marks[1]) < stop
            at = stop + 1
        else:
            at = _next_special(at, end, end, marks[0], marks[1])
            needs_quotes = False
            if at < end and at[0] != marks[0] and at[0] != c"\n" and at[0] != c"\r":
                # A quote, or the other delimiter, inside a plain cell.
                needs_quotes = True
                while at < end and at[0] != marks[0] and at[0] != c"\n" and at[0] != c"\r":
                    at += 1
            stop = at
        while key < keys.count and keys.columns[key] == column:
            _copy_key(keys, key, row, first + is_quoted, stop, is_quoted)
            key += 1
        if is_quoted != needs_quotes:
            # "a" is written as a, and a"b as "a""b".
            to = _write_run(to, run, first)
            to = _write_run(to, first + 1, stop) if is_quoted else _write_quoted(to, first, stop)
            run = at
        if column + 1 < columns:
            if at == end or at[0] != marks[0]:
                return NULL
            if marks[0] != marks[1]:
                to = _write_run(to, run, at)
                to[0] = marks[1]
                to += 1
                run = at + 1
            at += 1
    out[0] = _write_run(to, run, at)
    if key < keys.count or (at < end and at[0] != c"\n" and at[0] != c"\r"):
        return NULL
    if end - at > 1 and at[0] == c"\r" and at[1] == c"\n":
        return at + 2
    return at + 1 if at < end else at


cdef Text _closing_quote(Text at, Text end) noexcept nogil:
    """Return the quote that closes a cell, NULL if there is none."""
    while True:
        at = _find_byte(at, end, QUOTE)
        if at == NULL or end - at < 2 or at[1] != QUOTE:
            return at
        at += 2  # "" inside is one quote


cdef inline Text _next_special(
    Text at, Text end, Text limit, uint8_t one, uint8_t other
) noexcept nogil:
    """Return the first quote, line end or delimiter, or ``end``; up to ``limit`` bytes are read."""
    cdef uint64_t marks
    while limit - at >= 16:
        marks = CELL_MARKS(at, one, other)
        if marks or end - at <= 16:
            at += LOWEST_BIT(marks) if marks else 16
            return at if at < end else end
        at += 16
    while at < end and not _is_special(at[0], one, other):
        at += 1
    return at


cdef inline bint _is_special(uint8_t byte, uint8_t one, uint8_t other) noexcept nogil:
    return byte == one or byte == other or byte == QUOTE or byte == c"\n" or byte == c"\r"


cdef inline uint8_t* _write_run(uint8_t* out, Text first, Text end) noexcept nogil:
    memcpy(out, first, end - first)
    return out + (end - first)


cdef uint8_t* _write_quoted(uint8_t* out, Text at, Text end) noexcept nogil:
    """Write a cell in quotes; each quote inside is doubled."""
    out[0] = QUOTE
    out += 1
    while at < end:
        if at[0] == QUOTE:
            out[0] = QUOTE
            out += 1
        out[0] = at[0]
        out += 1
        at += 1
    out[0] = QUOTE
    return out + 1


cdef void _copy_key(
    const _Keys* keys, Py_ssize_t key, Py_ssize_t row, Text at, Text end, bint is_quoted
) noexcept nogil:
    """Copy the text of a cell; a plain cell without text is null."""
    cdef int64_t* offsets = keys.offsets + key * (keys.rows + 1)
    cdef uint8_t* first = keys.data + key * keys.room
    cdef uint8_t* out = first + offsets[row]
    keys.valid[key * keys.rows + row] = is_quoted or at < end
    while at < end:
        out[0] = at[0]
        out += 1
        at += 2 if is_quoted and at[0] == QUOTE else 1
    offsets[row + 1] = out - first


cdef struct _Part:
    # A text for all rows, or n texts: their bytes, offsets, validity and, of a dictionary, indices.
    Text data
    Py_ssize_t size
    const int64_t* offsets  # NULL: a text for all rows
    Py_ssize_t texts
    Text validity  # NULL: none is null
    Py_ssize_t bit  # of the first text in ``validity``
    const int32_t* indices  # NULL: row i has text i
    bint is_cell


def join_texts(list parts, Py_ssize_t first, delimiter, null, offsets, out):
    """See ``protocol.Implementation``."""
    cdef _Column written = _output(out, c"B"), ends = _output(offsets, c"q")
    cdef _Column empty = _array(null, c"B")
    cdef Py_ssize_t rows = ends.count - 1, count = len(parts), at
    cdef uint8_t mark = ord(delimiter)
    cdef list held = []
    cdef _Part* joined
    if not 0 <= first <= rows or not 0 <= (<int64_t*>ends.data)[first] <= written.count:
        raise ValueError("the first row is outside the rows")
    joined = <_Part*>PyMem_Calloc(count, sizeof(_Part))
    if joined == NULL:
        raise MemoryError
    try:
        for at in range(count):
            _fill_part(&joined[at], parts[at], rows, held)
        with nogil:
            first = _join_rows(
                joined, count, first, rows, mark, <Text>empty.data, empty.count,
                <int64_t*>ends.data, <uint8_t*>written.data, written.count,
            )
    finally:
        PyMem_Free(joined)
    if first < 0:
        raise ValueError("a text is outside the data")
    return first


cdef int _fill_part(_Part* part, object source, Py_ssize_t rows, list held) except -1:
    """Describe a part; ``held`` keeps its arrays."""
    cdef _Column data, offsets, more
    if isinstance(source, bytes):
        data = _array(source, c"B")
        held.append(data)
        part.data, part.size = <Text>data.data, data.count
        return 0
    data, offsets = _array(source[0], c"B"), _array(source[1], c"q")
    held += [data, offsets]
    part.data, part.size = <Text>data.data, data.count
    part.offsets, part.texts = <const int64_t*>offsets.data, offsets.count - 1
    if source[2] is not None:
        more = _array(source[2], c"B")
        held.append(more)
        part.validity, part.bit = <Text>more.data, source[3]
        if part.bit < 0 or part.bit + part.texts > 8 * more.count:
            raise ValueError("the columns differ in length")
    if source[4] is not None:
        more = _array(source[4], c"i")
        held.append(more)
        part.indices = <const int32_t*>more.data
    if rows > (part.texts if source[4] is None else more.count):
        raise ValueError("the columns differ in length")
    part.is_cell = source[5]
    return 0


cdef Py_ssize_t _join_rows(
    const _Part* parts, Py_ssize_t count, Py_ssize_t row, Py_ssize_t rows, uint8_t mark,
    Text null, Py_ssize_t null_size, int64_t* ends, uint8_t* out, Py_ssize_t room,
) noexcept nogil:
    """Return how many rows are written, -1 if a text is outside the data of its part."""
    cdef uint8_t* to = out + ends[row]
    cdef uint8_t* end = out + room
    cdef const _Part* part
    cdef Text text, limit
    cdef Py_ssize_t size, at
    while row < rows:
        for at in range(count):
            part = parts + at
            text, size, limit = part.data, part.size, part.data + part.size
            if part.offsets != NULL and not _text_of_row(part, row, &text, &size):
                if size < 0:
                    return -1
                text, size, limit = null, null_size, null + null_size
            elif part.is_cell and _needs_quotes(text, size, limit, mark):
                if end - to < 2 * size + 2:
                    return row
                to = _write_quoted(to, text, text + size)
                continue
            if end - to < size:
                return row
            if size <= 16 <= end - to and limit - text >= 16:
                memcpy(to, text, 16)  # one instruction
                to += size
            else:
                to = _write_run(to, text, text + size)
        row += 1
        ends[row] = to - out
    return row


cdef inline bint _needs_quotes(Text text, Py_ssize_t size, Text limit, uint8_t mark) noexcept nogil:
    return size == 0 or _next_special(text, text + size, limit, mark, mark) < text + size


cdef inline bint _text_of_row(
    const _Part* part, Py_ssize_t row, Text* text, Py_ssize_t* size
) noexcept nogil:
    """Find the text of a row; false if it is null, with a size below 0 if it is outside."""
    cdef Py_ssize_t at = row if part.indices == NULL else part.indices[row]
    cdef Py_ssize_t bit = at + part.bit
    if at < 0:  # of a dictionary: null
        return False
    size[0] = -1
    if at >= part.texts or not 0 <= part.offsets[at] <= part.offsets[at + 1] <= part.size:
        return False
    size[0] = 0
    if part.validity != NULL and not part.validity[bit >> 3] >> (bit & 7) & 1:
        return False
    text[0] = part.data + part.offsets[at]
    size[0] = part.offsets[at + 1] - part.offsets[at]
    return True
