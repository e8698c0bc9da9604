"""A backend of somebody else's: the skeleton, filled with the code of ``docs/write-a-backend.md`` and nothing else.

Its engine, ``boxed``, has an array class that isn't NumPy's: immutable, without operators, without ``__array__``. Tests
run on it by hand so::

    python -m tests.plugin_backend FOLDER
    PYTHONPATH=FOLDER/site python -m pytest --backends boxed tests/functions/test_manipulation.py
"""
