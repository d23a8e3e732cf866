"""s3 and gs against real servers of these protocols on this machine (moto, gcp-storage-emulator).

What a bucket does wrong is told by a web server that answers in its place.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from pyarrow import fs

from geolookup.errors import BuildError
from tests.builder.building import isps, recipe
from tests.conftest import build_at
from tests.internals.remote import today
from tests.remote.serving import cut, fetched, kept_files, serving, status

ROWS = b"network,isp\n" + b"".join(b"8.8.%d.0/24,isp %d\n" % (at, at) for at in range(256))
OTHER = ROWS.replace(b"isp ", b"net ")
HIDDEN = "s3cr3tWord"

#: By scheme, a module; a server of it on a free port; and that port.
SERVERS = {
    "s3": (
        "moto.server",
        "ThreadedMotoServer('127.0.0.1', 0, verbose=False)",
        "server.get_host_and_port()[1]",
    ),
    "gs": (
        "gcp_storage_emulator.server",
        "create_server('127.0.0.1', 0, in_memory=True)",
        "server._api._httpd.server_port",
    ),
}
_PROGRAM = """
import os
from {} import *
server = {}
server.start()
print({}, flush=True)
input()
os._exit(0)
"""


@contextmanager
def program(scheme: str) -> Iterator[str]:
    """Run a server as a process of its own; gives its host and port."""
    module = SERVERS[scheme][0]
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    command = [sys.executable, "-c", _PROGRAM.format(*SERVERS[scheme])]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline()  # nothing if it has ended
        assert port.strip().isdecimal(), port
        yield f"127.0.0.1:{port.strip()}"
        process.communicate("\n")


@pytest.fixture(scope="module", params=["s3", "gs"])
def bucket(request: pytest.FixtureRequest) -> Iterator[tuple[fs.FileSystem, str]]:
    """A bucket: its file system, and the address of an object with the place of its name."""
    scheme: str = request.param
    with program(scheme) as host:
        options = {"scheme": "http", "endpoint_override": host}
        if scheme == "s3":
            keys = {"access_key": "a", "secret_key": "b"}  # any will do there
            options["region"] = "us-east-1"
            system = fs.S3FileSystem(**keys, **options, allow_bucket_creation=True)
            system.create_dir("bucket")
        else:
            kind = {"Content-Type": "application/json"}
            address = f"http://{host}/storage/v1/b?project=p"
            made = Request(address, data=b'{"name": "bucket"}', headers=kind)
            urlopen(made).close()  # noqa: S310 (the scheme stands above)
            system = fs.GcsFileSystem(anonymous=True, **options)
            options["anonymous"] = "true"
        query = "&".join(f"{name}={value}" for name, value in options.items())
        yield system, f"{scheme}://bucket/{{}}?{query}"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", HIDDEN)


def test_an_object_comes_once_and_is_built(
    bucket: tuple[fs.FileSystem, str], tmp_path: Path
) -> None:
    system, address = bucket

    def put(name: str, content: bytes) -> str:
        with system.open_output_stream(f"bucket/{name}") as stream:
            stream.write(content)
        return address.format(name)

    before = datetime.now(UTC).replace(microsecond=0)
    there = put("d/a.csv", ROWS)
    first, second = fetched(there, tmp_path), fetched(there, tmp_path)
    assert (first.changed, second.changed) == (True, False)
    assert first.file.path.read_bytes() == ROWS
    modified = first.file.version.modified
    assert modified.endswith("+00:00")
    assert before <= datetime.fromisoformat(modified) <= datetime.now(UTC)
    put("d/a.csv", OTHER)
    assert fetched(there, tmp_path).changed
    assert kept_files(tmp_path, "a.csv") == [OTHER]
    put(f"m-{today():%Y-%m}.csv", ROWS)
    months = [fetched(address.format("m-{month}.csv"), tmp_path).changed for _ in range(2)]
    assert months == [True, False]
    there = put("a.csv", ROWS)
    output, report = build_at(tmp_path, {}, recipe(f'path = "{there}"'), cache=tmp_path / "cache")
    assert isps(output, "8.8.8.8") == ["isp 8"]
    assert report.sources[0].name == "a.csv"


UNREADABLE = "the bucket cannot be read ("
FAILURES = {
    "refused": (status(403), "the bucket refuses access; check the credentials"),
    "failing": (status(503), UNREADABLE),
    "missing": (status(404), "no such file in the bucket"),
    "resetting": (cut(ROWS, 1000, reset=True), UNREADABLE),
}
WRONG = {
    "s3://b/a.csv?regio=x": "unknown option regio of s3://b/a.csv?…; did you mean 'region'?",
    "gs://b/a.csv?region=x": "unknown option region of gs://b/a.csv?…; known are endpoint_override",
    "s3://b/a.csv?access_key=x": "unknown option access_key of s3://b/a.csv?…",
    "s3://b/a.csv?scheme=http": "s3://b/a.csv?… is not encrypted; write scheme=https, or",
    "s3://b/a.csv?endpoint_override=h.example&scheme=http": "s3://b/a.csv?… is not encrypted",
}


def test_what_fails_and_options_that_are_none(tmp_path: Path) -> None:
    with serving(status(403)) as site:
        host = site.url.removeprefix("http://")
        address = f"s3://bucket/a.csv?endpoint_override={host}&scheme=http&region=us-east-1"
        for name, (act, text) in FAILURES.items():
            site.plan[:] = [act]
            with pytest.raises(BuildError) as caught:
                fetched(address, tmp_path / name)
            assert str(caught.value).startswith(f"s3://bucket/a.csv?…: {text}"), name
            assert "\n" not in str(caught.value)
            assert HIDDEN not in str(caught.value)
    host = "endpoint_override=nowhere.invalid&scheme=https&region=us-east-1"
    with pytest.raises(BuildError, match=r"\(tried 3 times\); check the network, or try again"):
        fetched(f"s3://bucket/a.csv?{host}", tmp_path / "unreachable")
    for address, said in WRONG.items():
        with pytest.raises(BuildError) as caught:
            fetched(address, tmp_path)
        assert str(caught.value).startswith(f"{tmp_path / 'recipe.toml'}: {said}")
