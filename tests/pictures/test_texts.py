"""Numbers and names as the texts of pictures and pages."""

from __future__ import annotations

from tests.internals.pictures import wording


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
        (2.1119e18, "2.1e18", "2,110 quadrillion"),
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
