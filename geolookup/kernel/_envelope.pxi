"""Answers: rows of the tables as objects, and the envelope as a dict or as JSON bytes."""

cdef Py_ssize_t _country_row(State state, uint32_t location_row) except -1:
    """Return the row of the country of a location row."""
    cdef Py_ssize_t row
    if location_row >= state.location_count:
        raise _outside(state)
    row = state.location_countries[location_row]
    if row >= state.country_texts.count:
        raise _outside(state)
    return row


cdef Text _currency_texts(State state, Py_ssize_t row, Text* texts, Text* end) except NULL:
    """Set the begin and end of a country's row; return where the texts of its currency begin."""
    cdef Py_ssize_t size
    cdef Text currency
    texts[0] = state.country_texts.row(row, &size)
    end[0] = texts[0] + size
    currency = _after_texts(texts[0], end[0], len(_COUNTRY_MEMBERS))
    if currency == NULL:
        raise _outside(state)
    return currency


cdef _Country _country(State state, uint32_t location_row):
    """Return the templates of a location row's country, made on first use."""
    cdef Py_ssize_t row = _country_row(state, location_row)
    cdef Text texts, currency, end
    cdef dict location, money
    country = state.countries[row]
    if country is None:
        currency = _currency_texts(state, row, &texts, &end)
        location, money = {}, {}
        # Up to the line feed between both.
        _fill(state, location, _COUNTRY_MEMBERS, texts, currency - 1 - texts)
        _fill(state, money, _CURRENCY_MEMBERS, currency, end - currency)
        location.update(dict.fromkeys(_PLACE))
        country = state.countries[row] = _Country(location, money)
    return <_Country>country


cdef _CountryJson _country_json(State state, uint32_t location_row):
    """Return the JSON pieces of a location row's country, made on first use."""
    cdef Py_ssize_t row = _country_row(state, location_row)
    cdef Text texts, currency, end
    country = state.countries_json[row]
    if country is None:
        currency = _currency_texts(state, row, &texts, &end)
        country = state.countries_json[row] = _CountryJson(
            _COUNTRY_NAMES.json(texts, currency - 1 - texts),
            _CURRENCY_NAMES.json(currency, end - currency) + b'},"network":{',
        )
    return <_CountryJson>country


cdef _Period _period(State state, Py_ssize_t zone, int64_t second):
    """Return the period of a zone that holds a second."""
    cached = state.periods[zone]
    if cached is not None and (<_Period>cached).start <= second < (<_Period>cached).end:
        return <_Period>cached
    name = state.zones[zone]
    read = state.periods[zone] = _Period(name, period(name, second))
    return <_Period>read


cdef dict _location(State state, uint32_t row, _Country country, Text texts, Py_ssize_t size):
    """Return a location object that the caller may change; ``texts`` are the row's."""
    # The lowest bits of a row are its slot: rows 5, 517 and 1029 share slot 5 of 512.
    cdef Py_ssize_t at, slot = row & (CACHE_SIZE - 1)
    cdef dict location
    cached = state.location_cache[slot]
    if cached is not None and (<_Cached>cached).row == row:
        location = PyDict_Copy((<_Cached>cached).template)
    else:
        location = PyDict_Copy(country.location)
        _fill(state, location, _PLACE, texts, size)
        if state.location_misses[slot] == row:  # the second miss in a row of this slot: cache it
            state.location_cache[slot] = _Cached(row, PyDict_Copy(location))
        else:
            state.location_misses[slot] = row
    for at in range(country.list_count):
        # [:] copies: the templates of a country are shared by all its answers.
        location[country.list_names[at]] = (<list>country.lists[at])[:]
    if _place_has_lists:
        _copy_lists(location, _PLACE_LISTS)
    return location


cdef dict _network(State state, uint32_t row, Text texts, Py_ssize_t size):
    """Return a network object that the caller may change; ``texts`` are the row's."""
    cdef Py_ssize_t slot = row & (CACHE_SIZE - 1)
    cdef dict network
    cached = state.network_cache[slot]
    if cached is not None and (<_Cached>cached).row == row:
        network = PyDict_Copy((<_Cached>cached).template)
        if _network_has_lists:
            _copy_lists(network, _NETWORK_LISTS)
        return network
    network = PyDict_Copy(_NO_NETWORK)
    _fill(state, network, _NETWORK, texts, size)
    if state.network_misses[slot] == row:
        state.network_cache[slot] = _Cached(row, PyDict_Copy(network))
        _copy_lists(network, _NETWORK_LISTS)
    else:
        state.network_misses[slot] = row
    return network


cdef inline int _copy_lists(dict target, tuple names) except -1:
    """Copy the lists of a template: a caller's changes must not reach the cache."""
    for name in names:
        value = target[name]
        if value is not None:
            target[name] = value.copy()
    return 0


cdef int _fill(State state, dict target, tuple names, Text texts, Py_ssize_t size) except -1:
    """Set the members of a row from its JSON texts; remove a member without text."""
    cdef Text end = texts + size
    cdef Text stop
    cdef Py_ssize_t at, count = len(names)
    for at in range(count):
        stop = <Text>memchr(texts, c"\n", end - texts)
        # The last text ends the row without a line feed; any other must have one.
        if (stop == NULL) != (at == count - 1):
            raise _outside(state)
        if stop == NULL:
            stop = end
        if stop == texts:
            del target[names[at]]
        else:
            target[names[at]] = _value(texts, stop - texts)
        texts = stop + 1
    return 0


cdef object _member(State state, _Texts table, uint32_t row, int number):
    """Return one member of a row; None if it has no text."""
    cdef Py_ssize_t size
    cdef Text texts = table.row(row, &size)
    cdef Text end = texts + size
    cdef Text stop
    texts = _after_texts(texts, end, number)
    if texts == NULL:
        raise _outside(state)
    stop = <Text>memchr(texts, c"\n", end - texts)
    if stop == NULL:
        stop = end
    return _value(texts, stop - texts) if stop > texts else None


cdef inline int _read_rows(
    State state, Match* answer, Text* place, Py_ssize_t* place_size, Text* network, Py_ssize_t* network_size
) except -1:
    """Set the texts of both rows of an answer, checked."""
    cdef uint8_t* is_place_checked
    cdef uint8_t* is_network_checked
    place[0] = state.locations.unchecked(answer.location, place_size)
    network[0] = state.networks.unchecked(answer.network, network_size)
    PREFETCH(place[0])
    PREFETCH(network[0])
    is_place_checked = &state.locations.checked[answer.location]
    is_network_checked = &state.networks.checked[answer.network]
    if is_place_checked[0] and is_network_checked[0]:
        return 0
    # Memory is slow, and the reads of both checks do not depend on each other.
    state.locations.prefetch_checksum(answer.location)
    state.networks.prefetch_checksum(answer.network)
    if not is_place_checked[0]:
        state.locations.check(answer.location, place[0], place_size[0])
    if not is_network_checked[0]:
        state.networks.check(answer.network, network[0], network_size[0])
    return 0


cdef dict _data(State state, str echo, Match* answer, int64_t second):
    """Return the data member of the envelope."""
    cdef Py_ssize_t place_size, network_size
    cdef Text place, network
    _read_rows(state, answer, &place, &place_size, &network, &network_size)
    cdef _Country country = _country(state, answer.location)
    return {
        "ip": echo,
        "ip_type": _IPV4 if answer.address.family == 4 else _IPV6,
        "location": _location(state, answer.location, country, place, place_size),
        "time": PyDict_Copy(_moment(state, answer.location, second).template),
        "currency": PyDict_Copy(country.currency),
        "network": _network(state, answer.network, network, network_size),
    }


cdef inline Py_ssize_t _zone(State state, uint32_t location_row) except -1:
    """Return the zone of a location row (``_country_row`` has checked the row)."""
    cdef Py_ssize_t zone = state.location_zones[location_row]
    if zone >= len(state.zones):
        raise _outside(state)
    return zone


cdef _Moment _moment(State state, uint32_t location_row, int64_t second):
    """Return the time of a location's zone as a template."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.moments[zone]
    if cached is None or (<_Moment>cached).second != second:
        cached = state.moments[zone] = _Moment(second, _period(state, zone, second))
    return <_Moment>cached


cdef bytes _time_json(State state, uint32_t location_row, int64_t second):
    """Return the time of a location's zone as JSON, with the name of the member."""
    cdef Py_ssize_t zone = _zone(state, location_row)
    cached = state.moments_json[zone]
    if cached is None or (<_MomentJson>cached).second != second:
        cached = state.moments_json[zone] = _MomentJson(second, _period(state, zone, second))
    return (<_MomentJson>cached).text


cdef bytes _json(State state, Match* answer, int64_t second):
    """Write the envelope into bytes of exactly its size."""
    cdef Parts parts
    cdef _CountryJson country
    cdef bytes time
    _read_parts(state, answer, &parts)
    country, time = _country_json(state, answer.location), _time_json(state, answer.location, second)
    # The tail is longer than a chunk, so bytes that ``_copy`` writes after an end stay inside.
    cdef Py_ssize_t size = _json_size(&parts, country, time)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, size)
    cdef char* out = PyBytes_AS_STRING(result)
    if _write_json(state, out, &parts, country, time) != out + size:
        raise _outside(state)
    return result


cdef struct Parts:
    # The parts of an answer that differ from row to row.
    Text place, network
    Py_ssize_t place_size, network_size
    bint without_asn
    Piece* ip_type
    # At most 39 characters of IPv6, and what ``_copy`` reads after them: whole chunks of 16.
    char echo[64]
    Py_ssize_t echo_size


cdef int _read_parts(State state, Match* answer, Parts* parts) except -1:
    _read_rows(
        state, answer, &parts.place, &parts.place_size, &parts.network, &parts.network_size
    )
    parts.without_asn = (
        parts.network_size > 0 and state.networks.checked[answer.network] == WITHOUT_FIRST
    )
    if answer.address.family == 6:
        parts.ip_type = &_ipv6_type
        parts.echo_size = _write_ipv6(parts.echo, &answer.address) - parts.echo
    else:
        parts.ip_type = &_ipv4_type
        parts.echo_size = _write_octets(parts.echo, answer.address.low) - parts.echo
    return 0


cdef Py_ssize_t _json_size(Parts* parts, _CountryJson country, bytes time) noexcept:
    """Return the size of the envelope, if its rows have as many texts as they must."""
    return (
        _head.size + parts.echo_size + parts.ip_type.size + PyBytes_GET_SIZE(country.head)
        + parts.place_size + _PLACE_NAMES.added + PyBytes_GET_SIZE(time)
        + PyBytes_GET_SIZE(country.currency) + _tail.size
        # Without an asn the row begins with a line feed, also dropped.
        + parts.network_size
        + (_NAMES_WITHOUT_ASN.added - 1 if parts.without_asn else _NETWORK_NAMES.added)
    )


cdef char* _write_json(
    State state, char* out, Parts* parts, _CountryJson country, bytes time
) except NULL:
    """Write the envelope and return its end."""
    out = _copy_piece(out, &_head)
    out = _copy(out, <Text>parts.echo, parts.echo_size)
    out = _copy_piece(out, parts.ip_type)
    out = _put_bytes(out, country.head)
    out = _copy_members(out, _PLACE_NAMES, state.locations, parts.place, parts.place_size)
    if out == NULL:
        raise _outside(state)
    out = _put_bytes(_put_bytes(out, time), country.currency)
    if parts.without_asn:
        out = _copy_members(
            out, _NAMES_WITHOUT_ASN, state.networks, parts.network + 1, parts.network_size - 1
        )
    else:
        out = _copy_members(out, _NETWORK_NAMES, state.networks, parts.network, parts.network_size)
    if out == NULL:
        raise _outside(state)
    return _put(out, _tail.text, _tail.size)
