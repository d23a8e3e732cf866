"""Mapped files in C: columns of numbers, and texts of rows."""


@cython.final
cdef class _Column:
    """A buffer that stays mapped as long as this object exists."""

    cdef Py_buffer view
    cdef const void* data
    cdef Py_ssize_t count

    def __cinit__(self, source):
        PyObject_GetBuffer(source, &self.view, PyBUF_SIMPLE)
        self.data = self.view.buf
        self.count = self.view.len // source.itemsize

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


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
