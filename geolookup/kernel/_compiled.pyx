# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: freethreading_compatible=True, auto_pickle=False, binding=False
# cython: embedsignature=True, embedsignature.format=clinic
"""The compiled kernel; the Python kernel documents its classes.

Strategy: the address is parsed in place, the interval is found through pointers into the mapped
files, and JSON is written once, into bytes of exactly its size. A dict is copied from a cached
template, or filled from the JSON texts of the row. Every index read from a file is compared
with the length of its table before it is used. Shared state is either constant, or a list whose
items are replaced as a whole: no lookup needs a lock.

All is one C file, in which the compiler inlines across the parts. They are, in the order of the
includes: arrays of numbers (``_column``), the text of one address (``_address``), rows of tables
(``_rows``), an open dataset (``_state``), JSON (``_json``), time zones (``_tzif``, ``_zones``), what
follows from country and time (``_templates``), special-purpose space and the search for one address
(``_search``), its prefix (``_prefix``), the parser (``_parsing``) and the search (``_columns``) for
a column, own columns (``_own``), the public class (``_kernel``), answers as objects (``_answer``),
many answers at once (``_many``), values of fields (``_values``), columns of rows (``_gather``), and
addresses in a text (``_scan``).
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Copy
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcmp, memcpy, memset

ctypedef const unsigned char* Text

cdef extern from "_words.h":
    int LOWEST_BIT(uint64_t bits) noexcept nogil  # of bits that are not all zero
    int ZEROS_ABOVE(uint64_t bits) noexcept nogil  # likewise
    uint64_t MARKS(Text text, unsigned char wanted) noexcept nogil
    void STAY_BRANCH() noexcept nogil
    void PREFETCH(const void* address) noexcept nogil

cdef extern from "Python.h":
    bint PY_LITTLE_ENDIAN
    Py_ssize_t PY_SSIZE_T_MAX
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    char* PyUnicode_1BYTE_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    bytes PyUnicode_EncodeFSDefault(object text)
    ctypedef struct PyObject
    PyObject* _new_bytes "PyBytes_FromStringAndSize"(const char* data, Py_ssize_t size) except NULL
    char* _bytes_start "PyBytes_AS_STRING"(PyObject* data)
    void Py_SET_SIZE(PyObject* data, Py_ssize_t size)
    void Py_XDECREF(PyObject* data)

cdef extern from "time.h" nogil:
    ctypedef long long time_t
    time_t c_time "time" (time_t* result)

import json

from geolookup.contract import envelope, fields, localtime
from geolookup.dataset import layout as fmt
from geolookup.dataset import rows as row_codec
from geolookup.contract.address import parse as parse_any
from geolookup.errors import (
    REBUILD,
    ClosedError,
    DatasetError,
    InvalidAddressError,
    PrivateAddressError,
)
from geolookup.contract.localtime import instant

__all__ = [
    "Kernel",
    "State",
    "find_addresses",
    "gather",
    "parse_texts",
    "period",
    "restore",
]

cdef enum:
    INVALID = 10001
    PRIVATE = 10002
    DAMAGED = -1
    LINE = 64  # bytes of a cache line
    BLOCK = 64  # addresses of a column that are searched together
    AHEAD = 16  # IPv4 addresses that do a step of their search together
    DEPTH = 64  # of the queue of these; a power of two, 3 * AHEAD or more
    INVALID_ID = -1  # interval ids; see ``python_state``
    PRIVATE_ID = -2


include "_column.pxi"
include "_address.pxi"


cdef struct Match:
    Address address
    uint32_t location, network  # rows, not yet compared with the lengths of the tables
    uint32_t own  # set by the functions of ``_own`` only


include "_rows.pxi"
include "_state.pxi"
include "_json.pxi"
include "_tzif.pxi"
include "_zones.pxi"
include "_templates.pxi"
include "_search.pxi"
include "_prefix.pxi"
include "_parsing.pxi"
include "_columns.pxi"
include "_own.pxi"
include "_kernel.pxi"
include "_answer.pxi"
include "_many.pxi"
include "_values.pxi"
include "_gather.pxi"
include "_scan.pxi"
