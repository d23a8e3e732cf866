# The compiled kernel has the twin's interface.
from geolookup.kernel.python import Kernel as Kernel
from geolookup.kernel.python import State as State
from geolookup.kernel.python import parse_texts as parse_texts
