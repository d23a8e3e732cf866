"""JSON in C: the names of members and the texts of rows, copied into bytes.

The parts that depend on the country or on the time are rendered once, and then copied.
"""

cdef enum:
    CHUNK = 16  # bytes that ``_copy`` moves in one step

cdef struct Piece:
    Text text
    Py_ssize_t size


cdef Piece _head, _ipv4_type, _ipv6_type, _tail
_pieces = []  # holds the bytes objects that pieces point into


cdef Piece _piece(bytes text):
    cdef Piece piece
    cdef bytes padded = text + bytes(CHUNK)  # ``_copy`` reads whole chunks
    _pieces.append(padded)
    piece.text, piece.size = <Text>PyBytes_AS_STRING(padded), PyBytes_GET_SIZE(text)
    return piece


@cython.final
cdef class _Names:
    """The names of the members of a row, rendered once: ``"asn":``, ``,"isp":`` and so on.

    A row ``15169\\n"Google"`` becomes ``"asn":15169,"isp":"Google"``: the line feeds go, the names
    come. So the JSON of a row of n bytes has n + ``added`` bytes.
    """

    cdef Piece* pieces
    cdef int count
    cdef Py_ssize_t added

    def __cinit__(self, tuple names, bytes before=b""):
        self.count = len(names)
        self.pieces = <Piece*>calloc(max(self.count, 1), sizeof(Piece))
        if self.pieces == NULL:
            raise MemoryError
        # A row has a line feed between two texts, count - 1 of them, all dropped.
        self.added = 1 - self.count
        for at, name in enumerate(names):
            self.pieces[at] = _piece(b'%b"%b":' % (b"," if at else before, name.encode()))
            self.added += self.pieces[at].size

    def __dealloc__(self):
        free(self.pieces)

    cdef bytes json(self, Text texts, Py_ssize_t size):
        """Return names and texts of a row; None if it has more or fewer texts."""
        cdef bytes result = PyBytes_FromStringAndSize(NULL, size + self.added)
        cdef char* out = PyBytes_AS_STRING(result)
        return None if _put_members(out, self, texts, size) == NULL else result


_head, _tail = _piece(envelope.HEAD), _piece(b"}" + envelope.TAIL)
_ipv4_type, _ipv6_type = _piece(envelope.IP_TYPE[4]), _piece(envelope.IP_TYPE[6])
cdef _Names _PLACE_NAMES = _Names(fields.PLACE_MEMBERS, b",")
cdef _Names _COUNTRY_NAMES = _Names(fields.COUNTRY_MEMBERS, b'"location":{')
cdef _Names _CURRENCY_NAMES = _Names(fields.CURRENCY_MEMBERS, b',"currency":{')
cdef _Names _NETWORK_NAMES = _Names(fields.NETWORK_MEMBERS)
cdef _Names _NAMES_WITHOUT_ASN = _Names(fields.NETWORK_MEMBERS[1:])
cdef dict _ERRORS = {error.code: error for error in (InvalidAddressError, PrivateAddressError)}
cdef str _IPV4 = "ipv4"
cdef str _IPV6 = "ipv6"
cdef Py_ssize_t _STRIDE = fmt.SPARSE_STRIDE  # intervals between two entries of the sparse index
cdef dict _FAILURES_JSON = {code: envelope.FAILURES_JSON[error] for code, error in _ERRORS.items()}


cdef inline char* _put(char* out, Text text, Py_ssize_t size) noexcept nogil:
    memcpy(out, text, size)
    return out + size


cdef inline char* _put_bytes(char* out, bytes text) noexcept:
    return _put(out, <Text>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))


cdef inline char* _copy(char* out, Text text, Py_ssize_t size) noexcept nogil:
    """Copy whole chunks; up to ``CHUNK`` bytes after the end are read and written."""
    cdef Py_ssize_t at = 0
    while at < size:
        memcpy(out + at, text + at, CHUNK)
        at += CHUNK
    return out + size


cdef inline char* _copy_piece(char* out, Piece* piece) noexcept nogil:
    return _copy(out, piece.text, piece.size)


cdef inline char* _copy_members(
    char* out, _Names names, _Table table, Text texts, Py_ssize_t size
) noexcept:
    """Write names and texts of a row alternately; return NULL if there are not as many texts.

    Up to ``CHUNK`` bytes after the end are written.
    """
    cdef Text end = texts + size
    cdef Py_ssize_t left
    cdef uint64_t stops
    cdef int at, count = names.count
    cdef Piece* pieces = names.pieces
    if not PY_LITTLE_ENDIAN or table.data + table.size - end < CHUNK:
        return _put_members(out, names, texts, size)
    for at in range(count):
        out = _copy_piece(out, &pieces[at])
        while True:
            # Copy up to the next line feed, or to the end of the row.
            left = end - texts
            memcpy(out, texts, CHUNK)
            # 15169\n"Google"\n has line feeds at 5 and 14: 5 bytes are the first text.
            stops = MARKS(texts, c"\n")
            # The bytes after the row belong to the next one.
            if left < CHUNK:
                stops &= (<uint64_t>1 << left) - 1
            if stops:
                break
            if left <= CHUNK:
                return out + left if at == count - 1 else NULL
            out, texts = out + CHUNK, texts + CHUNK
        if at == count - 1:
            return NULL
        out, texts = out + LOWEST_BIT(stops), texts + LOWEST_BIT(stops) + 1
    return NULL


cdef char* _put_members(char* out, _Names names, Text texts, Py_ssize_t size) noexcept:
    """Do the same as ``_copy_members``, for a row at the end of the file; write nothing after the end."""
    cdef Text end = texts + size
    cdef Text stop
    cdef int at, count = names.count
    for at in range(count):
        out = _put(out, names.pieces[at].text, names.pieces[at].size)
        stop = <Text>memchr(texts, c"\n", end - texts)
        if (stop == NULL) != (at == count - 1):
            return NULL
        if stop == NULL:
            stop = end
        out = _put(out, texts, stop - texts)
        texts = stop + 1
    return out


# --- envelopes


cdef struct Parts:
    # The parts of an answer that differ from row to row, and the size of the envelope at most.
    Text place, network
    Py_ssize_t place_size, network_size, size
    Piece* ip_type
    # At most 39 characters of IPv6, and what ``_copy`` reads after them: whole chunks of 16.
    char echo[64]
    Py_ssize_t echo_size


cdef bytes _json(State state, Match* answer, int64_t second):
    """Write the envelope into bytes of its size."""
    cdef Parts parts
    cdef tuple country = _country_json(state, answer.location)
    cdef bytes time = _time_json(state, answer.location, second)
    _read_parts(state, answer, country, time, &parts)
    cdef PyObject* result = _new_bytes(NULL, parts.size)
    cdef char* out = _bytes_start(result)
    cdef char* end
    try:
        # The tail is longer than a chunk, so bytes that ``_copy`` writes after an end stay inside.
        end = _write_json(state, answer, out, &parts, country, time)
        if end - out < parts.size:  # no asn
            Py_SET_SIZE(result, end - out)
            end[0] = 0
        return <bytes><object>result
    finally:
        Py_XDECREF(result)


cdef int _read_parts(
    State state, Match* answer, tuple country, bytes time, Parts* parts
) except -1:
    parts.place = state.locations.row(answer.location, &parts.place_size)
    PREFETCH(parts.place)
    parts.network = state.networks.row(answer.network, &parts.network_size)
    PREFETCH(parts.network)
    if answer.address.family == 6:
        parts.ip_type = &_ipv6_type
        parts.echo_size = _write_ipv6(parts.echo, &answer.address) - parts.echo
    else:
        parts.ip_type = &_ipv4_type
        parts.echo_size = _write_octets(parts.echo, answer.address.low) - parts.echo
    parts.size = (
        _head.size + parts.echo_size + parts.ip_type.size + PyBytes_GET_SIZE(<bytes>country[0])
        + parts.place_size + _PLACE_NAMES.added + PyBytes_GET_SIZE(time)
        + PyBytes_GET_SIZE(<bytes>country[1]) + _tail.size
        + parts.network_size + _NETWORK_NAMES.added
    )
    return 0


cdef char* _write_json(
    State state, Match* answer, char* out, Parts* parts, tuple country, bytes time
) except NULL:
    """Write the envelope and return its end."""
    out = _copy_piece(out, &_head)
    out = _copy(out, <Text>parts.echo, parts.echo_size)
    out = _copy_piece(out, parts.ip_type)
    out = _put_bytes(out, <bytes>country[0])
    out = _copy_members(out, _PLACE_NAMES, state.locations, parts.place, parts.place_size)
    if out == NULL:
        raise state.locations.damaged(answer.location)
    out = _put_bytes(_put_bytes(out, time), <bytes>country[1])
    if parts.network_size and parts.network[0] == c"\n":
        # Without an asn the row begins with a line feed, also dropped.
        out = _copy_members(
            out, _NAMES_WITHOUT_ASN, state.networks, parts.network + 1, parts.network_size - 1
        )
    else:
        out = _copy_members(out, _NETWORK_NAMES, state.networks, parts.network, parts.network_size)
    if out == NULL:
        raise state.networks.damaged(answer.network)
    return _put(out, _tail.text, _tail.size)
