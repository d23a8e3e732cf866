"""Links that work on a code host work in the site.

A page of the site may be a file elsewhere in the repository (``repository_pages``): the page in
``docs`` is a pointer to it, and the site shows the file. A link to such a file becomes a link to
the page; a link to any other file or folder outside the pages becomes one to the code host. A
link to nothing stays, and Sphinx warns of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Fenced blocks and inline code (without links), or the target of a link.
_LINK = re.compile(r"^```.*?^```$|``.+?``|`[^`\n]+`|\]\(([^)\s]+)\)", re.DOTALL | re.MULTILINE)
#: Kinds of files in ``docs`` that Sphinx copies or renders itself.
_SERVED = {".md", ".svg", ".png"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the two settings, and rewrite each page when it is read."""
    app.add_config_value("repository_url", "", "env")
    app.add_config_value("repository_pages", {}, "env")
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    root = Path(app.srcdir).parent
    origin = Path(app.srcdir, f"{page}.md")
    if page in app.config.repository_pages:
        origin = root / app.config.repository_pages[page]
        app.env.note_dependency(str(origin))
        content[0] = origin.read_text(encoding="utf-8")
    links = _Links(root, origin, page, app.config.repository_url, app.config.repository_pages)
    content[0] = _LINK.sub(links.replaced, content[0])


class _Links:
    """The links of one page, whose text stands in the file ``origin``."""

    def __init__(
        self, root: Path, origin: Path, page: str, url: str, pages: dict[str, str]
    ) -> None:
        self._root = root
        self._origin = origin
        self._folder = (root / "docs" / page).parent
        self._url = url
        self._shown = {root / path: root / "docs" / f"{name}.md" for name, path in pages.items()}

    def replaced(self, link_match: re.Match[str]) -> str:
        """Return the link as the site has it; code unchanged."""
        target = link_match[1]
        if target is None or re.match(r"[a-z]+:|#", target):
            return link_match[0]
        path, mark, anchor = target.partition("#")
        file = Path(os.path.normpath(self._origin.parent / path))
        return f"]({self._target(file) or path}{mark}{anchor})"

    def _target(self, file: Path) -> str | None:
        file = self._shown.get(file, file)
        if not file.exists():
            return None
        if file.suffix in _SERVED and file.is_relative_to(self._root / "docs"):
            return os.path.relpath(file, self._folder)
        kind = "tree" if file.is_dir() else "blob"
        return f"{self._url}/{kind}/main/{file.relative_to(self._root).as_posix()}"
