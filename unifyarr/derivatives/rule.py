"""The rules of derivatives, of the kernels whose records (``_core/kernels``) say that they have one.

A rule takes the cotangent of what a kernel gave and returns cotangents of what it was called on. It is linear in the
cotangent, and in complex numbers it's the transposed map without conjugates, as JAX has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeAlias, final

from .._core.kernels.record import Derivative, kernel_named
from .._core.values.records import Record

if TYPE_CHECKING:
    from .._core.values.native import Native
    from ..modes.rule_kernels import Kernels

# A cotangent as rules return it, and those of several results as they get them.
Cotangent: TypeAlias = "Native | AddedInto | Outside"
Cotangents: TypeAlias = "Sequence[Native | None]"
# (k, g, out, *operands, **static) → the cotangent of one operand, natives all.
OfOne: TypeAlias = "Callable[..., Cotangent]"
# (k, tangents, *operands) → the tangents of the results; ``None`` for zeros, and for what has no derivative.
Pushed: TypeAlias = "Callable[..., Sequence[Native | None]]"
# (k, needs, g, out, *operands, **static) → a cotangent, or None, for each operand; ``needs`` is true of those wanted.
OfAll: TypeAlias = "Callable[..., Sequence[Cotangent | None]]"


class Rule(Record):
    """How the derivatives of a kernel's operands follow from that of its result.

    ``uses`` says what of the call is read beside shapes and dtypes: places of operands and ``"out"``. The rest isn't
    kept, and only ``k.shape`` and ``k.dtype`` may be asked of it. ``pushed`` gives the tangents of the results, where
    that is known otherwise than by the transpose: ``(k, tangents, *operands)``, with ``None`` for an operand's zeros.
    A rule without ``of_all`` has derivatives in forward mode alone.
    """

    of_all: OfAll | None
    uses: frozenset[int | str] | None
    pushed: Pushed | None = None

    def keeps(self, what: int | str) -> bool:
        """Return whether an operand, or the result, is kept with its values."""
        return self.uses is None or what in self.uses


# What has a derivative, by the kernel's name.
RULES: dict[str, Rule] = {}


def rule(name: str, *of_each: OfOne | None, uses: Iterable[int | str] | None = None) -> None:
    """Give a kernel's rule: a function for each operand, ``None`` for one that has no derivative.

    The last function is that of all further operands, if it is called on more. A function is called as
    ``function(k, g, out, *operands, **static)`` with natives and the kernel's static arguments, and returns a native or
    an ``AddedInto``. What it returns may be broader than the operand, or of a wider dtype: then it's summed and cast.
    """
    first, second, further = of_each[0], of_each[min(1, len(of_each) - 1)], repeat(of_each[-1])

    def of_all(
        k: Kernels, needs: Sequence[object], g: Native, out: Native, /, *operands: Native, **static: object
    ) -> Sequence[Cotangent | None]:
        # What most calls are of, at once.
        if len(needs) == 1:
            return (None if first is None else first(k, g, out, *operands, **static),)
        if len(needs) == 2:
            one, other = needs
            return (
                None if first is None or not one else first(k, g, out, *operands, **static),
                None if second is None or not other else second(k, g, out, *operands, **static),
            )
        return [
            function(k, g, out, *operands, **static) if needed and function is not None else None
            for needed, function in zip(needs, chain(of_each, further), strict=False)
        ]

    _put(name, Rule(of_all, None if uses is None else frozenset(uses)))


def joint_rule(name: str, uses: Iterable[int | str] | None = None) -> Callable[[OfAll], OfAll]:
    """Give a kernel's rule as one function: ``function(k, needs, g, out, *operands, **static)``.

    ``needs`` has for each operand something true if its cotangent is wanted. For a kernel of several results ``g`` and
    ``out`` are tuples, with ``None`` in ``g`` for a result that nothing depends on.
    """

    def decorate(function: OfAll) -> OfAll:
        _put(name, Rule(function, None if uses is None else frozenset(uses)))
        return function

    return decorate


def _put(name: str, rule: Rule) -> None:
    if name in RULES or kernel_named(name).derivative is not Derivative.RULE:
        raise AssertionError(f"the derivative of {name} is declared twice")
    RULES[name] = rule


@final
class AddedInto:
    """A cotangent that is zero but for some places of the operand: it's added into what is there.

    ``add(k, total)`` returns the total, a native like the operand, with the cotangent added; the writers of ``k`` may
    write ``total`` in place there. ``what`` is added in ``places``, where a rule says so. ``alone(k)`` returns the
    cotangent by itself, where nothing has been added up before, or ``NotImplemented``.
    """

    __slots__ = ("add", "alone", "places", "what")

    def __init__(
        self,
        add: Callable[[Kernels, Native], Native],
        what: Native | None = None,
        places: object = None,
        alone: Callable[[Kernels], Native] | None = None,
    ) -> None:
        self.add, self.what, self.places, self.alone = add, what, places, alone


@final
class Outside:
    """A cotangent of an operand that was overwritten in some places: it is zero there.

    ``fill(k, value)`` returns ``whole`` with a value in its ``places``, or with zeros. What comes next is mostly the
    cotangent of these places, since ``x[places] += y`` has read them before: then no zeros are written. Where it's
    ``inside``, which was taken from ``whole``, nothing has to be computed at all.
    """

    __slots__ = ("fill", "inside", "places", "whole")

    def __init__(self, fill: Callable[..., Native], whole: Native, inside: Native | None, places: object) -> None:
        self.fill, self.whole, self.inside, self.places = fill, whole, inside, places

    def filled(self, k: Kernels, cotangent: AddedInto) -> tuple[Native, bool]:
        """Return the sum with a cotangent of the same places, and whether it's in new memory."""
        if cotangent.what is self.inside:
            return self.whole, False
        return self.fill(k, cotangent.what), True


def settled(k: Kernels, cotangent: Native | Outside) -> Native:
    """Return a cotangent as a native."""
    return cotangent.fill(k) if type(cotangent) is Outside else cotangent
