"""Good calls of everything public, which hostile arguments are put into."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua
from unifyarr.testing.cases.table import A, B, K

from ..functions.calls import CALLS, PUBLIC, SEVERAL, find, lift
from ..oracle import words
from ..test_random import METHODS


class Good(NamedTuple):
    """A call that works: the function, its arguments, and the arrays that it may change."""

    function: Callable[..., Any]
    arguments: list[Any]
    options: dict[str, Any]
    # Arrays that the call writes, ``out`` aside.
    written: tuple[Any, ...] = ()
    # Arrays that the call has beside its arguments.
    own: tuple[Any, ...] = ()

    def unused(self) -> list[str]:
        """The names of the parameters that the call leaves out."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            return []
        rest = parameters[len(self.arguments) :]
        return [p.name for p in rest if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


Make = Callable[[], Good]
# Functions that answer questions about dtypes, or have no arrays among their arguments.
OTHERS: dict[str, tuple[Any, ...]] = {
    "can_cast": ("float32", "float64"),
    "finfo": ("float64",),
    "iinfo": ("int32",),
    "isdtype": ("float64", "real floating"),
    "result_type": ("float64", "int32"),
    "tril_indices": (3,),
    "triu_indices": (3,),
    "blackman": (5,),
    "hamming": (5,),
    "hanning": (5,),
    "bartlett": (5,),
    "kaiser": (5, 3.0),
}


def _of_function(name: str) -> Good:
    arguments, options = (CALLS | SEVERAL).get(name) or (OTHERS.get(name, (A,)), {})
    given = [lift(name, each) for each in arguments]
    # A true value asks batch_norm() to update its statistics.
    return Good(find(name), given, copy.copy(options), tuple(given[1:3]) if name == "nn.batch_norm" else ())


_METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(words("sum prod mean max min all any std var argmax argmin squeeze clip round conj"), ()),
    **dict.fromkeys(words("copy ravel flatten tolist nonzero __copy__ __repr__ __len__ __iter__ __bool__"), ()),
    **dict.fromkeys(words("__int__ __float__ __complex__ __index__ __neg__ __abs__ __invert__ transpose"), ()),
    **dict.fromkeys(words("__dlpack__ __dlpack_device__ __array_namespace__ __array__ __reduce__"), ()),
    "item": (0, 1),
    "reshape": ((3, 2),),
    "astype": ("float32",),
    "take": (np.array([0, 1]),),
    "repeat": (2,),
    "to_device": ("cpu",),
    "to_backend": ("numpy",),
    "fill": (2.5,),
    "__format__": ("",),
    "__contains__": (0.5,),
    "__getitem__": ((0, slice(None)),),
    "__setitem__": ((0, slice(None)), 1.5),
    "__deepcopy__": ({},),
    **{
        f"__{kind}{name}__": (B,)
        for kind in ("", "r", "i")
        for name in words("add sub mul truediv floordiv mod pow and or xor lshift rshift matmul")
    },
    **{f"__{name}__": (B,) for name in words("lt le gt ge eq ne")},
}
_INTEGERS = tuple(f"__{kind}{name}__" for kind in ("", "r", "i") for name in words("and or xor lshift rshift"))


def _of_method(name: str) -> Good:
    integral = name in _INTEGERS or name in ("__index__", "__invert__")
    x = ua.asarray((K if integral else A).copy(), copy=True)
    others = [ua.asarray(J if integral else each, copy=True) if each is B else each for each in _METHODS[name]]
    changes = name.startswith("__i") and name not in ("__int__", "__index__", "__iter__", "__invert__")
    written = (x,) if changes or name in ("fill", "__setitem__") else ()
    return Good(getattr(x, name), others, {}, written, (x,))


J = np.array([[2, 3, 1], [4, 1, 2]])
_INDEXING: dict[str, Callable[[ua.Array, Any], Any]] = {
    "x[key]": lambda x, key: x[key],
    "x[0, key]": lambda x, key: x[0, key],
    "x[key, key]": lambda x, key: x[key, key],
    "x[key:]": lambda x, key: x[key:],
    "x[::key]": lambda x, key: x[::key],
}


def _of_index(name: str) -> Good:
    x = ua.asarray(A, copy=True)
    return Good(functools.partial(_INDEXING[name], x), [1], {}, (), (x,))


def _assign(key: Any, value: Any) -> Good:
    x = ua.ones((2, 3))
    return Good(x.__setitem__, [key, value], {}, (x,), (x,))


def _use(backend: Any) -> None:
    with ua.use_backend(backend):
        pass


def _set(name: str) -> Good:
    x = ua.ones((2, 3))
    return Good(functools.partial(setattr, x, name), [1.5], {}, (x,), (x,))


def _tree() -> ua.Container:
    return ua.Container(a=ua.ones(2), b=[ua.zeros((2, 3)), ua.asarray([1.0, 2.0])])


_CONTAINERS: dict[str, Callable[[], tuple[Any, ...]]] = {
    **dict.fromkeys(
        words("paths leaves flatten to_dict reduce copy __len__ __iter__ __repr__ __bool__ __neg__"), tuple
    ),
    "at": lambda: ("a",),
    "set_at": lambda: ({"a": ua.zeros(3)},),
    "unflatten": lambda: (_tree().flatten()[1], _tree().leaves()),
    "map": lambda: (ua.abs,),
    "map_with_path": lambda: (lambda path, x: x,),
    "filter": lambda: (lambda path, x: True,),
    "prune": lambda: ("a",),
    "select": lambda: ("*",),
    "diff": lambda: (_tree(),),
    "diff_structure": lambda: (_tree(),),
    "to_backend": lambda: ("numpy",),
    "to_device": lambda: ("cpu",),
    "__getitem__": lambda: ("b/0",),
    "__setitem__": lambda: ("b/0", ua.ones(3)),
    "__contains__": lambda: ("b/0",),
    "__add__": lambda: (1.5,),
    "__matmul__": lambda: (_tree(),),
    "__eq__": lambda: (_tree(),),
}


def _of_container(name: str) -> Good:
    tree = _tree()
    # Another array in a place of a container is no write.
    return Good(getattr(tree, name), list(_CONTAINERS[name]()), {}, (), tuple(tree.leaves()))


def _of_inplace(name: str) -> Good:
    x, value = (lift(name, each) for each in _INPLACE[name])
    return Good(getattr(ua, name), [x, value], {}, (x,))


_INPLACE = {"inplace_update": (A, B), "inplace_increment": (A, B), "inplace_decrement": (A, 1.5)}


def _squares(x: Any, y: Any = 1.0) -> Any:
    return ua.sum(ua.square(x) * y)


def _of_op(*arguments: Any) -> Any:
    @ua.op
    def scaled(x: ua.Array, y: ua.Array, /, factor: float = 2.0) -> ua.Array:
        """Return a multiple of a sum."""
        return (x + y) * factor

    return scaled(*arguments)


_APIS: dict[str, Callable[[], Good]] = {
    "asarray": lambda: Good(ua.asarray, [[1.0, 2.0]], {}),
    "from_dlpack": lambda: Good(ua.from_dlpack, [A.copy()], {}),
    "variable": lambda: Good(ua.variable, [[1.0, 2.0]], {}),
    "supports_inplace_updates": lambda: Good(ua.supports_inplace_updates, [ua.ones(3)], {}),
    "assert_supports_inplace": lambda: Good(ua.assert_supports_inplace, [ua.variable(ua.ones(3))], {}),
    "inplace_arrays_supported": lambda: Good(ua.inplace_arrays_supported, ["numpy"], {}),
    "inplace_variables_supported": lambda: Good(ua.inplace_variables_supported, ["numpy"], {}),
    "current_backend": lambda: Good(ua.current_backend, [ua.ones(2)], {}),
    "to_backend": lambda: Good(ua.to_backend, [{"x": ua.zeros(2)}, "numpy"], {}),
    "use_backend": lambda: Good(_use, [ua.current_backend()], {}),
    "op": lambda: Good(ua.op, [_squares], {}),
    "a call of an op": lambda: Good(_of_op, [ua.ones(3), ua.zeros(3)], {}),
    "x[key] = value": lambda: _assign((0, slice(None)), 1.5),
    "x[key] = array": lambda: _assign(0, ua.zeros(3)),
    "x[mask] = value": lambda: _assign(ua.ones((2, 3)) > 0, ua.zeros(6)),
    "x.flat = value": lambda: _set("flat"),
    "x.real = value": lambda: _set("real"),
    "grad": lambda: Good(lambda *args, **kw: ua.grad(*args, **kw)(ua.ones(2)), [_squares], {}),
    "a gradient": lambda: Good(ua.grad(_squares), [ua.ones(2), ua.ones(2)], {}),
    "value_and_grad": lambda: Good(ua.value_and_grad(_squares), [ua.ones(2)], {}),
    "vjp": lambda: Good(ua.vjp, [_squares, ua.ones(2)], {}),
    "jvp": lambda: Good(ua.jvp, [_squares, (ua.ones(2),), (ua.ones(2),)], {}),
    "jacobian": lambda: Good(ua.jacobian(ua.square), [ua.ones(2)], {}),
    "vmap": lambda: Good(lambda f, *args: ua.vmap(f, *args)(ua.ones((2, 3))), [ua.square, 0], {}),
    "a batch": lambda: Good(ua.vmap(_squares), [ua.ones((2, 3)), ua.ones((2, 3))], {}),
    "compile": lambda: Good(lambda f: ua.compile(f)(ua.ones(2)), [_squares], {}),
    "a compiled function": lambda: Good(ua.compile(_squares), [ua.ones(2), ua.ones(2)], {}),
    "Container": lambda: Good(ua.Container, [{"a": ua.ones(2), "b": [ua.zeros(3)]}], {}),
    "a function of containers": lambda: Good(ua.add, [_tree(), _tree()], {}),
    "Generator": lambda: Good(ua.random.Generator, [5], {}),
}


def _of_generator(name: str) -> Good:
    return Good(getattr(ua.random.Generator(5), name), [], {**METHODS[name], "size": (2, 3)})


def _of_order(name: str) -> Good:
    x: Any = 3 if name == "spawn" else ua.asarray([1.0, 2.0, 3.0])
    return Good(getattr(ua.random.Generator(5), name), [x], {}, (x,))


def good_calls() -> dict[str, Make]:
    """Return makers of a good call of everything public, by name."""
    calls: dict[str, Make] = {name: functools.partial(_of_function, name) for name in PUBLIC}
    calls |= {f"Array.{name}": functools.partial(_of_method, name) for name in _METHODS}
    calls |= {name: functools.partial(_of_index, name) for name in _INDEXING}
    calls |= {f"Container.{name}": functools.partial(_of_container, name) for name in _CONTAINERS}
    calls |= {name: functools.partial(_of_inplace, name) for name in _INPLACE}
    calls |= {f"Generator.{name}": functools.partial(_of_generator, name) for name in METHODS}
    calls |= {
        f"Generator.{name}": functools.partial(_of_order, name)
        for name in ("permutation", "permuted", "shuffle", "spawn")
    }
    return calls | {f"API {name}": make for name, make in _APIS.items()}
