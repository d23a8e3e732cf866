"""Members of another kind than the contract's, in a dataset whose checksums and id are right."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from tests.corrupt.forging import member
from tests.corrupt.members import TABLES, forgeries, outcomes
from tests.damage import copied, whole
from tests.tiers import scaled


@pytest.mark.parametrize("table", TABLES)
def test_a_member_of_another_kind(tmp_path: Path, table: str) -> None:
    """Every wrong text of a member: refused by lookups of either kernel and by ``verify``."""
    name = fmt.TABLES[table]
    wrong = [each for each in forgeries() if each[0] == table]
    for _, number, text in random.Random(table).sample(wrong, min(scaled(8, 150), len(wrong))):
        dataset = copied(whole("full"), tmp_path / "copy")
        member(dataset, name, number, text)
        assert outcomes(dataset) == {"refused"}, (number, text[:20])
        with pytest.raises(DatasetError, match=f"{name}: ") as raised:
            verify(dataset)
        assert "\n" not in str(raised.value)
