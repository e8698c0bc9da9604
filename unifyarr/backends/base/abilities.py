"""Abilities that an engine may lack, in one list, each with what the frontend does without it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

import numpy as np

# The dtypes of ``ml_dtypes`` that only store numbers, by name: an engine may have some of them. Kernels that move
# elements, and ``astype``, get arrays of these; no kernel computes in them.
STORED = (
    *("float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("int4", "uint4"),
)


def is_numpys(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is NumPy's own: others' have numbers from 256 on, and the same letters."""
    return dtype.num < 256


class Ability(Enum):
    """An ability that an engine may lack.

    ``without`` says what the frontend does then, and ``attribute`` how a backend declares it.

    The frontend asks the attributes and methods that are named, and nothing else: no engine's name. Tests ask
    ``Backend.lacks``.
    """

    attribute: str
    without: str

    WRITES = "writes", "mutable", "views are recipes, and a write gives the array a new native"
    VARIABLES = (
        "variables",
        "has_variables",
        "`variable` raises BackendFeatureError where no array is written",
    )
    READ_ONLY_VIEWS = (
        "read_only_views",
        "has_read_only_views",
        "`broadcast_to` and `diagonal` give views of ours",
    )
    STRIDES = "strides", "has_strides", "natives are taken for C-contiguous"
    NEGATIVE_STEPS = "negative_steps", "has_negative_steps", "`x[::-1]` is a view of ours, a recipe"
    VALUES = "values", "has_values", "nothing looks at values unasked, and errors that values decide may come late"
    SHAPES = "shapes", "has_shapes", "what needs a length that isn't known raises UnknownShapeError; `ndim` is known"
    WARNINGS = "warnings", "warns", "`np.errstate` has no effect on what the engine computes"
    GRADIENTS = "gradients", "differentiates", "no native is asked whether a gradient is recorded through it"
    TRANSFORMATIONS = (
        "transformations",
        "can_transform",
        "`backend=` of `grad`, `vmap` and others takes another engine",
    )
    COMPILING = "compiling", "can_compile", "the steps of a compiled function run one by one"
    THREADS = "threads", "has_threads", "the package calls no engine from threads of its own: users mustn't either"
    DTYPES = (
        "dtypes",
        "supports_dtype",
        "an array of a missing dtype raises DtypeError, and gets no other",
    )
    FLOAT64 = "float64", "supports_dtype", "numbers become float32, and what has to be float64 raises DtypeError"
    DEVICES = "devices", "devices", "`device=` takes the one name that there is, and no two arrays lie apart"

    def __new__(cls, value: str, attribute: str, without: str) -> Ability:
        """Make a member of which ``value`` is the name that tests use."""
        member = object.__new__(cls)
        member._value_ = value
        member.attribute, member.without = attribute, without
        return member

    @classmethod
    def named(cls, name: str) -> Ability:
        """Return the ability of a name; ``ValueError`` for any other, with all names."""
        for each in cls:
            if each.value == name:
                return each
        raise ValueError(f"{name!r} is no ability of an engine: take one of {', '.join(each.value for each in cls)}")


def every_dtype() -> list[np.dtype[Any]]:
    """Return the dtypes of the package."""
    # Imported late: `import unifyarr` needs no list of dtypes.
    import ml_dtypes

    kinds = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
    floating = ("float16", ml_dtypes.bfloat16, "float32", "float64", "complex64", "complex128")
    return [np.dtype(each) for each in (*kinds, *floating)]


class Abilities(ABC):
    """The attributes by which a class says what its engine has: those of ``Ability`` that no method answers."""

    @property
    @abstractmethod
    def mutable(self) -> bool:
        """Whether native arrays are written in place, unless ``can_write`` says no for a single one."""

    # Whether the engine has variables: natives that can be written in place although its arrays can't.
    has_variables: bool = False
    # Whether the engine can mark a native array as read-only, so that ``broadcast_to`` and ``diagonal`` return native
    # views. Otherwise our own views are used.
    has_read_only_views: bool = False
    # Whether natives have strides, as ``strides`` returns. Otherwise arrays are C-contiguous.
    has_strides: bool = False
    # Whether ``get_window`` returns a native view for a negative step, on an engine whose arrays are mutable.
    has_negative_steps: bool = True
    # Whether values are available at once. A lazy engine computes them each time they are read, so the frontend reads
    # only the values that a user asked for: a number, a comparison, the index of an element.
    has_values: bool = True
    # Whether all lengths are known. Otherwise ``shape`` has ``None`` for a length that depends on values.
    has_shapes: bool = True
    # Whether the engine's floating-point warnings follow ``np.errstate``. If not, kernels on the host don't warn
    # either.
    warns: bool = False
    # Whether the engine ever records gradients of its arrays.
    differentiates: bool = True
    # Whether the engine has ``vjp``, ``jvp`` and ``vmap``.
    can_transform: bool = False
    # Whether the engine has ``compiled``. Otherwise the steps of a program run one by one, in reused buffers.
    can_compile: bool = False
    # Whether several threads may call the engine at once.
    has_threads: bool = True
