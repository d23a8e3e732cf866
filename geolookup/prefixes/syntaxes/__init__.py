"""The syntaxes that lists of prefixes are written in, by name."""

from __future__ import annotations

from geolookup.prefixes.syntaxes import (
    bird,
    cisco,
    haproxy,
    ipset,
    iptables,
    nft,
    nginx_geo,
    plain,
    rows,
)

_SYNTAXES = (
    plain.CIDR,
    plain.RANGE,
    rows.CSV,
    rows.JSON,
    nft.SYNTAX,
    ipset.SYNTAX,
    nginx_geo.SYNTAX,
    iptables.SYNTAX,
    haproxy.SYNTAX,
    plain.PF,
    bird.SYNTAX,
    cisco.SYNTAX,
    plain.SQUID,
)
SYNTAXES = {each.name: each for each in _SYNTAXES}
