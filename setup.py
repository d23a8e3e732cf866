"""What ``pyproject.toml`` cannot state: the compiled kernel, and the text of the package page.

Without a C compiler the Python kernel answers.
"""

import re
import tomllib
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
_IMAGES = (".svg", ".png")


def extensions() -> list[Extension]:
    """Return the extensions, optional each."""
    from Cython.Build import cythonize  # not where only the text is wanted

    compiled: list[Extension] = cythonize(
        [Extension("geolookup.kernel._compiled", ["geolookup/kernel/_compiled.pyx"])]
    )
    for extension in compiled:
        extension.optional = True  # cythonize would not keep it
    return compiled


def package_page() -> str:
    """Return README.md with links that work away from the checkout.

    They are relative there, so that they work in a checkout too.
    """
    with (ROOT / "pyproject.toml").open("rb") as stream:
        home = tomllib.load(stream)["project"]["urls"]["Repository"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(
        r"\]\((?!https://|#)([^)\s]+)\)", lambda found: f"]({_address(home, found[1])})", text
    )


def _address(home: str, path: str) -> str:
    if path.endswith(_IMAGES):
        return f"{home}/raw/main/{path}"
    return f"{home}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"


if __name__ == "__main__":
    setup(
        ext_modules=extensions(),
        long_description=package_page(),
        long_description_content_type="text/markdown",
    )
