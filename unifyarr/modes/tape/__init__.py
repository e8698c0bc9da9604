"""The tape: each call of a kernel on values that have a derivative is recorded as an entry, whose rule is run later.

``handle.py`` and ``engine.py`` are the backend of such natives, ``kernel_calls.py`` records the call of a kernel, and
``entries.py`` has the entries. ``unifyarr/modes/README.md`` has the other files, ``unifyarr/derivatives`` the rules and
the walks through the entries.
"""
