"""The nodes of a binary search tree over addresses of 128 bits, from the boundaries of its ranges.

Strategy: one pass over the boundaries in their order. The length of a boundary is the number of its
bits up to the last one that is set. It splits every shorter prefix that it lies in, so each of
these is a node. Those that no boundary before lies in are new nodes. They get the next numbers, so
that the nodes of a path lie together. The path to the last boundary is kept: where the next
boundary leaves it, the right half of a node lies in the range before that boundary.
``protocol.Implementation`` describes the arrays.
"""

cdef enum:
    TREE_BITS = 128

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define ZEROS_ABOVE(bits) __builtin_clzll(bits)
    #else
    static int ZEROS_ABOVE(unsigned long long bits) {
        int at = 0;
        for (; !(bits >> 63); bits <<= 1) at++;
        return at;
    }
    #endif
    """
    int ZEROS_ABOVE(uint64_t bits) nogil  # of bits that are not 0


cdef inline int _boundary_length(uint64_t high, uint64_t low) noexcept nogil:
    """Return the number of bits up to the last one that is set; one is."""
    return TREE_BITS - LOWEST_BIT(low) if low else 64 - LOWEST_BIT(high)


cdef inline int _first_new(
    const uint64_t* highs, const uint64_t* lows, Py_ssize_t at, int length_before
) noexcept nogil:
    """Return the depth of the first node that a boundary adds."""
    cdef uint64_t high, low
    cdef int common
    if at == 0:
        return 0
    high, low = highs[at - 1] ^ highs[at], lows[at - 1] ^ lows[at]
    common = ZEROS_ABOVE(high) if high else 64 + ZEROS_ABOVE(low)
    return min(common, length_before - 1) + 1


cdef bint _ascend(const uint64_t[::1] highs, const uint64_t[::1] lows) noexcept nogil:
    """Return whether boundaries ascend from above 0."""
    cdef Py_ssize_t at
    cdef uint64_t high = 0, low = 0
    for at in range(highs.shape[0]):
        if highs[at] < high or (highs[at] == high and lows[at] <= low):
            return False
        high, low = highs[at], lows[at]
    return True


def count_nodes(const uint64_t[::1] highs, const uint64_t[::1] lows):
    """See ``protocol.Implementation``."""
    cdef Py_ssize_t at, count = highs.shape[0], nodes = 0
    cdef int length = 0, length_before
    if lows.shape[0] != count or not _ascend(highs, lows):
        raise ValueError("the boundaries do not ascend")
    with nogil:
        for at in range(count):
            length_before = length
            length = _boundary_length(highs[at], lows[at])
            nodes += length - _first_new(&highs[0], &lows[0], at, length_before)
    return nodes


def fill_nodes(
    const uint64_t[::1] highs,
    const uint64_t[::1] lows,
    const uint32_t[::1] values,
    uint32_t[:, ::1] nodes,
):
    """See ``protocol.Implementation``."""
    cdef Py_ssize_t at, count = highs.shape[0], number = 0
    cdef uint32_t path[TREE_BITS]  # the nodes that hold the last boundary
    cdef bint is_open[TREE_BITS]  # whose right half is not known yet
    cdef int depth, first, length = 0, length_before
    if values.shape[0] != count + 1:
        raise ValueError("the columns differ in length")
    if nodes.shape[1] != 2 or nodes.shape[0] != count_nodes(highs, lows):
        raise ValueError("the nodes are not as many as counted")
    with nogil:
        for at in range(count):
            length_before = length
            length = _boundary_length(highs[at], lows[at])
            first = _first_new(&highs[0], &lows[0], at, length_before)
            for depth in range(first, length_before):
                if is_open[depth]:
                    nodes[path[depth], 1] = values[at]
            if 0 < first < length:
                nodes[path[first - 1], 1] = number
                is_open[first - 1] = False
            for depth in range(first, length):
                path[depth] = number
                if _bit(highs[at], lows[at], depth):
                    nodes[number, 0] = values[at]
                    is_open[depth] = depth == length - 1
                    if not is_open[depth]:
                        nodes[number, 1] = number + 1
                else:
                    nodes[number, 0] = number + 1
                    is_open[depth] = True
                number += 1
        for depth in range(length):
            if is_open[depth]:
                nodes[path[depth], 1] = values[count]


cdef inline bint _bit(uint64_t high, uint64_t low, int depth) noexcept nogil:
    return high >> (63 - depth) & 1 if depth < 64 else low >> (TREE_BITS - 1 - depth) & 1
