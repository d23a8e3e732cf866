"""Parses columns of texts, a batch at a time: with vector instructions, and the rest one by one."""

cdef extern from "_vectors.h":
    enum:
        BATCH  # texts that are parsed together
        GROUPS_ROOM  # bytes that a parser reads, counted from the beginning of a text
    ctypedef struct ParsedBatch:
        uint8_t families[BATCH]
        uint64_t highs[BATCH]
        uint64_t lows[BATCH]
    ctypedef void (*BatchParser)(
        Text data, int64_t size, const int64_t* begins, const int64_t* ends, int count, ParsedBatch* out
    ) noexcept nogil
    BatchParser choose_batch_parser() noexcept
    void parse_no_batch(
        Text data, int64_t size, const int64_t* begins, const int64_t* ends, int count, ParsedBatch* out
    ) noexcept nogil


# The vector instructions of this processor, or none.
cdef BatchParser _vector_parser = choose_batch_parser()


cdef inline void _parse_batch(
    BatchParser parser,
    Text data,
    Py_ssize_t size,
    const int64_t* begins,
    const int64_t* ends,
    int count,
    ParsedBatch* out,
) noexcept nogil:
    """Parse texts with vectors, and the others one by one; a text outside the data is malformed."""
    cdef Address address
    cdef int64_t begin, end
    cdef int at
    parser(data, size, begins, ends, count, out)
    for at in range(count):
        if out.families[at] == 0:
            begin, end = begins[at], ends[at]
            out.highs[at] = out.lows[at] = 0
            if 0 <= begin <= end <= size and _parse(data + begin, end - begin, &address):
                out.families[at] = <uint8_t>address.family
                out.highs[at], out.lows[at] = address.high, address.low


cdef inline int _parse_one(
    Text data, Py_ssize_t size, int64_t begin, int64_t end, Address* address
) noexcept nogil:
    """Parse a text; return its family, 0 if it is malformed."""
    cdef ParsedBatch batch
    _parse_batch(_vector_parser, data, size, &begin, &end, 1, &batch)
    address.family, address.low = batch.families[0], batch.lows[0]
    address.high = batch.highs[0] if address.family == 6 else 0
    return address.family


def parse_texts(data, starts, lengths, families, highs, lows):
    """See ``python_texts``."""
    _parse_texts(_vector_parser, data, starts, lengths, families, highs, lows)


def _parse_texts_one_by_one(data, starts, lengths, families, highs, lows):
    """Parse the same on a processor without vector instructions; tests compare both."""
    _parse_texts(parse_no_batch, data, starts, lengths, families, highs, lows)


cdef int _parse_texts(BatchParser parser, data, starts, lengths, families, highs, lows) except -1:
    cdef _Column texts = _array(data, c"B"), first = _array(starts, c"q"), size = _array(lengths, c"q")
    cdef _Column family = _output(families, c"B"), high = _output(highs, c"Q"), low = _output(lows, c"Q")
    cdef Py_ssize_t at = 0
    if not size.count == family.count == high.count == low.count == first.count:
        raise ValueError("the columns differ in length")
    with nogil:
        while at < first.count:
            _parse_numbers(
                parser, <Text>texts.data, texts.count,
                &(<const int64_t*>first.data)[at], &(<const int64_t*>size.data)[at],
                <int>min(<Py_ssize_t>BATCH, first.count - at),
                &(<uint8_t*>family.data)[at], &(<uint64_t*>high.data)[at], &(<uint64_t*>low.data)[at],
            )
            at += BATCH
    return 0


cdef inline void _parse_numbers(
    BatchParser parser,
    Text data,
    Py_ssize_t size,
    const int64_t* starts,
    const int64_t* lengths,
    int count,
    uint8_t* families,
    uint64_t* highs,
    uint64_t* lows,
) noexcept nogil:
    """Parse texts by start and length; family and halves are 0 if a text is malformed."""
    cdef ParsedBatch batch
    cdef int64_t[BATCH] ends
    cdef int at
    for at in range(count):
        # A sum that would wrap is an end before the start: such a text is malformed.
        ends[at] = <int64_t>(<uint64_t>starts[at] + <uint64_t>lengths[at])
    _parse_batch(parser, data, size, starts, ends, count, &batch)
    for at in range(count):
        families[at], lows[at] = batch.families[at], batch.lows[at]
        highs[at] = batch.highs[at] if batch.families[at] == 6 else 0
