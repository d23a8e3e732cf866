"""Every exception that geolookup raises on purpose, and the remedies that messages share.

Contract errors carry the code, message and HTTP status of the contract's error
tables as class attributes, so that an adapter needs no case for each.
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import ClassVar

#: The remedy for a dataset that is damaged or of another version.
REBUILD = "build it again with 'geolookup build'"
#: The most names that a hint lists.
_LISTED = 40


def near_match(word: object, words: Iterable[object], *, otherwise: str | None = None) -> str:
    """Return ``did you mean 'x'?`` for the legal word nearest to ``word``, in any case of letters.

    Where none is near: ``otherwise``, by default the list of the legal words.
    """
    from difflib import get_close_matches  # only where there is an error: it loads slowly

    known = [str(each) for each in words]
    folded = {each.casefold(): each for each in known}
    close = get_close_matches(str(word).casefold(), folded, n=1)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    if otherwise is not None:
        return otherwise
    more = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    return f"known are {', '.join(known[:_LISTED])}{more}" if known else "none is known"


class GeoLookupError(Exception):
    """Base of the errors that geolookup defines; wrong arguments raise ValueError or TypeError."""


class ContractError(GeoLookupError):
    """An answer of the contract that is an error; rendered as an envelope."""

    code: ClassVar[int]
    message: ClassVar[str]
    http_status: ClassVar[int]

    def __init__(self) -> None:
        # No argument: the text must never hold the address that was looked up.
        super().__init__(self.message)

    def __reduce__(self) -> tuple[type[ContractError], tuple[object, ...]]:
        # Unlike the usual one it repeats no arguments: there are none.
        return type(self), ()


class InvalidAddressError(ContractError):
    """The input is not a well-formed IPv4 or IPv6 address."""

    code = 10001
    message = "Invalid IP address format"
    http_status = 400


class PrivateAddressError(ContractError):
    """The address is not globally reachable, or embeds one that is not."""

    code = 10002
    message = "Cannot geolocate private IP"
    http_status = 400


class MissingKeyError(ContractError):
    """The request carries no API key."""

    code = 20001
    message = "Missing API key"
    http_status = 401


class InvalidKeyError(ContractError):
    """The API key is unknown, revoked, expired, empty or repeated."""

    code = 20002
    message = "Invalid API key"
    http_status = 401


class RateLimitError(ContractError):
    """More requests in a second than the plan's rate.

    ``retry_after`` is how many seconds it takes until a request can be admitted.
    """

    code = 30001
    message = "Rate limit exceeded"
    http_status = 429

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__()
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[type[ContractError], tuple[object, ...]]:
        return type(self), (self.retry_after,)


class QuotaError(ContractError):
    """The plan's request quota is used up."""

    code = 30002
    message = "Quota exceeded"
    http_status = 429


class PathError(GeoLookupError):
    """Base of the errors about one file or folder: ``path``, ``problem``, ``remedy``.

    The text is one line: "path: problem; remedy", with control characters escaped.
    """

    def __init__(
        self, path: str | PathLike[str], problem: str, remedy: str, *, place: str | None = None
    ) -> None:
        self.path = fspath(path)
        self.problem = problem
        self.remedy = remedy
        text = f"{place or self.path}: {problem}" + (f"; {remedy}" if remedy else "")
        super().__init__(_escaped(text))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _unpickled, (type(self), self.args, self.__dict__)


class DatasetError(PathError):
    """A dataset or store that is missing, damaged or of another version."""


class OutputError(PathError):
    """An output that cannot be written: a name that is taken, a folder, a full disk."""


class BuildError(PathError):
    """Bad input of a build: recipe, source or table.

    ``line`` counts from 1 in the file named by ``path``; None where no line applies.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        *,
        line: int | None = None,
        remedy: str = "",
    ) -> None:
        self.line = line
        place = None if line is None else f"{fspath(path)}:{line}"
        super().__init__(path, problem, remedy, place=place)


class TableFileError(PathError):
    """A table file that cannot be read or written as asked.

    The text names the file, and the row (from 1) if it is known; never the content of
    a cell, which may be an address.
    """

    def __init__(
        self, path: str | PathLike[str], problem: str, remedy: str, *, row: int | None = None
    ) -> None:
        self.row = row
        place = None if row is None else f"{fspath(path)}, row {row}"
        super().__init__(path, problem, remedy, place=place)


class DiffError(GeoLookupError):
    """A comparison that cannot be made as asked: a malformed gate."""


class AccountsError(GeoLookupError):
    """An account store that cannot be used now; no request passes without it.

    The text names the store (without a password), what is wrong, and what to
    do. No answer of the contract: over HTTP it is a 503 with ``Retry-After``.
    """

    http_status: ClassVar[int] = 503
    retry_after: ClassVar[float] = 1.0

    def __init__(self, store: str, problem: str, remedy: str) -> None:
        self.store = store
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{store}: {problem}; {remedy}")

    def __reduce__(self) -> tuple[type[AccountsError], tuple[str, str, str]]:
        return type(self), (self.store, self.problem, self.remedy)


class PlansError(GeoLookupError):
    """An unknown plan, or a plans file that cannot be read."""


class SettingsError(GeoLookupError):
    """A malformed setting of the HTTP service; the text says what to write."""


class ClosedError(GeoLookupError):
    """The engine was closed; open the dataset again to look anything up."""

    def __init__(self) -> None:
        super().__init__("the engine is closed; open the dataset again")


def _escaped(text: str) -> str:
    """Escape what a terminal acts on and what ends a line; names in archives may hold any of it."""
    if text.isprintable():
        return text
    controls = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
    return text.translate({each: ascii(chr(each))[1:-1] for each in controls})


def _unpickled(
    kind: type[PathError], args: tuple[object, ...], state: dict[str, object]
) -> PathError:
    """Restore a pickled error without its constructor, whose arguments ``args`` are not."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error
