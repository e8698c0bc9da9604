"""The compiled parts of the package, which are optional: without a C compiler, it is installed without them."""

import sys
from pathlib import Path

import numpy
from setuptools import Extension, setup

FOLDER = Path("unifyarr/graph/fusion/native")
# Rounding as NumPy's: no product and sum become one operation. (MSVC does so by default.)
FLAGS = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-strict-aliasing", "-pthread"]

setup(
    ext_modules=[
        Extension(
            "unifyarr.graph.fusion._machine",
            [str(FOLDER / "machine.c")],
            depends=sorted(map(str, FOLDER.glob("*.h"))),
            include_dirs=[numpy.get_include()],
            extra_compile_args=FLAGS,
            extra_link_args=[] if sys.platform == "win32" else ["-pthread"],
            optional=True,
        ),
        Extension(
            "unifyarr._native._compiled",
            ["unifyarr/_native/core.c"],
            depends=sorted(map(str, Path("unifyarr/_native").glob("*.h"))),
            extra_compile_args=FLAGS,
            optional=True,
        ),
    ]
)
