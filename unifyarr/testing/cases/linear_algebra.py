"""The lines of linear algebra and Fourier transforms."""

from __future__ import annotations

import numpy as np

from .table import COLUMN, IDENTITY, ROW, A, B, K, Q, V, Z, case, line, names, several

ONE = np.array([[2.0]])
PIVOTS = np.array([2, 1, 2])

line("matmul", case(A, B.T.copy()), case(Q, IDENTITY), case(V, IDENTITY), case(K, K.T.copy()))
line("linalg.matmul", case(Q, V))
line("tensordot", case(A, B, axes=((0, 1), (0, 1))), case(Q, IDENTITY, axes=1), case(V, np.array(1.0), axes=0))
line("linalg.tensordot", case(Q, Q, axes=1))
line("vecdot", case(A, B), case(COLUMN, np.ones((3, 1))), case(Z, Z))
line("linalg.vecdot", case(V, V[::-1].copy()))
line(
    *("einsum", case("ij,kj->ki", A, B), case("ij->ij", A), case("ij->ji", A), case("ii->i", Q)),
    *(case("ij,jk", A, B.T.copy()), case("i,->i", V, np.array(1.0))),
)
line("linalg.cholesky", case(Q), case(IDENTITY), case(IDENTITY, upper=True))
line("linalg.cross", case(V, V[::-1].copy()), case(A, B))
line("linalg.det", case(Q), case(ONE))
line("linalg.diagonal", case(Q), case(A), case(Q, offset=1), case(ROW))
several("linalg.eig", case(Q), case(Q + 1j * Q))
line("linalg.eigvals", case(Q), case(Q + 1j * Q))
several("linalg.eigh", case(Q), case(IDENTITY))
line("linalg.eigvalsh linalg.inv", case(Q), case(IDENTITY))
line("linalg.expm", case(Q), case(np.zeros((3, 3))))
several("linalg.lstsq", case(A.T.copy(), V), case(IDENTITY[:, :2].copy(), IDENTITY))
line("linalg.solve_triangular", case(Q, V), case(Q, IDENTITY, lower=True, trans=1), case(Q, V, unit_diagonal=True))
several("linalg.lu", case(Q), case(A), case(IDENTITY), case(Q, p_indices=True))
several("linalg.lu_factor", case(Q), case(A), case(IDENTITY))
line("linalg.lu_solve", case((Q, PIVOTS), V), case((Q, PIVOTS), IDENTITY, trans=1))
line("linalg.cho_solve", case(Q, V), case(Q, IDENTITY, upper=True))
line("linalg.block_diag", case(A, Q), case(V, ONE), case(A))
line("linalg.cond", case(Q), case(Q, p=1), case(A), case(ONE))
line("linalg.norm", case(A), case(A, axis=0), case(Q, ord=1), case(A, axis=(0, 1), keepdims=True), case(ROW, axis=0))
line("linalg.multi_dot", case([A, B.T.copy(), A]), case([V, Q, V]), case([IDENTITY, Q]))
line("linalg.tensorinv", case(Q, ind=1), case(IDENTITY, ind=1))
line("linalg.tensorsolve", case(Q, V), case(IDENTITY, V))
line("linalg.matrix_norm", case(Q), case(ONE, keepdims=True))
line("linalg.matrix_power", case(Q, 3), case(Q, 1), case(Q, 2), case(Q, 0), case(Q, -1))
line("linalg.matrix_rank", case(Q))
line("linalg.outer", case(V, V[::-1].copy()), case(V, np.array([1.0])))
line("linalg.pinv", case(Q), case(A), case(IDENTITY))
several("linalg.qr linalg.svd", case(Q), case(A), case(IDENTITY))
line("linalg.svdvals", case(Q), case(A), case(IDENTITY))
several("linalg.slogdet", case(Q))
line("linalg.solve", case(Q, V), case(Q, IDENTITY), case(IDENTITY, Q))
line("linalg.trace", case(Q), case(ONE), case(np.ones((3, 1, 1))))
line("linalg.vector_norm", case(Q), case(ROW, axis=0), case(A, axis=()))

line(names("fft.", "fft ifft fftn ifftn"), case(A), case(Z), case(COLUMN), case(Z[:, :1]))
line(names("fft.", "rfft rfftn ihfft"), case(A), case(COLUMN))
line(names("fft.", "irfft irfftn hfft"), case(A), case(Z))
line("fft.fftshift fft.ifftshift", case(A), case(V[:1]), case(ROW, axes=0), case(A, axes=()))
