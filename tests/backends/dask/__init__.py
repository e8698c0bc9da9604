"""What the dask backend does beside the functions: laziness, chunks, files, clusters."""
