"""Compiling a function: it's traced once for each cache key, rewritten to work in place, and run from then on."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from .._core.arrays.array import Array
from .._core.arrays.structures import hold_state
from .._core.engines.tracing import running
from .._core.values.called import Called, boundary, make_boundaries, set_boundary
from .._core.values.pickling import Wrapper
from ..container.container import flatten
from ..errors import TraceError
from ..modes.trace.crossing import common_backend, must_run_in_python
from .building.givens import Givens, with_givens
from .building.rewriters import NodeRewriter
from .building.running import GraphFunction
from .core.basic import Variable
from .core.fgraph import FunctionGraph
from .run.options import Parameters, checked_options
from .run.program_cache import ProgramCache
from .run.program_calls import Call, CalledProgram, general_way, generally
from .run.rewrite_registry import Names, Rewrite
from .run.trace_log import tell_in_python

if TYPE_CHECKING:
    from ..typing import BackendName
    from .run.monitoring import NodeValues
    from .show.memory_report import MemoryReport
    from .show.profile_report import ProfileReport

AnyRewrite = Rewrite | NodeRewriter | Callable[[FunctionGraph], object]
P = ParamSpec("P")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
# How many programs a function keeps, one for each cache key, unless it's told. Beyond that it drops the one that was
# called longest ago.
PROGRAMS = 256


class Compiled(Called, Wrapper, Generic[P, Result]):
    """A function of arrays that runs as a graph; see ``compile``."""

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
            """Call the function. Arguments of a new shape, dtype or structure are traced first."""
            raise NotImplementedError

    def __init__(self, function: Callable[P, Result], *options: Any, **named: Any) -> None:
        self._stand_for(function)
        self._options = checked_options(function, *options, **named)
        self._begin()

    def _begin(self) -> None:
        self._programs = ProgramCache(self._function, self._name, self._options)
        # The call of the program that was called last, which most calls are for again, refers to the rest by it.
        self._general = general_way(self._call, self._function)
        self._enter(None)

    def _enter(self, call: Call | None) -> None:
        """Make a program's call, or the general way, what calls come to."""
        set_boundary(self, call or generally(self._general), self._name)

    def _call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if running() is not None:
            # Inside another trace the function becomes a part of that trace.
            return self._function(*args, **kwargs)
        leaves, spec = flatten((args, kwargs), in_order=True)
        if any(isinstance(leaf, Variable) for leaf in leaves):
            # As in the graph that is being built.
            return self._function(*args, **kwargs)
        arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
        backend = common_backend(arrays)
        if must_run_in_python(backend, self._options.backend, arrays):
            tell_in_python(self._name, "the engine records gradients")
            return self._function(*args, **kwargs)
        program = self._programs.find(backend, leaves, spec, (args, kwargs))
        self._enter(program.straight(self._function, leaves, spec, self._general))
        return program.watch.put_back(program(leaves, lambda: self._function(*args, **kwargs)))

    def clear(self) -> None:
        """Drop all programs, and what they hold: arrays that were captured, borrowed results, what engines compiled."""
        self._begin()

    def graph(self, *args: object, **kwargs: object) -> FunctionGraph:
        """Return the graph that runs for these arguments.

        It can be printed and drawn; notebooks show it as a picture. Don't change it: the other reports would be wrong.
        Nothing is run, but the function is traced if it wasn't called with such arguments before.
        """
        return self._found(args, kwargs)[0].fgraph

    def memory(self, *args: object, **kwargs: object) -> MemoryReport:
        """Return how much memory the function uses for these arguments; without arguments, for every call so far.

        For each compiled program the report lists the buffers, the values in each, and the steps from which and until
        which it's held. It has the peak memory of the graph as it was traced and of the graph that runs. It prints as a
        table. Nothing is run, but the function is traced if it wasn't called with such arguments before.
        """
        from .show.memory_report import memory_report

        programs = [self._found(args, kwargs)[0]] if args or kwargs else self._programs.values()
        return memory_report(self._name, programs)

    def profile(self, *args: object, **kwargs: object) -> ProfileReport:
        """Call the function, and return the time of each operation; ``result`` is what the call returned.

        The function writes to its arguments as in any other call. JAX and TensorFlow, which otherwise compile all
        operations as a whole, run them one by one here, and each is waited for.
        """
        from .show.profile_report import profile_report

        if running() is not None:
            raise TraceError("a function can't be profiled inside another compiled function: profile it outside")
        program, leaves = self._found(args, kwargs)
        return profile_report(
            self._name,
            program,
            lambda run: program.watch.put_back(program(leaves, lambda: self._function(*args, **kwargs), run)),
        )

    def __set_name__(self, owner: type, name: str) -> None:
        hold_state(owner)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Compiled[Concatenate[Any, Rest], Result], instance: object, owner: type | None = None
    ) -> Callable[Rest, Result]: ...
    def __get__(self, instance: object, owner: type | None = None) -> object:
        """Bind the function to an instance, as a method."""
        return self if instance is None else MethodType(self, instance)

    def __copy__(self) -> Self:
        """Return a compiled function with no programs yet."""
        return self._like(self._function)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self._like(copy.deepcopy(self._function, memo))

    def _made_by(self) -> tuple[Callable[..., Any], tuple[object, ...], dict[str, Any]]:
        return Compiled, self._options, {}

    def __repr__(self) -> str:
        return f"<compiled {self._function!r}>"

    def _repr_html_(self) -> str:
        from .show.html import html_of_compiled

        return html_of_compiled(self._name, self._programs.values())

    @property
    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)

    def _found(self, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[CalledProgram, list[object]]:
        leaves, spec = flatten((args, kwargs), in_order=True)
        arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
        return self._programs.find(common_backend(arrays), leaves, spec, (args, kwargs)), leaves


make_boundaries(Compiled)


class Decorator(Protocol):
    """What ``compile`` returns without a function."""

    def __call__(self, function: Callable[P, Result], /) -> Compiled[P, Result]:
        """Return the compiled function."""


class CompileOptions(TypedDict, total=False):
    """The options of ``compile``, for type checkers."""

    backend: BackendName | None
    mode: Literal["fast", "debug", "pure"]
    mutable: Parameters
    borrow: bool
    programs: int
    wait: bool
    rewrites: Iterable[AnyRewrite]
    include: Names
    exclude: Names
    fuse: Literal["inductor", False] | None
    monitor: Callable[[NodeValues], object] | None
    givens: Givens


@overload
def compile(function: Callable[P, Result], /, **options: Unpack[CompileOptions]) -> Compiled[P, Result]: ...


@overload
def compile(**options: Unpack[CompileOptions]) -> Decorator: ...


@boundary
def compile(
    function: Callable[..., Any] | None = None,
    /,
    *,
    backend: BackendName | None = None,
    mode: str = "fast",
    mutable: Parameters = (),
    borrow: bool = False,
    programs: int = PROGRAMS,
    wait: bool = False,
    rewrites: Iterable[AnyRewrite] = (),
    include: Names = (),
    exclude: Names = (),
    fuse: str | bool | None = None,
    monitor: Callable[[NodeValues], object] | None = None,
    givens: Givens = (),
) -> object:
    """Return a function that is traced once, runs as a graph, and works in place where that is safe.

    The function is run once on stand-ins for its arguments, which gives a graph of what it computes and writes. Later
    calls run that graph. On NumPy and torch it runs step by step, on buffers that are reused as soon as they are dead;
    on JAX and TensorFlow the engine compiles it as a whole. Each call has the same effects as the function itself: it
    writes to the same arguments, views and captured arrays, and returns the same views. Variables that the function
    reads in closures and globals, and attributes of its arguments, are implicit arguments: they're looked at before
    each call, and the arrays that the function assigns to them are assigned at each.

    Parameters
    ----------
    function
        A function of arrays, containers, nests of them, and hashable values. It's traced for each structure, shape,
        dtype, layout and device of its arrays, and for each other value, but for floats: these may change at each call,
        unless the function asks for their values. Or a ``FunctionGraph``, which is one of arrays for its inputs.
        Without ``function``, ``compile`` returns a decorator.
    backend
        The engine that computes, by default that of the arguments. Arguments of another backend are passed to it
        without a copy where possible, and results are copied back.
    mode
        ``"fast"``; ``"pure"`` for the graph as it was traced, which overwrites no intermediate result; or ``"debug"``,
        which checks after each step what operations declare, and is slow.
    mutable
        Names or positions of parameters whose arrays the caller doesn't need any more. Their memory may be overwritten
        or used for a result, so their values are undefined after the call.
    borrow
        Whether results may be in memory that the next call uses again. Copy a result that you need for longer.
    programs
        How many programs it keeps at most, one for each structure, shape and so on. A new one takes the place of the
        one that was called longest ago.
    wait
        Whether the first call for such arguments waits until the loops of the NumPy backend are compiled by the C
        compiler, if there is one: to measure, say. Otherwise they're compiled in the background once calls have taken
        some time. Results are the same.
    rewrites
        Rewrites of this function's graphs, beside those that are registered: functions of a graph, rewriters of nodes,
        and ``graph.Rewrite``, which says where they stand in the order. See ``graph.rewrites``.
    include
        Names of registered rewrites that run too, though not by default: ``"stabilize"`` replaces formulas that
        overflow or cancel, such as ``log(1 + exp(x))``, by equal ones that don't. In mode ``"pure"`` no others run, but
        those that are passed.
    exclude
        Names of registered rewrites that don't run.
    fuse
        What fuses operations. By default our own loops do on the CPU, with the bits of eager calls, and torch's
        compiler does on torch's accelerators, from a program's second call on, with last bits of its own.
        ``"inductor"``: that compiler, on the CPU too, from the first call on, which takes seconds. ``False``: nothing.
        In modes ``"debug"`` and ``"pure"`` torch's compiler is never called.
    monitor
        A function that is called with a ``graph.NodeValues`` after each operation has run, in loops and branches too:
        its values, its line, and where it ran. ``graph.NanGuard()`` stops at the first NaN or infinity. The graph runs
        as in mode ``"pure"``, operation by operation on every engine. What the function raises leaves arguments as they
        were.
    givens
        Of a ``FunctionGraph``: a map, or pairs, of variables in the graph and what stands in their place: variables,
        arrays or data, of the same shape and dtype. All are replaced at once. An input that isn't read any more is no
        argument of the function, and variables that only replacements are made of become its last arguments.

    Returns
    -------
    compiled
        A function of the same arguments. ``compiled.clear()`` drops its programs, ``compiled.memory()`` lists them.

    Raises
    ------
    TraceError
        At a call, if the function branches on values of arrays. Choose between values with ``ua.where``, branch with
        ``ua.cond``, loop with ``ua.while_loop``, or pass the number that decides as an argument.
    BackendMismatchError
        At a call, if the arguments are arrays of several backends.
    BackendFeatureError
        At a call, if ``fuse`` names a compiler that the engine hasn't.

    Notes
    -----
    A call that raises leaves all arguments as they were. Two calls run the function itself in place of the graph: one
    that writes to arguments that overlap, and one whose gradients torch records. Code that JAX and TensorFlow compile
    can't raise errors about values: the Cholesky factor of a matrix that isn't positive definite is NaN there.

    A graph that finds out by itself what may be overwritten is an idea of Theano's (arXiv:1605.02688).

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
    options: dict[str, Any] = {"backend": backend, "mode": mode, "mutable": mutable, "borrow": borrow}
    options |= {"programs": programs, "wait": wait, "rewrites": rewrites, "include": include, "exclude": exclude}
    options |= {"fuse": fuse, "monitor": monitor}
    if function is None:
        return functools.partial(compile, givens=givens, **options)
    replaced = dict(givens)
    if isinstance(function, FunctionGraph):
        function = GraphFunction(with_givens(function, replaced) if replaced else function)
    elif replaced:
        raise TypeError(
            "givens replace variables of a FunctionGraph, and compile() was passed a function: pass it other arguments"
        )
    if not callable(function):
        raise TypeError(f"compile() takes a function, not {type(function).__name__}")
    return Compiled(function, **options)
