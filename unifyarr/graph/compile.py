"""Compiling a function: traced once for each kind of arguments, rewritten to work in place, and run from then on."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Iterable
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .._core.convert import backend_of
from .._core.handle import Handle
from .._core.ownership import settled
from .._core.selection import load
from .._core.tracing import running
from .._core.views import geometry
from .._core.wrapper import array_class, is_array
from ..container import flatten
from ..errors import TraceError
from .crossing import Crossing, home_of
from .fgraph import FunctionGraph
from .names import leaf_parameters, parameters, positional
from .program import Options, Program

if TYPE_CHECKING:
    from ..array import Array
    from .memory_report import MemoryReport
    from .profile_report import ProfileReport

Function = TypeVar("Function", bound=Callable[..., Any])
Parameters = Iterable[str | int] | str | int
MODES = ("fast", "debug", "pure")

# How many kinds of arguments a function is compiled for: the program made first goes.
PROGRAMS = 256


class Compiled:
    """A function of arrays that runs as the graphs that it was traced to; see ``compile``."""

    def __init__(
        self, function: Callable[..., Any], backend: str | None, mode: str, mutable: Parameters, borrow: bool
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        functools.update_wrapper(self, function)
        self._function, self._engine, self._options = function, backend, Options(mode, bool(borrow))
        self._mutable = _parameters(function, mutable)
        self._programs: dict[Hashable, Program] = {}
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: traced if it wasn't with such arguments, and run."""
        if running.get() is not None:
            # Inside another trace it's a part of that.
            return self._function(*args, **kwargs)
        if not kwargs and set(map(type, args)) == {array_class()}:
            leaves, spec, arrays = list(args), _spec_of_arrays(len(args)), list(args)
        else:
            leaves, spec = flatten((args, kwargs))
            arrays = [leaf for leaf in leaves if is_array(leaf)]
        home = home_of(arrays)
        if self._leaves_to_python(home, arrays):
            return self._function(*args, **kwargs)
        return self._program(home, leaves, spec)(arrays, lambda: self._function(*args, **kwargs))

    def graph(self, *args: Any, **kwargs: Any) -> FunctionGraph:
        """Return the graph that runs when the function is called so: to look at, since changes make its reports wrong.

        It can be printed, and drawn: notebooks show it as a picture. Nothing is run, but a function that wasn't called
        with such arguments is traced.
        """
        return self._found(args, kwargs)[0].fgraph

    def memory(self, *args: Any, **kwargs: Any) -> MemoryReport:
        """Return how much memory the function works in when it's called so; without arguments, for all calls yet.

        The report has for each kind of arguments the pieces of memory, what lies in each of them and from which step to
        which, and the most bytes that are held at one time: as the function was traced, and as it runs. It's printed as
        a table. Nothing is run, but a function that wasn't called with such arguments is traced.
        """
        from .memory_report import memory_report

        programs = [self._found(args, kwargs)[0]] if args or kwargs else self._programs.values()
        return memory_report(self._name, programs)

    def profile(self, *args: Any, **kwargs: Any) -> ProfileReport:
        """Call the function, and return how long each operation took, and what the call returned, as ``result``.

        It's a call like any other: what the function writes is written. On JAX and TensorFlow, which otherwise compile
        all operations as a whole, they run one by one, each of them waited for.
        """
        from .profile_report import profile_report

        if running.get() is not None:
            raise TraceError("a function can't be profiled inside another one that is compiled: call it outside")
        program, arrays = self._found(args, kwargs)
        return profile_report(
            self._name, program, lambda run: program(arrays, lambda: self._function(*args, **kwargs), run)
        )

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Be a method where the function was one."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self._function!r}>"

    def _leaves_to_python(self, home: Handle, arrays: list[Array]) -> bool:
        # Engines that write in place have no gradient of what was overwritten, and none goes through another engine.
        if not home.differentiates or (not home.mutable and self._engine in (None, home.name)):
            return False
        return home.trace() is not None or any(home.records_gradient(settled(x._native)) for x in arrays)

    @property
    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Program, list[Array]]:
        leaves, spec = flatten((args, kwargs))
        arrays = [leaf for leaf in leaves if is_array(leaf)]
        return self._program(home_of(arrays), leaves, spec), arrays

    def _program(self, home: Handle, leaves: list[Any], spec: Any) -> Program:
        key = (home.name, spec, _kinds(leaves))
        found = self._programs.get(key)
        if found is None:
            with self._lock:
                found = self._programs.get(key)
                if found is None:
                    found = self._traced(home, leaves, spec)
                    while len(self._programs) >= PROGRAMS:
                        del self._programs[next(iter(self._programs))]
                    self._programs[key] = found
        return found

    def _traced(self, home: Handle, leaves: list[Any], spec: Any) -> Program:
        engine = None if self._engine is None else load(self._engine)
        # What has no arrays runs, and stays, where it's asked to run.
        crossing = Crossing(home if engine is None or any(map(is_array, leaves)) else engine, engine)
        came_by = zip(leaves, leaf_parameters(self._function, spec), strict=True)
        owners = [parameter for leaf, (parameter, _) in came_by if is_array(leaf)]
        mutable = [place for place, parameter in enumerate(owners) if parameter in self._mutable]
        return Program(self._function, leaves, spec, crossing, mutable, self._options)


@functools.cache
def _spec_of_arrays(count: int) -> Any:
    # Arrays alone are most calls, and all such nests are one.
    return flatten(((None,) * count, {}))[1]


def _kinds(leaves: list[Any]) -> tuple[Hashable, ...]:
    plain = array_class()
    kinds: list[Hashable] = []
    for leaf in leaves:
        if type(leaf) is plain:
            native = settled(leaf._native)
            kinds.append((type(native), leaf._backend.kind(native)))
        else:
            kinds.append(_kind(leaf))
    return tuple(kinds)


def _kind(leaf: Any) -> Hashable:
    if is_array(leaf):
        # Which views of a view share its memory depends on how it lies in that.
        return (leaf.shape, leaf.dtype, leaf.device, geometry(leaf).strides)
    if isinstance(leaf, np.ndarray) or backend_of(leaf) is not None:
        raise TypeError(f"a compiled function takes arrays of unifyarr: wrap the {type(leaf).__name__}, ua.asarray(x)")
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function takes arrays, and what can be hashed, for each of which it's traced, not "
            f"{type(leaf).__name__}"
        ) from None
    # 1, 1.0 and True are equal, and so are the zeros.
    return (type(leaf), leaf, repr(leaf) if isinstance(leaf, (float, complex)) else None)


def _parameters(function: Callable[..., Any], given: Parameters) -> frozenset[str | int]:
    """Return parameters by their names, or by their places as far as they have none."""
    names, found = positional(function), set()
    for each in [given] if isinstance(given, (str, int)) else given:
        if isinstance(each, bool) or not isinstance(each, (str, int)):
            raise TypeError(f"mutable has names or positions of parameters, not {each!r}")
        if isinstance(each, str) and names and each not in (known := [p.name for p in parameters(function)]):
            raise ValueError(f"mutable names {each!r}, but the parameters are {', '.join(known)}")
        found.add(names[each] if isinstance(each, int) and 0 <= each < len(names) else each)
    return frozenset(found)


@overload
def compile(function: Function, /) -> Function: ...


@overload
def compile(
    function: Function,
    /,
    *,
    backend: str | None = None,
    mode: str = "fast",
    mutable: Parameters = (),
    borrow: bool = False,
) -> Function: ...


@overload
def compile(
    *, backend: str | None = None, mode: str = "fast", mutable: Parameters = (), borrow: bool = False
) -> Callable[[Function], Function]: ...


def compile(
    function: Any = None,
    /,
    *,
    backend: str | None = None,
    mode: str = "fast",
    mutable: Parameters = (),
    borrow: bool = False,
) -> Any:
    """Return a function that is traced once for each kind of arguments, and works in place where that is safe.

    The function is run once on arrays that stand for its arguments, which gives a graph of what it computes and writes.
    From then on that graph runs: on NumPy and torch step by step on buffers that are used again as soon as nobody needs
    them, on JAX and TensorFlow compiled as a whole by the engine. What the function does to its arguments, to views of
    them and to arrays from outside that it captures happens at each call as if it ran itself: with the same arrays
    written, and the same views returned.

    Parameters
    ----------
    function
        What to compile: a function of arrays, containers, and nests of them, and of values that can be hashed. It's
        traced for each structure, shape, dtype, layout and device of arrays, and for each other value. Without it a
        decorator is returned.
    backend
        The engine that computes, by default that of the arguments. Arguments of another backend are lent to it,
        without a copy where their memory allows it, and results come back to theirs.
    mode
        ``"fast"``; ``"pure"`` for the graph as it was traced, which overwrites nothing on its way; or ``"debug"``,
        which checks at each step what operations say of themselves, and is slow.
    mutable
        Names or positions of parameters whose arrays the caller doesn't need any more: their memory may be overwritten,
        and be that of a result. Their values are undefined after the call.
    borrow
        Whether results may be in memory that the next call uses again: copy what has to outlive that.

    Returns
    -------
    compiled
        A function of the same arguments.

    Raises
    ------
    TraceError
        At a call, if what the function does depends on values of arrays: choose between values with ``ua.where``, or
        pass what decides as a number.
    BackendMismatchError
        At a call, if arrays of several backends meet.

    Notes
    -----
    A call that raises leaves all arguments as they were. Arguments that overlap, one of which is written, are left to
    the function itself, and so is what torch records gradients of. What JAX and TensorFlow compile can't refuse values:
    the Cholesky factor of a matrix that isn't positive definite is NaN there, where it's an error otherwise.

    The idea of a graph that finds out by itself what may be overwritten is Theano's (arXiv:1605.02688).

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.compile
    ... def step(x, rate):
    ...     x[1:] -= rate * x[:-1]
    ...     return ua.sum(x)
    >>> x = ua.asarray([1.0, 2.0, 3.0])
    >>> float(step(x, 0.5))
    4.5
    >>> x.tolist()
    [1.0, 1.5, 2.0]
    """
    options = {"backend": backend, "mode": mode, "mutable": mutable, "borrow": borrow}
    if function is None:
        return functools.partial(compile, **options)
    if not callable(function):
        raise TypeError(f"compile() takes a function, not {type(function).__name__}")
    return Compiled(function, **options)  # type: ignore[arg-type]
