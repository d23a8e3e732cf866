"""Requirements of an engine on its dataset, and the notice about old data.

The notice is a log record of the level INFO, and is shown only by programs that ask for it: data
that grow old must not change the output of programs. For a warning, use ``max_age``.
"""

from __future__ import annotations

import os
from copy import copy
from functools import partial

from geolookup.errors import DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from logging import Logger
    from typing import Literal

    from geolookup.dataset.files import Dataset
    from geolookup.signing.keys import PublicKey
    from geolookup.signing.trust import TrustedKeys

    MaxAge = timedelta | float | str
    OnStale = Literal["warn", "refuse", "tag"]

_ON_STALE = ("warn", "refuse", "tag")
#: The environment variable that switches the notice off, and its values for that.
AGE_NOTICE = "GEOLOOKUP_AGE_NOTICE"
_OFF = ("0", "false", "no", "off")
#: The processes that have logged the notice: a forked child is another one.
noticed: dict[int, object] = {}


class Requirements:
    """The maximum age, the trusted keys, and whether a new generation may lack fields of the old.

    ``instant`` is a Unix second for data of the past: their age counts up to it, and neither name
    nor serial of another dataset limits their signature.

    Raises ValueError or TypeError for a malformed ``max_age`` or ``on_stale``, and for no keys.
    """

    __slots__ = ("_logged", "allow_lost_fields", "instant", "keys", "limit", "on_stale")

    def __init__(
        self,
        max_age: MaxAge | None = None,
        on_stale: OnStale = "warn",
        *,
        allow_lost_fields: bool = False,
        trusted_keys: TrustedKeys | None = None,
        instant: int | None = None,
    ) -> None:
        if on_stale not in _ON_STALE:
            raise ValueError(f"on_stale is {on_stale!r}; write {', '.join(_ON_STALE)}")
        self.limit: timedelta | None = None
        if max_age is not None:
            from geolookup.dataset.metadata import age_limit

            self.limit = age_limit(max_age)
        self.keys: tuple[PublicKey, ...] = ()
        if trusted_keys is not None:
            from geolookup.signing.trust import read_trusted_keys

            self.keys = read_trusted_keys(trusted_keys)
        self.on_stale = on_stale
        self.allow_lost_fields = allow_lost_fields
        self.instant = instant
        self._logged = ""

    def without_keys(self) -> Requirements:
        """Return the same requirements without trusted keys, for locally compiled data."""
        result = copy(self)
        result.keys = ()
        return result

    def as_of(self, instant: int) -> Requirements:
        """Return the same requirements on data of the past."""
        result = copy(self)
        result.instant = instant
        return result

    def check_opened(self, dataset: Dataset) -> None:
        """Raise DatasetError for a dataset that is not signed as the keys demand, or is too old."""
        self.check_signed(dataset)
        self.check(dataset)

    def signature_check(self, serial: int = 0) -> Callable[[Dataset], None] | None:
        """Return the check of a signature no older than ``serial``; None without keys."""
        return partial(self.check_signed, serial=serial) if self.keys else None

    def check_signed(
        self, dataset: Dataset, name: str | None = None, serial: int = 0, *, digests: bool = True
    ) -> None:
        """Raise DatasetError unless a trusted key signed a dataset, and every byte is as signed.

        ``name`` and ``serial`` belong to the dataset before it, as in ``Trust``. Without
        keys nothing is checked. Without ``digests`` the caller compares the bytes.
        """
        if not self.keys:
            return
        from pathlib import Path

        from geolookup.dataset.digests import check_digests
        from geolookup.filesystem.ownership import check_dataset
        from geolookup.signing.trust import Trust
        from geolookup.store.trusted import check_trusted

        check_dataset(Path(dataset.path))
        before = (name, serial) if self.instant is None else (None, 0)
        dataset.serial = check_trusted(dataset.path, Trust(self.keys, *before)).serial
        if digests:
            check_digests(dataset)

    def check(self, dataset: Dataset) -> None:
        """Raise DatasetError for data older than the limit, or log that, at most once a day.

        Without a limit, log the notice about old data, once per process; none about the past.
        """
        if self.limit is None:
            notice = age_notice(dataset) if self.instant is None else None
            token = object()
            if notice and noticed.setdefault(os.getpid(), token) is token:  # one thread gets it
                _log().info("%s", notice)
            return
        problem = None if self.on_stale == "tag" else self.stale(dataset)
        if problem is None:
            return
        error = DatasetError(dataset.path, problem, "publish newer data, or raise max_age")
        if self.on_stale == "refuse":
            raise error
        if str(error) != self._logged:
            _log().warning("%s", error)
            self._logged = str(error)

    def check_replacement(self, old: Dataset, new: Dataset) -> None:
        """Raise DatasetError unless ``new`` is undamaged and may replace ``old``.

        Its signature is checked first: it must have the same name, and must not be older.
        """
        from geolookup.integrity import verify

        self.check_signed(new, old.manifest.metadata().name, old.serial, digests=False)
        verify(new.path)
        fields, remaining = (data.manifest.metadata().fields for data in (old, new))
        lost = {*fields} - {*remaining}
        if lost and not self.allow_lost_fields:
            problem = f"lacks {', '.join(sorted(lost))} of the old generation"
            remedy = "publish data that have them, or open with allow_lost_fields=True"
            raise DatasetError(new.path, problem, remedy)
        self.check(new)

    def stale(self, dataset: Dataset) -> str | None:
        """Return how the age exceeds the limit, as text; None if it does not."""
        if self.limit is None:
            return None
        metadata = dataset.manifest.metadata()
        if self.instant is None:
            age = metadata.age
        else:  # at that instant
            from datetime import UTC, datetime

            age = metadata.age_on(datetime.fromtimestamp(self.instant, UTC).date())
        if not age.exceeds(self.limit):
            return None
        days = self.limit.total_seconds() / 86_400
        return f"the age of the data is {age}, above max_age of {days:.6g} days"


def age_notice(dataset: Dataset) -> str | None:
    """Return the notice about data older than 180 days, one line.

    None for other data, and if the notice is off. Costs no import while all dates are later.
    """
    if os.environ.get(AGE_NOTICE, "").lower() in _OFF:
        return None
    try:
        age = dataset.manifest.metadata().age if dataset.manifest.may_be_old else None
    except DatasetError:
        return None  # lookups need no sources and no credits; ``metadata`` reports the damage
    if age is None or not age.is_old:
        return None
    # Without arguments the command updates the default dataset, whatever this one is.
    newer = "publish newer data ('geolookup update' for the default dataset)"
    remedy = f"{newer}, or set {AGE_NOTICE}=0 to hide this notice"
    return str(DatasetError(dataset.path, f"the age of the data is {age}", remedy))


def _log() -> Logger:
    from logging import getLogger

    return getLogger("geolookup")
