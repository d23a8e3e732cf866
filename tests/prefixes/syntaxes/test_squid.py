"""What Squid accepts, and which clients its ACL matches."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prefixes.syntaxes import proxied
from tests.prefixes.syntaxes.lists import drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.tools import needs, needs_root, run, script

pytestmark = [pytest.mark.long, needs("squid")]
LIST = drawn(1, 300)
_CONFIGURATION = """
acl listed src "{0}/list"
http_access deny listed
http_access allow all
proxy_protocol_access allow all
http_port 127.0.0.1:3128 require-proxy-header
pid_filename {0}/pid
cache_log stdio:{0}/log
access_log none
cache deny all
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
coredump_dir {0}
"""


def _configured(folder: Path, text: str) -> str:
    """The path of a configuration with the list."""
    (folder / "list").write_text(text)
    (folder / "squid.conf").write_text(_CONFIGURATION.format(folder))
    return str(folder / "squid.conf")


def _parsed(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    return run("squid", "-k", "parse", "-f", _configured(folder, text))


def test_a_list_is_accepted(short_folder: Path) -> None:
    done = _parsed(short_folder, whole_text("squid", LIST))
    assert done.returncode == 0
    assert not {"WARNING", "ERROR", "FATAL"} & set(done.stderr.replace(":", " ").split())


def test_a_malformed_file_is_refused(short_folder: Path) -> None:
    """The check would notice a syntax error."""
    assert _parsed(short_folder, "1.0.0.0/24\n1.0.1.0/33\n").returncode


@needs_root
@needs("ip")
def test_clients_from_the_list_are_refused(short_folder: Path) -> None:
    """In a namespace of its own, because Squid listens on no socket of the file system."""
    configuration = _configured(short_folder, whole_text("squid", LIST))
    short_folder.chmod(0o777)  # for the user that Squid becomes
    inside, outside = members(LIST)[::37], neighbours(LIST)[::37]
    asked = shlex.join([sys.executable, proxied.__file__, "3128", *inside, *outside])
    # The service's name, for memory that it shares, differs from that of another Squid.
    squid = f"squid -N -n tests{os.getpid()} -f {configuration}"
    text = f"ip link set lo up; {squid} 2>errors & {asked}; kill $!; wait"
    assert script(short_folder, text).split() == inside
