"""Graphs of operations, rewritten to work in place."""

from .._core.values.called import make_boundaries
from ..modes.trace.trace import trace
from .building.arraytypes import array_type
from .building.rewriters import NodeRewriter, node_rewriter, pattern_rewriter
from .compiling import Compiled, compile
from .core.basic import Apply, Constant, Op, Region, Type, Variable
from .core.declarations import Declarations
from .core.destroyhandler import DestroyHandler
from .core.feature import Client, Feature
from .core.fgraph import FunctionGraph
from .core.memory import memory_plan
from .core.rewriting import canonicalize, dead_code, fold_constants, inplace, merge
from .core.supervisor import Supervisor, fast_inplace_check
from .op_from_graph import OpFromGraph
from .run.monitoring import NanGuard, NodeValues
from .run.rewrite_registry import Rewrite, register, rewrites, unregister

__all__ = [
    "Apply",
    "Client",
    "Compiled",
    "Constant",
    "DestroyHandler",
    "Feature",
    "FunctionGraph",
    "NanGuard",
    "NodeRewriter",
    "NodeValues",
    "Op",
    "OpFromGraph",
    "Region",
    "Rewrite",
    "Supervisor",
    "Type",
    "Variable",
    "array_type",
    "canonicalize",
    "compile",
    "dead_code",
    "fast_inplace_check",
    "fold_constants",
    "inplace",
    "memory_plan",
    "merge",
    "node_rewriter",
    "pattern_rewriter",
    "register",
    "rewrites",
    "trace",
    "unregister",
]

for _each in (
    Apply,
    Constant,
    FunctionGraph,
    Declarations,
    NodeRewriter,
    Op,
    OpFromGraph,
    Region,
    Rewrite,
    Type,
    Variable,
):
    make_boundaries(_each, getters=False)
