"""The compiled kernel, where there is a C compiler; without one the Python twin serves."""

from Cython.Build import cythonize
from setuptools import Extension, setup

kernel = Extension("geolookup._kernel", ["geolookup/_kernel.pyx"], optional=True)
setup(ext_modules=cythonize([kernel]))
