"""Functions that TensorFlow compiles as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._devices import beside
from ._engine import NARROW, EagerTensor, is_alone, may_record, tf
from ._private import called_at_once, shape_of_eager


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for XLA, which raises while it's traced if a tensor that XLA would misread comes in or out."""

    def checked(*natives: Any) -> Any:
        results = function(*natives)
        captured = (each for each, _ in tf.compat.v1.get_default_graph().captures)
        if any(each.dtype in NARROW for each in (*natives, *results, *captured)):
            raise tf.errors.UnimplementedError(None, None, "XLA keeps integers of four bits in another layout")
        return results

    return checked


class Whole:
    """A function that XLA compiles, or that TensorFlow runs operation by operation: ``refusal`` says why.

    It's made for tensors of the types of its first call.
    """

    def __init__(self, function: Callable[..., Any], exact: bool) -> None:
        self._plain = tf.function(function, autograph=False)
        self._run = self._plain if exact else tf.function(_wide(function), autograph=False, jit_compile=True)
        self.refusal = "XLA raises no errors about values, and draws other random numbers" if exact else None
        # Calls it for tensors of these shapes, past the Python code of TensorFlow that looks which function to call.
        self._at_once: Callable[[Sequence[Any]], list[Any]] | None = None
        self._shapes: list[Any] = []

    def __call__(self, *natives: Any) -> Any:
        """Return the natives that the function returns."""
        if is_alone():
            return self._result(natives)
        with beside(natives):
            return self._result(natives)

    def _result(self, natives: Sequence[Any]) -> Any:
        if may_record():
            return self._called(natives)
        shapes = [shape_of_eager(native) if type(native) is EagerTensor else None for native in natives]
        if self._at_once is not None and shapes == self._shapes:
            try:
                return self._at_once(natives)
            except tf.errors.OpError:
                # The other way has an error that says where it comes from.
                return self._called(natives)
        results = self._called(natives)
        if self._at_once is None and None not in shapes:
            self._shapes = shapes
            self._at_once = called_at_once(self._run.get_concrete_function(*natives))
        return results

    def _called(self, natives: Sequence[Any]) -> Any:
        try:
            return self._run(*natives)
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
            if self._run is self._plain:
                raise
            self._run, self.refusal = self._plain, str(error.message).splitlines()[0]
            self._at_once = None
            return self._plain(*natives)
