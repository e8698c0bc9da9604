"""dask's private names: nodes of graphs. Without them graphs have tasks as tuples, and steps aren't fused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..private import private

Task: Any = private("dask._task_spec.Task")
TaskRef: Any = private("dask._task_spec.TaskRef")
GraphNode: Any = private("dask._task_spec.GraphNode")
_Alias: Any = private("dask._task_spec.Alias")
_DataNode: Any = private("dask._task_spec.DataNode")

# Whether steps can be fused, which needs dask's task classes.
FUSES = None not in (Task, TaskRef, GraphNode)


def call(key: Any, function: Callable[[Any], Any], origin: Any) -> Any:
    """Return the node of a graph that calls a function of the value of another key."""
    return (function, origin) if Task is None or TaskRef is None else Task(key, function, TaskRef(origin))


def alias(key: Any, origin: Any) -> Any:
    """Return the node of a graph with the value of another key."""
    return origin if _Alias is None else _Alias(key, origin)


def data(key: Any, value: Any) -> Any:
    """Return the node of a graph with a value."""
    return value if _DataNode is None else _DataNode(key, value)
