"""The records of all kernels, which know no engine; importing the package fills ``KERNELS``."""

from . import computing as computing
from . import learning as learning
from . import matrices as matrices
from . import moving as moving
from . import sliding as sliding
