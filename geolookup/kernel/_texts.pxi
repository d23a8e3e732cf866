"""The JSON texts of the rows of a table, and their checksums (``dataset.layout``)."""


cdef extern from "_crc32c.h":
    void crc_fill_tables(uint32_t polynomial) noexcept nogil
    bint crc_has_instruction() noexcept nogil
    uint32_t crc_by_table(Text text, size_t size) noexcept nogil
    uint32_t crc_by_instruction(Text text, size_t size) noexcept nogil

ctypedef uint32_t (*Checksum)(Text text, size_t size) noexcept nogil

cdef Checksum _crc32c = crc_by_instruction if crc_has_instruction() else crc_by_table
crc_fill_tables(fmt.POLYNOMIAL)


def checksums(data, offsets, sums):
    """See ``protocol.Implementation``."""
    _checksums(_crc32c, _array(data, c"B"), _array(offsets, c"i"), _output(sums, c"I"))


def _checksums_by_table(data, offsets, sums):
    """Compute the same on a processor without the instruction; tests compare both."""
    _checksums(crc_by_table, _array(data, c"B"), _array(offsets, c"i"), _output(sums, c"I"))


cdef int _checksums(Checksum checksum, _Column data, _Column offsets, _Column sums) except -1:
    cdef Py_ssize_t at, count = sums.count
    cdef Text text = <Text>data.data
    cdef const int32_t* bounds = <const int32_t*>offsets.data
    cdef uint32_t* out = <uint32_t*>sums.data
    cdef bint is_outside
    if offsets.count != count + 1:
        raise ValueError("the columns differ in length")
    is_outside = bounds[0] < 0 or bounds[count] > data.count
    for at in range(count):
        is_outside |= bounds[at] > bounds[at + 1]
    if is_outside:
        raise ValueError("a text is outside the data")
    with nogil:
        for at in range(count):
            out[at] = checksum(text + bounds[at], bounds[at + 1] - bounds[at])
    return 0


cdef enum:
    COMPLETE = 1
    WITHOUT_FIRST = 2  # the first text of the row is empty: the answer leaves it out


@cython.final
cdef class _Texts:
    """The JSON texts of the rows of a table, each checked at its first read.

    ``source`` checks the texts that the scan does not accept.
    """

    cdef _Column offsets, data, checksums
    cdef uint8_t* checked  # by row: 0 if not yet read, else COMPLETE or WITHOUT_FIRST
    cdef Member* members
    cdef Py_ssize_t count, member_count
    cdef object source

    def __cinit__(self, texts):
        self.source = texts
        self.offsets = _Column(texts.offsets)
        self.data = _Column(texts.data)
        self.checksums = _Column(texts.sums)
        self.count = min(self.checksums.count, self.offsets.count - 1)
        self.checked = <uint8_t*>calloc(max(self.count, 1), 1)
        self.member_count = len(texts.kinds)
        self.members = <Member*>calloc(max(self.member_count, 1), sizeof(Member))
        if self.checked == NULL or self.members == NULL:
            raise MemoryError
        for at, kind in enumerate(texts.kinds):
            self.members[at] = _member_of(kind)

    def __dealloc__(self):
        free(self.checked)
        free(self.members)

    cdef void prefetch(self, Py_ssize_t row) noexcept nogil:
        """Prefetch the offsets and the flag of a row."""
        if row < self.count:
            PREFETCH(&(<const uint32_t*>self.offsets.data)[row])
            PREFETCH(&self.checked[row])

    cdef Text row(self, Py_ssize_t row, Py_ssize_t* size) except NULL:
        cdef const uint32_t* offsets = <const uint32_t*>self.offsets.data
        cdef Text text
        if row >= self.count:
            raise DatasetError(self.source.path, f"there is no row {row}", REBUILD)
        if offsets[row + 1] < offsets[row] or <Py_ssize_t>offsets[row + 1] > self.data.count:
            raise DatasetError(self.source.path, f"row {row} lies outside the file", REBUILD)
        text = <Text>self.data.data + offsets[row]
        size[0] = offsets[row + 1] - offsets[row]
        if not self.checked[row]:
            self.check(row, text, size[0])
        return text

    cdef int check(self, Py_ssize_t row, Text text, Py_ssize_t size) except -1:
        """Raise DatasetError where a row is not what was written, or not of this table."""
        cdef const uint32_t* checksums = <const uint32_t*>self.checksums.data
        if _crc32c(text, size) != checksums[row] or not _is_right(
            self.members, self.member_count, text, text + size
        ):
            self.source.check(row, text[:size])
        self.checked[row] = WITHOUT_FIRST if size and text[0] == c"\n" else COMPLETE
        return 0
