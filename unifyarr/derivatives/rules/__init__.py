"""The rules of all kernels, in modules named as those that define the functions; importing one fills the tables."""

from . import attention as attention
from . import convolutions as convolutions
from . import decompositions as decompositions
from . import elementwise as elementwise
from . import fft as fft
from . import indexing as indexing
from . import linalg as linalg
from . import normalization as normalization
from . import norms as norms
from . import products as products
from . import reductions as reductions
from . import special as special
from . import structure as structure
from . import triangular as triangular
