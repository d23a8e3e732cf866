"""The parsers with vector instructions, compiled without the kernel.

``vectors.c`` is compiled with this machine's compiler and with the one of 64-bit Arm, if that and
an emulator are installed.
"""

from __future__ import annotations

import itertools
import platform
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.address_texts import EVERY, by_ipaddress
from tests.conftest import ROOT
from tests.kernel.modules import compiled, needs_compiled
from tests.text_columns import laid_out, parsed
from tests.tiers import scaled

ARM = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
#: The compiler, what runs its program, and the families that its processor has vectors for.
BUILDS = [
    pytest.param(("cc",), (), {4, 6} if _IS_X86 else {4}, id="native"),
    pytest.param((ARM[0], "-static"), (ARM[1],), {4}, id="arm", marks=pytest.mark.long),
]


def _texts() -> list[str]:
    rng = random.Random(35)
    texts = [text for text in EVERY if text.isprintable() and text.isascii() and len(text) < 100]
    octets = ("0", "9", "10", "99", "100", "255", "256", "01", "001", "", "1a")
    texts += [".".join(quad) for quad in itertools.product(octets[1:6:2], repeat=4)]
    texts += [".".join(rng.choices(octets, k=4)) for _ in range(scaled(200, 20_000))]
    for _ in range(scaled(150, 20_000)):
        groups = [f"{rng.getrandbits(rng.choice((1, 4, 8, 16, 17))):x}" for _ in range(8)]
        begin = rng.randrange(9)
        texts.append(":".join(groups))
        texts.append(":".join(groups[:begin]) + "::" + ":".join(groups[rng.randint(begin, 8) :]))
        texts.append(texts[-1][: rng.randrange(40)] + rng.choice("::.gF0 /@`G") + texts[-2][:9])
    return texts


@pytest.mark.parametrize(("compiler", "runner", "families"), BUILDS)
def test_texts_and_windows(
    tmp_path: Path, compiler: tuple[str, ...], runner: tuple[str, ...], families: set[int]
) -> None:
    if missing := [tool for tool in (compiler[0], *runner) if not shutil.which(tool)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    program = tmp_path / "vectors"
    source = ROOT / "tests" / "kernel" / "vectors.c"
    options = ("-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'geolookup' / 'kernel'}")
    subprocess.run([*compiler, *options, str(source), "-o", str(program)], check=True)
    texts = _texts()
    text_input = "".join(f"{text}\n" for text in texts)
    done = subprocess.run(
        [*runner, str(program)], input=text_input, capture_output=True, text=True, check=True
    )
    counts = {0: 0, 4: 0, 6: 0}
    for text, line in zip(texts, done.stdout.splitlines(), strict=True):
        family, high, low = map(int, line.split())
        wanted = by_ipaddress(text)
        counts[family] += 1
        if family:
            assert (family, high << 64 | low) == wanted, text
        else:
            # These are left to the scalar parser: dotted tails, "::", and all without vectors.
            is_quick = wanted is not None and wanted[0] in families and text != "::"
            assert not is_quick or (":" in text and "." in text), text
    assert counts[0] > 100
    assert all((counts[family] > 90) == (family in families) for family in (4, 6))


@needs_compiled
def test_both_parsers_of_a_column() -> None:
    for between in (b"", b"1", b":", b"f"):
        data, starts, lengths = laid_out([*EVERY, *_texts()], between)
        rows = [
            parsed(parse, data.tobytes(), starts, lengths)
            for parse in (compiled.parse_texts, compiled._parse_texts_one_by_one)
        ]
        assert rows[0] == rows[1]
