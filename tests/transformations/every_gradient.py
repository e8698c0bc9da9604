"""Gradients of every declared function by every parameter that takes an array or a number, beside finite differences.

``python -m tests.transformations.every_gradient BACKEND COUNT SEED`` draws that many of them, with other values each
time, and prints the differences.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import LostDerivativeError
from unifyarr.testing.cases.table import IMAGES, KERNELS, SIGNALS, A, B, Q, V

from ..functions.calls import CALLS, PUBLIC, SEVERAL, Case, case, find
from .through import engines

# Calls with more arguments than others, or with differentiable ones.
MORE: dict[str, list[Case]] = {
    "arange": [case(0.25, 4.1, 0.75), case(3.6)],
    "asarray": [case([0.5, 1.5]), case([[0.5, 2], [A[0, :2], [1, 2.5]]][1]), case(A)],
    "astype": [case(A, "complex128")],
    "bincount": [case(np.array([2, 0, 2]), V)],
    "clip": [case(A, -0.4, 0.45), case(A, B - 2, B)],
    "concat": [case([A, B])],
    "cov": [case(A), case(A, fweights=np.array([1, 2, 1]), aweights=np.abs(V)), case(A, correction=0.5)],
    "einsum": [case("ij,kj->ki", A, B), case("ij,ij,j", A, B, V)],
    "full": [case((2, 3), 2.5)],
    "full_like": [case(A, 2.5)],
    "gradient": [case(A, 0.5, axis=1), case(A, np.array([0.0, 0.5, 2.0]), axis=1)],
    "histogram": [case(A, 3), case(A, np.array([-1.2, 0.1, 0.9]), weights=B), case(A, 3, range=(-1.5, 1.5))],
    "interp": [case(A, np.sort(V), V), case(A * 5, np.sort(V), V, left=0.5, right=-0.5), case(A, V, V, period=4.5)],
    "linalg.lstsq": [case(A.T.copy(), V), case(A.T.copy(), V, rcond=0.01)],
    "linalg.pinv": [case(A), case(Q, rtol=0.01)],
    "linalg.matrix_norm": [case(Q), case(A, ord="nuc"), case(A, ord=2), case(A, ord=1)],
    "linalg.vector_norm": [case(A), case(A, ord=3), case(A, ord=0.5), case(A, ord=float("inf"))],
    "linspace": [case(0.5, 1.25, 5), case(0.5, 1.25, 4, endpoint=False), case(0.0, 1.0, 5)],
    "matmul": [case(A, B.T.copy()), case(A, V)],
    "median": [case(A), case(A, axis=1)],
    "pad": [
        case(A, ((1, 0), (0, 2)), constant_values=0.5),
        case(A, 1, constant_values=((0.5, 1.5), (2.5, -0.5))),
        *(case(A, ((1, 0), (0, 2)), mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
    ],
    "pow": [case(np.abs(A), B), case(np.abs(A), 1.5), case(2.5, A)],
    "quantile": [case(A, np.array([0.27, 0.53, 0.12]), axis=1), case(A, 0.37), case(A, 0.37, method="hazen")],
    "scatter": [
        *(case(A, np.array([[1, 0], [0, -1]]), V[:2].copy(), mode=mode) for mode in ("set", "add", "multiply", "min")),
        case(A, np.array([[1, 0], [0, 1], [0, 1]]), V, mode="max"),
        case(A, np.array([[1, 0]]), 0.5),
    ],
    "stack": [case([A, B])],
    "trapezoid": [case(A, V, axis=1), case(A, dx=0.5)],
    "where": [case(A > 0, A, B), case(A > 0, A, 0.5)],
    "nn.batch_norm": [case(A, V, V**2, V[::-1].copy(), V), case(A, V, V**2, V[::-1].copy(), V, training=True)],
    "nn.binary_cross_entropy": [case(np.abs(A) / 2, np.abs(B) / 5, B)],
    "nn.conv2d": [case(IMAGES, KERNELS, V[:2].copy(), padding=((1, 1), (2, 0)))],
    "nn.cross_entropy": [case(A, np.array([2, 0]), V**2), case(A, np.abs(B) / 5, label_smoothing=0.1)],
    "nn.elu": [case(A, alpha=1.5)],
    "nn.huber_loss": [case(A, B, delta=2.0), case(A, B, delta=0.5, reduction="none")],
    "nn.interpolate": [
        case(IMAGES, (2, 8), mode="bicubic"),
        case(IMAGES, (2, 3), mode="bicubic", antialias=True),
        case(IMAGES, 3, mode="area"),
        case(SIGNALS, 5, mode="linear", align_corners=True),
        case(IMAGES, scale_factor=1.4, mode="bilinear"),
    ],
    "nn.layer_norm": [case(A, V, V[::-1].copy()), case(A, V, None, eps=0.1)],
    "nn.leaky_relu": [case(A, negative_slope=0.2)],
    "nn.max_pool1d": [case(SIGNALS, 3, stride=2, padding=1)],
    "nn.scaled_dot_product_attention": [
        case(A, B, A[::-1].copy()),
        case(A, B, A[::-1].copy(), is_causal=True),
        case(A, B, A[:, :2].copy(), A[:, :2] < 0.6),
        case(A, B, A[::-1].copy(), B[:, :2].copy(), scale=0.5),
        case(
            np.stack([A, B, -A, 2 * A]),
            np.stack([B, A]),
            np.stack([A, -B]),
            is_causal=True,
            length=np.array([2, 1, 2, 1]),
        ),
    ],
    "nn.softplus": [case(A, beta=1.5)],
}

# Preparation of arguments that need more than arbitrary numbers.
PREPARED: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"), lambda x: (x + x.mT) / 2),
}
# The compared part of results whose order or signs depend on the engine.
PARTS: dict[str, Callable[[Any], Any]] = {
    "linalg.eig": lambda result: ua.sum(result[0] ** 3),
    "linalg.eigvals": lambda result: ua.sum(result**3),
    "linalg.eigh": lambda result: (result[0], abs(result[1])),
    "linalg.svd": lambda result: result[1],
}
# Constants by their nature, without a derivative: tolerances, corrections, rates, and stand-ins for them.
CONSTANT: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(("cov", "std", "var", "nanstd", "nanvar"), ("correction",)),
    "interp": ("left", "right", "period"),
    "linalg.lstsq": ("rcond",),
    "nan_to_num": ("nan",),
    "unwrap": ("period",),
    "linalg.vector_norm": ("ord",),
    **dict.fromkeys(("fft.fftfreq", "fft.rfftfreq"), ("d",)),
    "nn.batch_norm": ("momentum", "eps"),
    "nn.cross_entropy": ("label_smoothing",),
    "nn.dropout": (1,),
    "nn.interpolate": ("scale_factor",),
    "special.betainc": (0, 1),
    **dict.fromkeys(("special.gammainc", "special.gammaincc", "special.zeta"), (0,)),
    **dict.fromkeys(
        ("nn.cosine_similarity", "nn.group_norm", "nn.instance_norm", "nn.l2_normalize", "nn.layer_norm"), ("eps",)
    ),
    "nn.rotary_embedding": ("base",),
    "nn.scaled_dot_product_attention": ("scale",),
    "signal.kaiser": (1,),
}
# Derivatives that engines lack, and say so: by the engine and the direction, calls or functions.
MISSING: dict[tuple[str, str], tuple[str, ...]] = {
    ("torch", "forward"): ("segment_prod",),
    # Only with ``backend="torch"``: torch's own arrays have our rules.
    ("backend=torch", "forward"): ("scatter[2] by 0", "scatter[2] by 2", "segment_prod"),
    ("jax", "both"): ("nextafter", "linalg.eig", "scatter[2] by 2", "segment_prod"),
}
# Constants by their meaning, whatever differences show, or parameters with few values.
NO_DERIVATIVES = {("stop_gradient", "x"), ("linalg.matrix_norm", "ord")}

Place = tuple[int | str, ...]
_NUMBER = re.compile(r"\b(float|complex|Scalar|Array|ArrayLike|Any)\b")


@dataclass
class Drawn:
    """One call, and which of the values that it's passed is differentiated."""

    name: str
    number: int
    place: Place
    arguments: list[Any]
    options: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}[{self.number}] by {'.'.join(map(str, self.place))}"

    @property
    def value(self) -> np.ndarray:
        """The value."""
        return np.array(_at(self._whole(), self.place), dtype=float)

    def _whole(self) -> dict[int | str, Any]:
        return {**dict(enumerate(self.arguments)), **self.options}

    def __call__(self, x: ua.Array, as_list: bool = False) -> ua.Array:
        """Return the weighed sum of all real numbers that the function returns for another value."""
        x = PREPARED.get(self.name, lambda x: x)(x)
        given: Any = list(x) if as_list else x
        whole = _put({key: _lifted(self.name, each) for key, each in self._whole().items()}, self.place, given)
        arguments = [whole.pop(place) for place in range(len(self.arguments))]
        result = find(self.name)(*arguments, **whole)
        total = ua.zeros(())
        for leaf in flatten(PARTS.get(self.name, lambda result: result)(result))[0]:
            for part in _real_parts(leaf):
                weights = np.cos(np.arange(part.size, dtype=float)).reshape(part.shape)
                # Infinite results have no differences.
                total = total + ua.sum(ua.where(ua.isfinite(part), part, 0) * weights)
        return total


def _real_parts(leaf: Any) -> Iterator[ua.Array]:
    assert isinstance(leaf, ua.Array), leaf
    assert not isinstance(leaf._native, ua.Array), "the native of an array is an array of ours"
    if ua.isdtype(leaf.dtype, "complex floating"):
        yield leaf.real
        yield leaf.imag
    elif ua.isdtype(leaf.dtype, "real floating"):
        yield leaf


def _lifted(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lifted(name, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_lifted(name, each) for each in value)
    return ua.asarray(value, copy=True) if isinstance(value, np.ndarray) else value


def _at(whole: Any, place: Place) -> Any:
    for key in place:
        whole = whole[key]
    return whole


def _put(whole: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    key, *rest = place
    if isinstance(whole, dict):
        return {**whole, key: _put(whole[key], tuple(rest), value)}
    return type(whole)(_put(each, tuple(rest), value) if i == key else each for i, each in enumerate(whole))


def _places(value: Any, place: Place) -> Iterator[Place]:
    if isinstance(value, (dict, list, tuple)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(each, (*place, key))
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield place
    elif type(value) is float and np.isfinite(value):
        yield place


def cases() -> list[tuple[str, int, Place]]:
    """Return all calls, with each place of an array or a number that can be differentiated."""
    found = []
    for name in PUBLIC:
        declaration = getattr(find(name), "declaration", None)
        if declaration is None:
            continue
        parameters = declaration.parameters
        names = [*parameters.positional]
        for number, (arguments, options) in enumerate(_calls(name)):
            filled = {**_defaults(declaration.body), **options}
            for key, value in [*enumerate(arguments), *filled.items()]:
                parameter = key if isinstance(key, str) else names[key] if key < len(names) else parameters.variadic
                annotation = str(declaration.body.__annotations__.get(parameter, ""))
                differentiated = _NUMBER.search(annotation) and parameter != "out"
                if differentiated and (name, parameter) not in NO_DERIVATIVES:
                    found += [(name, number, place) for place in _places(value, (key,))]
    return found


def _calls(name: str) -> list[Case]:
    return MORE.get(name) or [CALLS.get(name) or SEVERAL[name]]


def _defaults(body: Any) -> dict[str, Any]:
    return {name: value for name, value in (body.__kwdefaults__ or {}).items() if type(value) is float}


def draw(name: str, number: int, place: Place, seed: int) -> Drawn:
    """Return a call with values that are a little away from where many functions have corners."""
    random_numbers = np.random.default_rng(seed)

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(moved, value))
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return value + random_numbers.uniform(0.005, 0.05, value.shape)
        return value

    arguments, options = _calls(name)[number]
    body = find(name).declaration.body
    options = {**{key: value for key, value in _defaults(body).items() if key == place[0]}, **options}
    drawn = Drawn(name, number, place, moved(arguments), moved(options))
    value = _at(drawn._whole(), place)
    if type(value) in (int, float):
        whole = _put(drawn._whole(), place, value + random_numbers.uniform(0.005, 0.05))
        drawn.arguments = [whole.pop(key) for key in range(len(arguments))]
        drawn.options = whole
    return drawn


def by_differences(drawn: Drawn) -> np.ndarray:
    """Return the gradient by central differences on NumPy."""
    value = drawn.value
    found = np.zeros_like(value)
    with ua.use_backend("numpy"):
        for index in np.ndindex(value.shape):
            step = np.zeros_like(value)
            step[index] = 1e-6
            up, down = (float(drawn(ua.asarray(value + sign * step))) for sign in (1, -1))
            found[index] = (up - down) / 2e-6
    return found


# Errors that say that there's no derivative: also the engine's.
REFUSALS = (LostDerivativeError, NotImplementedError)


def check(drawn: Drawn, engine: str | None, *, forward: bool = False, as_list: bool = False) -> str | None:
    """Return the error in a gradient on the current backend, ``None`` if it's right."""
    refusal = refusal_of(drawn, engine, forward)
    found = _difference(drawn, engine, forward, as_list)
    if (found is not None and found.startswith("refused")) == (refusal is not None):
        return None if refusal is not None else found
    return found or f"not refused any more, though it should be: {refusal}"


def refusal_of(drawn: Drawn, engine: str | None, forward: bool) -> str | None:
    """Return why a gradient with ``backend=engine`` is refused, ``None`` if it isn't."""
    if drawn.place[0] in CONSTANT.get(drawn.name, ()):
        return "this is no parameter to be differentiated by"
    keys = [f"backend={engine}", engine] if engine else [ua.current_backend()]
    ways = ["both", "forward" if forward else "reverse"]
    missing = {each for key in keys for way in ways for each in MISSING.get((key, way), ())}
    return "the engine has no such derivative" if missing & {str(drawn), drawn.name} else None


def _difference(drawn: Drawn, engine: str | None, forward: bool, as_list: bool) -> str | None:
    expected = by_differences(drawn)
    x = ua.asarray(drawn.value)
    try:
        if forward:
            direction = ua.asarray(np.cos(np.arange(x.size) + 0.5).reshape(x.shape))
            found = ua.jvp(lambda x: drawn(x, as_list), (x,), (direction,), backend=engine)[1]
            expected = np.sum(expected * np.asarray(direction))
        else:
            found = ua.grad(lambda x: drawn(x, as_list), backend=engine)(x)
    except REFUSALS as error:
        return f"refused: {type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    close = np.allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5)
    return None if close else f"{np.asarray(found).tolist()} where differences are {np.round(expected, 6).tolist()}"


def main(backend: str, count: int, seed: int) -> int:
    """Draw and check; return how many are wrong."""
    choices, chance, wrong = cases(), random.Random(seed), 0
    with ua.use_backend(backend), np.errstate(all="ignore"):
        for number in range(count):
            drawn = draw(*chance.choice(choices), chance.randrange(2**32))
            engine = chance.choice(engines(backend))
            forward, as_list = chance.random() < 0.5, chance.random() < 0.25 and drawn.value.ndim > 0
            # A written argument is no list.
            as_list = as_list and drawn.name != "nn.batch_norm"
            complaint = check(drawn, engine, forward=forward, as_list=as_list)
            if complaint is not None:
                wrong += 1
                print(f"{number}: {drawn} through {engine}, {forward=}, {as_list=}: {complaint}")
    print(f"{count} gradients on {backend}, seed {seed}: {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
