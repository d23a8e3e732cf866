"""Opening and using an engine: where datasets are found, what is accepted, what is refused."""

from __future__ import annotations

import json
import shutil
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import ContractError
from tests.conftest import ROOT, Build
from tests.contract import check, compact
from tests.hostile import NO_ADDRESS, HostileText, LyingText

INVALID, PRIVATE = 10001, 10002
CSV = "network,country_code,asn\n8.8.8.0/24,US,15169\n2001:4860::/32,US,15169\n"


@pytest.fixture
def dataset(build: Build) -> Path:
    return build({"a.csv": CSV})[0]


def test_the_bundled_sample_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    with geolookup.open() as engine:
        assert engine.path == ROOT / "geolookup" / "sample"
        assert engine.data("8.8.8.8")["location"]["city_name"] == "Mountain View"


def test_the_environment_names_a_dataset(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(dataset))
    with geolookup.open() as engine:
        assert engine.path == dataset
    with geolookup.open(ROOT / "geolookup" / "sample") as engine:
        assert engine.path != dataset  # a path given counts more
    monkeypatch.setenv("GEOLOOKUP_DATASET", "")
    with geolookup.open() as engine:
        assert engine.path != dataset


class _PathLike:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


@pytest.mark.parametrize("kind", [Path, str, _PathLike])
def test_kinds_of_path(dataset: Path, kind: Any) -> None:
    with geolookup.open(kind(dataset)) as engine:
        assert engine.path == dataset


def test_a_relative_path_is_kept_absolute(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(dataset.parent)
    with geolookup.open(dataset.name) as engine:
        monkeypatch.chdir(dataset)
        assert engine.path == dataset


@pytest.mark.parametrize("path", [b"dataset", 1, 1.5, object(), ["a"]])
def test_no_path(path: Any) -> None:
    with pytest.raises(TypeError):
        geolookup.open(path)


def refusal(path: Path) -> geolookup.DatasetError:
    with pytest.raises(geolookup.DatasetError) as caught:
        geolookup.open(path)
    error = caught.value
    assert str(error) == f"{error.path}: {error.problem}; {error.remedy}"
    return error


@pytest.mark.parametrize("name", ["missing", "missing/deeper", "a\0b", "x" * 300])
def test_missing_dataset(tmp_path: Path, name: str) -> None:
    error = refusal(tmp_path / name)
    assert str(tmp_path / name) in error.path
    assert error.remedy


def test_empty_folder_and_plain_file(tmp_path: Path) -> None:
    assert refusal(tmp_path).problem == "no dataset here"
    (tmp_path / "file").write_text("{}")
    assert refusal(tmp_path / "file").problem == "no dataset here"
    assert "geolookup build" in refusal(tmp_path).remedy


@pytest.mark.parametrize("version", [0, 2, 99, "1", None, 1.5, [1]])
def test_another_version(dataset: Path, version: object) -> None:
    path = dataset / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format_version": version}))
    error = refusal(dataset)
    assert error.path == str(path)
    assert repr(version) in error.problem
    assert "geolookup build" in error.remedy


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', '{"format":"other"}', "[" * 100_000])
def test_not_a_dataset(dataset: Path, text: str) -> None:
    (dataset / "manifest.json").write_text(text)
    assert refusal(dataset).path == str(dataset / "manifest.json")


def test_a_dataset_error_survives_pickling(tmp_path: Path) -> None:
    import pickle

    error = refusal(tmp_path)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (again.path, str(again)) == (error.path, str(error))


@pytest.mark.parametrize("number", range(len(NO_ADDRESS)))  # pytest would look into the things
def test_hostile_things_are_answered(sample: geolookup.Engine, number: int) -> None:
    thing = NO_ADDRESS[number]
    assert sample.lookup(thing)["error_code"] == INVALID
    assert json.loads(sample.lookup_json(thing))["error_code"] == INVALID
    for ask in (sample.data, sample.network):
        with pytest.raises(geolookup.InvalidAddressError):
            ask(thing)


@pytest.mark.parametrize("kind", [HostileText, LyingText])
@pytest.mark.parametrize("text", ["8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "8.8.8"])
def test_text_of_a_subclass(sample: geolookup.Engine, kind: type[str], text: str) -> None:
    assert compact(sample.lookup(kind(text), at=0)) == compact(sample.lookup(text, at=0))
    assert sample.lookup_json(kind(text), at=0) == sample.lookup_json(text, at=0)
    if sample.lookup(text)["success"]:
        assert type(sample.data(kind(text))["ip"]) is str
        assert sample.network(kind(text)) == sample.network(text)


def test_the_answer_is_the_callers_own(sample: geolookup.Engine) -> None:
    before = sample.lookup_json("8.8.8.8", at=0)
    for _ in range(2):
        answer = sample.lookup("8.8.8.8", at=0)
        assert compact(answer) == before
        answer["data"]["location"]["country_languages"].append("xx")
        answer["data"]["location"]["country_neighbors"].clear()
        for member in ("location", "time", "currency", "network"):
            answer["data"][member].clear()
        answer["data"].clear()
        answer.clear()
    _, record = next(sample.networks("8.8.8.8/32"))
    for member in record.values():
        member.clear()
    assert sample.lookup_json("8.8.8.8", at=0) == before


AT = 1768507200


@pytest.mark.parametrize(
    "at",
    [
        AT,
        float(AT),
        AT + 0.999,
        datetime.fromtimestamp(AT, UTC),
        datetime.fromtimestamp(AT, timezone(timedelta(hours=-7, minutes=30))),
        datetime.fromtimestamp(AT + 0.9, UTC),
    ],
)
def test_at(sample: geolookup.Engine, at: Any) -> None:
    assert sample.data("8.8.8.8", at=at)["time"]["current_timestamp"] == AT
    assert sample.lookup_json("8.8.8.8", at=at) == sample.lookup_json("8.8.8.8", at=AT)


def test_at_is_floored(sample: geolookup.Engine) -> None:
    assert sample.data("8.8.8.8", at=-0.5)["time"]["current_timestamp"] == -1


def test_now(sample: geolookup.Engine) -> None:
    before = int(time.time())
    stamps = [sample.data("8.8.8.8")["time"]["current_timestamp"]]
    stamps.append(json.loads(sample.lookup_json("8.8.8.8"))["data"]["time"]["current_timestamp"])
    assert before <= stamps[0] <= stamps[1] <= int(time.time())


@pytest.mark.parametrize(
    ("at", "error"),
    [
        *((each, TypeError) for each in ("now", b"0", True, [], datetime(2026, 1, 1))),  # noqa: DTZ001
        *((each, ValueError) for each in (1e30, -(10**20), float("nan"), float("inf"))),
    ],
)
@pytest.mark.parametrize("ip", ["8.8.8.8", "10.0.0.1", "nonsense"])
def test_a_bad_at_is_the_callers_error(
    sample: geolookup.Engine, ip: str, at: Any, error: type[Exception]
) -> None:
    for ask in (sample.lookup, sample.lookup_json, sample.data):
        with pytest.raises(error) as caught:
            ask(ip, at=at)
        assert ip not in str(caught.value)


def test_module_functions(dataset: Path) -> None:
    with geolookup.open(ROOT / "geolookup" / "sample") as engine:
        assert geolookup.lookup("8.8.8.8", at=0) == engine.lookup("8.8.8.8", at=0)
        assert geolookup.lookup_json("::1") == engine.lookup_json("::1")
    assert geolookup.lookup(None)["error_code"] == INVALID
    check(geolookup.lookup("1.1.1.1"))


def test_errors_form_one_family() -> None:
    for name in geolookup.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(geolookup, name), geolookup.GeoLookupError)
    codes = {
        error.code: (error.message, error.http_status) for error in ContractError.__subclasses__()
    }
    assert codes == {
        10001: ("Invalid IP address format", 400),
        10002: ("Cannot geolocate private IP", 400),
        20001: ("Missing API key", 401),
        20002: ("Invalid API key", 401),
        30001: ("Rate limit exceeded", 429),
        30002: ("Quota exceeded", 429),
    }


def test_repr(dataset: Path) -> None:
    engine = geolookup.open(dataset)
    assert repr(engine) == f"<geolookup.Engine {str(dataset)!r}>"
    engine.close()
    assert repr(engine) == f"<geolookup.Engine {str(dataset)!r}, closed>"


def test_a_copy_elsewhere_answers_alike(dataset: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(dataset, tmp_path / "moved")
    with geolookup.open(dataset) as one, geolookup.open(moved) as other:
        assert one.lookup_json("8.8.8.8", at=0) == other.lookup_json("8.8.8.8", at=0)
        assert one.metadata.generation == other.metadata.generation
