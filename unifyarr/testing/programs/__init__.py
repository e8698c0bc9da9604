"""Random programs of views and writes beside NumPy: ``python -m unifyarr.testing.programs BACKEND COUNT SEED``."""
