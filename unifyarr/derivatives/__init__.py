"""Derivatives of our own, in three parts: rules, a tape, and walks.

``rules/`` has the rule of each kernel, and ``rule.py`` says what a rule is. ``unifyarr/modes/tape`` records the calls
of kernels on values that have a derivative. ``walks/`` runs the rules over what was recorded. ``ua.grad`` puts the
three together: ``transformations/gradients.py``, or ``transformations/plain_gradients.py`` for plain arrays outside of
other modes.

Rules are written in the kernels of a backend (``modes/rule_kernels.py``), so that one text serves an engine's arrays,
the nodes of a trace, a batch, and the tape of another derivative around this one.
"""
