"""What is known of each kernel, whatever engine computes it; importing this fills ``KERNELS``."""

from . import computing as computing
from . import learning as learning
from . import matrices as matrices
from . import moving as moving
