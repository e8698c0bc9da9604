"""Every error of the package; each is also the builtin that a NumPy user would catch."""

from __future__ import annotations

from typing import Any


class UnifyarrError(Exception):
    """The base of all errors that the package itself raises."""


class BackendNotFoundError(UnifyarrError, ImportError):
    """A backend is unknown, or its engine is not installed."""


class BackendMismatchError(UnifyarrError, TypeError):
    """Arrays of two backends meet in one call."""


class BackendFeatureError(UnifyarrError, NotImplementedError):
    """The engine can't do what was asked, and no workaround exists."""


class ShapeError(UnifyarrError, ValueError):
    """Shapes don't fit together."""


class StructureError(UnifyarrError, ValueError):
    """Two containers differ in their structure."""


class AxisError(UnifyarrError, ValueError, IndexError):
    """An axis is out of bounds or given twice."""


class CastingError(UnifyarrError, TypeError):
    """A dtype can't be cast to another one under the rule in force."""


class DtypeError(UnifyarrError, TypeError):
    """A dtype is unknown, or a function doesn't take it."""


class DeviceError(UnifyarrError, ValueError):
    """A device is unknown, or arrays of two devices meet in one call."""


class CopyError(UnifyarrError, ValueError):
    """``copy=False`` was asked for and only a copy can do it."""


class ReadOnlyError(UnifyarrError, ValueError):
    """The target of a write is read-only."""


class InplaceUpdateError(UnifyarrError, RuntimeError):
    """The native array can't be changed in place."""


class TracedMutationError(InplaceUpdateError):
    """An array made outside the running trace is written inside it."""


class TraceError(UnifyarrError, TypeError):
    """Inside a trace something was asked for that depends on values, which aren't known there."""


class DebugModeError(UnifyarrError, AssertionError):
    """A call inside ``debug()``, or a node of a graph in mode ``"debug"``, did something else than is declared of it.

    The base of the errors that say what.
    """


class BadViewMap(DebugModeError):
    """A result shares memory with something that the ``view_map`` doesn't allow: an argument, or another result."""


class BadDestroyMap(DebugModeError):
    """A call or a node changed what it was not to write, or didn't write its result where it said."""


class BadOut(DebugModeError):
    """A call with ``out=``, or a write, changed elements beside those that it was to write."""


class BadInplace(DebugModeError):
    """A call wrote other values to ``out`` than it returns without, or a destructive twin than its pure operation."""


class BadThunkOutput(DebugModeError):
    """An operation that takes a buffer for its result gives another result with one, or returns other memory."""


class BadOptimization(DebugModeError):
    """A rewritten graph computes another value than the graph that it was made of."""


class InvalidValueError(DebugModeError):
    """A node's result is of another shape, dtype or device than its variable, or no array of the backend."""


class StochasticOrder(DebugModeError):
    """Rewriting a graph twice gave two different graphs, or two different orders of the nodes."""


class InconsistencyError(UnifyarrError, ValueError):
    """A graph can't be computed right as it stands: the base of the errors that say why.

    ``variable`` is the one whose memory it's about, ``nodes`` are the operations that are in each other's way.
    """

    def __init__(self, message: str, *, variable: Any = None, nodes: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.variable = variable
        self.nodes = nodes


class CycleError(InconsistencyError):
    """Two operations would each have to run before the other."""


class SearchLimitError(InconsistencyError):
    """Whether there's an order in which the nodes can run was not found out within a given number of steps."""


class MissingInputError(InconsistencyError):
    """A graph uses a variable that is neither computed in it nor one of its inputs nor a constant."""


class IndestructibleError(InconsistencyError):
    """An operation destroys a constant, or a variable that nothing may destroy."""


class ProtectedError(InconsistencyError):
    """An operation destroys an input or output that has to outlive the graph's evaluation."""


class MultipleDestroyersError(InconsistencyError):
    """Two operations destroy the same memory."""


class AliasedInputError(InconsistencyError):
    """An operation destroys an input while another of its inputs shares memory with it."""


class BadOrder(DebugModeError, InconsistencyError):
    """A node read memory that another one had overwritten; ``nodes`` are the reader and the destroyer."""
