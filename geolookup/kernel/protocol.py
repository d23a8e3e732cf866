"""What a kernel offers: the protocols that the compiled and the Python implementation satisfy.

Both modules hold a class ``State``, a class ``Kernel`` and a function ``parse_texts``. mypy checks
them against this module (see ``geolookup.kernel``); what only one of them has begins with an
underscore. This module is imported by type checkers alone, so that it costs a cold start nothing.

Columns are numpy arrays, contiguous, of one length where nothing else is said; ValueError is
raised where their lengths differ. An *interval id* is the position of an interval: among
the IPv4 intervals, or the count of those plus the position among the IPv6 intervals. It is -1
where there is no address and -2 where the address is private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from geolookup.dataset.networks import Intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geolookup.contract.envelope import Object
    from geolookup.dataset.files import Dataset


class Locator(Protocol):
    """Finds the intervals that hold addresses."""

    def locate_texts(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        families: NDArray[np.uint8],
    ) -> None:
        """Locate the n UTF-8 texts ``data[offsets[i] : offsets[i + 1]]``.

        ``offsets`` has n + 1 items. Fills ``ids`` with interval ids and ``families`` with the
        family of the address as written: 4, 6, or 0 where the text is no address. A text whose
        offsets lead outside ``data`` is no address.
        """

    def locate_numbers(
        self,
        families: NDArray[np.uint8],
        highs: NDArray[np.uint64],
        lows: NDArray[np.uint64],
        ids: NDArray[np.int32],
    ) -> None:
        """Locate n addresses, given by family (4, 6; 0: none) and the halves of the integer.

        Fills ``ids`` with interval ids. An IPv4 address lies in ``lows``.
        """


class State(Locator, Intervals, Protocol):
    """A dataset with what has been rendered of it; an engine replaces it as a whole.

    Every method raises DatasetError where an index of the dataset leads outside its table, except
    that ``take_rows`` raises IndexError for an interval id that the dataset does not have.
    """

    def __init__(self, dataset: Dataset) -> None: ...

    def take_rows(
        self,
        ids: NDArray[np.int32],
        locations: NDArray[np.uint32],
        networks: NDArray[np.uint32],
    ) -> None:
        """Fill in the location and network rows of n interval ids; 0, unknown, for ids below 0.

        A table whose array has length 0 is left out.
        """


class Kernel(Protocol):
    """Single lookups on one dataset; ``Engine`` inherits from it and documents the calls."""

    #: Which implementation this is: "compiled" or "python".
    kernel: ClassVar[str]

    def __init__(self, dataset: Dataset) -> None: ...

    def lookup(self, ip: object, *, at: Any = None) -> Object:
        """Return the envelope."""

    def lookup_json(self, ip: object, *, at: Any = None) -> bytes:
        """Return the envelope as compact UTF-8 JSON."""

    def data(self, ip: object, *, at: Any = None) -> Object:
        """Return the data member of the envelope."""

    def get(self, ip: object, path: str, *, at: Any = None) -> Any:
        """Return one field or one group of data."""

    def _open_state(self) -> State:
        """Return the state that answers; raises ClosedError when there is none."""

    def _swap(self, state: Any) -> None:
        """Answer from another state of the same implementation; None closes."""


class Implementation(Protocol):
    """A module that implements the kernel."""

    @property
    def Kernel(self) -> type[Kernel]:  # noqa: N802 - a class of the module
        """The class of single lookups."""

    @property
    def State(self) -> type[State]:  # noqa: N802 - a class of the module
        """The class of an open dataset."""

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

        Fills in the family (4, 6; 0: no address) and the halves of the integer; an IPv4 address
        lies in ``lows``. What is no address, or lies outside ``data``, has family and halves 0.
        """
