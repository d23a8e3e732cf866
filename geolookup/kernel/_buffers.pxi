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
    """The JSON texts of the rows of a table; ``source`` checks each text at its first read."""

    cdef _Column offsets, data, checksums
    cdef uint8_t* checked  # by row: 0 if not yet read, else COMPLETE or WITHOUT_FIRST
    cdef Py_ssize_t count
    cdef object source

    def __cinit__(self, texts):
        self.source = texts
        self.offsets = _Column(texts.offsets)
        self.data = _Column(texts.data)
        self.checksums = _Column(texts.sums)
        self.count = min(self.checksums.count, self.offsets.count - 1)
        self.checked = <uint8_t*>calloc(max(self.count, 1), 1)
        if self.checked == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.checked)

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
            self.source.check(row, text[:size[0]])
            self.checked[row] = WITHOUT_FIRST if size[0] and text[0] == c"\n" else COMPLETE
        return text
