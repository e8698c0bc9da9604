"""Derivatives of our own: a rule for each kernel, and the record of calls that the rules are run over.

``rule.py`` has what a rule is, ``rules/`` the rules, ``kernels.py`` the kernels as rules call them, ``tape.py`` the
record, and ``reverse.py`` what walks it backwards. The rules are written in kernels of a backend, so that one text
serves an engine's arrays, the nodes of a trace, and the record of another derivative around this one.
"""
