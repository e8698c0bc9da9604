"""The rules of all kernels, in modules named as those that define the functions; importing one fills the tables."""

from . import elementwise as elementwise
from . import indexing as indexing
from . import products as products
from . import reductions as reductions
from . import structure as structure
