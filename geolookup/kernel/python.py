"""The Python kernel, the reference implementation; ``python_state`` has the way of a lookup."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any

from geolookup.contract.localtime import instant
from geolookup.contract.paths import names_of
from geolookup.dataset.files import Dataset
from geolookup.errors import ClosedError
from geolookup.kernel.answers import check_type
from geolookup.kernel.lookups import Lookups
from geolookup.kernel.python_answer import Answer, answer_of, restore
from geolookup.kernel.python_state import State
from geolookup.kernel.python_texts import find_addresses, parse_texts
from geolookup.kernel.python_zones import period

if TYPE_CHECKING:
    from geolookup.contract.types import Envelope
    from geolookup.kernel.columns import gather
else:

    def __getattr__(name: str) -> Any:
        if name != "gather":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from geolookup.kernel.columns import gather  # imports numpy: a lookup does not need it

        return gather


__all__ = [
    "Kernel",
    "State",
    "document",
    "find_addresses",
    "gather",
    "parse_texts",
    "period",
    "restore",
]


class Kernel(Lookups):
    """Single lookups on one dataset."""

    #: The name of this implementation.
    kernel = "python"

    def __init__(self, dataset: Dataset) -> None:
        self._state: State | None = State(dataset)

    def _swap(self, state: State | None) -> None:
        """Replace the state; None closes."""
        self._state = state

    def _open_state(self) -> State:
        state = self._state
        if state is None:
            raise ClosedError
        return state

    def lookup(self, ip: object, *, at: Any = None, clean: bool = False) -> Envelope:
        """See ``Lookups``."""
        return self._open_state()._envelope(_address(ip, clean), _second(at))

    def lookup_json(self, ip: object, *, at: Any = None, clean: bool = False) -> bytes:
        """See ``Lookups``."""
        return self._open_state()._json(_address(ip, clean), _second(at))

    def get(  # type: ignore[override]
        self,
        ip: object,
        field: Any,
        /,
        *more: Any,
        default: Any = None,
        at: Any = None,
        clean: bool = False,
    ) -> Any:
        """See ``Lookups``."""
        state = self._open_state()
        second, address = _second(at), _address(ip, clean)
        paths = state._paths_of(names_of((field, *more)), "get")
        check_type("get", address)
        values = state._values(address, paths, second, default)
        return values if more or not isinstance(field, str) else values[0]

    def answer(self, ip: object, *, at: Any = None, clean: bool = False) -> Answer:
        """See ``Lookups``."""
        state, address = self._open_state(), _address(ip, clean)
        check_type("answer", address)
        return answer_of(state, address, _second(at))

    def own(self, ip: object, *, clean: bool = False) -> dict[str, Any] | None:
        """See ``Lookups``."""
        return self._open_state()._own(_address(ip, clean))


def document(texts: dict[str, str]) -> None:
    """Set the docstrings of the calls of ``Kernel``, by their names."""
    for name, text in texts.items():
        vars(Kernel)[name].__doc__ = text


def _second(at: Any) -> int:
    return int(time()) if at is None else instant(at)


def _address(ip: object, clean: bool) -> object:
    if not clean:
        return ip
    from geolookup.contract.cleaning import clean_text  # imports re: a lookup does not need it

    return clean_text(ip)
