# Written by ``python -m tests.stubs`` from the declarations: change these instead.
from typing import Any
from numpy.random import BitGenerator as BitGenerator
from ._drawing import Generator as Generator
from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import Philox as Philox
from ._drawing import RandomState as RandomState
from numpy.random import SFC64 as SFC64
from numpy.random import SeedSequence as SeedSequence
beta: Any
binomial: Any
bytes: Any
chisquare: Any
choice: Any
from ._drawing import default_rng as default_rng
dirichlet: Any
exponential: Any
f: Any
gamma: Any
geometric: Any
get_state: Any
gumbel: Any
hypergeometric: Any
laplace: Any
logistic: Any
lognormal: Any
logseries: Any
multinomial: Any
multivariate_normal: Any
negative_binomial: Any
noncentral_chisquare: Any
noncentral_f: Any
normal: Any
pareto: Any
permutation: Any
poisson: Any
power: Any
rand: Any
randint: Any
randn: Any
random: Any
random_integers: Any
random_sample: Any
ranf: Any
rayleigh: Any
sample: Any
seed: Any
set_state: Any
shuffle: Any
standard_cauchy: Any
standard_exponential: Any
standard_gamma: Any
standard_normal: Any
standard_t: Any
triangular: Any
uniform: Any
vonmises: Any
wald: Any
weibull: Any
zipf: Any
