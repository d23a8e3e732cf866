"""An answer as an object: an immutable view of rows, whose members are read on access.

Strategy: an answer holds the state, the rows that ``_find`` found, and the second. A view of a group
holds the answer and finds the code of a path by the name of its member: reading one member is as
fast as ``get``. ``answers`` has the rest of both kernels, off the hot path.
"""

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object container, object key) except? NULL
    object PyObject_GenericGetAttr(object owner, object name)


cdef object _rest():
    """Return the module of everything off the hot path; a first lookup does not load it."""
    from geolookup.kernel import answers

    return answers


# Answers and views refer to nothing that could refer back: the garbage collector need not visit
# them.
@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Answer:
    """The answer for one address; see ``python_answer.Answer``."""

    cdef State state  # None: no answer, or one that was restored
    cdef Match found
    cdef int64_t second
    cdef int status  # of ``_find``
    cdef object given  # the address, if it was given as a text; data and prefix of a restored answer
    cdef State owner  # the state, if it has own columns
    cdef dict own_members  # of a restored answer, if its dataset has own columns

    def __getattribute__(self, name):
        # The names in a program are interned, so comparing pointers finds the groups at once.
        if name is "location":
            return _view_of(self, "location", _LOCATION_CODES)
        if name is "network":
            return _view_of(self, "network", _NETWORK_CODES)
        if name is "time":
            return _view_of(self, "time", _TIME_CODES)
        if name is "currency":
            return _view_of(self, "currency", _CURRENCY_CODES)
        return PyObject_GenericGetAttr(self, name)

    def __getattr__(self, name):
        raise _rest().missing(name, None)

    @property
    def ip(self):
        """The address, as ``data.ip`` of the envelope; None if it is malformed or private."""
        return _read(self, IP, "ip", None)

    @property
    def ip_type(self):
        """``"ipv4"`` or ``"ipv6"``; None if the address is malformed or private."""
        return _read(self, IP_TYPE, "ip_type", None)

    @property
    def location(self):
        """Continent, country and place."""
        return _view_of(self, "location", _LOCATION_CODES)

    @property
    def time(self):
        """The local time at the instant of the answer."""
        return _view_of(self, "time", _TIME_CODES)

    @property
    def currency(self):
        """The currency of the country."""
        return _view_of(self, "currency", _CURRENCY_CODES)

    @property
    def network(self):
        """Who announces and uses the network."""
        return _view_of(self, "network", _NETWORK_CODES)

    @property
    def own(self):
        """The own columns of the dataset, for a private address too."""
        if self.owner is not None:
            return _view_of(self, "own", self.owner.own.member_codes)
        return _view_of(self, "own", dict.fromkeys(self.own_members or (), OWN))

    @property
    def prefix(self):
        """The largest aligned network around the address with one answer."""
        if self.state is not None:
            return _prefix(self.state, &self.found.address)
        return None if self.given is None else _rest().restored_prefix(self.given[1])

    @property
    def success(self):
        """Whether there is an answer: the address is well-formed and public."""
        return bool(self)

    @property
    def error_code(self):
        """10001 (malformed address), 10002 (private address), or None."""
        return None if bool(self) else _error_of(self).code

    @property
    def error_message(self):
        """The message of the error code, or None."""
        return None if bool(self) else _error_of(self).message

    def to_dict(self):
        """Return the envelope, as ``lookup`` does; the caller may change it."""
        if self.state is not None:
            return _success(self.state, self.given, &self.found, self.second)
        if self.given is not None:
            return envelope.success(_rest().copy_data(self.given[0]))
        return envelope.failure(_error_of(self))

    def __bool__(self):
        return self.state is not None or self.given is not None

    def __eq__(self, other):
        return _rest().equal(self, other)

    def __hash__(self):
        return _rest().hash_of(self)

    def __repr__(self):
        return _rest().text(self)

    def _repr_html_(self):
        return _rest().card(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _rest().reduce(self)


cdef object _error_of(Answer answer):
    return PrivateAddressError if answer.status == PRIVATE else InvalidAddressError


cdef Answer _answer(State state, object ip, int64_t second):
    cdef Answer answer = Answer.__new__(Answer)
    answer.status = _find(state, ip, &answer.found)
    if answer.status == INVALID:
        _check_type("answer", ip)
    if answer.status == 0:
        answer.state, answer.second = state, second
        if type(ip) is str:
            answer.given = ip
    if state.own is not None:
        answer.owner = state
    return answer


def restore(dict data, str prefix, int code, dict own=None):
    """Return an answer from the pickled state of one; see ``python_answer.restore``."""
    cdef Answer answer = Answer.__new__(Answer)
    answer.status, answer.own_members = code, own
    if data is not None:
        answer.given = data, prefix
    return answer


cdef object _read(Answer answer, int code, object name, object group):
    """Return the value of a path; None for an address without an answer."""
    if answer.state is not None:
        return _project(answer.state, &answer.found, code, answer.given, answer.second)
    return None if answer.given is None else _rest().member_of(answer.given[0], name, group)


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class View:
    """A group of an answer; see ``python_answer.View``."""

    cdef Answer answer
    cdef dict codes
    cdef str group

    def __getattribute__(self, name):
        cdef PyObject* found
        cdef int code
        # A view that its class has made has no answer.
        if self.answer is None:
            return PyObject_GenericGetAttr(self, name)
        found = PyDict_GetItemWithError(self.codes, name)
        if found == NULL:
            return PyObject_GenericGetAttr(self, name)
        code = <int><object>found
        if self.answer.state is None or code == _CURRENT_TIME or code >= OWN:
            return _member_value(self, code, name)
        return _project(
            self.answer.state, &self.answer.found, code, self.answer.given, self.answer.second
        )

    @property
    def _group(self):
        return self.group or ""  # of a view that its class has made

    def __getattr__(self, name):
        raise _rest().missing(name, self._group, tuple(self._names))

    def __dir__(self):
        return [*object.__dir__(self), *self.codes]

    @property
    def _names(self):
        return [] if self.codes is None else [*self.codes]

    def __eq__(self, other):
        return _rest().equal_views(self, other)

    def __hash__(self):
        return _rest().hashed_view(self)

    def __repr__(self):
        return _rest().view_text(self)

    def __reduce__(self):
        return getattr, (self.answer, self._group)


cdef object _member_value(View view, int code, object name):
    """Return the value of a member that ``_project`` does not have."""
    if code >= OWN:
        return _own_member(view.answer, name)
    if code != _CURRENT_TIME:
        return _read(view.answer, code, name, view.group)
    if view.answer.state is not None:
        return _local_time(view.answer.state, view.answer.found.location, view.answer.second)
    return _rest().local_time(_read(view.answer, code, name, view.group))


cdef inline View _view_of(Answer answer, str group, dict codes):
    cdef View view = View.__new__(View)
    view.answer, view.group, view.codes = answer, group, codes
    return view


cdef object _own_member(Answer answer, object name):
    cdef Match found = answer.found
    if answer.owner is None:
        return _rest().copy_value(answer.own_members[name])
    if answer.status == INVALID:
        return None
    _find_own_row(answer.owner, &found)
    return _own_value(answer.owner, found.own, answer.owner.own.member_codes[name])


cdef dict _codes_of(str group):
    """Return the code of each member of a group."""
    return {name: _CODES[f"{group}.{name}"] for name in fields.members(fields.FIELDS, group)}


cdef dict _LOCATION_CODES = _codes_of("location")
cdef dict _TIME_CODES = _codes_of("time")
cdef dict _CURRENCY_CODES = _codes_of("currency")
cdef dict _NETWORK_CODES = _codes_of("network")
cdef int _CURRENT_TIME = _CODES["time.current_time"]
