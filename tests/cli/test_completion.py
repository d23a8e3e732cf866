"""Completion: what a shell is given of the commands, their options and the paths of fields."""

from __future__ import annotations

from tests.cli.program import python
from tests.internals.cli import complete_paths


def test_a_shell_is_given_the_names_that_may_follow() -> None:
    for typed, value in (("loo", "lookup"), ("lookup --format ta", "table")):
        done = python(
            "import sys; sys.argv[0] = 'geolookup'; from geolookup.cli import main; main()",
            _GEOLOOKUP_COMPLETE="bash_complete",
            COMP_WORDS=f"geolookup {typed}",
            COMP_CWORD=str(len(typed.split())),
        )
        assert f"plain,{value}" in done.stdout.splitlines()


def test_the_last_path_of_fields_is_completed() -> None:
    result = complete_paths(None, None, "ip,network.as")
    assert result == ["ip,network.asn", "ip,network.asn_organization"]
    assert "location" in complete_paths(None, None, "")
