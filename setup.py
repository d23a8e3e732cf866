"""What ``pyproject.toml`` cannot state: the compiled kernel, and the text of the package page.

Without a C compiler the Python kernel answers.
"""

import os
import re
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
_IMAGES = (".svg", ".png")


class BuildExtension(build_ext):
    """Translates and compiles the kernel.

    ``$CFLAGS`` replaces the options that are set here. Python's own would add debug symbols: they
    take as long to write as the code.
    """

    def build_extensions(self) -> None:
        """Translate and compile."""
        from Cython.Build import cythonize  # not where only metadata is wanted

        (extension,) = self.extensions
        if self.compiler.compiler_type == "unix" and "CFLAGS" not in os.environ:
            extension.extra_compile_args = ["-O2", "-g0"]  # -O3 is no faster
        (translated,) = cythonize([extension], force=self.force)
        extension.sources, extension.depends = translated.sources, translated.depends
        super().build_extensions()


def package_page() -> str:
    """Return README.md with links that work away from the checkout.

    In the file they are relative: they work in a checkout too.
    """
    with (ROOT / "pyproject.toml").open("rb") as stream:
        home = tomllib.load(stream)["project"]["urls"]["Repository"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(
        r"\]\((?!https://|#)([^)\s]+)\)", lambda match: f"]({_address(home, match[1])})", text
    )


def _address(home: str, path: str) -> str:
    if path.endswith(_IMAGES):
        return f"{home}/raw/main/{path}"
    return f"{home}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"


if __name__ == "__main__":
    setup(
        ext_modules=[
            # Optional: unless it is built, the Python kernel answers.
            Extension(
                "geolookup.kernel._compiled", ["geolookup/kernel/_compiled.pyx"], optional=True
            )
        ],
        cmdclass={"build_ext": BuildExtension},
        long_description=package_page(),
        long_description_content_type="text/markdown",
    )
