"""What nginx accepts, and what its variable says of addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.prefixes.syntaxes.settings import Settings
from tests.prefixes.syntaxes.lists import drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.tools import needs, requested, run, running

pytestmark = [pytest.mark.long, needs("nginx")]
LIST = drawn(1, 300)
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_SERVER = """
error_log stderr; pid {0}/pid; worker_processes 1; daemon off; events {{}}
http {{
    {1}
    access_log off;
    include {0}/geo.conf;
    server {{
        listen unix:{0}/socket proxy_protocol;
        set_real_ip_from unix:;
        real_ip_header proxy_protocol;
        return 200 "value=$blocked";
    }}
}}
"""


def _command(folder: Path, text: str) -> list[str]:
    """The command of an nginx that answers with the variable."""
    places = "".join(f"{name}_temp_path {folder}/{name};" for name in _TEMPORARY)
    (folder / "geo.conf").write_text(text)
    (folder / "nginx.conf").write_text(_SERVER.format(folder, places))
    return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def test_addresses_have_their_value(short_folder: Path) -> None:
    text = whole_text("nginx-geo", LIST, Settings(name="blocked", value="listed"))
    command, place = _command(short_folder, text), short_folder / "socket"
    assert "test is successful" in run(*command, "-t").stderr
    with running(place, *command):
        for addresses, value in (
            (members(LIST)[::37], b"value=listed"),
            (neighbours(LIST)[::37], b"value=0"),
        ):
            assert {requested(place, each).split()[-1] for each in addresses} == {value}


def test_an_empty_list_is_accepted(short_folder: Path) -> None:
    text = whole_text("nginx-geo", {4: [], 6: []}, Settings(name="blocked"))
    assert run(*_command(short_folder, text), "-t").returncode == 0


def test_a_malformed_file_is_refused(short_folder: Path) -> None:
    """The check would notice a syntax error."""
    text = whole_text("nginx-geo", LIST, Settings(name="blocked")).replace("/24", "/33", 1)
    assert "invalid network" in run(*_command(short_folder, text), "-t").stderr
