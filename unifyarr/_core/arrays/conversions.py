"""An array as a Python object: numbers, sequences and text."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...typing import Scalar
from ..engines import dtypes
from ..engines.current import current_name
from ..engines.tracing import current, mode, unrepeatable
from ..values import above
from ..values.arguments import as_integers
from ..values.elsewhere import WAYS
from .deferred import Deferred
from .ownership import read
from .printing import printed

# Of larger arrays the text's own elements are copied, of others all.
_LARGE = 1 << 20
# What engines give for the only element.
running_mode = mode.get
_NUMBERS = frozenset({float, int, np.float64, np.int64})


def _divided(chunks: Any) -> str:
    """Return in words how an array is divided into chunks, nothing of one that isn't."""
    count = math.prod(map(len, chunks))
    if count <= 1:
        return ""
    lengths = ["?" if None in axis else str(max(axis)) for axis in chunks]
    return f" in {count} chunks of ({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


class Conversions(Deferred):
    """What Python's own functions make of an array, such as ``float``, ``len`` and ``repr``."""

    __slots__ = ()

    # -- one element ------------------------------------------------------------------------------------------------

    def item(self, *index: int) -> Scalar:
        """Return an element, the only one without an index, as a Python scalar."""
        places = as_integers(index[0] if len(index) == 1 else index, "the index of item()") if index else ()
        return self._values().item(*places)  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """Return nested lists of Python scalars, of a 0-d array a scalar."""
        return self._values().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Return the bytes of the elements, in the order of their indices or, with ``"F"``, of those reversed."""
        return self._values().tobytes(order)  # type: ignore[arg-type]

    def _values(self) -> np.ndarray:
        unrepeatable()
        x = current(self)
        backend, native = x._backend, read(x)
        values = backend.to_numpy(native)
        if not backend.has_values:
            known = backend.seen(native, values)
            if known is not None:
                # The next look at it, and whatever is computed from it, begins here.
                x._keep(known, native)
        return values

    def _scalar(self, kind: str) -> Any:
        backend = self._backend
        if backend.mutable and running_mode() is None:
            number_of = backend.number_of
            number = backend.items["get_item"](self._native, ()) if number_of is None else number_of(self._native)
            if type(number) in _NUMBERS:
                return number
        if self.shape:
            raise TypeError(f"only a 0-d array converts to {kind}, not one of shape {self.shape}: use item()")
        return self.item()

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth of an array of {self.size} elements is ambiguous: use ua.any() or ua.all()")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def _sympy_(self) -> object:
        # By elements that are arrays SymPy would go on for ever. One that stands alone is a number, as NumPy's scalar.
        from sympy import sympify

        return sympify(np.asarray(self)[()])

    def __index__(self) -> int:
        if dtypes.rank(self.dtype) != 1:
            raise TypeError(f"only an integer array is an index, not one of dtype {self.dtype}")
        return operator.index(self._scalar("an index"))

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            return round(self._scalar("an integer"))
        if self.shape:
            raise TypeError(f"round() takes a 0-d array, not one of shape {self.shape}: use x.round(decimals)")
        return above.numpy.round(self, ndigits)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    # -- text -------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return printed(self._printable(), str)

    def __format__(self, specification: str) -> str:
        if self.ndim == 0:
            return format(self.item(), specification)
        if specification:
            raise TypeError(
                f"the format {specification!r} is one for a number, and this array has shape {self.shape}: format its "
                "elements, x.tolist(), or print it inside ua.printoptions(precision=...)"
            )
        return str(self)

    def __repr__(self) -> str:
        printable = self._printable()
        body = printable if isinstance(printable, str) else printed(printable, repr)
        extras = []
        if self.backend != current_name():
            extras.append(f"backend={self.backend!r}")
        if self.device != "cpu":
            extras.append(f"device={self.device!r}")
        return f"{body[:-1]}, {', '.join(extras)})" if extras else body

    def _repr_html_(self) -> str:
        # Imported when a notebook shows an array.
        from .display import html_of

        return html_of(self)

    def _printable(self) -> object:
        x = current(self)
        why = x._unshown()
        if why:
            divided = _divided(getattr(self, "chunks", ()))
            return f"array(<{self.dtype} of shape {self.shape}{divided}, {why}>)"
        if x.ndim and x.nbytes > _LARGE and mode.get() is None:
            # Imported when something large is shown.
            from .display import with_ends

            return with_ends(x)
        return self._values()

    def _unshown(self) -> str:
        """Return why text and HTML show no elements: to look at them would compute them. Else it is empty."""
        backend = self._backend
        if backend.knows_values(self._native):
            return ""
        # On a lazy engine a view of what is known is known.
        if self._base is not None and not backend.has_values and backend.knows_values(self._base._native):
            return ""
        return "traced" if self._backend.is_traced(self._native) else "not computed"

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in WAYS or hasattr(self, name)]
