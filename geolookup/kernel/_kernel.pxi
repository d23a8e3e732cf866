"""The public class: single lookups, and fields of an answer by their names."""

cdef class Kernel:
    """Single lookups on one dataset."""

    # A list of one state: replacing an item is atomic, even without the interpreter lock.
    cdef list _current
    #: The name of this implementation.
    kernel = "compiled"

    def __cinit__(self):
        self._current = [None]

    def __init__(self, dataset):
        self._swap(State(dataset))

    def _open_state(self):
        state = self._current[0]
        if state is None:
            raise ClosedError
        return state

    def _swap(self, state):
        """Replace the state; None closes."""
        self._current[0] = state

    def lookup(self, ip, *, at=None, bint clean=False):
        cdef State state = self._open()
        cdef int64_t second = c_time(NULL) if at is None else instant(at)
        cdef Match answer
        if clean:
            ip = _cleaned(ip)
        cdef int status = _find(state, ip, &answer)
        if status:
            return envelope.failure(_ERRORS[status])
        return _success(state, ip, &answer, second)

    def lookup_json(self, ip, *, at=None, bint clean=False):
        cdef State state = self._open()
        cdef int64_t second = c_time(NULL) if at is None else instant(at)
        cdef Match answer
        if clean:
            ip = _cleaned(ip)
        cdef int status = _find(state, ip, &answer)
        if status:
            return _FAILURES_JSON[status]
        return _json(state, &answer, second)

    def get(self, ip, field, /, *more, default=None, at=None, bint clean=False):
        cdef State state = self._open()
        cdef Match answer
        cdef int code
        cdef int64_t second = 0 if at is None else instant(at)
        if clean:
            ip = _cleaned(ip)
        if more or not isinstance(field, str):
            return _get_several(state, field, more, ip, default, at)
        code = _field_code(state, field, "get")
        if _find_own(state, ip, &answer) if code >= OWN_GROUP else _find(state, ip, &answer):
            _check_type("get", ip)
            return default
        if at is None and _is_time(code):
            second = c_time(NULL)
        value = _project(state, &answer, code, ip, second)
        return default if value is None else value

    def answer(self, ip, *, at=None, bint clean=False):
        cdef State state = self._open()
        if clean:
            ip = _cleaned(ip)
        return _answer(state, ip, c_time(NULL) if at is None else instant(at))

    def own(self, ip, *, bint clean=False):
        cdef State state = self._open()
        cdef Match answer
        _own_table(state, "own")
        if clean:
            ip = _cleaned(ip)
        return None if _find_own(state, ip, &answer) else _own_value(state, answer.own, OWN_GROUP)

    cdef State _open(self):
        state = self._current[0]
        return <State?>self._open_state() if state is None else <State>state


cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char* ml_doc
    ctypedef struct PyMethodDescrObject:
        PyMethodDef* d_method

cdef list _texts = []  # C points into them


def document(texts):
    """Set the docstrings of the calls of ``Kernel``, by their names."""
    cdef PyMethodDescrObject* method
    cdef bytes whole
    for name, text in texts.items():
        call = vars(Kernel)[name]
        if type(call) is not type(str.join):  # a method of C, as without binding
            raise TypeError(name)
        method = <PyMethodDescrObject*>call
        # The signature, "--", and the text: inspect.signature reads the first part.
        whole = <bytes>method.d_method.ml_doc + text.encode()
        _texts.append(whole)
        method.d_method.ml_doc = whole


cdef enum:
    # The codes of fields: those that are not members of a group, then the members of each group or
    # table in turn, from TIME, COUNTRY, CURRENCY, PLACE and NETWORK; CODES is their number.
    IP, IP_TYPE, LOCATION_GROUP, CURRENCY_GROUP, NETWORK_GROUP, TIME_GROUP, TIME

cdef int COUNTRY = TIME + len(fields.TIME_MEMBERS)
cdef int CURRENCY = COUNTRY + len(fields.COUNTRY_MEMBERS)
cdef int PLACE = CURRENCY + len(fields.CURRENCY_MEMBERS)
cdef int NETWORK = PLACE + len(fields.PLACE_MEMBERS)
cdef int CODES = NETWORK + len(fields.NETWORK_MEMBERS)
# Then the own columns of a dataset: all of them, and each.
cdef int OWN_GROUP = CODES
cdef int OWN = OWN_GROUP + 1


cdef inline int _check_type(str call, object ip) except -1:
    if type(ip) is not str:
        _rest().check_type(call, ip)
    return 0


cdef object _cleaned(object ip):
    from geolookup.contract.cleaning import clean_text  # imports re: a lookup does not need it

    return clean_text(ip)


cdef int _find(State state, object ip, Match* answer) except -1:
    """Parse an address and find its rows; return 0, INVALID or PRIVATE."""
    cdef int status
    if type(ip) is str:
        if not _read_text(ip, &answer.address):
            return INVALID
    elif not _read_object(ip, &answer.address):
        return INVALID
    status = _resolve(state, answer)
    if status == DAMAGED:
        raise _outside(state)
    if status == 0:
        _prefetch_rows(state, answer)
    return status


cdef inline bint _read_text(object ip, Address* address) noexcept:
    """Parse a text, copied to where vectors may read the bytes after it."""
    # On the stack, padded with NUL: no address has one.
    cdef unsigned char text[GROUPS_ROOM]
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(ip)
    # In a compact ASCII string, a character is a byte.
    if size > LONGEST or not PyUnicode_IS_COMPACT_ASCII(ip):
        return False
    memcpy(text, PyUnicode_1BYTE_DATA(ip), size)
    memset(text + size, 0, GROUPS_ROOM - size)
    return _parse_one(text, GROUPS_ROOM, 0, size, address)


cdef bint _read_object(object ip, Address* address) except -1:
    try:
        family, value = parse_any(ip)
    except InvalidAddressError:
        return False
    address.family = family
    address.high, address.low = value >> 64, value & 0xFFFFFFFFFFFFFFFF
    return True


cdef dict _SUCCESS = envelope.success(None)


cdef dict _success(State state, object ip, Match* answer, int64_t second):
    """Return the envelope of an address whose rows are known."""
    cdef dict answered = PyDict_Copy(_SUCCESS)
    answered["data"] = _data(state, ip, answer, second)
    return answered


cdef str _echo(object ip, Match* answer):
    """Return data.ip: the input if it is IPv4 text, else the canonical text."""
    cdef char written[64]
    cdef char* end
    # An IPv4 text that parses is canonical: 1.2.3.4 has one spelling only.
    if answer.address.family == 4:
        if type(ip) is str:
            return <str>ip
        end = _write_octets(written, answer.address.low)
    else:
        end = _write_ipv6(written, &answer.address)
    return PyUnicode_DecodeUTF8(written, end - written, NULL)


cdef tuple _get_several(State state, object field, tuple more, ip, default, at):
    """Return the values of several fields; see ``Kernel.get``."""
    cdef Match answer
    cdef int code, status = _find(state, ip, &answer)
    cdef bint has_own_row = False
    cdef int64_t second = 0 if at is None else instant(at)
    cdef tuple values = _codes_of_fields(state, field, more)  # values take the places of the codes
    cdef Py_ssize_t number
    if status == INVALID:
        _check_type("get", ip)
    elif status == 0:
        # The texts of both tables come from memory at the same time.
        for held in values:
            code = held
            if NETWORK <= code < CODES:
                state.networks.prefetch_text(answer.network)
            elif PLACE <= code < NETWORK:
                state.locations.prefetch_text(answer.location)
    for number in range(len(values)):
        held = values[number]
        code, value = held, None
        if code < OWN_GROUP:
            if status == 0:
                if at is None and not second and _is_time(code):
                    second = c_time(NULL)
                value = _project(state, &answer, code, ip, second)
        elif status != INVALID:  # own columns are known for private addresses too
            if not has_own_row:
                has_own_row = not _find_own_row(state, &answer)
            value = _own_value(state, answer.own, code)
        if value is None:
            value = default
        Py_INCREF(value)
        PyTuple_SET_ITEM(values, number, value)
        Py_DECREF(held)
    return values


cdef tuple _codes_of_fields(State state, object field, tuple more):
    """Return the codes of the arguments of ``get``: several names, or one list of names."""
    cdef tuple codes, names = more
    cdef Py_ssize_t number, count
    cdef bint is_several = bool(more)
    if not is_several:
        names = tuple(field) if type(field) is list else _names(field)
    count = len(names) + is_several
    codes = PyTuple_New(count)
    for number in range(count):
        name = field if is_several and number == 0 else names[number - is_several]
        code = <object>_field_code(state, name, "get")
        Py_INCREF(code)
        PyTuple_SET_ITEM(codes, number, code)
    return codes


cdef tuple _names(object field):
    from geolookup.contract.paths import names_of

    return names_of((field,))


cdef int _field_code(State state, object name, str call) except -1:
    code = _CODES.get(name) if isinstance(name, str) else None
    if code is None and state.own is not None and isinstance(name, str):
        code = state.own.codes.get(name)
    if code is None:
        from geolookup.contract.paths import unknown_field

        raise unknown_field(name, call, state.dataset.schema.fields)
    return code


cdef inline bint _is_time(int code) noexcept:
    # TIME <= code < COUNTRY: the members of time lie between these codes.
    return code == TIME_GROUP or TIME <= code < COUNTRY


cdef object _project(State state, Match* answer, int code, object ip, int64_t second):
    """Return the value of a field or group by its code."""
    if code >= OWN_GROUP:
        return _own_value(state, answer.own, code)
    if code >= NETWORK:
        return state.networks.member(answer.network, code - NETWORK)
    if code >= PLACE:
        return state.locations.member(answer.location, code - PLACE)
    if code >= COUNTRY:  # the members of the currency follow in the same row
        value = _country(state, answer.location).values[code - COUNTRY]
        return (<list>value)[:] if type(value) is list else value
    if code >= TIME:
        return _time(state, answer.location, second)[_TIME_MEMBERS[code - TIME]]
    if code == IP:
        return _echo(ip, answer)
    if code == IP_TYPE:
        return _IPV4 if answer.address.family == 4 else _IPV6
    if code == LOCATION_GROUP:
        return _location(state, answer)
    if code == TIME_GROUP:
        return PyDict_Copy(_time(state, answer.location, second))
    if code == CURRENCY_GROUP:
        return PyDict_Copy(_country(state, answer.location).currency)
    return state.networks.members(answer.network, state.networks.unknown)


cdef dict _location(State state, Match* answer):
    return state.locations.members(answer.location, _country(state, answer.location).location)


cdef dict _data(State state, object ip, Match* answer, int64_t second):
    """Return the data member of the envelope."""
    state.locations.prefetch_text(answer.location)
    state.networks.prefetch_text(answer.network)
    return {
        "ip": _echo(ip, answer),
        "ip_type": _IPV4 if answer.address.family == 4 else _IPV6,
        "location": _location(state, answer),
        "time": PyDict_Copy(_time(state, answer.location, second)),
        "currency": PyDict_Copy(_country(state, answer.location).currency),
        "network": state.networks.members(answer.network, state.networks.unknown),
    }


cdef tuple _COUNTRY_MEMBERS = fields.COUNTRY_MEMBERS
cdef tuple _CURRENCY_MEMBERS = fields.CURRENCY_MEMBERS
cdef tuple _TIME_MEMBERS = fields.TIME_MEMBERS
cdef dict _CODES = {
    "ip": IP,
    "ip_type": IP_TYPE,
    "location": LOCATION_GROUP,
    "time": TIME_GROUP,
    "currency": CURRENCY_GROUP,
    "network": NETWORK_GROUP,
}
for _group, _members, _code in (
    ("time", fields.TIME_MEMBERS, TIME),
    ("location", fields.COUNTRY_MEMBERS, COUNTRY),
    ("location", fields.PLACE_MEMBERS, PLACE),
    ("currency", fields.CURRENCY_MEMBERS, CURRENCY),
    ("network", fields.NETWORK_MEMBERS, NETWORK),
):
    for _at, _name in enumerate(_members):
        _CODES[f"{_group}.{_name}"] = _code + _at
_CODES.update({_name: _CODES[_path] for _name, _path in fields.NAMES.items()})
