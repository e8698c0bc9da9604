"""Walks through the entries of a tape: ``reverse.py`` for cotangents, ``forward.py`` for tangents.

``replay.py`` remembers a walk backwards once it has been seen a few times, and calls its kernels without the rules: the
kernels are noted by ``backward_recorder.py`` and made a function by ``backward_program.py``.
"""
