"""Ranges of cloud providers: each provider's document, shared prefixes, damage, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.sources.reading import json_document

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused

AWS: dict[str, Any] = {
    "syncToken": "1732000000",
    "createDate": "2026-11-20-00-00-00",
    "prefixes": [
        {"ip_prefix": "3.5.140.0/22", "region": "ap-northeast-2", "service": "AMAZON"},
        {"ip_prefix": "13.32.0.0/15", "region": "GLOBAL", "service": "CLOUDFRONT"},
        {"ip_prefix": "13.32.0.0/15", "region": "GLOBAL", "service": "AMAZON"},
        {"ip_prefix": "3.5.140.0/24", "region": "ap-northeast-2", "service": "EC2"},
    ],
    "ipv6_prefixes": [
        {"ipv6_prefix": "2600:1f00::/24", "region": "us-east-1", "service": "EC2"},
        {"ipv6_prefix": "2600:9000::/28", "region": "GLOBAL", "service": "CLOUDFRONT"},
    ],
}
AZURE: dict[str, Any] = {
    "changeNumber": 300,
    "cloud": "Public",
    "values": [
        {
            "name": "AzureCloud.eastus",
            "id": "AzureCloud.eastus",
            "properties": {
                "changeNumber": 1,
                "region": "eastus",
                "platform": "Azure",
                "systemService": "",
                "addressPrefixes": ["13.72.64.0/18", "2603:1030::/45", "13.107.208.0/24"],
            },
        },
        {
            "name": "AzureFrontDoor.Frontend",
            "id": "AzureFrontDoor.Frontend",
            "properties": {
                "changeNumber": 1,
                "region": "",
                "platform": "Azure",
                "systemService": "AzureFrontDoor",
                "addressPrefixes": ["13.107.208.0/24"],
            },
        },
    ],
}
CLOUDFLARE: dict[str, Any] = {
    "result": {
        "ipv4_cidrs": ["173.245.48.0/20"],
        "ipv6_cidrs": ["2400:cb00::/32"],
        "etag": "38f79d050aa027e3be3865e495dcc9bc",
    },
    "success": True,
    "errors": [],
    "messages": [],
}
CUSTOMERS: dict[str, Any] = {
    "syncToken": "1732000000000",
    "creationTime": "2026-11-20T00:00:00.000000",
    "prefixes": [
        {"ipv4Prefix": "34.1.208.0/20", "service": "Google Cloud", "scope": "africa-south1"},
        {"ipv6Prefix": "2600:1900:8000::/44", "service": "Google Cloud", "scope": "africa-south1"},
    ],
}
GOOGLE: dict[str, Any] = {
    "syncToken": "1732000000000",
    "creationTime": "2026-11-20T00:00:00.000000",
    "prefixes": [{"ipv4Prefix": "8.8.4.0/24"}, {"ipv6Prefix": "2001:4860::/32"}],
}
ORACLE: dict[str, Any] = {
    "last_updated_timestamp": "2026-11-20T00:00:00.000000",
    "regions": [
        {"region": "us-phoenix-1", "cidrs": [{"cidr": "129.146.0.0/21", "tags": ["OCI"]}]},
        {"region": "us-ashburn-1", "cidrs": [{"cidr": "134.70.24.0/21", "tags": ["OSN"]}]},
    ],
}
LIST = "173.245.48.0/20\n2400:cb00::/32"
DOCUMENTS = {
    "aws": AWS,
    "azure": AZURE,
    "cloudflare": CLOUDFLARE,
    "customers": CUSTOMERS,
    "google": GOOGLE,
    "oracle": ORACLE,
}
RECIPE = one("cloud", "a.json")


def of(organization: str, user_type: str | None) -> dict[str, str]:
    found = {"organization": organization, "user_type": user_type}
    return {key: word for key, word in found.items() if word}


AMAZON, DELIVERY = of("Amazon Web Services", "hosting"), "content_delivery_network"
EXPECTED: dict[str, dict[str, dict[str, str]]] = {
    "aws": {
        "3.5.140.1": AMAZON,
        "3.5.143.255": AMAZON,
        "13.33.0.1": of("Amazon Web Services", DELIVERY),
        "2600:1f00::1": AMAZON,
        "2600:9000::1": of("Amazon Web Services", DELIVERY),
    },
    "azure": {
        "13.72.64.1": of("Microsoft Azure", "hosting"),
        "2603:1030::1": of("Microsoft Azure", "hosting"),
        "13.107.208.1": of("Microsoft Azure", DELIVERY),
    },
    "cloudflare": {
        "173.245.48.1": of("Cloudflare", DELIVERY),
        "2400:cb00::1": of("Cloudflare", DELIVERY),
    },
    "customers": {
        "34.1.208.1": of("Google Cloud", "hosting"),
        "2600:1900:8000::1": of("Google Cloud", "hosting"),
    },
    "google": {"8.8.4.4": of("Google", None), "2001:4860::1": of("Google", None)},
    "oracle": {
        "129.146.0.1": of("Oracle Cloud", "hosting"),
        "134.70.24.1": of("Oracle Cloud", "hosting"),
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document(read: Read, name: str) -> None:
    for indent in (None, 2):
        reading = read({"a.json": json.dumps(DOCUMENTS[name], indent=indent)}, RECIPE)
        assert (reading.source.rejected.total(), reading.source.nulled.total()) == (0, 0)
        assert reading.stated(*EXPECTED[name], "9.9.9.9") == [*EXPECTED[name].values(), {}]


def test_a_prefix_of_several_services_is_a_duplicate(read: Read) -> None:
    reading = read({"a.json": json.dumps(AWS)}, RECIPE)
    source = reading.source
    assert (source.read, source.duplicates) == (6, 1)
    assert source.note == "region, service ignored: no field holds them"


def test_the_text_lists_of_cloudflare(read: Read) -> None:
    for name in ("ips-v4", "ips-v6.txt", "cloudflare-ips-v4.txt"):
        reading = read({name: LIST}, one("cloud", name))
        assert (reading.source.read, reading.source.note) == (2, "")
        assert reading.stated(*EXPECTED["cloudflare"]) == [*EXPECTED["cloudflare"].values()]


def test_files_of_several_providers_are_tables(read: Read) -> None:
    files: dict[str, str | bytes] = {"a.json": json.dumps(AWS), "b.json": json.dumps(ORACLE)}
    reading = read(files, one("cloud", "*.json"))
    assert [each.name for each in reading.report.sources] == ["*.json (AWS)", "*.json (Oracle)"]
    assert reading.stated("129.146.0.1", "3.5.140.1") == [of("Oracle Cloud", "hosting"), AMAZON]


def test_an_entry_of_google_may_have_both_prefixes(read: Read) -> None:
    entry = {"ipv4Prefix": "34.1.208.0/20", "ipv6Prefix": "2600:1900::/44"}
    reading = read({"a.json": json.dumps({**GOOGLE, "prefixes": [entry]})}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (2, 0)
    assert reading.stated("34.1.208.1", "2600:1900::1") == [of("Google", None)] * 2


BAD: dict[str, object] = {
    "not a prefix length": "8.8.8.0/33",
    "host bits set": "8.8.8.1/24",
    "not an address": [None, 5, True, ["8.8.8.0/24"], {}, "", "x" * 5000, "\ud800", "8.8.\0"],
}


def test_bad_entries_are_rejected_by_number(read: Read) -> None:
    bad = [
        each
        for listed in BAD.values()
        for each in (listed if isinstance(listed, list) else [listed])
    ]
    entries = [{"ipv4Prefix": each, "service": "Google Cloud"} for each in bad]
    whole = {**CUSTOMERS, "prefixes": [*CUSTOMERS["prefixes"], *entries, None, 7, "8.8.8.0/24"]}
    reading = read({"a.json": json.dumps(whole)}, RECIPE)
    assert reading.source.read == len(bad) + 5
    assert dict(reading.source.rejected) == {
        "not an address": len(bad) + 1,
        "not a prefix length": 1,
        "host bits set": 1,
    }
    assert [number for number, _ in reading.bad_lines()] == [*range(3, len(bad) + 6)]
    assert reading.stated("34.1.208.1") == [of("Google Cloud", "hosting")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps(AWS)[:-40], "not JSON"),
        (json.dumps(AWS) + "}", "not JSON"),
        (json.dumps(AWS).encode() + b"\xff", "not UTF-8"),
        (json.dumps({**AWS, "ipv6_prefixes": None}), "no array 'ipv6_prefixes'"),
        (json.dumps({**AWS, "ipv6_prefixes": {}}), "no array 'ipv6_prefixes'"),
        (json.dumps({**ORACLE, "regions": ["cidrs"]}), "no array 'cidrs'"),
        (json.dumps({**ORACLE, "regions": [{"x": {"cidrs": 1}}]}), "no array 'cidrs'"),
        (json.dumps({**CLOUDFLARE, "result": [{"ipv4_cidrs": [], "ipv6_cidrs": []}]}), "no array"),
        (
            json.dumps({**GOOGLE, "deep": 0}).replace("0}", "[" * 100_000 + "]" * 100_000 + "}"),
            "not JSON that can",
        ),
        (json.dumps({**GOOGLE, "big": 0}).replace("0}", "9" * 5000 + "}"), "not JSON that can"),
        ("[1, 2]", "not a file of ranges of"),
        ("{}", "not a file of ranges of"),
        ("8.8.8.0/24\n", "not a file of ranges of"),
        ("network,isp\n", "not a file of ranges of"),
        ("", "empty file"),
    ],
)
def test_a_document_that_is_none(tmp_path: Path, content: str | bytes, words: str) -> None:
    error = refused(tmp_path, "a.json", content, RECIPE)
    assert words in error.problem
    assert error.path == str(tmp_path / "a.json")
    assert len(str(error)) < 1000


@pytest.mark.parametrize(
    ("limit", "words"), [("MAX_BYTES", "than 100 bytes"), ("MAX_VALUES", "than 100 values")]
)
def test_the_limits_of_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    monkeypatch.setattr(json_document, limit, 100)
    whole = {**GOOGLE, "prefixes": GOOGLE["prefixes"] * 60}
    error = refused(tmp_path, "a.json", json.dumps(whole), RECIPE)
    assert words in error.problem


def test_a_list_of_another_name_is_refused(tmp_path: Path) -> None:
    error = fails(tmp_path, {"list.txt": LIST}, one("cloud", "list.txt"))
    assert 'format = "cidr-list"' in str(error)


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    services = [(each["ip_prefix"], each["service"]) for each in AWS["prefixes"]]
    services += [(each["ipv6_prefix"], each["service"]) for each in AWS["ipv6_prefixes"]]
    delivering = {prefix for prefix, service in services if service == "CLOUDFRONT"}
    rows = [
        {
            "network": prefix,
            "organization": "Amazon Web Services",
            "user_type": DELIVERY if prefix in delivering else "hosting",
        }
        for prefix, _ in services
    ]
    check_rows(tmp_path, {"a.json": json.dumps(AWS)}, RECIPE, rows)
