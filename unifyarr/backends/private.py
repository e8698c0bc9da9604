"""Private names of engines: one table, and one function that looks them up.

Each name has a public way beside it, which is slower or knows less, so that a version of an engine without the name
works. ``python -m tests.backends.without ENGINE [NAME ...]`` runs an
engine's self-test without its private names, or without some of them.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, NamedTuple


class Private(NamedTuple):
    """The use of a private name, and the public way beside it."""

    purpose: str
    # The public way that serves without the name.
    instead: str
    # The version that brought it, and the first version without it; empty where all supported versions have it.
    since: str = ""
    until: str = ""


_TRACED = "values inside `torch.func`"
_UNKNOWN = "values inside transformations aren't known"
_TAPE = "a tape may always record, and nothing under a tape is written"

# By engine and dotted name. A name of arrays' own class stands under the public name of that class.
NAMES: dict[str, Private] = {
    "dask._task_spec.Task": Private("tasks of graphs", "tasks as tuples"),
    "dask._task_spec.TaskRef": Private("keys in tasks", "keys as they are"),
    "dask._task_spec.Alias": Private("keys for other keys", "keys as they are"),
    "dask._task_spec.DataNode": Private("values in graphs", "values as they are"),
    "dask._task_spec.GraphNode": Private("tells tasks from constants, to fuse steps", "steps aren't fused"),
    "jax._src.xla_bridge.backends_are_initialized": Private(
        "warns where JAX was used before 64 bits are switched on", "no warning"
    ),
    "jax._src.interpreters.ad.LinearizeTracer": Private("whether a derivative is taken", "any tracer may carry one"),
    "jax.interpreters.ad.JVPTracer": Private("whether a derivative is taken", "any tracer may carry one"),
    "jax.core.eval_context": Private("computing outside of all traces", "`jax.ensure_compile_time_eval`"),
    "jax._src.core.trace_state_strong_ref": Private("the running trace, in half the time", "`find_top_trace`"),
    "jax.extend.core.find_top_trace": Private("the running trace", "`jax.extend.core.get_opaque_trace_state`"),
    "jax.core.Tracer.to_concrete_value": Private("values inside `jax.grad`", "they aren't known"),
    "jax.Array._sharding": Private("devices of an array, without Python", "`jax.Array.sharding`"),
    "jax.Array._committed": Private("whether an array was put on a device, without Python", "`jax.Array.committed`"),
    "jaxlib.xla_client.batched_device_put": Private(
        "arrays in NumPy's memory, in a fourth of the time", "`jax.device_put`"
    ),
    **{
        f"numpy.linalg._umath_linalg.{name}": Private(
            "small matrices in compiled loops", "a call of Python at each step"
        )
        for name in ("cholesky_lo", "cholesky_up", "det", "inv", "solve", "solve1")
    },
    "numpy._core._multiarray_umath._extobj_contextvar": Private(
        "the setting of `np.errstate` is watched in fused loops", "`np.geterr` is called before each"
    ),
    "numpy._core.umath.clip": Private("clips are fused", "they are calls of `np.clip`"),
    "torch.utils._pytree.register_pytree_node": Private("containers in `torch.func`", "they are leaves"),
    "torch.utils._pytree.MappingKey": Private("paths of containers in `torch.export`", "they are leaves"),
    **{
        f"torch._C._functorch.{name}": Private(_TRACED, _UNKNOWN)
        for name in (
            *("get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor"),
            *("maybe_get_level", "peek_interpreter_stack"),
        )
    },
    "torch._functorch.pyfunctorch.temporarily_pop_interpreter_stack": Private(_TRACED, _UNKNOWN),
    "torch._C._disabled_torch_function_impl": Private("subclasses of tensors that mean the same", "some are refused"),
    "torch._C._len_torch_function_stack": Private(
        "whether torch has a default device", "`torch.get_default_device`, which takes longer"
    ),
    "torch._C._len_torch_dispatch_stack": Private(
        "numbers that an accelerator keeps", "each call fills its numbers in anew"
    ),
    "torch._foreach_copy_": Private("writes of containers in one call", "one call for each leaf"),
    **{
        f"torch._foreach_{name}_": Private(
            "updates of containers in one call", "results are made before they are written"
        )
        for name in ("abs", "add", "cos", "div", "exp", "log", "mul", "neg", "sin", "sqrt", "sub")
    },
    **{
        f"torch._foreach_{name}": Private("values of containers on accelerators in one call", "one call for each leaf")
        for name in ("abs", "add", "cos", "div", "exp", "log", "mul", "neg", "sin", "sqrt", "sub")
    },
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": Private("attention with its sums", "compositions"),
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward": Private("its derivative", "compositions"),
    "torch.ops.aten._log_softmax_backward_data": Private("a derivative in one pass over memory", "several passes"),
    "torch.ops.aten._softmax_backward_data": Private("a derivative in one pass over memory", "several passes"),
    "torch.ops.aten.native_layer_norm_backward": Private("a derivative of normalisation", "a composition"),
    "torch.ops.aten.native_group_norm_backward": Private("a derivative of normalisation", "a composition"),
    "torch.ops.aten.native_batch_norm_backward": Private("a derivative of normalisation", "a composition"),
    "torch._subclasses.FakeTensorMode": Private("graphs for torch's compiler", "operations run one by one"),
    "torch.fx.experimental.proxy_tensor.make_fx": Private("graphs for torch's compiler", "operations run one by one"),
    "torch.utils._python_dispatch._disable_current_modes": Private(
        "constants in loops and branches that are exported", "arrays from outside"
    ),
    "torch._inductor.compile": Private("compiled graphs without guards", "`torch.compile`"),
    "torch._VF.einsum": Private("sums of products, without the Python around them", "`torch.einsum`"),
    "torch.Tensor._version": Private("tells inference tensors before they are written", "`torch.Tensor.is_inference`"),
    "torch.Tensor._cdata": Private(
        "dtypes and shapes are read where torch has them, by the compiled core", "`torch.Tensor.dtype` and DLPack"
    ),
    "torch.Tensor._base": Private("leaves behind views", "a view is taken for a tensor of its own"),
    "torch.Tensor._is_zerotensor": Private("gradients without memory", "they are left as they are"),
    "torch._standard_gamma": Private("gamma numbers of the engine's generator", "an error that names `engine='host'`"),
    "tensorflow.__internal__.EagerTensor": Private("the class of eager tensors", "the class of one that is made"),
    "tensorflow.Tensor._shape_tuple": Private("shapes without an object for each", "`tf.Tensor.shape`"),
    "tensorflow.Tensor._datatype_enum": Private("dtypes without Python", "`tf.Tensor.dtype`"),
    "tensorflow.Tensor._numpy": Private("values without a copy", "`tf.Tensor.numpy`"),
    "tensorflow.python.ops.resource_variable_ops.ResourceVariable": Private(
        "the class of variables", "the class of one that is made"
    ),
    "tensorflow.python.framework.constant_op.convert_to_eager_tensor": Private(
        "tensors of NumPy's values, sooner", "`tf.constant`"
    ),
    "tensorflow.python.eager.context.context": Private("the engine, for the calls below", "the public functions"),
    "tensorflow.python.eager.context.Context.device_name": Private(
        "the device of the running scope", "that of a tensor that is made"
    ),
    "tensorflow.python.eager.context.Context.call_function": Private(
        "calls of traced functions, sooner", "the function"
    ),
    "tensorflow.python.pywrap_tfe.TFE_Py_FastPathExecute": Private("operations, sooner", "`tf.raw_ops`"),
    "tensorflow.python.ops.control_flow_util.GraphOrParentsInXlaContext": Private(
        "whether XLA compiles what is traced", "it may"
    ),
    "tensorflow.python.eager.record.could_possibly_record": Private("whether a tape records", _TAPE),
    "tensorflow.python.eager.record.should_record_backprop": Private("what a tape follows", _TAPE),
    "tensorflow.python.eager.forwardprop_util.pack_tangents": Private("what an accumulator follows", _TAPE),
    "tensorflow.python.autograph.core.config": Private("AutoGraph leaves our functions alone", "it warns of some"),
}

# Names that are taken for absent, for tests.
HIDDEN: set[str] = set()
# Whether the installed version has the names that were looked up.
_found: dict[str, bool] = {}


def private(name: str, owner: Any = None) -> Any:
    """Return the object with a private name, or ``None`` if the engine doesn't have it.

    ``owner`` is the class, where the name is one of its attributes and the class itself has no public name.
    """
    if name not in NAMES:
        raise KeyError(f"{name} isn't in the table of private names: add it with the public way that serves without it")
    path, _, last = name.rpartition(".")
    try:
        found = None if name in HIDDEN else getattr(resolve_name(path) if owner is None else owner, last, None)
    except (ImportError, AttributeError):
        found = None
    _found[name] = found is not None
    return found


def lost(name: str) -> None:
    """Note that a private name isn't what it was in the versions that were tested."""
    _found[name] = False


def missing(engine: str) -> list[str]:
    """Return the private names that the backend of an engine has looked up, and that the installed version lacks."""
    return sorted(name for name, there in _found.items() if not there and engine_of(name) == engine)


def engine_of(name: str) -> str:
    """Return the engine that has a private name."""
    first = name.partition(".")[0]
    return {"jaxlib": "jax"}.get(first, first)
