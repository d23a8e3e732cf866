"""The compiled kernel, where there is a C compiler; without one the Python kernel answers."""

from Cython.Build import cythonize
from setuptools import Extension, setup

extensions = cythonize(
    [Extension("geolookup.kernel._compiled", ["geolookup/kernel/_compiled.pyx"])]
)
for extension in extensions:
    extension.optional = True  # cythonize would not keep it
setup(ext_modules=extensions)
