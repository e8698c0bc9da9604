"""Sorting and searching against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
sort(A) | sort(A, 0) | sort(A, None) | sort(I, axis=1, kind="stable") | sort(N) | sort(U, kind="heapsort") | sort(C)
sort(3) | sort(A, 2) | sort(A, kind="no") | sort(A, order="x")
sort(A, kind="stable", stable=True) | sort(v, stable=True) | sort([3, 1, 2]) | sort([]) | argsort(I, kind="stable")
argsort(A, 0) | argsort(A, None) | argsort(v) | argsort(3) | argsort(N, 1)
argsort(A, kind=1) | argsort([]) | lexsort((v, k)) | lexsort(([3, 1, 2], [0, 1, 0])) | lexsort((A, I))
lexsort((A, B), 0) | lexsort((v, A)) | lexsort(()) | lexsort(B) | lexsort((v, k), axis=3)
partition(v, 2)[2] | partition(A, 1, 0)[1] | partition(A, [1, 3], axis=None)[[1, 3]] | partition(v, 9)
partition(v, 1.5) | partition(v, 1, kind="no") | partition(3, 0) | partition([], 0)
argpartition(v, 2)[2] | argpartition(A, -1)[:, -1] | argpartition(v, 4) | argpartition(3, 0) | argpartition([], 0)
searchsorted([1, 2, 3], 2) | searchsorted(np.sort(v), A) | searchsorted(np.sort(v), v, "right")
searchsorted(v, [0, 1], sorter=np.argsort(v)) | searchsorted(A, 1) | searchsorted(v, 1, "up")
searchsorted(v, 1, sorter=[0.5, 1, 2, 3]) | searchsorted([], 1) | searchsorted(np.sort(k), 1.5)
searchsorted([0, 1, np.nan], [np.nan, 0]) | sort_complex(C[0]) | sort_complex(v) | sort_complex(U[0])
sort_complex(F) | sort_complex([2, 1 - 1j, 1 + 1j])
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
