"""Derivatives of our own: a rule for each kernel, and the record of calls that the rules are run over.

``rule.py`` has what a rule is, ``rules/`` the rules, ``kernels.py`` and ``kinds.py`` the kernels as rules call them,
``record.py`` calls that have a derivative, ``tape.py`` the backend that records them, with ``calls.py`` and
``tape_backend.py``, ``operations.py`` those of users' kernels, ``loops.py`` loops and branches, ``held.py`` and
``declared.py`` functions and operations that become one call of a record, and ``reverse.py`` and ``forward.py`` what
walks a record. The rules are written in kernels of a backend, so that one text serves an engine's arrays, the nodes of
a trace, and the record of another derivative around it.
"""
