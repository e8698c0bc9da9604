"""Operations that run an engine's kernels, and how a graph of them is executed."""
