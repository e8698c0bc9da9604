"""What TensorFlow has no public name for, each with what happens without it.

The backend uses nothing else of the kind, but for AutoGraph's rules in ``_autograph.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

try:
    # Nothing public says whether a tape records, nor what it or an accumulator follows.
    from tensorflow.python.eager.forwardprop_util import pack_tangents
    from tensorflow.python.eager.record import could_possibly_record, should_record_backprop
except ImportError:

    def could_possibly_record() -> bool:
        """Return the safe answer."""
        return True

    def should_record_backprop(tensors: Any) -> bool:
        """Return False: nothing else would work under a tape."""
        return False

    def pack_tangents(tensors: Any) -> Any:
        """Return that there are none, as above."""
        return SimpleNamespace(tangents=())


try:
    # Calls a function that was traced before, as TensorFlow does in the end when no tape records.
    from tensorflow.python.eager.context import Context
    from tensorflow.python.eager.context import context as current_context

    Context.call_function  # noqa: B018

    def called_at_once(concrete: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
        """Return what calls a concrete function of a list of results, for eager tensors where no tape records.

        TensorFlow's own call of it takes 60 us more, and that of what made it 100. ``None`` where that is the only way.
        """
        inference = getattr(concrete, "inference_fn", None)
        count = len(getattr(getattr(inference, "function_type", None), "flat_outputs", ()))
        captured = list(concrete.captured_inputs)
        if inference is None or not count:
            return None
        return lambda natives: current_context().call_function(inference.name, [*natives, *captured], count)
except (ImportError, AttributeError):

    def called_at_once(concrete: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
        """Return None: TensorFlow's own call is the only way."""
        return None


try:
    from tensorflow.python.eager.context import context as _context

    # Of the running thread, without the two calls that the public function makes, and without the look-up of what reads
    # an attribute of the engine's.
    _of_thread = _context()._thread_local_data
    is_eager: Callable[[], bool] = partial(type(_of_thread).is_eager.fget, _of_thread)
    is_eager()
except (ImportError, AttributeError, TypeError):
    is_eager = tf.executing_eagerly


class _TraceCell:
    """What ``is_eager`` returns, as an attribute."""

    @property
    def value(self) -> bool:
        return is_eager()


trace_cell = _TraceCell()

try:
    # A function with ``jit_compile`` is traced in a context that says so, as are the functions that it calls.
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext

    def is_for_xla() -> bool:
        """Return whether what is traced now, if anything is, will be compiled by XLA."""
        return not is_eager() and bool(GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()))
except ImportError:

    def is_for_xla() -> bool:
        """Return the safe answer."""
        return not is_eager()


try:
    # What the engine's functions call in eager code: the public ones, and ``tf.raw_ops``, have Python around it.
    from tensorflow.python.eager.context import context as _context
    from tensorflow.python.pywrap_tfe import TFE_Py_FastPathExecute

    _engine = _context()

    def eager_op(name: str) -> Callable[..., Any] | None:
        """Return what runs an operation on eager tensors in eager code: its attributes follow by name and value.

        What it raises says less than the engine's functions do. Of an operation of several results it returns a list.
        """
        return partial(TFE_Py_FastPathExecute, _engine, name, None)
except ImportError:

    def eager_op(name: str) -> Callable[..., Any] | None:
        """Return None: the functions of ``tf.raw_ops`` are the only way."""
        return None


# The class of eager tensors, asked for without making one where that is possible.
EagerTensor: type[Any] = getattr(getattr(tf, "__internal__", None), "EagerTensor", None) or type(tf.constant(0))

try:
    # What ``tf.constant`` calls in eager code, in two thirds of its time.
    from tensorflow.python.eager.context import context
    from tensorflow.python.framework.constant_op import convert_to_eager_tensor

    def eager_constant(value: Any) -> Any:
        """Return an eager tensor of NumPy's values, which are copied."""
        return convert_to_eager_tensor(value, context())

    def eager_adopted(value: np.ndarray) -> Any:
        """Return an eager tensor of an array that nothing else refers to, in its memory where the engine can."""
        engine = context()
        engine.ensure_initialized()
        return EagerTensor(value, engine.device_name, None)
except ImportError:
    eager_constant = eager_adopted = tf.constant

try:
    # The class of what ``tf.Variable(...)`` makes, which is not ``tf.Variable`` itself.
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable
except ImportError:
    ResourceVariable = type(tf.Variable(0))

# An eager tensor's shape as a tuple: the public one is an object that Python code makes for each new tensor.
shape_of_eager: Callable[[Any], tuple[int, ...]] = getattr(
    EagerTensor, "_shape_tuple", lambda native: tuple(native.shape.as_list())
)


# Types of eager tensors, each of which is one object: it's compared sooner. How many are kept:
_types: dict[tuple[int, tuple[int, ...]], tuple[int, tuple[int, ...]]] = {}
_KEPT = 4096


def _type_of_eager(native: Any) -> tuple[int, tuple[int, ...]]:
    kind = native._datatype_enum(), native._shape_tuple()
    try:
        return _types[kind]
    except KeyError:
        if len(_types) >= _KEPT:
            _types.clear()
        _types[kind] = kind
        return kind


# The values of an eager tensor on the host, without a copy.
values_of_eager: Callable[[Any], Any] = getattr(EagerTensor, "_numpy", EagerTensor.numpy)


# A number of an eager tensor's dtype: the dtype itself is looked up in Python.
dtype_of_eager: Any = getattr(EagerTensor, "_datatype_enum", None)

# What eager tensors of one dtype and shape have in common. Hashing their dtype and shape runs through Python.
type_of_eager: Any = (
    staticmethod(_type_of_eager)
    if hasattr(EagerTensor, "_datatype_enum") and hasattr(EagerTensor, "_shape_tuple")
    else None
)

__all__ = [
    "EagerTensor",
    "ResourceVariable",
    "called_at_once",
    "could_possibly_record",
    "dtype_of_eager",
    "eager_adopted",
    "eager_constant",
    "eager_op",
    "is_eager",
    "is_for_xla",
    "pack_tangents",
    "shape_of_eager",
    "should_record_backprop",
    "trace_cell",
    "type_of_eager",
    "values_of_eager",
]
