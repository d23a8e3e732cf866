"""A stand-in for ``geoip2.database.Reader`` on a geolookup dataset; needs the extra ``geoip2``.

>>> from geolookup.compat.geoip2 import Reader
>>> with Reader("mydata") as reader:
...     reader.city("81.2.69.160").country.iso_code
'GB'

Strategy: a call finds the rows of an address and the prefix length in the kernel, and passes the
kept arguments of ``Rows`` to geoip2's own models. ``docs/integrate/from-geoip2.md``
lists the differences from geoip2.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, TypeVar

try:
    from geoip2 import models
    from geoip2.errors import AddressNotFoundError
    from maxminddb.reader import Metadata
except ImportError as error:
    raise ImportError("geolookup.compat.geoip2 needs pip install 'geolookup[geoip2]'") from error

from geolookup.compat import Rows, build_epoch, database_type
from geolookup.engine import Engine
from geolookup.engine import open as open_engine
from geolookup.errors import ClosedError, InvalidAddressError
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Self

IPAddress = str | IPv4Address | IPv6Address
_Model = TypeVar("_Model", bound="models.Country | models.SimpleModel")


class Reader:
    """Lookups on a dataset with the methods, models and errors of ``geoip2.database.Reader``.

    A method raises TypeError if the dataset has no field for its model, ValueError for a
    malformed address and for a closed reader, and ``AddressNotFoundError`` for a private address
    and for one without values in the model. The texts of errors never contain the
    address. Safe to use from many threads and after a fork.
    """

    def __init__(
        self,
        fileish: str | os.PathLike[str] | Engine | None = None,
        locales: Sequence[str] | None = None,
        mode: int = 0,
    ) -> None:
        """Open a dataset, a store or a file, or use an open engine; ``close`` does not close that.

        None: the dataset of ``geolookup.open()``. A file such as GeoLite2-City.mmdb is compiled
        into the cache at the first opening, as by ``geolookup.open``. A dataset has names in one
        language: "en" in the models. They get ``locales``: without "en" names are None.
        ``mode`` has no effect: a dataset is always mapped. Raises DatasetError as
        ``geolookup.open``.
        """
        self._owns = not isinstance(fileish, Engine)
        self._engine = fileish if isinstance(fileish, Engine) else open_engine(fileish)
        self._locales = ["en"] if locales is None else locales
        #: Of the dataset that was last used.
        self._rows: Rows | None = None

    def country(self, ip_address: IPAddress) -> models.Country:
        """Return continent and country."""
        return self._answer(models.Country, "country", ip_address)

    def city(self, ip_address: IPAddress) -> models.City:
        """Return continent, country, first subdivision, city, postal code and location."""
        return self._answer(models.City, "city", ip_address)

    def enterprise(self, ip_address: IPAddress) -> models.Enterprise:
        """Return the values of ``city``, and in ``traits`` the network and its users."""
        return self._answer(models.Enterprise, "enterprise", ip_address)

    def asn(self, ip_address: IPAddress) -> models.ASN:
        """Return number and organization of the autonomous system."""
        return self._answer(models.ASN, "asn", ip_address)

    def isp(self, ip_address: IPAddress) -> models.ISP:
        """Return the ISP, the organization and the autonomous system."""
        return self._answer(models.ISP, "isp", ip_address)

    def connection_type(self, ip_address: IPAddress) -> models.ConnectionType:
        """Return the connection type, in the words of geoip2."""
        return self._answer(models.ConnectionType, "connection_type", ip_address)

    def metadata(self) -> Metadata:
        """Return the metadata of the dataset in the class of ``maxminddb``.

        ``database_type`` names the databases whose methods fit: "geolookup-City-Country-ASN".
        ``build_epoch`` is midnight UTC of the oldest date among the sources, 0 if none is dated:
        a dataset keeps no build time. ``node_count`` is the number of intervals.
        """
        rows = self._current()
        about = rows.state.dataset.manifest.metadata()
        return Metadata(
            binary_format_major_version=0,
            binary_format_minor_version=0,
            build_epoch=build_epoch(about),
            database_type=database_type(rows.methods),
            description={"en": about.name},
            ip_version=6,
            languages=["en"],
            node_count=about.counts["ipv4_intervals"] + about.counts["ipv6_intervals"],
            record_size=0,
        )

    def close(self) -> None:
        """Close the dataset, unless the reader was given an open engine."""
        self._rows = None
        if self._owns:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _answer(self, model: type[_Model], method: str, ip_address: object) -> _Model:
        """Return the model of a method for an address; raises the errors of geoip2."""
        rows = self._current()
        if method not in rows.methods:
            database = database_type(rows.methods)
            raise TypeError(f"The {method} method cannot be used with the {database} database")
        try:
            location, network, prefix = rows.state.rows_and_prefix(ip_address)
        except InvalidAddressError:
            if not isinstance(ip_address, IPAddress):
                text = "the address must be a text or an address object of ipaddress"
                raise TypeError(text) from None
            text = "the address does not appear to be an IPv4 or IPv6 address"
            raise ValueError(text) from None
        arguments = rows.arguments(method, location, network)
        if not arguments:
            text = "The address is not in the database."
            raise AddressNotFoundError(text, str(ip_address), prefix)
        make: Any = model
        names = [self._locales] if issubclass(model, models.Country) else []
        made: _Model = make(*names, ip_address=ip_address, prefix_len=prefix, **arguments)
        return made

    def _current(self) -> Rows:
        """Return the rows of the dataset in use; a reload may have installed another."""
        try:
            state = state_of(self._engine)
        except ClosedError:
            raise ValueError("the reader is closed; open the dataset again") from None
        rows = self._rows
        if rows is None or rows.state is not state:
            rows = self._rows = Rows(state)
        return rows
