"""What a format of ``export`` is: its name, its options, and the module that writes it.

Imports nothing heavy: the command reads it for ``--help``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.progress import Progress

#: The values of options by name, without those that were not given.
Values = Mapping[str, Any]
#: What was written, by the name of the things counted, such as ``{"networks": 1200}``.
Counts = Mapping[str, int]


class Option(NamedTuple):
    """An option of one or several formats: ``--name`` of the command, ``name`` of ``export``.

    Its value is a text, one of the ``choices`` where there are any; with ``several`` it is a
    tuple of texts, which the command takes separated by commas. ``metavar`` is its value in
    ``--help``.
    """

    name: str
    help: str
    metavar: str = "NAME"
    choices: tuple[str, ...] = ()
    several: bool = False


class Format(NamedTuple):
    """A format by its name. ``module`` is a module of this package with a function ``write``.

    ``output`` is what it writes (see ``outputs``): ``file``; ``database``, a file that a library
    creates; ``folder``, whose files have names that the pattern ``holds`` matches; ``stream``,
    which may be standard output, and is compressed as its suffix says.
    """

    name: str
    help: str
    module: str
    options: tuple[Option, ...] = ()
    output: str = "file"
    holds: str = ""


class Write(Protocol):
    """The function ``write`` of a format's module."""

    def __call__(self, dataset: Dataset, place: Any, values: Values, progress: Progress) -> Counts:
        """Write a dataset to ``place``, which ``outputs.opened`` yields.

        ``values`` are those of the format's own options. Raises ExportError for a value that the
        option does not have, DatasetError where the dataset is damaged.
        """


#: Options that several formats have.
FIELDS = Option(
    "fields",
    "Members and groups of the answer to write.",
    metavar="PATH,...",
    several=True,
)
