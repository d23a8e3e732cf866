"""Three generations of a dataset, and the deltas between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.archives.test_pack import Members, digests, members
from tests.builder.building import recipe
from tests.conftest import build_at
from tests.datasets import once
from tests.internals.archives import pack

#: Whether sources are explained in full: such a dataset has further files.
_RECIPES = (
    recipe('path = "a.csv"'),
    recipe('path = "a.csv"').replace('"test"', '"test"\nexplain = "full"'),
)
_TOWNS = ("Berlin", "Bremen", "Mainz", "Trier", "Ulm")


def generation(folder: Path, number: int, *, explained: bool) -> Path:
    folder.mkdir(parents=True)
    rows = ["network,country_code,city_name,isp,time_zone"]
    for at in range(150):
        town = _TOWNS[(at + (number if at % 7 == 0 else 0)) % 5]
        isp = f"Carrier {at % 11 if at % 13 else number}"
        rows += [f"8.{at}.0.0/16,DE,{town},{isp},Europe/Berlin"]
        rows += [f"2a00:{at:x}::/32,DE,{town},{isp},Europe/Berlin"]
    text = _RECIPES[explained]
    return build_at(folder, {"a.csv": "\n".join([*rows[: len(rows) - 9 * number], ""])}, text)[0]


@dataclass(frozen=True)
class Line:
    """Datasets of one name in the order of their publication, and archives of them.

    ``archives`` has all deltas by (base, target), and whole datasets by (None, target).
    """

    datasets: list[Path]
    archives: dict[tuple[int | None, int], Path]

    def members(self, base: int | None, target: int) -> Members:
        return members(self.archives[base, target])

    @property
    def results(self) -> list[dict[str, str]]:
        return [digests(dataset) for dataset in self.datasets]

    def result(self, target: int) -> dict[str, str]:
        return digests(self.datasets[target])


def line() -> Line:
    """Three generations, the last of which is explained in full, and all archives.

    They are made once in a run; nobody may change them.
    """
    folder = once("archives-line", _line)
    datasets = [folder / str(number) / "dataset" for number in range(3)]
    pairs = [(base, target) for base in (None, 0, 1, 2) for target in range(3) if base != target]
    return Line(datasets, {pair: folder / _name(*pair) for pair in pairs})


def _line(folder: Path) -> None:
    datasets = [
        generation(folder / str(number), number, explained=number == 2) for number in range(3)
    ]
    for base in (None, 0, 1, 2):
        for target in {0, 1, 2} - {base}:
            against = None if base is None else datasets[base]
            pack(datasets[target], folder / _name(base, target), base=against)


def _name(base: int | None, target: int) -> str:
    return f"{base}-{target}.tar.zst"
