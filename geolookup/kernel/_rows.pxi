"""The rows of tables: their JSON texts, the values of members, and rows as dicts.

A row has a text of each member. Every bound is checked at each read; a value that is not of its
member's type is a DatasetError, as ``dataset.rows`` defines it.

Each table has a direct-mapped cache of rows as templates: the slot of a row is its number modulo
``CACHE_SIZE``. A row enters its slot only if the slot's last miss was the same row. With 512 slots,
rows 5 and 517 share slot 5. If 5 is cached, the misses 517, 1029, 517 leave it in the slot, and 517,
517 replace it. So a pass over distinct addresses does not evict frequent rows.
"""

cdef enum:
    CACHE_SIZE = 512  # a power of two; more templates do not fit the L2 cache

cdef enum:
    OTHER, STRING, REAL, WHOLE  # the forms of values that are read in C; OTHER is the rest

#: The decoder of ``json.loads``, without the detection of an encoding.
cdef object _scan = json.JSONDecoder().raw_decode

cdef double _powers[17]
for _at in range(17):
    _powers[_at] = float(10**_at)


@cython.final
cdef class _Cached:
    """A row as a template that answers copy."""

    cdef uint32_t row
    cdef dict template

    def __cinit__(self, uint32_t row, dict template):
        self.row, self.template = row, template


@cython.final
cdef class _Table:
    """The rows of a table; ``lists`` are the members of a dict of a row that are lists."""

    cdef object source  # ``dataset.rows.Texts``
    cdef _Column offsets_column, data_column
    cdef const uint32_t* offsets
    cdef Text data
    cdef Py_ssize_t count, size
    cdef tuple names, lists
    cdef dict unknown  # a row without any value
    cdef bytes forms  # of the members
    cdef bint can_omit_first  # from a dict, if it is unknown
    cdef list cache
    cdef uint32_t* misses  # by slot: the row of the last miss

    def __cinit__(self, texts, tuple lists):
        self.misses = <uint32_t*>calloc(CACHE_SIZE, sizeof(uint32_t))
        if self.misses == NULL:
            raise MemoryError
        self.source, self.lists = texts, lists
        self.offsets_column, self.data_column = _Column(texts.offsets), _Column(texts.data)
        self.offsets, self.data = <const uint32_t*>self.offsets_column.data, <Text>self.data_column.data
        self.count, self.size = self.offsets_column.count - 1, self.data_column.count
        self.names = tuple([field.member for field in texts.fields])
        self.unknown = dict.fromkeys(self.names)
        self.forms = bytes([_form(field.type) for field in texts.fields])
        self.can_omit_first = texts.fields[0].optional
        self.cache = [None] * CACHE_SIZE

    def __dealloc__(self):
        free(self.misses)

    cdef inline Text row(self, Py_ssize_t row, Py_ssize_t* size) except NULL:
        """Return the text of a row."""
        if row >= self.count or not self.offsets[row] <= self.offsets[row + 1] <= self.size:
            self.source.texts(row)  # raises
        size[0] = self.offsets[row + 1] - self.offsets[row]
        return self.data + self.offsets[row]

    cdef inline void prefetch(self, Py_ssize_t row) noexcept nogil:
        """Prefetch where the text of a row lies."""
        if row < self.count:
            PREFETCH(&self.offsets[row])

    cdef inline void prefetch_text(self, Py_ssize_t row) noexcept nogil:
        """Prefetch the text of a row, up to three cache lines."""
        cdef Py_ssize_t begin, end
        if row < self.count:
            begin, end = self.offsets[row], self.offsets[row + 1]
            if end <= self.size:
                PREFETCH(self.data + begin)
                if begin + LINE < end:
                    PREFETCH(self.data + begin + LINE)
                if begin + 2 * LINE < end:
                    PREFETCH(self.data + begin + 2 * LINE)

    cdef object damaged(self, Py_ssize_t row):
        return DatasetError(self.source.path, f"row {row} is damaged", REBUILD)

    cdef object member(self, Py_ssize_t row, int number):
        """Return the value of one member of a row; None if it is unknown."""
        cdef Py_ssize_t size
        cdef Text text = self.row(row, &size)
        cdef Text end = text + size
        cdef Text stop
        text = _after_texts(text, end, number)
        if text == NULL:
            raise self.damaged(row)
        stop = <Text>memchr(text, c"\n", end - text)
        return self.value(row, number, text, (end if stop == NULL else stop) - text)

    cdef dict members(self, uint32_t row, dict base):
        """Return a row as a dict that the caller may change: ``base`` with its values."""
        cdef Py_ssize_t slot = row & (CACHE_SIZE - 1)
        cdef dict members
        cached = self.cache[slot]
        if cached is not None and (<_Cached>cached).row == row:
            members = PyDict_Copy((<_Cached>cached).template)
        else:
            members = PyDict_Copy(base)
            self.fill(row, members)
            if self.misses[slot] == row:
                self.cache[slot] = _Cached(row, PyDict_Copy(members))
            else:
                self.misses[slot] = row
        for name in self.lists:
            value = members[name]
            if value is not None:
                members[name] = (<list?>value)[:]
        return members

    cdef int fill(self, Py_ssize_t row, dict target) except -1:
        """Set the members of a row; remove the first one if it is unknown and can be left out."""
        cdef Py_ssize_t size, at, last = len(self.names) - 1
        cdef Text text = self.row(row, &size)
        cdef Text end = text + size
        cdef Text stop
        for at in range(last + 1):
            stop = <Text>memchr(text, c"\n", end - text)
            # The last text ends the row without a line feed; any other must have one.
            if (stop == NULL) != (at == last):
                raise self.damaged(row)
            if stop == NULL:
                stop = end
            value = self.value(row, at, text, stop - text)
            if value is None and at == 0 and self.can_omit_first:
                target.pop(self.names[0], None)
            else:
                target[self.names[at]] = value
            text = stop + 1
        return 0

    cdef object value(self, Py_ssize_t row, Py_ssize_t number, Text text, Py_ssize_t size):
        """Return the value of a JSON text."""
        cdef int form = (<const unsigned char*>self.forms)[number]
        if form == STRING and size >= 2 and text[0] == c'"' == text[size - 1]:
            if memchr(text + 1, c"\\", size - 2) == NULL:
                # Damaged UTF-8 does not raise.
                return PyUnicode_DecodeUTF8(<const char*>text + 1, size - 2, "replace")
        elif size == 4 and memcmp(text, b"null", 4) == 0:
            return None
        elif form == REAL or form == WHOLE:
            value = _number(text, size, form == REAL)
            if value is not None:
                return value
        if size == 0 and number == 0 and self.can_omit_first:
            return None
        return self.parsed(row, number, text[:size])

    cdef object parsed(self, Py_ssize_t row, Py_ssize_t number, bytes text):
        """Return the value of a text that is seldom: a list, a string with an escape, an exponent."""
        try:
            decoded = text.decode()
            value, end = _scan(decoded)
            if end == len(decoded) and row_codec.is_of(self.source.fields[number], value):
                return value
        except (ValueError, RecursionError):
            pass
        raise self.damaged(row)


cdef int _form(str type):
    if type == fields.TEXT:
        return STRING
    if type == fields.REAL:
        return REAL
    return OTHER if type in (fields.TEXTS, fields.BOOLEAN) else WHOLE


cdef object _number(Text text, Py_ssize_t size, bint can_have_point):
    """Return a number of up to 15 digits; None for any other text."""
    cdef bint negative = size > 0 and text[0] == c"-"
    cdef Py_ssize_t at = negative, point = -1
    cdef uint64_t digits = 0
    cdef double number
    if size == negative or size - negative > 16:
        return None
    while at < size:
        # -33.865: digits 33865, three of them after the point, so 33865 / 10^3.
        if text[at] == c"." and point < 0 and can_have_point:
            point = at
        elif text[at] - 48u <= 9:
            digits = digits * 10 + (text[at] - 48u)
        else:
            return None
        at += 1
    if point < 0:
        return -<int64_t>digits if negative else digits
    # Numbers of up to 15 digits and 10^15 are exact doubles, so one division rounds correctly.
    number = <double>digits / _powers[size - point - 1]
    return -number if negative else number


cdef Text _after_texts(Text text, Text end, Py_ssize_t count) noexcept nogil:
    """Return the begin of the text after the first ones of a row; NULL if there is none."""
    cdef Text stop
    # "a\nb\nc": a count of 1 skips "a\n".
    while count:
        stop = <Text>memchr(text, c"\n", end - text)
        if stop == NULL:
            return NULL
        text, count = stop + 1, count - 1
    return text
