"""Graphs of operations, and what may be overwritten in them."""

from .basic import Apply, Constant, Op, Region, Type, Variable
from .compile import Compiled, compile
from .destroyhandler import DestroyHandler
from .feature import Client, Feature
from .fgraph import FunctionGraph
from .memory import memory_plan
from .rewriting import canonicalize, dead_code, fold_constants, inplace, merge
from .supervisor import Supervisor, fast_inplace_check
from .trace import trace

__all__ = [
    "Apply",
    "Client",
    "Compiled",
    "Constant",
    "DestroyHandler",
    "Feature",
    "FunctionGraph",
    "Op",
    "Region",
    "Supervisor",
    "Type",
    "Variable",
    "canonicalize",
    "compile",
    "dead_code",
    "fast_inplace_check",
    "fold_constants",
    "inplace",
    "memory_plan",
    "merge",
    "trace",
]
