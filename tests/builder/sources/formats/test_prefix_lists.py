"""Ranges of cloud providers, exit addresses of Tor, plain lists: shared prefixes, damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import BuildError
from tests.builder.sources.readings import OWN, Read, Stated, check_offers, fields, one, refused
from tests.conftest import build_at
from tests.internals.builder import cloud

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
DOCUMENTS = {
    "aws": AWS,
    "azure": AZURE,
    "cloudflare": CLOUDFLARE,
    "customers": CUSTOMERS,
    "google": GOOGLE,
    "oracle": ORACLE,
}
RECIPE = OWN + one("cloud", "a.json")


def of(organization: str, text: str = "") -> Stated:
    return fields(f"organization={organization}; cloud_provider={organization}; {text}")


AWS_, MICROSOFT = "Amazon Web Services", "Microsoft Azure"
HOSTED = "user_type=hosting; is_hosting=true"
DELIVERED = "user_type=content_delivery_network; is_hosting=true"
FRONT = f"{DELIVERED}; cloud_region=GLOBAL; cloud_service=CLOUDFRONT"
AFRICA = f"{HOSTED}; cloud_region=africa-south1; cloud_service=Google Cloud"
SEOUL = f"{HOSTED}; cloud_region=ap-northeast-2"
#: Document: what is known of each prefix. A delivery network decides rows that are listed twice.
EXPECTED = {
    "aws": {
        "3.5.140.0/24": of(AWS_, f"{SEOUL}; cloud_service=EC2"),
        "3.5.141.0-3.5.143.255": of(AWS_, f"{SEOUL}; cloud_service=AMAZON"),
        "13.32.0.0/15": of(AWS_, FRONT),
        "2600:1f00::/24": of(AWS_, f"{HOSTED}; cloud_region=us-east-1; cloud_service=EC2"),
        "2600:9000::/28": of(AWS_, FRONT),
    },
    "azure": {
        "13.72.64.0/18": of(MICROSOFT, f"{HOSTED}; cloud_region=eastus"),
        "2603:1030::/45": of(MICROSOFT, f"{HOSTED}; cloud_region=eastus"),
        "13.107.208.0/24": of(MICROSOFT, f"{DELIVERED}; cloud_service=AzureFrontDoor"),
    },
    "cloudflare": {
        "173.245.48.0/20": of("Cloudflare", DELIVERED),
        "2400:cb00::/32": of("Cloudflare", DELIVERED),
    },
    "customers": {
        "34.1.208.0/20": of("Google Cloud", AFRICA),
        "2600:1900:8000::/44": of("Google Cloud", AFRICA),
    },
    "google": {"8.8.4.0/24": of("Google"), "2001:4860::/32": of("Google")},
    "oracle": {
        "129.146.0.0/21": of(
            "Oracle Cloud", f"{HOSTED}; cloud_region=us-phoenix-1; cloud_service=OCI"
        ),
        "134.70.24.0/21": of(
            "Oracle Cloud", f"{HOSTED}; cloud_region=us-ashburn-1; cloud_service=OSN"
        ),
    },
}


def test_each_document(read: Read) -> None:
    for at, (name, document) in enumerate(DOCUMENTS.items()):
        reading = read({"a.json": json.dumps(document, indent=at % 3 or None)}, RECIPE)
        assert (reading.source.rejected, reading.source.nulled) == ({}, {})
        assert reading.source.rows["duplicate"] == (name in ("aws", "azure"))
        assert reading.ranges() == EXPECTED[name]
    check_offers("cloud", EXPECTED.values())


def test_entries_of_two_families_and_files_of_two_providers(read: Read) -> None:
    entry = {"ipv4Prefix": "34.1.208.0/20", "ipv6Prefix": "2600:1900::/44"}
    reading = read({"a.json": json.dumps({**GOOGLE, "prefixes": [entry]})}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (2, 0)
    assert reading.ranges() == dict.fromkeys(entry.values(), of("Google"))
    files = {"a.json": json.dumps(AWS), "b.json": json.dumps(ORACLE)}
    reading = read(files, OWN + one("cloud", "*.json"))
    assert [item.name for item in reading.report.sources] == ["*.json (AWS)", "*.json (Oracle)"]
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
    entries = [{"ipv4Prefix": item, "service": "Google Cloud"} for item in bad]
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
            patch.setattr(cloud, limit, 100)
            assert words in refused(tmp_path, "a.json", whole, RECIPE).problem


BULK = "185.220.101.1\n185.220.101.4\n2a0b:f4c2::1\n"
EXITS = """\
@type tordnsel 1.0
Downloaded 2026-11-20 00:02:00
ExitNode 63BA28370F543D175173E414D5450590D73E22DC
Published 2026-11-19 07:35:55
LastStatus 2026-11-19 08:10:11
ExitAddress 91.102.152.236 2026-11-19 07:10:30
ExitAddress 91.102.152.227 2026-11-19 10:35:30
ExitNode A5C4A4D6F8E9B9E2B1D5B0A8C3F2E1D0C9B8A7F6
Published 2026-11-19 07:35:55
LastStatus 2026-11-19 08:10:11
ExitAddress 91.102.152.236 2026-11-19 09:00:00
"""
PRIVACY = fields("user_type=consumer_privacy_network; is_tor=true")
TOR = one("tor", "list")


def test_exits(read: Read) -> None:
    bulk = {"185.220.101.1/32", "185.220.101.4/32", "2a0b:f4c2::1/128"}
    exits = {"91.102.152.236/32", "91.102.152.227/32"}
    for text, addresses in (
        (BULK, bulk),
        (EXITS, exits),
        (EXITS.replace("\n", "\r\n"), exits),
        ("\ufeff# x\n" + BULK, bulk),
    ):
        reading = read({"list": text}, OWN + TOR)
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text
        assert reading.source.rows["duplicate"] == (1 if "ExitNode" in text else 0), text
        assert reading.ranges() == dict.fromkeys(addresses, PRIVACY), text
    check_offers("tor", [{"": PRIVACY}])


HOSTERS = "# hosters\n8.8.8.0/24\n\n9.9.9.9   # one of them\n2600:100::/32 ; other comment\n"
HOSTING = 'values = { user_type = "hosting" }'
LISTED = one("cidr-list", "list.txt", HOSTING)


def test_the_fields_of_every_row(read: Read) -> None:
    blank = "   \n\t\n" + HOSTERS + "  # end"
    for text in (HOSTERS, blank, "\ufeff8.8.8.0/24\n9.9.9.9\n2600:100::/32"):
        reading = read({"list.txt": text}, LISTED)
        assert reading.ranges().keys() == {"8.8.8.0/24", "9.9.9.9/32", "2600:100::/32"}, text
        assert [*reading.ranges().values()] == [{"user_type": "hosting"}] * 3, text
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text
    located = 'country_code = "no", latitude = 59.5, longitude = 10'
    constants = f'values = {{ asn = 64500, isp = "Acme", {located} }}'
    reading = read({"list.txt": "8.8.8.8\n"}, one("cidr-list", "list.txt", constants))
    stated = fields("asn=64500; isp=Acme; country_code=NO; latitude=59.5; longitude=10")
    assert reading.ranges() == {"8.8.8.8/32": stated}
    reading = read({"a.txt": "8.8.8.8", "b.txt": "9.9.9.9"}, one("cidr-list", "?.txt", HOSTING))
    assert (reading.source.read, len(reading.ranges())) == (2, 2)


def test_a_misspelt_value_ends_a_build(tmp_path: Path) -> None:
    for value in ('user_type = "hostin"', 'time_zone = "Mars/Base"', "asn = -1"):
        recipe = one("cidr-list", "a.txt", f"values = {{ {value} }}")
        with pytest.raises(BuildError, match="nulled, the limit is 0"):
            build_at(tmp_path, {"a.txt": HOSTERS}, recipe, max_nulled=None)


def test_a_list_of_comments_is_an_empty_source(tmp_path: Path) -> None:
    rows = "network,country_code\n8.8.8.0/24,US\n"
    files: dict[str, str | bytes] = {"list.txt": "# none today\n", "a.csv": rows}
    recipe = f'{LISTED}[[source]]\npath = "a.csv"\n'
    with pytest.raises(BuildError, match=r"no usable row in .*list\.txt"):
        build_at(tmp_path, files, recipe, empty="")
    build_at(tmp_path, files, recipe, empty='empty = "ok"\n')
