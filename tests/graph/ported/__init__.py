"""PyTensor's own tests of graphs, compiled functions and in-place rewriting, in our terms.

None of their code is here: each test is written anew. `theirs.py` says which of ours is for which of theirs, and why
the rest of theirs have none.
"""
