"""The dask backend beyond its functions: laziness, chunks, files, clusters."""
