"""Methods that a class declares and a module above it supplies."""

from __future__ import annotations

import inspect

import pytest

import unifyarr as ua
from unifyarr._core.arrays.array import Array
from unifyarr._core.arrays.protocols import Protocols
from unifyarr._core.declaring.declare import Declaration
from unifyarr._core.values.supplying import NotSupplied, supply
from unifyarr.graph import FunctionGraph


class Shape:
    def area(self, /, scale: float = 1.0) -> float:
        """Return the area."""
        raise NotSupplied


class Square(Shape):
    side = 3.0


def area_of(square: Square, /, scale: float = 1.0) -> float:
    return square.side**2 * scale


def test_a_supplied_method_is_the_declared_one_with_a_body() -> None:
    with pytest.raises(NotSupplied):
        Square().area()
    supply(Square.area, area_of)
    assert Square().area() == 9.0
    assert Square().area(scale=2.0) == 18.0
    assert Shape.area.__doc__ == "Return the area."
    assert Shape.area.__qualname__ == "Shape.area"
    assert str(inspect.signature(Shape.area)) == "(self, /, scale: 'float' = 1.0) -> 'float'"
    with pytest.raises(TypeError, match=r"Shape\.area has a body already"):
        supply(Square.area, area_of)


@pytest.mark.parametrize("cls", [Protocols, Declaration, FunctionGraph])
def test_everything_declared_is_supplied(cls: type) -> None:
    for name, method in vars(cls).items():
        if inspect.isfunction(method):
            assert "NotSupplied" not in method.__code__.co_names, f"nothing supplies {cls.__name__}.{name}"


def test_help_shows_declared_signatures() -> None:
    assert list(inspect.signature(Array.to_backend).parameters) == ["self", "backend", "device"]
    assert list(inspect.signature(Array.__dlpack__).parameters)[1:] == ["stream", "max_version", "dl_device", "copy"]
    assert "memory of its own" in (ua.Array.to_backend.__doc__ or "")
