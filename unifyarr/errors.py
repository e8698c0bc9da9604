"""Every error of the package; each is also the builtin that a NumPy user would catch."""

from __future__ import annotations

from typing import Any

import numpy as np


class UnifyarrError(Exception):
    """The base of all errors that the package itself raises."""


class BackendNotFoundError(UnifyarrError, ImportError):
    """A backend is unknown, or its engine is not installed."""


class BackendMismatchError(UnifyarrError, TypeError):
    """Arrays of two backends were passed to one call."""


class BackendFeatureError(UnifyarrError, NotImplementedError):
    """The engine can't do what was asked, and no workaround exists."""


class CompileWarning(UserWarning):
    """An engine's own compiler can't compile a function: it runs operation by operation there."""


class UnifyarrDeprecationWarning(DeprecationWarning):
    """A name of this package goes in a later version; the message says in which, and what to write instead."""


class EngineError(UnifyarrError, ValueError, RuntimeError):
    """The engine refused a call with an error of a class of its own, which is the ``__cause__``."""


class ProtocolError(UnifyarrError, TypeError, AttributeError):
    """An object lacks the methods by which a function takes it."""


class ShapeError(UnifyarrError, ValueError):
    """Shapes don't fit together."""


class UnknownShapeError(ShapeError):
    """A length was asked for that isn't known before values are computed."""


class TooLargeError(ShapeError, MemoryError):
    """An array has more bytes than can be addressed, which is NumPy's ``ValueError``."""


class StructureError(UnifyarrError, ValueError):
    """Two containers differ in their structure."""


class AxisError(UnifyarrError, np.exceptions.AxisError):
    """An axis is out of bounds or given twice."""


class CastingError(UnifyarrError, TypeError):
    """A dtype can't be cast to another one under the rule in force."""


class DtypeError(UnifyarrError, TypeError):
    """A dtype is unknown, or a function doesn't take it."""


class DeviceError(UnifyarrError, ValueError):
    """A device is unknown, or arrays of two devices were passed to one call."""


class CopyError(UnifyarrError, ValueError):
    """``copy=False`` was asked for and only a copy can do it."""


class ReadOnlyError(UnifyarrError, ValueError):
    """The target of a write is read-only."""


class InplaceUpdateError(UnifyarrError, RuntimeError):
    """The native array can't be changed in place."""


class TracedMutationError(InplaceUpdateError):
    """An array made outside the running trace is written inside it."""


class TraceError(UnifyarrError, TypeError):
    """Code inside a trace depends on values of arrays, which aren't known there."""


class LostStateError(TraceError):
    """A compiled function changes something outside of it that only its trace would change.

    Either a traced array outlives the trace, in an attribute, a container, a global or a closure, or in a result that
    is no nest of arrays; or a nest that was passed is another one after the call.
    """


class CheckError(UnifyarrError, ValueError):
    """A condition that ``check`` was given doesn't hold."""


class NotFiniteError(UnifyarrError, FloatingPointError):
    """An operation made a NaN or an infinity, which ``graph.NanGuard`` looks for."""


class LostDerivativeError(UnifyarrError, RuntimeError):
    """A value whose derivative is being taken would leave its engine, where no derivative follows it."""


class DebugModeError(UnifyarrError, AssertionError):
    """A call inside ``debug()``, or a node of a graph in mode ``"debug"``, didn't do what it declares.

    The base class of more specific errors.
    """


class BadViewMap(DebugModeError):
    """A result shares memory with an argument or another result, which the ``view_map`` doesn't allow."""


class BadDestroyMap(DebugModeError):
    """A call or a node changed memory that it doesn't declare, or didn't write its result where it declares."""


class BadOut(DebugModeError):
    """A call with ``out=``, or a write, changed other elements than those of its target."""


class BadInplace(DebugModeError):
    """A call wrote other values to ``out`` than it returns without, or a destructive twin than its pure operation."""


class BadThunkOutput(DebugModeError):
    """A kernel computes other values than the body of its function, or other values when it's given a buffer."""


class BadKind(DebugModeError):
    """An operation isn't of the kind that it's declared to be: a part of its operands gives no part of its result."""


class BadOptimization(DebugModeError):
    """A rewritten graph computes another value than the traced graph."""


class InvalidValueError(DebugModeError):
    """A node's result has another shape, dtype or device than its variable, or isn't an array of the backend."""


class StochasticOrder(DebugModeError):
    """Rewriting a graph twice gave two different graphs, or two different orders of the nodes."""


class StaleStateError(DebugModeError):
    """A compiled function read something from outside that has been replaced since it was traced."""


class InconsistencyError(UnifyarrError, ValueError):
    """A graph can't be evaluated correctly. The base class of more specific errors.

    ``variable`` is the variable whose memory is concerned, ``nodes`` are the operations that conflict.
    """

    def __init__(self, message: str, *, variable: Any = None, nodes: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.variable = variable
        self.nodes = nodes


class CycleError(InconsistencyError):
    """Two operations would each have to run before the other."""


class SearchLimitError(InconsistencyError):
    """The search for an order in which the nodes can run exceeded a given number of steps."""


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
