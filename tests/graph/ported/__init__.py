"""What PyTensor's own tests ask of graphs, compiled functions and in-place rewriting, asked here in our words.

None of their code is here: each test is written anew. `theirs.py` says which of ours is for which of theirs, and why
the rest of theirs have none.
"""
