"""The compiled kernel, where there is a C compiler; without one the Python twin serves."""

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class _OptionalBuildExt(build_ext):
    """A build that goes on without an extension that cannot be compiled.

    ``optional`` alone covers compilers that fail, not one that is not there.
    """

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except OSError as error:
            self.warn(f"building extension {ext.name!r} failed: {error}")


kernel = Extension("geolookup._kernel", ["geolookup/_kernel.pyx"], optional=True)
setup(ext_modules=cythonize([kernel]), cmdclass={"build_ext": _OptionalBuildExt})
