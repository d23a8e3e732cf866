"""JSON in C: copies names and texts into bytes, and reads texts as Python values."""

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
        """Return names and texts of a row; a row with more or fewer texts raises SystemError."""
        cdef bytes result = PyBytes_FromStringAndSize(NULL, size + self.added)
        cdef char* out = PyBytes_AS_STRING(result)
        if _put_members(out, self, texts, size) != out + size + self.added:
            raise SystemError("a row has more or fewer texts than members")
        return result


cdef int _load_texts() except -1:
    global _head, _ipv4_type, _ipv6_type, _tail
    _head, _tail = _piece(envelope.HEAD), _piece(b"}" + envelope.TAIL)
    _ipv4_type, _ipv6_type = _piece(envelope.IP_TYPE[4]), _piece(envelope.IP_TYPE[6])
    return 0


cdef int _check_fields() except -1:
    """Raise ImportError if the contract has fields that this kernel was not written for.

    It takes numbers and names of fields from ``contract.fields``. It knows the groups, the members
    of ``time``, and that only the first field of a row can be left out.
    """
    cdef tuple top = ("ip", "ip_type", "location", "time", "currency", "network")
    cdef tuple time = (
        *("zone", "abbr", "utc_offset", "utc_offset_seconds"),
        *("current_time", "current_timestamp", "is_dst"),
    )
    others = [field.path for field in fields.FIELDS if field.optional]
    if (
        tuple(fields.PATHS[:len(top)]) != top
        or fields.GROUPS != top[2:]
        or fields.TIME_MEMBERS != time
        or others != [fields.in_table(fields.NETWORK)[0].path]
    ):
        raise ImportError("the compiled kernel was built for other fields than contract/fields.py has")
    return 0


cdef tuple _lists_of(str table):
    """Return the members that are lists: each answer needs a copy of them."""
    return tuple([field.member for field in fields.in_table(table) if field.type == fields.TEXTS])


_check_fields()
_load_texts()
cdef _Names _PLACE_NAMES = _Names(fields.PLACE_MEMBERS, b",")
cdef _Names _COUNTRY_NAMES = _Names(fields.COUNTRY_MEMBERS, b'"location":{')
cdef _Names _CURRENCY_NAMES = _Names(fields.CURRENCY_MEMBERS, b',"currency":{')
cdef _Names _NETWORK_NAMES = _Names(fields.NETWORK_MEMBERS)
cdef _Names _NAMES_WITHOUT_ASN = _Names(fields.NETWORK_MEMBERS_WITHOUT_ASN)
cdef tuple _COUNTRY_LISTS = _lists_of(fields.COUNTRY)
cdef tuple _PLACE_LISTS = _lists_of(fields.LOCATION)
cdef tuple _NETWORK_LISTS = _lists_of(fields.NETWORK)
cdef bint _place_has_lists = bool(_PLACE_LISTS), _network_has_lists = bool(_NETWORK_LISTS)
cdef tuple _PLACE = fields.PLACE_MEMBERS
cdef tuple _NETWORK = fields.NETWORK_MEMBERS
cdef dict _NO_NETWORK = dict.fromkeys(fields.NETWORK_MEMBERS)
cdef dict _ERRORS = {error.code: error for error in (InvalidAddressError, PrivateAddressError)}
cdef str _IPV4 = "ipv4"
cdef str _IPV6 = "ipv6"
cdef Py_ssize_t _STRIDE = fmt.SPARSE_STRIDE  # intervals between two entries of the sparse index
cdef bytes _INVALID_JSON = envelope.FAILURES_JSON[InvalidAddressError]
cdef bytes _PRIVATE_JSON = envelope.FAILURES_JSON[PrivateAddressError]


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
    char* out, _Names names, _Texts table, Text texts, Py_ssize_t size
) noexcept:
    """Write names and texts of a row alternately; return NULL if there are not as many texts.

    Up to ``CHUNK`` bytes after the end are written.
    """
    cdef Text end = texts + size
    cdef Py_ssize_t left
    cdef uint64_t stops
    cdef int at, count = names.count
    cdef Piece* pieces = names.pieces
    if not PY_LITTLE_ENDIAN or <Text>table.data.data + table.data.count - end < CHUNK:
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


cdef Text _after_texts(Text texts, Text end, int count) noexcept nogil:
    """Return the begin of the text after the first ones of a row; NULL if there is none."""
    cdef Text stop
    # "a\nb\nc": a count of 1 skips "a\n".
    while count:
        stop = <Text>memchr(texts, c"\n", end - texts)
        if stop == NULL:
            return NULL
        texts, count = stop + 1, count - 1
    return texts


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


#: The decoder of ``json.loads``, without the detection of an encoding.
cdef object _scan = json.JSONDecoder().raw_decode


cdef object _value(Text text, Py_ssize_t size):
    """Return the Python value of a JSON text."""
    cdef Py_ssize_t at = 0, point = -1
    cdef uint64_t digits = 0
    cdef bint negative
    cdef double number
    if size >= 2 and text[0] == c'"':
        if memchr(text + 1, c"\\", size - 2) == NULL:
            return PyUnicode_DecodeUTF8(<const char*>text + 1, size - 2, NULL)
        return _scan(text[:size].decode())[0]
    if size == 4 and text[0] == c"n":
        return None
    negative = size > 0 and text[0] == c"-"
    at = negative
    while at < size:
        # -33.865: digits 33865, three of them after the point, so 33865 / 10^3.
        if text[at] == c"." and point < 0:
            point = at
        elif text[at] - 48u <= 9:
            digits = digits * 10 + (text[at] - 48u)
        else:
            break
        at += 1
    # Numbers of up to 15 digits and 10^15 are exact doubles, so one division rounds correctly.
    if at < size or size - negative > 16:
        return _scan(text[:size].decode())[0]
    if point < 0:
        return -<int64_t>digits if negative else digits
    number = <double>digits / _powers[size - point - 1]
    return -number if negative else number


cdef double _powers[17]
for _at in range(17):
    _powers[_at] = float(10**_at)
