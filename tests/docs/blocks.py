"""The code blocks of pages, the needs of their examples, and the ones that do not run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import ROOT
from tests.datasets import SMALL

#: Every page whose examples run.
PAGES = (
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md")),
)
_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<kind>[^\s`]*)"
    r"(?: +(?P<name>\S+))?[^\n`]*\n"
    r"(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
#: The end of a line whose paragraph goes on: no table, and no heading, list item or fence after it.
_WRAP = re.compile(r"(?<=[^\n|])\n *(?!\s|\||#|```|[-*+] |\d+\. )")


@dataclass(frozen=True)
class Block:
    """A fenced block: ``kind`` is the language, ``name`` the file that it is, or ``""``."""

    page: str
    line: int
    kind: str
    name: str
    text: str

    @property
    def position(self) -> str:
        return f"{self.page}:{self.line}"


def unwrapped(text: str) -> str:
    """Return the text of a page with each paragraph on one line."""
    return _WRAP.sub(" ", text)


def name_of(page: Path, root: Path = ROOT) -> str:
    """The path of a page in the project, as the tables of these tests name it."""
    return page.relative_to(root).as_posix()


def blocks(page: Path, root: Path = ROOT) -> list[Block]:
    """Return the fenced blocks of a page, in order; directives of the site are not examples."""
    text = page.read_text(encoding="utf-8")
    actual = []
    for match in _BLOCK.finditer(text):
        if match["kind"].startswith("{"):
            continue
        line = text.count("\n", 0, match.start()) + 1
        shown = textwrap.dedent(match["text"])
        actual.append(Block(name_of(page, root), line, match["kind"], match["name"] or "", shown))
    return actual


def sessions(shown: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, and the output that is shown below it.

    Lines after the command that begin with ``> `` belong to it, as a shell prompts for them.
    """
    for session in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]:
        lines = session.splitlines(keepends=True)
        more = 1
        while more < len(lines) and lines[more].startswith("> "):
            more += 1
        command = "".join([lines[0], *(line[2:] for line in lines[1:more])])
        yield command.rstrip("\n"), "".join(lines[more:])


@dataclass(frozen=True)
class Needs:
    """Needs of the examples of a page: modules, programs, a script that runs first, variables."""

    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    script: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


#: A session with one thread and little data: it starts in a part of the time.
_SMALL_SPARK = {
    "PYSPARK_SUBMIT_ARGS": (
        "--master local[1] --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 "
        "pyspark-shell"
    ),
    "GEOLOOKUP_DATASET": str(SMALL),
}
_A_DAY = """
printf 'network,city_name\\n8.8.8.0/24,{day}\\n' > {day}.csv
printf '[dataset]\\nname = "acme-geo"\\n[[source]]\\nformat = "csv"\\n' > {day}.toml
echo 'path = "{day}.csv"' >> {day}.toml
geolookup build {day}.toml --output {day} && rm {day}.*
"""
_TWO_DAYS = "".join(_A_DAY.format(day=day) for day in ("monday", "tuesday"))
_VENDOR = f"PYTHONPATH='{ROOT}' python -m tests.docs.vendor_files {{}}"
_MYDATA = f"cp -r '{SMALL}' mydata\n"
#: A server that is a job of the shell, and the variables that lead psql to it. The path of a
#: socket has at most 107 bytes, so the folder itself is named and not the link to it.
_POSTGRESQL = f"""
PYTHONPATH='{ROOT}' python -m tests.docs.postgresql_server postgresql &
until [ -L postgresql ]; do sleep 0.1; done  # it answers
export PGHOST="$(readlink postgresql)" PGUSER=reader PGDATABASE=postgres
"""
PRESUMED = {
    "docs/use/maps.md": Needs(
        modules=("jinja2", "PIL", "vl_convert"),
        script=_MYDATA + f"cp -r '{ROOT}/geolookup/world' older\n",
        variables={"GEOLOOKUP_DATASET": str(SMALL)},
    ),
    "docs/data/export.md": Needs(
        modules=("chdb", "duckdb", "geoip2"),
        programs=("psql",),
        script=_MYDATA + _POSTGRESQL,
    ),
    "docs/data/own-columns.md": Needs(modules=("pandas",)),
    "docs/use/cookbook.md": Needs(
        modules=(
            *("django", "duckdb", "flask", "granian", "gunicorn", "jinja2", "mmdb_writer"),
            *("pandas", "polars", "vl_convert"),
        ),
        programs=("curl", "nginx"),
        script=_VENDOR.format("GeoLite2-City.mmdb"),
    ),
    "docs/operate/mirrors.md": Needs(modules=("cryptography",), programs=("curl",)),
    "docs/integrate/from-geoip2.md": Needs(
        modules=("geoip2", "maxminddb", "mmdb_writer"), script=_VENDOR.format("GeoLite2-City.mmdb")
    ),
    "docs/integrate/moving.md": Needs(
        modules=("granian",),
        programs=("curl",),
        script=_VENDOR.format("IP2LOCATION-LITE-DB11.CSV")
        + "\n"
        + _VENDOR.format("ipinfo_lite.csv"),
    ),
    "docs/integrate/prefixes.md": Needs(modules=("pyarrow",)),
    "docs/integrate/privacy.md": Needs(modules=("granian",), programs=("curl",)),
    "docs/operate/production.md": Needs(modules=("granian",), programs=("curl", "nginx")),
    "docs/operate/signing.md": Needs(modules=("cryptography",), script=_TWO_DAYS),
    "docs/integrate/web.md": Needs(
        modules=("django", "fastapi", "flask", "geoip2", "gunicorn", "uvicorn"), programs=("curl",)
    ),
    "docs/integrate/logging.md": Needs(modules=("structlog", "uvicorn"), programs=("curl",)),
    "docs/integrate/proxies.md": Needs(modules=("gunicorn",), programs=("curl", "nginx")),
    "docs/use/history.md": Needs(modules=("pyarrow",)),
    "docs/operate/http.md": Needs(modules=("granian",), programs=("curl",)),
    "docs/operate/stores.md": Needs(script=_TWO_DAYS),
    "docs/use/spark.md": Needs(
        modules=("dask.dataframe", "pyspark"), programs=("java",), variables=_SMALL_SPARK
    ),
    "docs/use/tables.md": Needs(modules=("duckdb", "pandas", "polars")),
    "docs/use/tutorial.md": Needs(modules=("pandas",)),
}

#: Kinds of blocks that show and do not run.
SHOWN = {
    "": "an output, a layout of files or a template",
    "nginx": "a part of the files that tests/http/test_deploy.py runs",
    "text": "an output, a layout of files or a template",
    "crontab": "its command runs",
    "fish": "tests/cli/test_completion.py runs it",
    "zsh": "tests/cli/test_completion.py runs it",
}

_IN_NAMESPACE = "tests/prefixes/syntaxes/test_packet_filters.py runs it in a network namespace"
_OF_FIREWALLS = ("nft -c -f tv.nft", "ipset restore", "nft -f changes.nft")
#: Page, how the block begins, and the reason.
NOT_RUN = (
    ("README.md", "python3 -m venv .venv && ", "it installs; .ci/run runs it in a clean copy"),
    ("README.md", "python3 -m venv .venv-test && ", "it runs these tests; .ci/run runs it"),
    ("docs/use/cookbook.md", "$ geolookup update cities", "it downloads from the network"),
    ("docs/use/cookbook.md", "$ MAXMIND_KEY=", "it downloads with a customer's key"),
    *(("docs/integrate/prefixes.md", start, _IN_NAMESPACE) for start in _OF_FIREWALLS),
    ("docs/index.md", "pip install", "it installs, as the first command of the README does"),
    ("docs/operate/production.md", "python3 -m venv", "it installs, as the README does"),
    ("docs/operate/production.md", "# python3 -m venv", "it changes the system, as root"),
    ("docs/operate/production.md", "docker build", "it needs a container engine"),
    ("docs/operate/production.md", "kubectl apply", "it needs a cluster"),
    ("docs/operate/mirrors.md", "aws s3 sync", "its bucket is an example"),
    ("docs/data/sources/vendors.md", "$ MAXMIND_KEY=", "it downloads with a customer's key"),
    ("docs/data/updating.md", "$ geolookup update\n", "it downloads from the network"),
    ("docs/data/updating.md", "$ geolookup update recipe", "it downloads with a customer's key"),
    (
        "docs/use/tutorial.md",
        "python3 -m venv ~/geo",
        "it installs, as the first command of the README does",
    ),
    ("docs/data/tutorial.md", "mkdir ~/acme", "it installs, as the first command of the README"),
    ("docs/data/updating.md", "17 3 * * *", "tests/updates/test_doc.py runs it in another folder"),
)
