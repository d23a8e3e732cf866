"""Views of the traffic page: bars, columns of time, hours of a week, parts of a whole.

A view is drawn in HTML; its marks are elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from geolookup.pictures import wording
from geolookup.pictures.charts import Chart
from geolookup.pictures.picture_files import Picture
from geolookup.reports.section import Section, Table

Kind = Literal["bars", "columns", "heat", "parts"]
#: Below this share of the requests a chart gives way to a sentence.
LEAST_SHARE = 0.2
_KNOWN = ": known for "


@dataclass(frozen=True, slots=True)
class View:
    """Labelled rows of counts; None is a hidden count."""

    name: str  # of the element, and of the file that a button saves
    kind: Kind
    title: str
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int | None]]]
    picture: Chart | None = None

    @property
    def most(self) -> int:
        """The largest count, at least 1: its mark has the full length."""
        return max((count or 0 for _, counts in self.rows for count in counts), default=0) or 1

    @property
    def is_shown(self) -> bool:
        """Whether a count is shown; a chart of hidden counts has no mark."""
        return any(count for _, counts in self.rows for count in counts)

    def length(self, count: int | None) -> str:
        """Return the length of a mark in percent."""
        return f"{100 * (count or 0) / self.most:.4g}"

    def parts(self, counts: Sequence[int | None]) -> list[str]:
        """Return the lengths of the parts of a row in percent."""
        total = sum(count or 0 for count in counts) or 1
        return [f"{100 * (count or 0) / total:.4g}" for count in counts]

    def text(self, count: int | None) -> str:
        """Return a count as shown."""
        return "hidden" if count is None else wording.count(count)


def known_title(subject: str, known: int, requests: int) -> str:
    """Return the title of a chart, with the share of the requests that it is drawn from."""
    return f"{subject}{_KNOWN}{share_text(known, requests)} of the requests"


def is_drawn(known: int, requests: int) -> bool:
    """Tell whether enough requests are known for a chart."""
    return known > 0 and known >= LEAST_SHARE * requests


def share_text(part: int, whole: int) -> str:
    """Return a share in whole percent; in tenths below 10 %."""
    share = 100 * part / max(whole, 1)
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99 < share < 100:
        return "> 99 %"
    return f"{share:.1f} %" if 0 < share < 10 else f"{share:.0f} %"


def views_section(
    anchor: str,
    title: str,
    note: str,
    views: Sequence[View] = (),
    tables: Sequence[Table] = (),
) -> Section:
    """Return a section that shows views, and tables after them; a sentence if a view is hidden."""
    hidden = [view.title.partition(_KNOWN)[0] for view in views if not view.is_shown]
    note = " ".join((note, *(f"{title}: all counts are hidden." for title in hidden))).strip()
    views = [view for view in views if view.is_shown]
    pictures = [view.picture for view in views if view.picture is not None]
    return Section(
        anchor,
        title,
        "traffic.html",
        {"note": note, "views": views, "tables": tables},
        styles=("traffic.css",),
        pictures=(Picture(chart.name, chart.picture_svg()) for chart in pictures if chart.rows),
    )
