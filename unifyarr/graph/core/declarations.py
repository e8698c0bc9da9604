"""The declarations of an operation. They are checked, and fixed when the operation is first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..._core.values.maps import READERS, IOMap, ReadMap, check_places, checked_map
from .code import ARGUMENTS, check_code, check_known, check_types, takes_out
from .reading import READ, read

if TYPE_CHECKING:
    from .basic import Apply, Op, Type, Variable

# Derived attributes. Once the first of them is there the declarations are fixed.
_FIXED = frozenset(("_key", "_hash", "_views", "_destroys", "_victims", "_reach", "declared"))
# Declarations, each with the outputs and the inputs that it names.
Named = list[tuple[str, Collection[int], Collection[int]]]


class Declarations:
    """The declarations of an ``Op``, of which they are the attributes.

    They come from the constructor, from the class, or from assignments. They can't change any more once one of them was
    used.
    """

    name: str = ""
    nout: int = 1
    view_map: Any = READERS["view_map"]("view_map", {})
    destroy_map: Any = view_map
    scratch: tuple[int, ...] = ()
    tolerate_same: frozenset[tuple[int, int]] = frozenset()
    tolerate_aliased: frozenset[tuple[int, int]] = frozenset()
    inplace: tuple[Op, ...] = ()
    out: frozenset[int] = frozenset()
    natives: str | None = None
    parameters: Hashable = ()
    infer: Any = None
    perform: Any
    grad: Any = None

    if TYPE_CHECKING:
        # Derived: the maps, if they don't depend on the node, and the least number of inputs, of the twins too.
        declared: Hashable
        _views: IOMap | None
        _destroys: IOMap | None
        _victims: tuple[int, ...] | None
        _reach: int
        _key: Hashable
        _hash: int

    def __init__(
        self,
        name: str | None = None,
        *,
        view_map: IOMap | Callable[[Apply], IOMap] | None = None,
        destroy_map: IOMap | Callable[[Apply], IOMap] | None = None,
        scratch: Iterable[int] | None = None,
        tolerate_same: Iterable[tuple[int, int]] | None = None,
        tolerate_aliased: Iterable[tuple[int, int]] | None = None,
        inplace: Iterable[Op] | None = None,
        out: Iterable[int] | None = None,
        natives: str | None = None,
        parameters: Hashable = None,
        nout: int | None = None,
        infer: Callable[..., Any] | None = None,
        perform: Callable[..., Any] | None = None,
        grad: Callable[..., Any] | None = None,
    ) -> None:
        given = {
            "name": name,
            "view_map": view_map,
            "destroy_map": destroy_map,
            "scratch": scratch,
            "tolerate_same": tolerate_same,
            "tolerate_aliased": tolerate_aliased,
            "inplace": inplace,
            "out": out,
            "natives": natives,
            "parameters": parameters,
            "nout": nout,
            "infer": infer,
            "perform": perform,
            "grad": grad,
        }
        # A declaration that isn't passed stays as the class, or an earlier assignment, has it.
        vars(self).update((what, read(self, what, value)) for what, value in given.items() if value is not None)
        self._check(self.nout, None, self._named(*self._maps()))
        self._check_read()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__
        for what in list(vars(cls)):
            check_known(cls.__name__, what)
        for what in vars(cls).keys() & READ.keys():
            declared = vars(cls)[what]
            if what in ARGUMENTS:
                if declared is not None and not isinstance(declared, property):
                    bound = isinstance(declared, staticmethod | classmethod)
                    check_code(cls.__name__, what, getattr(cls, what) if bound else declared, bound=bound)
            # A function of the node, or a property, is called when it's needed.
            elif not hasattr(declared, "__get__"):
                setattr(cls, what, read(cls, what, declared))

    def __setattr__(self, what: str, value: Any) -> None:
        if what in READ:
            self._refuse_if_fixed(what)
            value = read(self, what, value)
        elif what not in vars(self):
            check_known(type(self).__name__, what)
        super().__setattr__(what, value)

    def __delattr__(self, what: str) -> None:
        if what in READ:
            self._refuse_if_fixed(what)
        super().__delattr__(what)

    def __getstate__(self) -> dict[str, Any]:
        # A copy may change its declarations.
        return {each: value for each, value in vars(self).items() if each not in _FIXED}

    def _refuse_if_fixed(self, what: str) -> None:
        if "_key" in vars(self):
            raise AttributeError(
                f"{what} of {self} is fixed since the operation was applied or compared: assign it before, or make "
                "another operation, copy.copy(op) for example"
            )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # The first use of a derived attribute derives all of them.
            if name not in _FIXED:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._fix()
            return vars(self)[name]

    def _fix(self) -> None:
        """Derive the attributes that follow from the declarations, which can't change from now on."""
        views, destroys = self._maps()
        named = self._named(views, destroys)
        self._check(self.nout, None, named)
        self._check_read()
        frozen = (_frozen(views, self.view_map), _frozen(destroys, self.destroy_map))
        code = tuple(vars(self).get(each) for each in ARGUMENTS)
        declared = (frozen, self.scratch, (self.tolerate_same, self.tolerate_aliased), self.out, self.natives, code)
        key = (type(self), self.name, self._static(), self.nout, declared)
        vars(self).update(
            _views=views,
            _destroys=destroys,
            _victims=None if destroys is None else victims_of(self.scratch, destroys),
            _reach=max(
                (*(max(places) + 1 for _, _, places in named if places), *(twin._reach for twin in self.inplace)),
                default=0,
            ),
            declared=declared,
            _hash=hash(key),
            _key=key,
        )

    def _maps(self) -> tuple[IOMap | None, IOMap | None]:
        """Return the maps; ``None`` stands for a map that depends on the node."""
        views, destroys = (
            each if type(each) is ReadMap else None if callable(each) else read(self, what, each)
            for what, each in (("view_map", self.view_map), ("destroy_map", self.destroy_map))
        )
        return views, destroys

    def _check(self, outputs: int, inputs: int | None, named: Named) -> None:
        """Raise if a declaration names an output that doesn't exist, or an input, as far as their number is known."""
        for what, keys, places in named:
            if keys and max(keys) >= outputs:
                check_places(f"{what} of {self}", keys, outputs, "output")
            if inputs is not None and places and max(places) >= inputs:
                check_places(f"{what} of {self}", places, inputs, "input")
        for twin in self.inplace:
            if twin.nout != self.nout:
                raise ValueError(f"inplace of {self} names {twin}, which has {twin.nout} outputs, not {self.nout}")

    def _check_read(self) -> None:
        """Raise if something is declared that another declaration keeps from being read."""
        if self.infer is not None and type(self).output_types is not Declarations.output_types:
            raise TypeError(f"infer of {self} isn't read, since its class defines output_types: declare one of them")
        if self.out and not takes_out(self.perform):
            raise TypeError(
                f"out of {self} isn't read, since its perform takes no out: declare perform(node, inputs, out)"
            )
        if self.natives is not None and (self.out or self.scratch or self.destroy_map):
            raise TypeError(
                f"perform of {self} takes copies of other backends' arrays, by natives={self.natives!r}, "
                "and can't write to these: leave out destroy_map, scratch and out, or natives"
            )
        if self.parameters != () and getattr(self, "__props__", None) is not None:
            raise TypeError(f"__props__ of {self} isn't read, since parameters is declared: declare one of them")

    def output_types(self, inputs: Sequence[Variable]) -> Sequence[Type | None]:
        """Return the types of the outputs for these inputs, by ``infer``; unknown unless that is declared."""
        if self.infer is None:
            return [None] * self.nout
        return check_types(self.name, self.nout, self.infer(*(each.type for each in inputs)))

    def _named(self, views: IOMap | None, destroys: IOMap | None) -> Named:
        """Return the declarations, each with the outputs and the inputs that it names."""
        named: Named = []
        for what, each in (("view_map", views), ("destroy_map", destroys)):
            if each:
                named.append((what, each.keys(), [place for places in each.values() for place in places]))
        if self.out:
            named.append(("out", self.out, ()))
        if self.scratch:
            named.append(("scratch", (), self.scratch))
        for what, pairs in (("tolerate_same", self.tolerate_same), ("tolerate_aliased", self.tolerate_aliased)):
            if pairs:
                named.append((what, (), [place for pair in pairs for place in pair]))
        return named

    def _static(self) -> Hashable:
        if self.parameters != ():
            return self.parameters
        props = getattr(self, "__props__", None)
        own = vars(self).keys() - READ.keys() - _FIXED if props is None else props
        if not own:
            return ()
        values = tuple((each, _distinct(getattr(self, each))) for each in sorted(own))
        try:
            hash(values)
        except TypeError:
            # An operation whose parameters can't be compared is equal to itself alone.
            return object()
        return values

    def check(self, node: Apply) -> None:
        """Raise if a declaration names inputs or outputs that a node doesn't have; fix the declarations."""
        if self._reach > len(node.inputs) or len(node.outputs) < self.nout:
            named = self._named(self._views, self._destroys)
            self._check(len(node.outputs), len(node.inputs), named)
            for twin in self.inplace:
                twin.check(node)

    def _map_of(self, what: str, node: Apply) -> IOMap:
        """Return the map that a function returns for a node."""
        return checked_map(f"{what} of {self}", getattr(self, what)(node), len(node.outputs), len(node.inputs))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Declarations) and self._hash == other._hash and self._key == other._key
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.name


def victims_of(scratch: Iterable[int], destroys: IOMap) -> tuple[int, ...]:
    """Return the positions of the inputs that are overwritten."""
    return tuple(sorted({*scratch, *(index for inputs in destroys.values() for index in inputs)}))


def _frozen(io_map: IOMap | None, function: object) -> Hashable:
    # A method of the operation itself is the same for all operations that are equal.
    return getattr(function, "__func__", function) if io_map is None else frozenset(io_map.items())


def _distinct(value: object) -> Hashable:
    # 0.0 and -0.0, and 1 and 1.0, are different parameters.
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_distinct, value))
    return (type(value), repr(value) if isinstance(value, (float, complex)) else value)
