"""The interface of a kernel: protocols that the compiled and the Python kernel satisfy.

Both modules define the classes and functions of ``Implementation``. mypy checks them against this
module (see ``geolookup.kernel``). A name that only one of them has begins with an underscore. Only
type checkers import this module, to keep the cold start short.

Columns are contiguous numpy arrays, all of the same length unless stated; other lengths raise
ValueError. An *interval id* is the position of an interval: its position among the IPv4
intervals, or the number of those plus its position among the IPv6 intervals. It is -1 for a
malformed address and -2 for a private one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from geolookup.dataset.networks import PrefixSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geolookup.contract.envelope import Object
    from geolookup.contract.localtime import Period
    from geolookup.contract.types import Data, Envelope
    from geolookup.dataset.files import Dataset
    from geolookup.kernel.lookups import Lookups
    from geolookup.kernel.python_answer import Answer


class State(PrefixSearch, Protocol):
    """An open dataset and the caches of its rows; an engine replaces it as a whole.

    Every method raises DatasetError if an index of the dataset points outside its table.
    ``take_rows`` and ``take_own_rows`` raise IndexError for an interval id that does not exist in
    the dataset.
    """

    def __init__(self, dataset: Dataset) -> None: ...

    def interval_ipv4(self, value: int) -> int:
        """Return the position of the IPv4 interval that holds a 32-bit integer."""

    def interval_ipv6(self, value: int) -> int:
        """Return the position of the IPv6 interval that holds a 128-bit integer."""

    def rows(self, family: int, interval: int) -> tuple[int, int]:
        """Return the location and network rows of an interval of one family."""

    def record(self, location_row: int, network_row: int) -> Object:
        """Return data without ip, ip_type and time; the caller may change it."""

    def locate_texts(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        families: NDArray[np.uint8],
        with_private: bool = False,
    ) -> None:
        """Locate the n UTF-8 texts ``data[offsets[i] : offsets[i + 1]]``.

        ``offsets`` has n + 1 items. Fills ``ids`` with interval ids and ``families`` with the
        family of the address as written: 4, 6, or 0 for a malformed text. A text whose offsets
        are outside ``data`` counts as malformed. With ``with_private``, private addresses have
        interval ids too, for ``take_own_rows`` only: own columns can be known for them.
        """

    def locate_numbers(
        self,
        families: NDArray[np.uint8],
        highs: NDArray[np.uint64],
        lows: NDArray[np.uint64],
        ids: NDArray[np.int32],
        with_private: bool = False,
    ) -> None:
        """Locate n addresses, given by family (4, 6; 0: malformed) and the halves of the integer.

        An IPv4 address is in ``lows``. Fills ``ids`` as ``locate_texts`` does.
        """

    def take_rows(
        self,
        ids: NDArray[np.int32],
        locations: NDArray[np.uint32],
        networks: NDArray[np.uint32],
    ) -> None:
        """Fill in the location and network rows of n interval ids; 0 (unknown) for ids below 0.

        A table whose array has length 0 is skipped.
        """

    def take_own_rows(self, ids: NDArray[np.int32], rows: NDArray[np.uint32]) -> None:
        """Fill in the rows of own columns for n interval ids; 0 (unknown) for ids below 0.

        Raises ValueError if the dataset has no own columns.
        """

    def envelopes(self, ips: list[object], seconds: int | list[int]) -> list[Envelope]:
        """Return the envelope of each address.

        ``seconds`` is the Unix second of all answers, or a list with one per answer.
        """

    def envelopes_json(self, ips: list[object], seconds: int | list[int]) -> list[bytes]:
        """Return the envelope of each address as compact UTF-8 JSON."""

    def values(
        self,
        ips: list[object],
        names: str | tuple[object, ...],
        seconds: int | list[int],
        default: object = None,
    ) -> list[Any]:
        """Return the value of a field per address, or a tuple of the values of several fields.

        One field or group is a text, several are a tuple. A value is ``default`` if it is unknown,
        or if the address has no answer. Own columns have values for private addresses too. Raises
        ValueError for an unknown name.
        """

    def lines(self) -> Lines:
        """Return a writer without lines."""


class Lines(Protocol):
    """Writes envelopes as JSON lines: compact UTF-8 JSON, each with a line feed after it.

    Where a call raises DatasetError, the lines before the damaged row remain.
    """

    def add(self, ips: list[object], seconds: int | list[int]) -> int:
        """Write the envelope of each address; return the number of error envelopes.

        ``State.envelopes`` describes ``seconds``.
        """

    def add_text(self, text: bytes, second: int) -> int:
        """Write the envelope of each line of ``text``; return the number of error envelopes.

        White space at both ends of a line is removed, and empty lines are skipped. A line that
        is not UTF-8 is a malformed address.
        """

    def take(self) -> bytes:
        """Return the lines and remove them."""


class Implementation(Protocol):
    """A module that implements the kernel."""

    @property
    def Kernel(self) -> type[Lookups]:  # noqa: N802 - a class of the module
        """The class of single lookups."""

    @property
    def State(self) -> type[State]:  # noqa: N802 - a class of the module
        """The class of an open dataset."""

    def document(self, texts: dict[str, str]) -> None:
        """Set the docstrings of the calls of ``Kernel``, by their names."""

    def gather(
        self,
        table: NDArray[np.uint8],
        rows: NDArray[np.uint32],
        lanes: list[tuple[int, int, int]],
        values: list[NDArray[np.uint8]],
        validity: list[NDArray[np.uint8]],
    ) -> int:
        """Copy columns of a row-major table for n rows; return which columns have a null.

        ``table`` has the shape (rows, bytes of a row). A row begins with a word of 8 bytes in the
        machine's byte order; its bit i is 1 if column i is null. A *lane* is a column to copy: its
        number (0 to 63), the byte of a row at which it begins, and its width (2, 4 or 8 bytes).
        For each lane, ``values`` is filled with n values and ``validity`` with n bits, rounded up
        to bytes, as in Arrow. The result is the union of the words of all rows. Raises IndexError
        for a row that does not exist, ValueError for lanes outside the row.
        """

    def parse_texts(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
        families: NDArray[np.uint8],
        highs: NDArray[np.uint64],
        lows: NDArray[np.uint64],
    ) -> None:
        """Parse the n UTF-8 texts ``data[start : start + length]``.

        Fills in the family (4, 6) and the halves of the integer; an IPv4 address is in ``lows``.
        For a text that is malformed or outside ``data``, family and halves are 0.
        """

    def period(self, zone: str | None, second: int) -> Period | None:
        """Return the period of a zone that holds a Unix second; None for an unknown zone.

        Raises DatasetError for a damaged zone file.
        """

    def restore(
        self, data: Data | None, prefix: str | None, code: int, own: dict[str, Any] | None = None
    ) -> Answer:
        """Return an answer from its pickled members.

        ``data``, ``prefix`` and ``own`` belong to the answer; ``code`` is the code of its error,
        or 0. ``own`` is None if the dataset has no own columns.
        """

    def find_addresses(self, text: bytes, begin: int, end: int) -> bytes:
        """Find the addresses in a text that begin at the bytes ``begin`` to ``end - 1`` of it.

        Returns records of five integers of 64 bits, in the order of the addresses: the first byte
        of each, the byte after its last, its family and the halves of its integer. No decision
        depends on more than 64 bytes before or after the first byte of an address. Raises
        ValueError if the part is outside the text.

        A *word* is of ASCII letters, digits and underscores. An address is as
        ``contract.address`` parses it, with these bounds:

        - Not before it: a byte of a word or a dot; a hyphen with a letter or an underscore
          before it (``lib-1.2.3.4``); a slash after a name of a product (``Chrome/120.0.0.0``):
          up to 32 bytes of words, dots, hyphens and plus signs, with no slash or ``%2F`` before
          them.
        - Not after it: a byte of a word; a dot with a byte of a word after it; a hyphen
          with a letter or an underscore after it.
        - An escape counts before it as the byte that it stands for: ``%22``, ``%2522``, and
          quoted-printable ``=3D`` in capitals, unless the text after the ``=`` may be an address
          (``ip=208.8.8.8``): a colon follows one to four hexadecimal digits, or a dot one to three
          digits.
        - An IPv6 address begins where its run of hexadecimal digits and colons begins; or after
          the first colon of the run, if at most four digits are before that colon and the run
          continues a word (``ip6:2001:db8::1``). It ends where the run ends, or before the last
          colon of the run, if one follows a digit or two colons; or with the four octets that
          follow the run, if it is an address with these.
        - An IPv6 address has a decimal digit (``abc::def`` has none) and is not of eight pairs of
          digits (an EUI-64).
        """
