"""The site of the documentation: ``sphinx-build -W -c docs/_site docs FOLDER``."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent
sys.path[:0] = [str(_HERE), str(_ROOT), str(_ROOT / "builder")]
# The Python kernel: its signatures have annotations.
os.environ["GEOLOOKUP_KERNEL"] = "python"

import geolookup  # noqa: E402 - the documentation describes this checkout

project = "geolookup"
author = copyright = "the geolookup authors"  # noqa: A001 - the name of the setting
release = geolookup.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "repository",
    "commands",
    "navigation",
    "synonyms",
]
exclude_patterns = ["_site"]
#: The address of the project on a code host.
repository_url = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "urls"
]["Repository"]
#: Pages of the site that are kept elsewhere in the repository.
repository_pages = {
    "data/sources/bundled": "sample_data/README.md",
    "reference/changelog": "CHANGELOG.md",
}

# Anchors as code hosts make them of headings.
myst_heading_anchors = 4
# Quotation marks and dashes of commands stay unchanged.
smartquotes = False

# Not installed with the extra of the documentation.
autodoc_mock_imports = ["django", "duckdb", "geoip2", "maxminddb", "pyspark", "structlog"]
autodoc_member_order = "bysource"
# Names of types that would fill a page if they were written out.
autodoc_type_aliases = {name: name for name in ("ColumnNames", "OnInvalid")}
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "geolookup"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_use_index = html_domain_indices = False
html_copy_source = html_show_sourcelink = html_show_copyright = False
_BRAND = "color-brand-primary", "color-brand-content", "color-brand-visited"
html_theme_options = {
    "top_of_page_buttons": ["view"],  # the template of this button shows the door
    "light_css_variables": dict.fromkeys(_BRAND, "#0a5c8f"),
    "dark_css_variables": dict.fromkeys(_BRAND, "#6cbcf5"),
}
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
# Without the prompts, and without what a command printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Name the lexer of blocks that none is known for, and the types that share a name."""
    for language in ("csv", "crontab", "jsonl"):
        app.add_lexer(language, TextLexer)
    app.connect("autodoc-process-signature", _networks)


def _networks(
    _app: Sphinx,
    _kind: str,
    name: str,
    _object: object,
    _options: object,
    signature: str,
    returns: str,
) -> tuple[str, str] | None:
    """``Network`` is the network of ``ipaddress`` in an engine, and a TypedDict of the envelope."""
    if not name.startswith("geolookup.Engine.prefix"):
        return None
    return signature, returns.replace("Network", "IPv4Network | IPv6Network")
