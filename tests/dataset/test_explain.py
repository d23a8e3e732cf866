"""``explain``: which source decided each layer, in which range, and its refusals."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import geolookup
from tests.builder.building import fails
from tests.builder.building import recipe as recipe_of
from tests.conftest import Build, build_at
from tests.internals.contract import effective, fields, parse
from tests.internals.dataset import Dataset, decisions, explain, network_of, read_manifest
from tests.internals.dataset import layout as fmt
from tests.internals.kernel import kernel
from tests.internals.kernel import python as kernel_python
from tests.internals.store import BUNDLED
from tests.own_sources import own_dataset
from tests.strategies import ipv4_values, ipv6_values
from tests.tiers import scaled

FILES = {
    "top.csv": "network,isp,city_name\n8.8.8.0/26,Top,\n8.8.8.64/26,,Berlin\n2a00::/120,Top,\n",
    "bottom.csv": "network,isp,asn,country_code\n8.8.8.0/23,Bottom,5,US\n2a00::/112,Bottom,,\n",
}
RECIPE = recipe_of(
    'path = "top.csv"\nname = "Top"\ndate = 2026-01-31\nlicence = "CC0-1.0"', 'path = "bottom.csv"'
)
TOP = {"source": "Top", "date": "2026-01-31", "licence": "CC0-1.0"}
BOTTOM = {"source": "bottom.csv", "date": None, "licence": None}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("explain"), dict(FILES), RECIPE)[0]


@pytest.fixture(scope="module")
def engine(dataset: Path) -> Iterator[geolookup.Engine]:
    with geolookup.open(dataset) as opened:
        yield opened


SOURCES = read_manifest(BUNDLED).metadata().sources
#: Members of a decided layer that come from the answers, not from provenance.
OF_ANSWERS = ("values", "same_values", "prefix")


def known(engine: geolookup.Engine, ip: str) -> dict[str, Any]:
    layers = engine.explain(ip)["layers"]
    assert list(layers) == list(fields.LAYERS)
    return {
        layer: {name: item for name, item in decided.items() if name not in OF_ANSWERS}
        for layer, decided in layers.items()
        if decided
    }


def test_each_layer_names_its_source_and_range(engine: geolookup.Engine) -> None:
    explained = engine.explain("8.8.8.8")
    assert list(explained) == ["ip", "network", "same_sources", "layers"]
    assert (explained["ip"], explained["network"]) == ("8.8.8.8", "8.8.8.0/26")
    assert known(engine, "8.8.8.8") == {
        # An empty cell of the deciding row knows nothing, so the next source does.
        "location": {**BOTTOM, "range": "8.8.8.0-8.8.8.63"},
        "isp": {**TOP, "range": "8.8.8.0-8.8.8.63"},
        "asn": {**BOTTOM, "range": "8.8.8.0-8.8.9.255"},
    }
    assert engine.explain("2A00:0::1")["ip"] == "2a00::1"
    ipv4 = "8.8.8.0-8.8.8.63"
    for ip, network, same_sources in (
        ("8.8.9.1", "8.8.9.0/24", "8.8.8.128-8.8.9.255"),
        ("8.8.8.200", "8.8.8.128/25", "8.8.8.128-8.8.9.255"),
        ("2a00::1", "2a00::/120", "2a00::-2a00::ff"),
        ("::ffff:8.8.8.8", "::ffff:808:800/122", ipv4),
        ("64:ff9b::808:808", "64:ff9b::808:800/122", ipv4),
        ("2002:808:808::1", "2002:808:800::/42", ipv4),
        # Nothing is known; private space is on both sides.
        ("9.9.9.9", str(engine.answer("9.9.9.9").prefix), "8.8.10.0-9.255.255.255"),
    ):
        explained = engine.explain(ip)
        assert (explained["network"], explained["same_sources"]) == (network, same_sources)
        if "808" in network:  # it carries another address
            assert known(engine, ip) == known(engine, "8.8.8.8")
    assert known(engine, "9.9.9.9") == {}


def test_a_list_is_not_an_address(engine: geolookup.Engine) -> None:
    with pytest.raises(geolookup.InvalidAddressError) as caught:
        engine.explain(["8.8.8.8", "8.8.9.1"])
    assert caught.value.__notes__ == ["explain reads one address: call it for each of them"]
    with pytest.raises(geolookup.InvalidAddressError) as caught:
        engine.explain("8.8.8")
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("module", [kernel, kernel_python], ids=["kernel", "python"])
@settings(max_examples=scaled(20, 200))
@given(ipv4=ipv4_values, ipv6=ipv6_values)
def test_the_headline_has_one_answer(module: Any, ipv4: int, ipv6: int) -> None:
    """The sources may decide alike around it, where the answers differ."""
    state = module.State(Dataset(BUNDLED))
    for ip in (IPv4Address(ipv4), IPv6Address(ipv6), IPv6Address(0xFFFF << 32 | ipv4)):
        (answer,) = state.envelopes([ip], 0)
        if answer["data"] is None:
            with pytest.raises(geolookup.PrivateAddressError):
                explain(state.dataset, SOURCES, ip, None)
            continue
        explained = explain(state.dataset, SOURCES, ip, answer["data"])
        network = ip_network(explained["network"])
        assert network == network_of(state.dataset, ip)
        probes = [ip, network[0], network[-1], network[network.num_addresses // 2]]
        for other in state.envelopes(probes, 0):
            assert other["data"] | {"ip": ""} == answer["data"] | {"ip": ""}, network
        check_same_sources(state, ip, explained)


def check_same_sources(state: Any, ip: Any, explained: dict[str, Any]) -> None:
    """The range holds the address; the same sources decide at its ends."""
    ends = [ip_address(end) for end in explained["same_sources"].split("-")]
    family, value = effective(*parse(ip))
    assert ends[0].version == family
    assert int(ends[0]) <= value <= int(ends[1])
    for end in ends:
        decided = decisions(state.dataset, SOURCES, family, int(end))
        assert decided["same_sources"] == explained["same_sources"]
        assert deciding(decided) == deciding(explained)


def deciding(explained: dict[str, Any]) -> dict[str, Any]:
    return {name: layer and layer["source"] for name, layer in explained["layers"].items()}


def test_values_and_where_they_hold(build: Build) -> None:
    """One source states the values of a layer in several rows; each is a range of its own."""
    rows = (
        "8.8.8.0/25,DE,Berlin,Europe/Berlin,5",
        "8.8.8.128/25,DE,Berlin,Europe/Berlin,6",
        "8.8.9.0/24,FR,,,6",
        "8.8.10.0/23,,,,6",
        "2a00::/120,DE,,,",
        "2a00::100/120,FR,,,",
    )
    head = "network,country_code,city_name,time_zone,asn\n"
    dataset, _ = build({"a.csv": head + "".join(f"{row}\n" for row in rows)})
    berlin = {"continent_code": "EU", "country_code": "DE", "city_name": "Berlin"}
    berlin["time_zone"] = "Europe/Berlin"
    france = {"continent_code": "EU", "country_code": "FR", "time_zone": "Europe/Paris"}
    with geolookup.open(dataset) as engine:
        assert known(engine, "8.8.8.8")["location"]["range"] == "8.8.8.0-8.8.9.255"
        for ip, layer, *expected in (
            ("8.8.8.8", "location", berlin, "8.8.8.0-8.8.8.255", "8.8.8.0/24"),
            ("::ffff:8.8.8.8", "location", berlin, "8.8.8.0-8.8.8.255", "8.8.8.0/24"),
            ("8.8.9.1", "location", france, "8.8.9.0-8.8.9.255", "8.8.9.0/24"),
            ("8.8.8.8", "asn", {"asn": 5}, "8.8.8.0-8.8.8.127", "8.8.8.0/25"),
            ("8.8.9.1", "asn", {"asn": 6}, "8.8.8.128-8.8.11.255", "8.8.9.0/24"),
            ("8.8.11.1", "asn", {"asn": 6}, "8.8.8.128-8.8.11.255", "8.8.10.0/23"),
            ("2a00::1ff", "location", france, "2a00::100-2a00::1ff", "2a00::100/120"),
        ):
            decided = engine.explain(ip)["layers"][layer]
            assert [decided[name] for name in OF_ANSWERS] == expected, (ip, layer)


def test_it_raises_the_error_of_the_envelope(engine: geolookup.Engine) -> None:
    for ip in ("nonsense", None, "10.0.0.1", "::ffff:10.0.0.1", "fc00::1"):
        with pytest.raises(geolookup.errors.ContractError) as caught:
            engine.explain(ip)
        envelope = engine.lookup(ip)
        assert (caught.value.code, str(caught.value)) == (
            envelope["error_code"],
            envelope["error_message"],
        )
    with geolookup.open(engine.path) as closed:
        pass
    with pytest.raises(geolookup.errors.ClosedError):
        closed.explain("8.8.8.8")


def test_a_dataset_that_was_replaced(build: Build) -> None:
    """An open engine answers from its mapped files, and must not explain another's answers."""
    dataset, _ = build({"a.csv": "network,isp\n8.8.8.0/24,A\n"})
    with geolookup.open(dataset) as engine, geolookup.open(dataset) as early:
        early.explain("8.8.8.8")
        build({"a.csv": "network,asn\n8.8.8.0/24,1\n"})
        assert known(early, "8.8.8.8").keys() == {"isp"}
        assert engine.get("8.8.8.8", "network.isp") == "A"
        with pytest.raises(geolookup.DatasetError, match="replaced"):
            engine.explain("8.8.8.8")


def test_damaged_provenance(dataset: Path, tmp_path: Path, sample: geolookup.Engine) -> None:
    """A number that no source has, or no file at all: lookups map none of it."""
    copy = shutil.copytree(dataset, tmp_path / "copy")
    path = copy / fmt.PROVENANCE[4]
    described = json.loads((copy / fmt.MANIFEST).read_text(encoding="utf-8"))["files"][path.name]
    offset, length = described["columns"]["isp"]["buffers"][1]
    data = bytearray(path.read_bytes())
    assert set(data[offset : offset + length]) == {0, 1, 2}
    data[offset : offset + length] = b"\3" * length
    path.write_bytes(data)
    for problem in ("source 3", "missing"):
        with geolookup.open(copy) as engine:
            assert engine.lookup("8.8.8.8")["success"]
            assert engine.metadata.sources[0].coverage["isp"] == {"ipv4": 64, "ipv6": 256}
            assert any(engine.prefixes())
            with pytest.raises(geolookup.DatasetError, match=problem):
                engine.explain("8.8.8.8")
        for name in fmt.PROVENANCE.values():
            (copy / name).unlink(missing_ok=True)
    metadata = sample.metadata
    for layer, known_of_layer in metadata.coverage.items():
        for family, addresses in known_of_layer.items():
            parts = [source.coverage.get(layer, {}).get(family, 0) for source in metadata.sources]
            assert sum(parts) == addresses


@pytest.mark.long
def test_as_many_sources_as_a_byte_tells_apart(build: Build, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"{n}.csv": f"network,isp\n8.8.{n}.0/24,{n}\n" for n in range(255)
    }
    sources = [f'path = "{n}.csv"' for n in range(255)]
    with geolookup.open(build(files, recipe_of(*sources[:254]))[0]) as engine:
        for number in (0, 1, 127, 128, 253):
            assert known(engine, f"8.8.{number}.1")["isp"]["source"] == f"{number}.csv"
    error = fails(tmp_path, files, recipe_of(*sources))
    assert error.problem == "255 sources, at most 254 are allowed"


def test_what_is_explained_is_a_dict_with_a_short_repr(engine: geolookup.Engine) -> None:
    explained = engine.explain("8.8.8.8")
    assert isinstance(explained, dict)
    assert repr(explained) == (
        "<geolookup.Explanation location='bottom.csv', asn='bottom.csv', isp='Top'>"
    )
    assert repr(engine.explain("9.9.9.9")) == "<geolookup.Explanation unknown>"
    plain = json.loads(json.dumps(explained))
    assert explained == plain
    assert pickle.loads(pickle.dumps(explained)) == plain  # noqa: S301
    assert {**explained} == plain


def test_a_private_address_is_explained_by_its_own_columns() -> None:
    with geolookup.open(own_dataset()) as engine:
        explained = engine.explain("10.1.2.3")
        assert explained["network"] == "10.1.0.0/16"
        assert explained["layers"]["own.site_id"] == {
            "source": "sites.csv",
            "date": None,
            "licence": None,
            "range": "10.0.0.0-10.255.255.255",
            "values": {"own.site_id": "Branch"},
            "same_values": "10.1.0.0-10.1.255.255",
            "prefix": "10.1.0.0/16",
        }
        assert explained["layers"]["location"] is None
        # An IPv6 address that carries it has the network of its own family.
        assert engine.explain("::ffff:10.1.2.3")["network"] == "::ffff:a01:0/112"
        assert set(engine.explain("127.0.0.1")["layers"].values()) == {None}
