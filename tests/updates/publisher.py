"""A publisher on this machine: files at addresses, which a test changes, cuts, moves or slows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.remote.serving import Act, Handler, Site, file, serving, status

COUNTRY, ASN = "country-ipv4-num.csv", "asn-ipv4-num.csv"
RECIPE = """[dataset]
name = "published"
[[source]]
format = "sapics"
path = "{url}/country-ipv4-num.csv"
date = "last-modified"
[[source]]
format = "sapics"
path = "{url}/asn-ipv4-num.csv"
[update]
fail_if = ["country_moved > 20%", "null_gained.location.country_code > 20%"]
keep = 2
"""
_FIRST = 8 << 24  # 8.0.0.0
_NETWORKS = 100


def countries(*changed: str, code: str = "FR") -> bytes:
    """A file of /24 networks from 8.0.0.0 on, of which the first have other countries."""
    codes = [*changed, *([code] * (_NETWORKS - len(changed)))]
    return _file(codes)


def systems() -> bytes:
    return _file([f"{64500 + n % 7},AS {n % 7}" for n in range(_NETWORKS)])


def _file(values: list[str]) -> bytes:
    rows = (f"{_FIRST + 256 * n},{_FIRST + 256 * n + 255},{item}" for n, item in enumerate(values))
    return "".join(f"{row}\n" for row in rows).encode()


@dataclass
class Publisher:
    """The acts by path, and the server that takes them."""

    site: Site
    folder: Path
    acts: dict[str, Act] = field(default_factory=dict)
    versions: int = 0

    def put(self, name: str, content: bytes) -> None:
        """Publish a file, with an ETag and a date of its own."""
        self.versions += 1
        date = f"Thu, 19 Nov 2020 08:00:{self.versions:02d} GMT"
        self.acts[name] = file(content, f'"{self.versions}"', Last_Modified=date)

    @property
    def recipe(self) -> Path:
        path = self.folder / "recipe.toml"
        if not path.exists():
            path.write_text(RECIPE.format(url=self.site.url), encoding="utf-8")
        return path

    def rewrite(self, old: str, new: str) -> None:
        text = self.recipe.read_text(encoding="utf-8")
        assert old in text
        self.recipe.write_text(text.replace(old, new), encoding="utf-8")


@contextmanager
def publishing(folder: Path) -> Iterator[Publisher]:
    """Run a publisher of two files for the block; ``folder`` holds the recipe."""

    def act(handler: Handler) -> None:
        name = handler.path.partition("?")[0].lstrip("/")
        publisher.acts.get(name, status(404))(handler)

    with serving(act) as site:
        publisher = Publisher(site, folder)
        publisher.put(COUNTRY, countries())
        publisher.put(ASN, systems())
        yield publisher
