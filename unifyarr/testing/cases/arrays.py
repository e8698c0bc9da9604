"""The lines of functions that make arrays, change their shape or dtype, and pick elements."""

from __future__ import annotations

import numpy as np

from .table import IDENTITY, INDEX, ROW, TRUTH, A, B, K, V, Z, case, copying, line, of_view, several

# -- creation ----------------------------------------------------------------------------------------------------------

line("arange", case(5))
line("empty ones zeros", case((2, 3)))
line("eye", case(3))
line("full", case((2, 3), 2.5))
line("linspace", case(0, 1, 5))
line("fft.fftfreq fft.rfftfreq", case(5))
line("empty_like ones_like zeros_like", case(A))
line("full_like", case(A, 2.5))
line("tril triu", case(A), case(A, k=5), case(A, k=-5), case(ROW[:, :1]))
line(
    *("asarray", case(A), case(A, dtype="float64"), case(A, copy=False), copying(A, copy=True)),
    *(copying(A, dtype="float32"), copying(A, dtype="float64", copy=True)),
)
line("array", copying(A), copying(A, dtype="float64"), case(A, copy=None))
line("from_dlpack", case(A), copying(A, copy=True))
line("geomspace", case(1.0, 8.0, 4))
line("logspace", case(0.0, 1.0, 3))
line("tri", case(3))
several("diag_indices tril_indices triu_indices", case(3))
line("diag", copying(V), case(IDENTITY, k=1), case(A))
line("diagflat", case(A), case(V[:1]))
line("vander", case(V), case(V, 1), case(V, 2, increasing=True), case(V[:1], 1))
several("meshgrid", copying(V, V[:2].copy()), copying(V), copying(V[:1], V[1:2]), copying(V, V[:2], indexing="ij"))
line(
    *("astype", copying(A, "float32"), case(A, "float64", copy=False), copying(A, "float32", copy=False)),
    *(copying(A, "float64"), copying(K, "int64"), copying(TRUTH, "bool"), copying(K, "uint64")),
    copying(Z, "complex64"),
)

# -- manipulation ------------------------------------------------------------------------------------------------------

several("broadcast_arrays", case(V, A), case(A, K), case(ROW, A, K))
line("broadcast_to", case(V, (2, 3)), case(A, (2, 3)), case(A, (4, 2, 3)))
line(
    *("concat", case([A, B], axis=1), case([A]), case([A, ROW]), case([V, V])),
    *(case([A], axis=None), case([A, ROW[:0]])),
)
line("expand_dims", case(A, 1), case(A, axis=(0, -1)), case(A, axis=()))
line("flip", case(A), case(A, axis=1), case(ROW, axis=0), case(A, axis=()))
line("moveaxis swapaxes", case(A, 0, 1), case(A, 0, 0))
line("permute_dims transpose", case(A, (1, 0)), case(A, (0, 1)))
line("matrix_transpose linalg.matrix_transpose", case(A), case(ROW[:, :1]))
line("repeat", case(A, 2, axis=0), case(A, 2), case(V, 1), case(A, 1, axis=0), case(V, np.array([1, 1, 1])))
line(
    *("reshape", case(A, (3, 2)), case(A, (2, 3)), case(A, (-1,)), case(A, (6,), copy=False)),
    *(copying(A, (6,), copy=True), copying(A, (2, 3), copy=True)),
    *(of_view(lambda x: x.T, A, (6,)), of_view(lambda x: x[::-1], A, (6,))),
)
line("roll", case(A, 1, axis=1), case(A, 1), case(A, 0), case(A, 3, axis=1), case(ROW, 1, axis=0))
line("rot90", case(A), case(A, 0), case(A, 2), case(A, 3, axes=(1, 0)))
several("split", case(A, 2), case(A, 1), case(A, [1], axis=1))
several("array_split", case(V, 2), case(A, 1), case(A, [1], axis=1))
line("append", case(A, B), case(A, ROW, axis=0), case(V, V[:0]))
line("delete", case(A, 1), case(A, [0, -1], axis=1), case(V, []))
line("insert", case(A, 1, V), case(A, [0, 2], ROW[:, :1], axis=1), case(V, 0, V[:0]))
line("resize", case(A, (2, 2)), case(A, (2, 3)), case(A, (3, 4)))
line("trim_zeros", case(np.array([0.0, 1.0, 0.0, 2.0, 0.0])), case(A), case(V))
line("squeeze", case(A[:, None], 1), case(ROW), case(ROW, axis=0), case(A), case(A, axis=()))
line("stack", case([A, B]), case([A]), case([V], axis=1))
line("tile", case(A, (2, 1)), case(A, (1,)), case(A, (1, 1)), case(A, ()), case(V, (1, 1)))
several("unstack", case(A), case(A, axis=1), case(ROW))
line(
    "pad",
    case(A, ((1, 0), (0, 2)), "edge"),
    case(A, 0),
    case(A, ((0, 0), (1, 0))),
    case(A, 0, "edge"),
    case(V, 2, "wrap"),
    case(A, (1, 2), "linear_ramp", end_values=(1, 2)),
    case(A, 1, "maximum", stat_length=2),
    case(A, 1, "mean"),
    case(V, (4, 1), "reflect", reflect_type="odd"),
)

# -- indexing ----------------------------------------------------------------------------------------------------------

line(
    *("take", case(A, np.array([2, 0]), axis=1), case(A, INDEX, axis=0), case(V, np.arange(3))),
    *(case(A, np.array(0), axis=0), case(ROW, np.array([0]), axis=0)),
)
line("take_along_axis", case(A, np.array([[1], [0]]), axis=1), case(A, K % 3), case(ROW, np.zeros((1, 3), int), axis=0))
line("gather", case(A, np.array([[1, 0], [0, -1], [0, 0]])), case(A, np.array([[0], [1]])), case(V, INDEX[:, None]))
line(
    *("scatter", case(A, np.array([[1, 0], [0, -1], [1, 0]]), V, mode="add"), case(A, np.array([[0]]), V)),
    *(case(V, INDEX[:0, None], V[:0]), case(V, INDEX[:, None], V[:2], mode="add")),
)
