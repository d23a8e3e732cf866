# The compiled kernel has the twin's interface.
from geolookup.kernel_python import Kernel as Kernel
from geolookup.kernel_python import State as State
from geolookup.kernel_python import parse_texts as parse_texts
