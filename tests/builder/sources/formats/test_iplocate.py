"""iplocate: both tables, zipped and plain, and files that are something else."""

from __future__ import annotations

from tests.builder.sources.formats.test_dbip import zipped
from tests.builder.sources.readings import Read, fields
from tests.builder.sources.recipes import one

COUNTRY = (
    "network,continent_code,country_code,country_name\n"
    "8.8.4.0/24,NA,US,United States\n"
    '8.8.5.0/24,AF,NA,"Namibia"\n'
    "2600:1::/32,EU,CH,Switzerland\n"
)
ASN = (
    "network,asn,country_code,name,org,domain\n"
    "8.8.4.0/23,64500,AU,EXAMPLE,Example Inc,example.com\n"
    "8.8.6.0/24,64501,AU,HANDLE,,\n"
    "2600:1::/32,64502,AU,OTHER,Other AG,example.ch\n"
)


def test_both_tables(read: Read) -> None:
    files = {"ip-to-asn": ASN, "ip-to-country": COUNTRY}
    plain = {f"{name}.csv": text for name, text in files.items()}
    packed = {f"{name}.zip": zipped({f"{name}-20261101.csv": files[name]}) for name in files}
    for pattern, content in (("*.csv", plain), ("*.zip", packed)):
        reading = read(dict[str, str | bytes](content), one("iplocate", f"ip-to-{pattern}"))
        assert [(each.name, each.read) for each in reading.report.sources] == [
            (f"ip-to-{pattern} (Country)", 3),
            (f"ip-to-{pattern} (ASN)", 3),
        ]
        holder = "asn=64500; asn_organization=Example Inc"
        other = "asn=64502; asn_organization=Other AG"
        assert reading.ranges() == {
            "8.8.4.0/24": fields(f"continent_code=NA; country_code=US; {holder}"),
            "8.8.5.0/24": fields(f"continent_code=AF; country_code=NA; {holder}"),
            "8.8.6.0/24": {"asn": 64501, "asn_organization": "HANDLE"},
            "2600:1::/32": fields(f"continent_code=EU; country_code=CH; {other}"),
        }
