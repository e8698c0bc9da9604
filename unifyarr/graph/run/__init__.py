"""A traced function, rewritten to work in place, and its calls: plain or checked."""
