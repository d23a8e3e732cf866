"""Arrays of numbers that other objects hold: NumPy arrays, mapped files, bytes.

Typed memoryviews would do the same, with 13,000 more lines of C.
"""


@cython.final
cdef class _Column:
    """A contiguous buffer, held as long as this object exists."""

    cdef Py_buffer view
    cdef void* data
    cdef Py_ssize_t count  # of all items

    def __cinit__(self, source, bint writable=False):
        cdef int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT
        PyObject_GetBuffer(source, &self.view, flags | PyBUF_WRITABLE if writable else flags)
        self.data = self.view.buf
        self.count = self.view.len // self.view.itemsize

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef _Column _array(object source, char kind, bint writable=False, int dimensions=1):
    """Return an array; ``kind`` is a letter of ``struct``: B, H, i, I, q or Q.

    Other letters with the same sign and size are equal: on Linux, NumPy's int64 is "l".
    """
    cdef _Column column = _Column(source, writable)
    cdef Py_ssize_t width = 8
    if kind == c"B" or kind == c"H":
        width = 1 if kind == c"B" else 2
    elif kind == c"i" or kind == c"I":
        width = 4
    cdef const char* letters = b"BHILQ" if kind < c"a" else b"bhilq"
    if (
        column.view.ndim != dimensions
        or column.view.itemsize != width
        or memchr(letters, column.view.format[0], 5) == NULL
    ):
        raise ValueError("an array has other dimensions, or items of another type")
    return column


cdef _Column _output(object source, char kind, int dimensions=1):
    """Return an array to write to; see ``_array``."""
    return _array(source, kind, True, dimensions)
