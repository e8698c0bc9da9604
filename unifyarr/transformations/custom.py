"""Functions with derivatives of their own: ``custom_vjp`` and ``custom_jvp``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .._core.arrays.array import Array
from .._core.engines.handle import Handle
from .._core.engines.tracing import running
from .._core.values.arguments import as_integers, check_callable
from .._core.values.called import make_boundaries
from .._core.values.pickling import Wrapper
from ..container.container import flatten
from ..derivatives.walks.reverse import pull
from ..modes.rule_kernels import kernels_of
from ..modes.tape.entries import Taped, at_places, is_floating
from ..modes.tape.function_calls import FlatNest, natives_of, where_natives_are, wrapped
from ..modes.tape.handle import TapeHandle
from .custom_batches import OfBatch
from .custom_calls import CustomCall, deriving_engine, has_derivative, is_in_body, level_of

Function = Callable[..., Any]
Natives = Sequence[Any]


class Custom(Wrapper):
    """A function with a derivative of its own."""

    _kind = ""

    def __init__(self, function: Function, nondiff_argnums: int | Sequence[int] = ()) -> None:
        check_callable(function, f"{self._kind}()")
        self._stand_for(function)
        self._signature = inspect.signature(function)
        self._beside = frozenset(as_integers(nondiff_argnums, "nondiff_argnums"))

    def _made_by(self) -> tuple[Function, tuple[Any, ...], dict[str, Any]]:
        return type(self), (tuple(sorted(self._beside)),), {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the function."""
        self._check_declared()
        given = self._in_order(args, kwargs)
        beside = [x for place, x in enumerate(given) if place in self._beside]
        if any(isinstance(leaf, Array) for leaf in flatten(beside)[0]):
            raise TypeError(
                f"{self._name}() was given an array in a place of nondiff_argnums: leave that place out of these, and "
                "let its derivative be None, or zero"
            )
        arguments = [x for place, x in enumerate(given) if place not in self._beside]
        level = level_of()
        if level is not None:
            call = CustomCall(self, arguments, beside)
            natives = call.natives()
            if isinstance(level, TapeHandle) and any(x.entry is not None for x in natives):
                return call.recorded(level)
            if any(has_derivative(level, x) for x in natives) or is_in_body(running()):
                return call.around(level)
            # No derivative is taken by the arguments.
            return self._function(*given)
        engine = deriving_engine(FlatNest(arguments).arrays)
        if engine is not None:
            return CustomCall(self, arguments, beside).by_engine(engine)
        if not is_in_body(running()):
            return self._function(*given)
        # A graph whose derivative is taken later has an operation for it.
        return CustomCall(self, arguments, beside).as_operation()

    def __repr__(self) -> str:
        return f"<{self._kind} {getattr(self, '__qualname__', self._name)}>"

    @property
    def _name(self) -> str:
        return str(getattr(self._function, "__name__", self._kind))

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not kwargs and not self._beside:
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"{self._name}() has arguments that are passed by name alone: let them be passed by place")
        if any(not 0 <= number < len(bound.args) for number in self._beside):
            raise ValueError(
                f"nondiff_argnums has places of the {len(bound.args)} arguments of {self._name}(), counted from 0, not "
                f"{sorted(self._beside)}"
            )
        return bound.args

    def _by_place(self, arguments: Sequence[Any], beside: Sequence[Any]) -> list[Any]:
        """Return all arguments of the function."""
        others, rest = iter(beside), iter(arguments)
        count = len(arguments) + len(beside)
        return [next(others) if place in self._beside else next(rest) for place in range(count)]

    # -- what each kind has -------------------------------------------------------------------------------------------

    def _check_declared(self) -> None:
        """Raise if no derivative was declared."""
        raise NotImplementedError

    def _forward(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """Return the result, and what is kept for the derivative."""
        raise NotImplementedError

    def _reads(self, count: int, kept: int) -> frozenset[int | str] | None:
        """Return which of the arguments and of what was kept the derivative reads."""
        raise NotImplementedError

    def _pulled(self, call: CustomCall, handle: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        """Return the cotangents of the arguments, natives of a backend all."""
        raise NotImplementedError

    def _pulled_by(self, call: CustomCall, engine: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        """Return the same where an engine takes the derivative, and nothing was kept."""
        raise NotImplementedError

    def _pushed_of(self, call: CustomCall) -> Function | None:
        """Return what gives the tangents of the result, ``None`` if that is the transpose of the other."""
        return None

    def _of_batch(self, parts: OfBatch) -> Custom:
        """Return the function of a whole batch, of arrays alone."""
        raise NotImplementedError


class custom_vjp(Custom):
    """A function with a derivative of its own, in reverse mode.

    Where no derivative is taken, the function is called. Where one is, ``fwd`` is called in its place, and ``bwd`` on
    the way back.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays, and of other values. It writes to none of its
        arguments, and to no array from outside.
    nondiff_argnums
        The places of arguments that are no arrays, and that ``bwd`` is passed first: functions, strings.

    Raises
    ------
    TypeError
        If it's called before ``defvjp`` was, or ``fwd`` or ``bwd`` return something else than they should.
    ShapeError, StructureError
        If a cotangent isn't like its argument.
    LostDerivativeError
        If the function reads an array from outside that has a derivative.
    TracedMutationError
        If it writes to what isn't its own.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.custom_vjp
    ... def clipped(x, limit):
    ...     return x
    >>> def forwards(x, limit):
    ...     return x, limit
    >>> def backwards(limit, g):
    ...     return ua.clip(g, -limit, limit), None
    >>> clipped.defvjp(forwards, backwards)
    >>> ua.grad(lambda x: ua.sum(clipped(x, 1.0) ** 2))(ua.asarray([0.25, 3.0]))
    array([0.5, 1. ])

    Source: ``jax.custom_vjp``.
    """

    _kind = "custom_vjp"
    _fwd: Function | None = None
    _bwd: Function | None = None

    def defvjp(self, fwd: Function, bwd: Function) -> None:
        """Declare the derivative.

        Parameters
        ----------
        fwd
            A function of the same arguments. It returns a pair: the result, and a nest of what ``bwd`` needs.
        bwd
            A function of the arguments of ``nondiff_argnums``, of what ``fwd`` kept, and of a cotangent, like the
            result. It returns a tuple with a cotangent like each other argument, or ``None`` for zeros. It is
            linear in the cotangent where derivatives are taken in forward mode: they are its transpose.
        """
        check_callable(fwd, "defvjp()")
        check_callable(bwd, "defvjp()")
        self._fwd, self._bwd = fwd, bwd

    def _declared(self) -> dict[str, Any]:
        return {} if self._fwd is None else {"_fwd": self._fwd, "_bwd": self._bwd}

    def _check_declared(self) -> None:
        if self._fwd is None:
            raise TypeError(f"{self._name}() has no derivative yet: declare it, {self._name}.defvjp(fwd, bwd)")

    def _forward(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        assert self._fwd is not None
        found = self._fwd(*arguments)
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(
                f"the forward function of {self._name}() returns a pair, of the result and of what is kept, not "
                f"{found!r:.80}"
            )
        return found

    def _reads(self, count: int, kept: int) -> frozenset[int | str] | None:
        return frozenset(range(count, count + kept))

    def _pulled(self, call: CustomCall, handle: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        scope = call.apart(handle)
        with scope.running():
            kept = wrapped(list(map(Taped, operands[call.count :])), scope.handle)
            given = wrapped(list(map(Taped, cotangents)), scope.handle)
            found = self._backward(call, call.kept_like(kept), call.result_like(given))
            natives = call.read_cotangents(found, kernels_of(handle), operands[: call.count])
            call.check_apart(scope, wrote=False)
            return [None if x is None else x.value for x in natives]

    def _pulled_by(self, call: CustomCall, engine: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        # What is kept is computed once more, so that a derivative of this one sees how.
        _, kept = self._forward(call.arguments(wrapped(operands, engine)))
        found = self._backward(call, kept, call.result_like(wrapped(cotangents, engine)))
        return call.read_cotangents(found, kernels_of(engine), operands)

    def _of_batch(self, parts: OfBatch) -> Custom:
        made = custom_vjp(parts.named(self._name))
        made.defvjp(parts.forward, parts.backward)
        return made

    def _backward(self, call: CustomCall, kept: Any, cotangents: Any) -> Any:
        assert self._bwd is not None
        return self._bwd(*call.beside, kept, cotangents)


class custom_jvp(Custom):
    """A function with a derivative of its own, in forward mode; in reverse mode it's the transpose of that.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays, and of other values. It writes to none of its
        arguments, and to no array from outside.
    nondiff_argnums
        The places of arguments that are no arrays, and that the derivative is passed first: functions, strings.

    Raises
    ------
    TypeError
        If it's called before ``defjvp`` was, or what was declared returns something else than it should.
    StructureError
        If a tangent isn't like the result.
    LostDerivativeError
        If the function reads an array from outside that has a derivative.
    TracedMutationError
        If it writes to what isn't its own.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.custom_jvp
    ... def log1pexp(x):
    ...     return ua.log(1.0 + ua.exp(x))
    >>> def derivative(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1.0 - 1.0 / (1.0 + ua.exp(x))) * t
    >>> log1pexp.defjvp(derivative)
    >>> ua.grad(log1pexp)(ua.asarray(100.0)), ua.jvp(log1pexp, (ua.asarray(0.0),), (ua.asarray(2.0),))[1]
    (array(1.), array(1.))

    Source: ``jax.custom_jvp``.
    """

    _kind = "custom_jvp"
    _jvp: Function | None = None

    def defjvp(self, jvp: Function) -> None:
        """Declare the derivative.

        Parameters
        ----------
        jvp
            A function of the arguments of ``nondiff_argnums``, of a tuple of the other arguments, and of a tuple of
            tangents like them. It returns a pair: the result, and its tangent, which is linear in the tangents.
        """
        check_callable(jvp, "defjvp()")
        self._jvp = jvp

    def _declared(self) -> dict[str, Any]:
        return {} if self._jvp is None else {"_jvp": self._jvp}

    def _check_declared(self) -> None:
        if self._jvp is None:
            raise TypeError(f"{self._name}() has no derivative yet: declare it, {self._name}.defjvp(jvp)")

    def _forward(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        return self._function(*arguments), None

    def _reads(self, count: int, kept: int) -> frozenset[int | str] | None:
        return frozenset(range(count))

    def _tangent(self, call: CustomCall, arrays: Sequence[Array], tangents: Sequence[Array]) -> list[Any]:
        """Return natives of the tangents of the result."""
        assert self._jvp is not None
        found = self._jvp(*call.beside, tuple(call.nest(arrays)), tuple(call.tangents(tangents)))
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(
                f"the derivative of {self._name}() returns a pair, of the result and its tangent, not {found!r:.80}"
            )
        return natives_of(call.read_result(found[1], f"the tangent of {self._name}()"))

    def _pulled(self, call: CustomCall, handle: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        k = kernels_of(handle)
        places = [place for place, x in enumerate(operands) if is_floating(k.dtype(x))]
        zeros = [k.full(0, x) for x in operands]
        scope = call.apart(handle)
        leaves, along = scope.handle.leaves(zeros, places)
        with scope.running():
            found = self._tangent(call, wrapped(list(map(Taped, operands)), scope.handle), wrapped(along, scope.handle))
            call.check_apart(scope, wrote=False)
        pairs = list(zip(found, cotangents, strict=True))
        pulled = pull(k, scope.handle.writers, pairs, leaves, [zeros[place] for place in places], True)
        return at_places(len(operands), places, pulled)

    def _of_batch(self, parts: OfBatch) -> Custom:
        made = custom_jvp(parts.named(self._name))
        made.defjvp(lambda arrays, tangents: (None, parts.tangents(arrays, tangents)))
        return made

    def _pushed_of(self, call: CustomCall) -> Function | None:
        return functools.partial(self._pushed, call)

    def _pushed(self, call: CustomCall, k: Any, tangents: Natives, *operands: Any) -> list[Any]:
        """Return the tangents of the result, by what was declared, as natives of a backend."""
        with where_natives_are(k.handle) as handle:
            zeroed = [k.zeros(x) if along is None else along for x, along in zip(operands, tangents, strict=True)]
            scope = call.apart(handle)
            with scope.running():
                arrays, along = (wrapped(list(map(Taped, each)), scope.handle) for each in (operands, zeroed))
                found = self._tangent(call, arrays, along)
                call.check_apart(scope, wrote=False)
        return [x.value for x in found]

    def _pulled_by(self, call: CustomCall, engine: Handle, operands: Natives, cotangents: Natives) -> list[Any]:
        if engine.around is not engine:
            return self._pulled(call, engine, operands, cotangents)
        k = kernels_of(engine)
        places = [place for place, x in enumerate(operands) if is_floating(k.dtype(x))]
        zeros = [k.zeros(x) for x in operands]

        def along(*chosen: Any) -> tuple[list[Any], list[Any]]:
            tangents = list(zeros)
            for place, x in zip(places, chosen, strict=True):
                tangents[place] = x
            return self._tangent(call, wrapped(operands, engine), wrapped(tangents, engine)), []

        pullback = engine.engine.vjp(along, [zeros[place] for place in places], True)[2]
        return at_places(len(operands), places, pullback(list(cotangents)))


for _each in (Custom, custom_vjp, custom_jvp):
    make_boundaries(_each)
