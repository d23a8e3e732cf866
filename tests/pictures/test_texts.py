"""Numbers and names as the texts of pictures and pages."""

from __future__ import annotations

from geolookup.pictures import wording


def test_counts_in_full_and_in_three_digits() -> None:
    for number, full, short in (
        (0, "0", "0"),
        (1234567, "1,234,567", "1.23 million"),
        (994_999, "994,999", "994,999"),
        (995_000, "995,000", "0.995 million"),
        (999_999_999, "999,999,999", "1 billion"),
        (3_702_258_689, "3,702,258,689", "3.7 billion"),
        (51_380_231, "51,380,231", "51.4 million"),
        (2.5e12, "2,500,000,000,000", "2.5 trillion"),
        (2.1119e18, "2,111,900,000,000,000,000", "2,110 quadrillion"),
        (0.25, "0.25", "0.25"),
        (9.123, "9.12", "9.12"),
        (9.0, "9", "9"),
        (10.4, "10", "10"),
        (12.5, "12", "12"),
    ):
        assert (wording.count(number), wording.short(number)) == (full, short), number


def test_shares() -> None:
    """Only none reads 0 %, and only all 100 %."""
    for share, text in (
        (0, "0.00 %"), (1e-9, "< 0.01 %"), (0.00009, "< 0.01 %"), (0.0001, "0.01 %"),
        (0.5, "50.00 %"), (0.9999, "99.99 %"), (0.99999, "> 99.99 %"), (1, "100.00 %"),
    ):  # fmt: skip
        assert wording.percent(share) == text, share


def test_a_size_has_the_unit_that_suits_it() -> None:
    for number, text in (
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (19_404, "19.4 kB"),
        (999_949, "999.9 kB"), (999_950, "1.0 MB"), (27_864_260, "27.9 MB"),
        (1_234_000_000, "1.2 GB"),
    ):  # fmt: skip
        assert wording.size(number) == text, number


def test_distances_families_and_names() -> None:
    assert wording.kilometres(12345.67) == "12,345.7"
    assert (wording.family("ipv4"), wording.family("ipv6")) == ("IPv4", "IPv6")
    assert wording.name("a\n\x1b[31m") == "a\\n\\x1b[31m"
    assert wording.name("x" * 120) == "x" * 120
    assert wording.name("x" * 121) == "x" * 119 + "…"
