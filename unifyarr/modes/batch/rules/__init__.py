"""The rules of all kernels; importing one fills the tables."""

from . import convolutions as convolutions
from . import elementwise as elementwise
from . import indexing as indexing
from . import linalg as linalg
from . import others as others
from . import reductions as reductions
from . import structure as structure
