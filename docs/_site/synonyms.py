"""Words that readers search for, and the page that answers them.

Sphinx writes them into the search index, where they rank above words of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx import addnodes
from sphinx.errors import ConfigError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

#: By page, or section of a page: what readers call its subject.
SYNONYMS = {
    "concepts/answer": ["no city", "why is the city unknown", "no time zone"],
    "data/losses": ["missing values", "nulled", "rejected rows", "data loss"],
    "data/overlays": ["overlay", "override", "slice", "subset"],
    "data/own-columns": ["custom columns", "own data", "private network", "vpn", "proxy", "tor"],
    "operate/api-keys": ["create key", "rate limit", "rate limiting", "quota", "throttling"],
    "operate/mirrors": ["follow", "follower", "edge", "replicate"],
    "operate/stores": ["reload", "hot reload", "rollback", "roll back", "retention", "lock"],
    "data/recipe#memory": ["out of memory", "max-memory", "spill"],
    "reference/contract#fields": ["asn", "as number", "autonomous system"],
    "reference/contract#local-time": ["timezone", "time zone"],
    "use/history": ["past", "as of", "point in time", "time travel", "when did it change"],
    "integrate/from-geoip2": [
        "migrate from geoip2",
        "port geoip2",
        "geoip",
        "geoip2",
        "geolite2",
        "maxmind",
    ],
    "integrate/index": ["migrate", "migration"],
    "use/files#logs": ["access log", "nginx log", "apache log"],
    "integrate/prefixes": ["cidr", "cidr list", "ip ranges", "netblocks"],
    "integrate/privacy": ["gdpr", "personal data"],
    "integrate/proxies": ["x-forwarded-for", "client ip", "real ip"],
    "use/shell": ["whois", "who is"],
    "use/tutorial": ["quickstart", "getting started", "install"],
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the entries of each page when it is read."""
    app.connect("doctree-read", _add)
    app.connect("env-updated", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add(app: Sphinx, doctree: Any) -> None:
    for target, words in SYNONYMS.items():
        page, _, anchor = target.partition("#")
        if page == app.env.docname:
            if anchor and anchor not in doctree.ids:
                raise ConfigError(f"docs/_site/synonyms.py: unknown section {target}")
            entries = [("single", word, anchor, "main", None) for word in words]
            doctree.append(addnodes.index(entries=entries))


def _check(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    for page in {target.partition("#")[0] for target in SYNONYMS} - env.found_docs:
        raise ConfigError(f"docs/_site/synonyms.py: unknown page {page}")
    return []
