"""Every exception a user can meet, each in one place with what it says.

Contract errors carry the code, message and HTTP status of the envelope's
tables as class attributes, so that an adapter needs no ladder of cases.
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import ClassVar


class GeoLookupError(Exception):
    """Base of every error that geolookup raises on purpose."""


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


class DatasetError(GeoLookupError):
    """A dataset that is missing, damaged or of another version.

    The text names the file, what is wrong with it, and what to do.
    """

    def __init__(self, path: str | PathLike[str], problem: str, remedy: str) -> None:
        self.path = fspath(path)
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{self.path}: {problem}; {remedy}")

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, str, str]]:
        return type(self), (self.path, self.problem, self.remedy)


class DiffError(GeoLookupError):
    """A comparison that cannot be made as asked: a gate that is none, an unusable traffic file."""


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
    """A plan that is not there, or a plans file that cannot be read."""


class SettingsError(GeoLookupError):
    """A setting of the HTTP service that cannot be followed; the text says what to write."""


class TableFileError(GeoLookupError):
    """A table file that cannot be read or written as asked.

    The text names the file, the row where one is known, what is wrong, and what
    to do; never what is in a cell, which may be an address.
    """

    def __init__(
        self, path: str | PathLike[str], problem: str, remedy: str, *, row: int | None = None
    ) -> None:
        self.path = fspath(path)
        self.row = row
        self.problem = problem
        self.remedy = remedy
        place = self.path if row is None else f"{self.path}, row {row}"
        super().__init__(f"{place}: {problem}; {remedy}")


class ClosedError(GeoLookupError):
    """The engine was closed; open the dataset again to look anything up."""

    def __init__(self) -> None:
        super().__init__("the engine is closed; open the dataset again")
