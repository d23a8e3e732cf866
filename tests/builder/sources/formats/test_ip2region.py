"""ip2region: both layouts, both families, zeros, and files that are something else."""

from __future__ import annotations

from tests.builder.sources.readings import Read, fields
from tests.builder.sources.recipes import one

NEW = (
    "5.0.0.0|5.0.255.255|0|0|0|0|0\n"
    "5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信|CN\n"
    '5.1.4.0|5.1.4.255|Switzerland|Zürich|0|"Example" AG|CH\n'
    "2a02:8::|2a02:8:ffff:ffff:ffff:ffff:ffff:ffff|Germany|0|Berlin|0|DE\n"
)
OLD = (
    "5.1.0.0|5.1.3.255|中国|0|浙江省|杭州市|电信\n"
    "5.1.4.0|5.1.4.255|瑞士|0|0|0|0\n"
    "5.1.5.0|5.1.5.255|中国|华东|0|0|联通\n"
)


def test_with_country_codes(read: Read) -> None:
    reading = read({"ipv4_source.txt": NEW}, one("ip2region", "ipv4_source.txt"))
    assert reading.ranges() == {
        "5.1.0.0/22": fields("country_code=CN; region_name=浙江省; city_name=杭州市; isp=电信"),
        "5.1.4.0/24": fields('country_code=CH; region_name=Zürich; isp="Example" AG'),
        "2a02:8::/32": fields("country_code=DE; city_name=Berlin"),
    }
    assert (reading.source.nulled, reading.source.rejected) == ({}, {})


def test_without_country_codes(read: Read) -> None:
    """A provider of two letters here and there is no country."""
    text = OLD + "5.1.6.0|5.1.6.255|0|0|0|0|BT\n"
    reading = read({"ip.merge.txt": text}, one("ip2region", "ip.merge.txt"))
    assert reading.ranges() == {
        "5.1.0.0/22": fields("region_name=浙江省; city_name=杭州市; isp=电信"),
        "5.1.5.0/24": {"isp": "联通"},
        "5.1.6.0/24": {"isp": "BT"},
    }
