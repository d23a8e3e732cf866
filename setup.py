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
#: Extension modules of ``geolookup/kernel``, those that take longest first, and their optimization.
#: -O3 makes loops over bytes and rows faster. The way of a lookup is as fast with -O2.
_MODULES = {"_compiled": "-O2", "_scan": "-O3", "_arrays": "-O3"}


def extensions() -> list[Extension]:
    """Return the extensions. All are optional: unless each is built, the Python kernel answers."""
    return [
        Extension(f"geolookup.kernel.{name}", [f"geolookup/kernel/{name}.pyx"], optional=True)
        for name in _MODULES
    ]


class BuildExtensions(build_ext):
    """Translates the extensions in parallel processes, then compiles them in parallel threads.

    ``$CFLAGS`` replaces the options that are set here. Python's own would add debug symbols: they
    take as long to write as the code.
    """

    def finalize_options(self) -> None:
        """Use each core unless ``--parallel`` is given."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Build what has changed, and date all: ``geolookup.kernel`` compares them with sources."""
        super().run()
        for extension in self.extensions:
            path = Path(self.get_ext_fullpath(extension.name))
            if path.exists():
                path.touch()

    def build_extensions(self) -> None:
        """Translate and compile."""
        from Cython.Build import cythonize  # not where only metadata is wanted

        if self.compiler.compiler_type == "unix" and "CFLAGS" not in os.environ:
            for extension in self.extensions:
                level = _MODULES[extension.name.rpartition(".")[2]]
                extension.extra_compile_args = [level, "-g0"]
        translated = cythonize(self.extensions, nthreads=self.parallel, force=self.force)
        by_name = {extension.name: extension for extension in translated}
        for extension in self.extensions:
            extension.sources = by_name[extension.name].sources
            extension.depends = by_name[extension.name].depends
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
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildExtensions},
        long_description=package_page(),
        long_description_content_type="text/markdown",
    )
