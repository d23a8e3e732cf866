"""Ranges of cloud providers: each provider's document, shared prefixes, damage, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.sources.reading import json_document

from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused

AWS: dict[str, Any] = json.loads("""{
  "syncToken": "1732000000", "createDate": "2026-11-20-00-00-00",
  "prefixes": [
    {"ip_prefix": "3.5.140.0/22", "region": "ap-northeast-2", "service": "AMAZON"},
    {"ip_prefix": "13.32.0.0/15", "region": "GLOBAL", "service": "CLOUDFRONT"},
    {"ip_prefix": "13.32.0.0/15", "region": "GLOBAL", "service": "AMAZON"},
    {"ip_prefix": "3.5.140.0/24", "region": "ap-northeast-2", "service": "EC2"}],
  "ipv6_prefixes": [
    {"ipv6_prefix": "2600:1f00::/24", "region": "us-east-1", "service": "EC2"},
    {"ipv6_prefix": "2600:9000::/28", "region": "GLOBAL", "service": "CLOUDFRONT"}]
}""")
AZURE: dict[str, Any] = json.loads("""{
  "changeNumber": 300, "cloud": "Public",
  "values": [
    {"name": "AzureCloud.eastus", "id": "AzureCloud.eastus", "properties": {
      "changeNumber": 1, "region": "eastus", "platform": "Azure", "systemService": "",
      "addressPrefixes": ["13.72.64.0/18", "2603:1030::/45", "13.107.208.0/24"]}},
    {"name": "AzureFrontDoor.Frontend", "id": "AzureFrontDoor.Frontend", "properties": {
      "changeNumber": 1, "region": "", "platform": "Azure", "systemService": "AzureFrontDoor",
      "addressPrefixes": ["13.107.208.0/24"]}}]
}""")
CLOUDFLARE: dict[str, Any] = json.loads("""{
  "result": {"ipv4_cidrs": ["173.245.48.0/20"], "ipv6_cidrs": ["2400:cb00::/32"],
             "etag": "38f79d050aa027e3be3865e495dcc9bc"},
  "success": true, "errors": [], "messages": []
}""")
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
        "3.5.140.0/22": AMAZON,
        "13.32.0.0/15": of("Amazon Web Services", DELIVERY),
        "2600:1f00::/24": AMAZON,
        "2600:9000::/28": of("Amazon Web Services", DELIVERY),
    },
    "azure": {
        "13.72.64.0/18": of("Microsoft Azure", "hosting"),
        "2603:1030::/45": of("Microsoft Azure", "hosting"),
        "13.107.208.0/24": of("Microsoft Azure", DELIVERY),
    },
    "cloudflare": {
        "173.245.48.0/20": of("Cloudflare", DELIVERY),
        "2400:cb00::/32": of("Cloudflare", DELIVERY),
    },
    "customers": {
        "34.1.208.0/20": of("Google Cloud", "hosting"),
        "2600:1900:8000::/44": of("Google Cloud", "hosting"),
    },
    "google": {"8.8.4.0/24": of("Google", None), "2001:4860::/32": of("Google", None)},
    "oracle": {
        "129.146.0.0/21": of("Oracle Cloud", "hosting"),
        "134.70.24.0/21": of("Oracle Cloud", "hosting"),
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document(read: Read, name: str) -> None:
    for indent in (None, 2):
        reading = read({"a.json": json.dumps(DOCUMENTS[name], indent=indent)}, RECIPE)
        assert (reading.source.rejected, reading.source.nulled) == ({}, {})
        assert reading.ranges() == EXPECTED[name]


def test_services_families_lists_and_providers(read: Read) -> None:
    reading = read({"a.json": json.dumps(AWS)}, RECIPE)
    source = reading.source
    assert (source.read, source.duplicates) == (6, 1)
    assert source.note == "region, service ignored: no field holds them"
    entry = {"ipv4Prefix": "34.1.208.0/20", "ipv6Prefix": "2600:1900::/44"}
    reading = read({"a.json": json.dumps({**GOOGLE, "prefixes": [entry]})}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (2, 0)
    assert reading.ranges() == dict.fromkeys(entry.values(), of("Google", None))
    for name in ("ips-v4", "ips-v6.txt", "cloudflare-ips-v4.txt"):
        reading = read({name: LIST}, one("cloud", name))
        assert (reading.source.read, reading.source.note) == (2, "")
        assert reading.ranges() == EXPECTED["cloudflare"]
    files = {"a.json": json.dumps(AWS), "b.json": json.dumps(ORACLE)}
    reading = read(files, one("cloud", "*.json"))
    assert [each.name for each in reading.report.sources] == ["*.json (AWS)", "*.json (Oracle)"]
    assert reading.ranges() == EXPECTED["aws"] | EXPECTED["oracle"]


NO_ADDRESSES: tuple[object, ...] = (
    None,
    5,
    True,
    ["8.8.8.0/24"],
    {},
    "",
    "x" * 5000,
    "\ud800",
    "8.8.\0",
)


def test_bad_entries_are_rejected_by_number(read: Read) -> None:
    bad = ["8.8.8.0/33", "8.8.8.1/24", *NO_ADDRESSES]
    entries = [{"ipv4Prefix": each, "service": "Google Cloud"} for each in bad]
    whole = {**CUSTOMERS, "prefixes": [*CUSTOMERS["prefixes"], *entries, None, 7, "8.8.8.0/24"]}
    reading = read({"a.json": json.dumps(whole)}, RECIPE)
    assert reading.source.read == len(bad) + 5
    reasons = ["not a prefix length", "host bits set", *["not an address"] * (len(bad) + 1)]
    assert reading.bad_lines() == list(enumerate(reasons, 3))
    assert reading.ranges() == EXPECTED["customers"]


def test_the_limits_of_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = json.dumps({**GOOGLE, "prefixes": GOOGLE["prefixes"] * 60})
    for limit, words in (("MAX_BYTES", "than 100 bytes"), ("MAX_VALUES", "than 100 values")):
        with monkeypatch.context() as patch:
            patch.setattr(json_document, limit, 100)
            assert words in refused(tmp_path, "a.json", whole, RECIPE).problem
