"""Declarations of ``_words.h``, and the type ``Text`` of every part of the kernel."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

ctypedef const unsigned char* Text

cdef extern from "_words.h":
    int LOWEST_BIT(uint64_t bits) noexcept nogil  # of bits that are not all zero
    int ZEROS_ABOVE(uint64_t bits) noexcept nogil  # likewise
    uint64_t MARKS(Text text, unsigned char wanted) noexcept nogil
    void STAY_BRANCH() noexcept nogil
    void PREFETCH(const void* address) noexcept nogil

cdef extern from *:
    const bint PY_LITTLE_ENDIAN


cdef inline uint64_t _word(Text text) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, text, 8)
    return word
