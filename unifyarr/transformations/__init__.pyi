from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from ..typing import BackendName

P = ParamSpec("P")
First = TypeVar("First", bound=Any)
Value = TypeVar("Value")
Aux = TypeVar("Aux")
Result = TypeVar("Result")

# By the first argument the gradient is like that argument. Of other positions its type isn't known.
@overload
def grad(
    function: Callable[Concatenate[First, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> Callable[Concatenate[First, P], tuple[First, Aux]]: ...
@overload
def grad(
    function: Callable[Concatenate[First, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    backend: BackendName | None = None,
) -> Callable[Concatenate[First, P], First]: ...
@overload
def grad(
    function: Callable[P, tuple[Any, Aux]],
    argnums: Sequence[int],
    *,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> Callable[P, tuple[tuple[Any, ...], Aux]]: ...
@overload
def grad(
    function: Callable[P, Any],
    argnums: Sequence[int],
    has_aux: Literal[False] = False,
    *,
    backend: BackendName | None = None,
) -> Callable[P, tuple[Any, ...]]: ...
@overload
def grad(
    function: Callable[P, Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    *,
    backend: BackendName | None = None,
) -> Callable[P, Any]: ...
@overload
def value_and_grad(
    function: Callable[Concatenate[First, P], tuple[Value, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> Callable[Concatenate[First, P], tuple[tuple[Value, Aux], First]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    function: Callable[Concatenate[First, P], Value],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    backend: BackendName | None = None,
) -> Callable[Concatenate[First, P], tuple[Value, First]]: ...
@overload
def value_and_grad(
    function: Callable[P, tuple[Value, Aux]],
    argnums: Sequence[int],
    *,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> Callable[P, tuple[tuple[Value, Aux], tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    function: Callable[P, Value],
    argnums: Sequence[int],
    has_aux: Literal[False] = False,
    *,
    backend: BackendName | None = None,
) -> Callable[P, tuple[Value, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    function: Callable[P, Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    *,
    backend: BackendName | None = None,
) -> Callable[P, tuple[Any, Any]]: ...
def vmap(
    function: Callable[P, Result], in_axes: Any = 0, out_axes: Any = 0, *, backend: BackendName | None = None
) -> Callable[P, Result]: ...
@overload
def vjp(
    function: Callable[..., tuple[Result, Aux]],
    *primals: Any,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> tuple[Result, Callable[[Result], tuple[Any, ...]], Aux]: ...
@overload
def vjp(
    function: Callable[..., Result],
    *primals: Any,
    has_aux: Literal[False] = False,
    backend: BackendName | None = None,
) -> tuple[Result, Callable[[Result], tuple[Any, ...]]]: ...
@overload
def jvp(
    function: Callable[..., tuple[Result, Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
    backend: BackendName | None = None,
) -> tuple[Result, Result, Aux]: ...
@overload
def jvp(
    function: Callable[..., Result],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = False,
    *,
    backend: BackendName | None = None,
) -> tuple[Result, Result]: ...
def jacobian(
    function: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    mode: Literal["reverse", "forward"] = "reverse",
    backend: BackendName | None = None,
) -> Callable[P, Any]: ...
def hessian(
    function: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    backend: BackendName | None = None,
) -> Callable[P, Any]: ...
@overload
def linearize(
    function: Callable[..., tuple[Result, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Result, Callable[..., Result], Aux]: ...
@overload
def linearize(
    function: Callable[..., Result], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Result, Callable[..., Result]]: ...
def hvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    backend: BackendName | None = None,
) -> Any: ...
def checkpoint(function: Callable[P, Result], /) -> Callable[P, Result]: ...

class custom_vjp(Generic[P, Result]):
    def __init__(self, function: Callable[P, Result], nondiff_argnums: int | Sequence[int] = ()) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    def defvjp(self, fwd: Callable[..., tuple[Result, Any]], bwd: Callable[..., Sequence[Any]]) -> None: ...

class custom_jvp(Generic[P, Result]):
    def __init__(self, function: Callable[P, Result], nondiff_argnums: int | Sequence[int] = ()) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    def defjvp(self, jvp: Callable[..., tuple[Result, Any]]) -> None: ...
