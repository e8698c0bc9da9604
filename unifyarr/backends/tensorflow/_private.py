"""TensorFlow's private names, each beside the public way that serves without it.

The backend uses nothing else of the kind, but for AutoGraph's rules in ``_autograph.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from ..private import private

_record: tuple[Any, ...] = (
    private("tensorflow.python.eager.record.could_possibly_record"),
    private("tensorflow.python.eager.record.should_record_backprop"),
    private("tensorflow.python.eager.forwardprop_util.pack_tangents"),
)
if None in _record:
    # The safe answers: a tape may record, and nothing is known to be followed, since else nothing works under a tape.
    _record = (lambda: True), (lambda tensors: False), (lambda tensors: SimpleNamespace(tangents=()))
could_possibly_record, should_record_backprop, pack_tangents = _record

_context: Any = private("tensorflow.python.eager.context.context")
_device_name: Any = private("tensorflow.python.eager.context.Context.device_name")
_call_function: Any = private("tensorflow.python.eager.context.Context.call_function")
_execute: Any = private("tensorflow.python.pywrap_tfe.TFE_Py_FastPathExecute")
_is_in_xla: Any = private("tensorflow.python.ops.control_flow_util.GraphOrParentsInXlaContext")
_convert: Any = private("tensorflow.python.framework.constant_op.convert_to_eager_tensor")


def called_at_once(concrete: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Return a faster call of a concrete function of a list of results, for eager tensors that no tape records.

    TensorFlow's own call of it takes 60 us more, and that of what made it 100. ``None`` where that is the only way.
    """
    if _context is None or _call_function is None:
        return None
    inference = getattr(concrete, "inference_fn", None)
    count = len(getattr(getattr(inference, "function_type", None), "flat_outputs", ()))
    captured = list(concrete.captured_inputs)
    if inference is None or not count:
        return None
    return lambda natives: _call_function(_context(), inference.name, [*natives, *captured], count)


def _find_is_eager() -> Callable[[], bool]:
    # The thread's context, without the two calls of the public function, and without looking up the engine's attribute
    # getter.
    of_thread = getattr(_context() if _context is not None else None, "_thread_local_data", None)
    found = getattr(getattr(type(of_thread), "is_eager", None), "fget", None)
    return tf.executing_eagerly if found is None else partial(found, of_thread)


is_eager = _find_is_eager()


def current_device() -> str:
    """Return the engine's name of the device where tensors are made now; an empty one outside of ``tf.device``."""
    if _context is None or _device_name is None:
        with tf.init_scope():
            return str(tf.zeros(()).device)
    return _context().device_name or ""


class _TraceCell:
    """The value of ``is_eager``, as an attribute."""

    @property
    def value(self) -> bool:
        return is_eager()


trace_cell = _TraceCell()


def is_for_xla() -> bool:
    """Return whether XLA compiles the current trace; true in any trace if TensorFlow doesn't tell.

    A function with ``jit_compile`` is traced in a context that says so.
    """
    if is_eager():
        return False
    return _is_in_xla is None or bool(_is_in_xla(tf.compat.v1.get_default_graph()))


def eager_op(name: str) -> Callable[..., Any] | None:
    """Return a function that runs an operation on eager tensors; its attributes follow by name and value.

    Its errors say less than those of the engine's functions. For an operation with several results it returns a list.
    The functions of ``tf.raw_ops`` have a Python wrapper around it; ``None`` where they are the only way.
    """
    return None if _context is None or _execute is None else partial(_execute, _context(), name, None)


# The class of eager tensors, asked for without making one where that is possible.
EagerTensor: type[Any] = private("tensorflow.__internal__.EagerTensor") or type(tf.constant(0))


def eager_constant(value: Any) -> Any:
    """Return an eager tensor of NumPy's values, which are copied."""
    return tf.constant(value) if _convert is None or _context is None else _convert(value, _context())


def eager_adopted(value: np.ndarray) -> Any:
    """Return an eager tensor of an array that nothing else refers to, in its memory where the engine can."""
    if _convert is None or _context is None:
        return tf.constant(value)
    engine = _context()
    engine.ensure_initialized()
    return EagerTensor(value, engine.device_name, None)


# The class of what ``tf.Variable(...)`` makes, which is not ``tf.Variable`` itself.
ResourceVariable: type[Any] = private("tensorflow.python.ops.resource_variable_ops.ResourceVariable") or type(
    tf.Variable(0)
)

# An eager tensor's shape as a tuple: the public one is an object that Python code makes for each new tensor.
shape_of_eager: Callable[[Any], tuple[int, ...]] = private("tensorflow.Tensor._shape_tuple", EagerTensor) or (
    lambda native: tuple(native.shape.as_list())
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
values_of_eager: Callable[[Any], Any] = private("tensorflow.Tensor._numpy", EagerTensor) or EagerTensor.numpy

# A number of an eager tensor's dtype: the dtype itself is looked up in Python.
dtype_of_eager: Any = private("tensorflow.Tensor._datatype_enum", EagerTensor)

# A key for the dtype and shape of eager tensors. Hashing those themselves runs through Python.
type_of_eager: Any = (
    None
    if dtype_of_eager is None or private("tensorflow.Tensor._shape_tuple", EagerTensor) is None
    else staticmethod(_type_of_eager)
)
