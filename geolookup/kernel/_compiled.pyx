# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: freethreading_compatible=True
"""The compiled kernel; ``protocol`` documents its classes.

Strategy: the address is parsed in place, the interval is found through pointers into the mapped
files, and JSON is written once, into bytes of exactly its size. A dict is copied from a cached
template, or filled from the JSON texts of the row. Every index read from a file is compared
with the length of its table before it is used. Shared state is either constant, or a list whose
items are replaced as a whole, so that no lookup needs a lock.

The parts, in the order of the includes: one address (``_address``, ``_special``), texts of whole
columns (``_parse_words``), the check of rows (``_crc32c``, ``_rowcheck``), the mapped files
(``_buffers``), the parts of answers (``_json``, ``_templates``), time zones (``_tzrule``, ``_tzif``,
``_zones``), an open dataset (``_state``), the search for one address (``_search``) and for a column
(``_columns``), the columns of rows (``_gather``), lines of logs (``_logs``), search trees
(``_tree``), addresses in a text (``_scan``), answers (``_envelope``), the public class
(``_kernel``), the networks around addresses (``_prefix``), answers as objects (``_answer``), many
answers at once (``_many``), and values of paths (``_values``).
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Copy
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcmp, memcpy, memset, strlen

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    char* PyUnicode_1BYTE_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    /* GCC removes the calls of a function that only prefetches; the empty assembly prevents that. */
    #define PREFETCH(address) (__extension__ ({ __builtin_prefetch(address); __asm__ volatile(""); }))
    #else
    #define PREFETCH(address) ((void)(address))
    #endif
    """
    void PREFETCH(const void* address) noexcept nogil

cdef extern from "time.h" nogil:
    ctypedef long long time_t
    time_t c_time "time" (time_t* result)

import json

from geolookup.contract import envelope, fields
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
from geolookup.contract.localtime import Period, instant, zone_file
from geolookup.contract.localtime import period as period_of

ctypedef const unsigned char* Text

cdef enum:
    CACHE_SIZE = 512  # entries of each cache of templates; a power of two; more do not fit the L2 cache
    LONGEST = 45  # characters of an address
    INVALID = 10001
    PRIVATE = 10002
    DAMAGED = -1
    BLOCK = 64  # addresses of a column that are searched together
    AHEAD = 16  # IPv4 addresses between two steps of the search of one of them
    DEPTH = 64  # of the queue of these; a power of two, more than 2 * AHEAD
    INVALID_ID = -1  # interval ids; see ``protocol``
    PRIVATE_ID = -2


include "_address.pxi"
include "_special.pxi"
include "_parse_words.pxi"
include "_crc32c.pxi"
include "_rowcheck.pxi"
include "_buffers.pxi"
include "_json.pxi"
include "_templates.pxi"
include "_tzrule.pxi"
include "_tzif.pxi"
include "_zones.pxi"
include "_state.pxi"
include "_search.pxi"
include "_columns.pxi"
include "_gather.pxi"
include "_logs.pxi"
include "_tree.pxi"
include "_scan.pxi"
include "_envelope.pxi"
include "_kernel.pxi"
include "_prefix.pxi"
include "_answer.pxi"
include "_many.pxi"
include "_values.pxi"
