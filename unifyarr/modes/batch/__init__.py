"""Batches: one call of a kernel for all elements along an axis, by a rule for each kind of kernels.

``rule.py`` says what a rule is, and ``rules/`` has the rules. ``kernel_calls.py`` makes one call of a kernel.
``handle.py`` and ``engine.py`` are the backend whose natives are batches. Rules call kernels of the backend of the
values, so that one text serves an engine's arrays, the nodes of a trace, the tape of a derivative, and a batch around
this one.
"""
