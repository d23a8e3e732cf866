"""The exceptions that geolookup defines, and texts that their messages share.

Contract errors have the code, message and HTTP status of the contract's error tables as
class attributes; adapters treat all of them alike.
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import ClassVar

#: The remedy for a dataset that is damaged or of another format version.
REBUILD = "build it again with 'geolookup build'"
#: The characters that a terminal obeys: C0, DEL, C1, line and paragraph separators, and controls of
#: the direction of text (Unicode Standard Annex 9).
CONTROLS = {
    *(*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F),
    *(*range(0x2028, 0x202F), *range(0x2066, 0x206A)),
}
#: Counts from here on are shortened: IPv6 has 2^128 addresses.
_LONG = 10**15
#: The maximum number of names in a hint.
_LISTED = 40


def short_id(generation: str) -> str:
    """Return the first 12 digits of a generation, as messages and tables show it."""
    return generation[:12]


def line_text(text: str) -> str:
    """Return a name or other text from outside as a line that can be printed.

    Control characters, line separators and surrogates, as in names that are not UTF-8, are escaped.
    """
    if text.isprintable():
        return text
    escaped = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return escaped.translate({code: ascii(chr(code))[1:-1] for code in CONTROLS})


def number_text(count: float) -> str:
    """Return a count for people: ``12,345``; from 10^15 on ``2^64``, or two digits: ``3.4e38``."""
    if count < _LONG:
        return f"{count:,}"
    power = int(count).bit_length() - 1
    return f"2^{power}" if count == 1 << power else f"{count:.1e}".replace("e+", "e")


def count_text(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: ``1 row``, ``2 rows``; ``nouns`` is another plural."""
    return f"{number_text(count)} {noun if count == 1 else nouns or noun + 's'}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Return counts by their plurals: ``1 country, 4 ipv4 intervals``."""
    return ", ".join(
        count_text(count, _singular(nouns), nouns)
        for nouns, count in ((name.replace("_", " "), count) for name, count in counts.items())
    )


def _singular(nouns: str) -> str:
    return f"{nouns[:-3]}y" if nouns.endswith("ies") else nouns.removesuffix("s")


def listed(texts: Sequence[str], shown: int, more: int = 0) -> str:
    """Return the first texts with commas between them, and how many more there are.

    ``more`` are further ones that are not in ``texts``.
    """
    rest = max(0, len(texts) - shown) + more
    return ", ".join(texts[:shown]) + (f", and {rest:,} more" if rest else "")


def near_match(
    word: object, words: Iterable[object], *, argument: str = "", fallback: str | None = None
) -> str:
    """Return ``did you mean 'x'?`` for the legal word nearest to ``word``, ignoring case.

    If none is similar, return ``fallback``, by default the list of the legal words. ``argument`` is
    the text before the word: ``column=``, or ``--ip-column`` and a blank.
    """
    names = [*map(str, words)]
    near = near_word(str(word), names)
    if near is not None:
        return suggestion(near, argument=argument)
    if fallback is not None:
        return fallback
    start = f"name another by {argument.strip()}; " if argument else ""
    return start + (f"known are {listed(names, _LISTED)}" if names else "none is known")


def near_word(word: str, words: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the word of ``words`` nearest to ``word``, ignoring case; None if none is similar.

    ``cutoff`` is the least similarity, from 0 to 1.
    """
    from difflib import get_close_matches  # imported only for an error: the import is slow

    folded = {name.casefold(): name for name in words}
    close = get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def suggestion(*words: str, argument: str = "") -> str:
    """Return ``did you mean 'x' or 'y'?``; ``argument`` is the text before each word."""
    return f"did you mean {' or '.join(f'{argument}{word!r}' for word in words)}?"


class GeoLookupError(Exception):
    """Base of the errors that geolookup defines; wrong arguments raise ValueError or TypeError.

    ``args`` are arguments of the constructor, so they can be pickled. The text is one line.
    """

    def __str__(self) -> str:
        return line_text("; ".join(map(str, self.args)))


class ContractError(GeoLookupError):
    """An error that the contract defines; rendered as an envelope."""

    code: ClassVar[int]
    message: ClassVar[str]
    http_status: ClassVar[int]

    def __str__(self) -> str:
        return self.message


class AddressError(ContractError, ValueError):
    """Base of the errors about an address that was looked up.

    ``address`` is that input (with ``clean``, after cleaning), as the caller gave it: a text,
    an object, or a row's value. Logs and other processes do not get it: text, ``repr``, ``vars``
    and pickle of the error are without it. A copy or an unpickled error has None.
    """

    __slots__ = ("address",)  # not in vars(error): some loggers print those

    def __init__(self, address: object = None) -> None:
        super().__init__()  # ``args`` are without the address: so are ``repr`` and pickle
        self.address = address

    def __reduce__(self) -> tuple[object, ...]:
        # Libraries that pickle exceptions in their own way call ``__init__`` only if this is here.
        return type(self), (), vars(self)


class InvalidAddressError(AddressError):
    """The input is not a well-formed IPv4 or IPv6 address."""

    __slots__ = ()

    code = 10001
    message = "Invalid IP address format"
    http_status = 400


class PrivateAddressError(AddressError):
    """The address is not globally reachable, or embeds one that is not."""

    __slots__ = ()

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
    """The account has used the rate of its plan.

    ``retry_after`` is the number of seconds until a request can be admitted.
    """

    code = 30001
    message = "Rate limit exceeded"
    http_status = 429

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


class QuotaError(ContractError):
    """The plan's request quota is used up."""

    code = 30002
    message = "Quota exceeded"
    http_status = 429


class PathError(GeoLookupError):
    """Base of the errors about one file or folder: ``path``, ``problem``, ``remedy``.

    ``line`` or ``row`` is the place in the file, from 1, and ``wait`` the number of seconds that a
    server asks to wait; None if none applies. The text is one line: "path: problem; remedy", with
    control characters escaped.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        remedy: str = "",
        *,
        line: int | None = None,
        row: int | None = None,
        wait: float | None = None,
    ) -> None:
        self.path, self.problem, self.remedy = fspath(path), problem, remedy
        self.line, self.row, self.wait = line, row, wait
        super().__init__(self.path, problem, remedy)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        row = "" if self.row is None else f", row {self.row}"
        text = f"{self.path}{line}{row}: {self.problem}"
        return line_text(f"{text}; {self.remedy}" if self.remedy else text)


class DatasetError(PathError):
    """A dataset or store that is missing, damaged or of another version."""


class OutputError(PathError):
    """An output that cannot be written: for example it exists, or the disk is full."""


class KeyFileError(PathError):
    """A file of a signing key that cannot be used: missing, malformed, or readable by others.

    The text never contains the content of the file.
    """


class MirrorError(PathError):
    """A mirror that does not answer, or whose files are not those that its index states.

    The store that follows it stays unchanged.
    """


class BuildError(PathError):
    """Invalid input of a build: recipe, source or table."""


class DownloadError(BuildError):
    """A remote file that a server or bucket does not deliver."""


class MissingFileError(DownloadError):
    """A remote file that does not exist."""


class TableFileError(PathError):
    """A table file that cannot be read or written with the given options.

    The text never contains the content of a cell: that may be an address.
    """


class AccountsError(PathError):
    """An account store that cannot be used; without it no request is admitted.

    ``path`` is the store, without a password. The contract does not define this error: over HTTP it
    is a 503 with ``Retry-After``.
    """

    http_status: ClassVar[int] = 503
    retry_after: ClassVar[float] = 1.0


class _ProblemsError(GeoLookupError):
    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(map(line_text, problems))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "; ".join(self.problems)


class QualityError(_ProblemsError):
    """A dataset that does not meet the demands of its recipe, ``[quality]``; nothing is written.

    ``problems`` are lines: each failed demand with the observed values and a remedy. ``report`` is
    the build report: its ``quality`` has all demands.
    """

    def __init__(self, problems: Iterable[str], report: object = None) -> None:
        super().__init__(problems)
        self.report = report


class UpdateError(_ProblemsError):
    """A source failed, or a gate refused the result of an update; the store stays unchanged.

    ``problems`` are lines: each source that failed or gate that refused, and what to do. ``wait``
    is the number of seconds that a server asks to wait, None if it asks for none.
    """

    def __init__(self, problems: Iterable[str], *, wait: float | None = None) -> None:
        super().__init__(problems)
        self.wait = wait


class DiffError(GeoLookupError):
    """Invalid options of a comparison, such as a malformed gate."""


class ExportError(GeoLookupError):
    """An unknown format of an export, or an option that its format does not have."""


class PlansError(GeoLookupError):
    """An unknown plan, or a plans file that cannot be read."""


class SettingsError(GeoLookupError):
    """A malformed setting: an environment variable, or an option of the HTTP service.

    The text states the expected form.
    """


class ClosedError(GeoLookupError):
    """The engine is closed; open the dataset again for more lookups."""

    def __str__(self) -> str:
        return "the engine is closed; open the dataset again"
