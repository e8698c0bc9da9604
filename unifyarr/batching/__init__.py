"""Batches of our own: one call of a function for all elements along an axis, by a rule for each kernel.

``rule.py`` has what a rule is, ``rules/`` the rules, ``calls.py`` one call of a kernel for a batch, ``handle.py`` and
``batch_backend.py`` the backend whose natives are batches. The rules call kernels of the backend of the values, so that
one text serves an engine's arrays, the nodes of a trace, the record of a derivative, and a batch around this one.
"""
