"""The compiled kernel has the twin's interface; see ``kernel_python``."""

from geolookup.kernel_python import Kernel as Kernel
from geolookup.kernel_python import State as State
