"""The first argument: a command, an address, or a line that says what to do."""

from __future__ import annotations

import pytest

from geolookup.cli.first_argument import completed
from tests.conftest import ROOT


@pytest.mark.parametrize("text", ["8.8.8.8", "2001:4860:4860::8888", "::1", "10.0.0.1", "-"])
def test_an_address_is_looked_up(text: str) -> None:
    assert completed([text, "--compact"]) == ["lookup", text, "--compact"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lokup", "no command 'lokup'; did you mean 'lookup'?"),
        ("Summarise", "did you mean 'summarize'?"),
        ("bogus-words", "'geolookup --help' lists the commands"),
        (str(ROOT / "README.md"), "README.md --output OUTPUT'"),
        ("8.8.8.256", "no command and no address"),
        ("2001:db8::x", "no command and no address"),
        ("", "no command and no address"),
    ],
)
def test_another_text_is_one_line(text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        completed([text])
    (line,) = capsys.readouterr().err.splitlines()
    assert end.value.code == 2
    assert told in line
    assert "8.8.8" not in line
    assert "2001" not in line
