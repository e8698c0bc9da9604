"""The machinery under the functions; no engine is imported here but NumPy, for dtypes and geometry."""
